"""Run the experiments of the paper and write the results to a folder; runs can be resumed."""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import os
import platform
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lab.datasets import LabelledDocuments
from lab.reproduce.case_study import case_study
from lab.reproduce.claims import judge
from lab.reproduce.figures import check_matplotlib, draw
from lab.reproduce.measure import Fitting, measure_corpus, measure_seed, quietly
from lab.reproduce.outcome import AREAS, Outcome, tables
from lab.reproduce.page import Block, to_html
from lab.reproduce.published import EXPERIMENTS, Experiment, load_corpus
from lab.reproduce.report import (
    case_study_blocks,
    experiment_blocks,
    opening_blocks,
    other_parameters,
)
from lab.tables import table_of
from newfound.description.describer import NoveltyDescriber
from newfound.description.learning import resolve
from newfound.storage.files import check_writable, replacing
from newfound.table import Table, jsonable

__all__ = ["PARTS", "check_folder", "reproduce", "run_seeds"]

PARTS = ("case-study", *EXPERIMENTS)
TITLE = "The paper's experiments, reproduced"

_LARGE = ("F_K", "F_N")


def reproduce(
    parts: Sequence[str],
    folder: str | os.PathLike[str],
    *,
    seeds: Sequence[int] = range(5),
    data: str | os.PathLike[str] | None = None,
    download: bool = False,
    verify: bool = True,
    force: bool = False,
    resume: bool = False,
    n_jobs: int | None = None,
    fitting: Callable[[str], AbstractContextManager[Any]] | None = None,
    say: Callable[[str], object] | None = None,
    command: str = "",
    **parameters: Any,
) -> dict[str, Any]:
    """Reproduce experiments of the paper, and write tables, figures and a page to a folder.

    Parameters
    ----------
    parts : sequence of {"case-study", "bbcsport", "20newsgroups"}
        The experiments to run.
    folder : path
        The output folder; created if needed. ``index.html`` shows all results.
    seeds : sequence of int, default=range(5)
        The seeds.
    data, download, verify
        Where to find the corpora; see `lab.datasets`.
    force : bool, default=False
        Write into a folder that is not empty. Files of the same name are replaced.
    resume : bool, default=False
        Like `force`, but reuse the finished seeds found there if their settings, texts and code
        are the same.
    n_jobs : int or None, default=None
        Threads; None means 1, -1 all cores. The figures do not depend on it.
    fitting : callable, optional
        Called with a message before each fit; returns a context manager that yields a callback
        for epochs, or None.
    say : callable, optional
        Called with a sentence for each finished seed that was found: it is reused, or why not.
    command : str, default=""
        The command line, stored with the results.
    **parameters
        Parameters of `NoveltyDescriber`; the preset is "paper" by default.

    Returns
    -------
    dict
        The contents of ``results.json``.
    """
    unknown = [part for part in parts if part not in PARTS]
    if unknown or not parts:
        raise ValueError(f"parts={list(parts)!r}: expected some of {', '.join(PARTS)}.")
    if not list(seeds):
        raise ValueError("seeds is empty; expected at least one.")
    parameters = {"preset": "paper", **parameters}
    chosen = _chosen(parameters)
    NoveltyDescriber(**parameters)
    target = Path(folder)
    check_folder(target, force=force or resume)
    experiments = [EXPERIMENTS[part] for part in PARTS if part in parts and part in EXPERIMENTS]
    if experiments:
        check_matplotlib()
    options = {"download": download, "verify": verify}
    # Load all corpora before the first fit, so that a missing one is reported at once.
    corpora = {one.name: load_corpus(one, data, **options) for one in experiments}
    target.mkdir(parents=True, exist_ok=True)
    check_writable(target / "results.json", force=True)
    start = time.time()
    outcomes, resumed = [], 0
    for experiment in experiments:
        corpus = corpora[experiment.name]
        measured = measure_corpus(experiment, corpus, parameters)
        kept: list[int] = []
        done = run_seeds(
            experiment,
            corpus,
            seeds,
            {**parameters, "n_jobs": n_jobs},
            target / experiment.name / "seeds",
            resume=resume,
            fitting=fitting or quietly,
            kept=kept,
            say=say,
        )
        resumed += len(kept)
        outcomes.append(Outcome(experiment, measured, done, chosen))
    about = {
        "newfound": version("newfound"),
        "code": _code()[:12],
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "platform": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "threads": n_jobs,
        "started": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(start)),
        "seconds": round(time.time() - start),
        "resumed": resumed,
        "command": command,
        "seeds": list(seeds),
    }
    return _write(target, about, outcomes, with_case_study="case-study" in parts)


def run_seeds(
    experiment: Experiment,
    corpus: LabelledDocuments,
    seeds: Iterable[int],
    parameters: dict[str, Any],
    folder: Path,
    *,
    resume: bool = False,
    fitting: Fitting = quietly,
    kept: list[int] | None = None,
    say: Callable[[str], object] | None = None,
) -> list[dict[str, Any]]:
    """Run the seeds of an experiment, and store each in a folder as soon as it is finished.

    Parameters
    ----------
    experiment, corpus, parameters, fitting
        Those of `measure_seed`.
    seeds : iterable of int
        The seeds.
    folder : Path
        The folder for finished seeds.
    resume : bool, default=False
        Reuse finished seeds if all their settings, the texts and the code are the same.
    kept : list of int, optional
        Receives the seeds that were reused.
    say : callable, optional
        Called with a sentence for each finished seed that was found.

    Returns
    -------
    list of dict
        The result of `measure_seed` for each seed.
    """
    chosen, texts = _chosen(parameters), _digest(corpus)
    done = []
    for seed in seeds:
        settings = _settings(experiment.name, texts, seed, chosen)
        path = folder / f"{seed}.json.gz"
        found, why = _kept(path, settings) if resume else (None, "")
        if why and say is not None:
            say(f"{experiment.title}, seed {seed}: {why}.")
        if found is None:
            said = _named(fitting, f"{experiment.title}, seed {seed}")
            found = measure_seed(experiment, corpus, seed, parameters, said)
            _keep(path, {"settings": settings, "seed": found})
        elif kept is not None:
            kept.append(seed)
        done.append(found)
    return done


def check_folder(folder: Path, *, force: bool) -> None:
    """Raise an error if the folder is a file, or is not empty and `force` is false."""
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"Cannot write to {folder}: it is a file; name a folder.")
    if not force and folder.is_dir() and any(folder.iterdir()):
        raise FileExistsError(
            f"{folder} is not empty; pass --resume to continue with the seeds finished there, "
            "--force to start again (in Python: resume=True, force=True), or name another folder."
        )


def _write(
    folder: Path, about: dict[str, Any], outcomes: Sequence[Outcome], *, with_case_study: bool
) -> dict[str, Any]:
    results: dict[str, Any] = {"about": about}
    blocks: list[Block] = list(opening_blocks(about, outcomes))
    if with_case_study:
        table = case_study()
        _write_tables(folder / "case-study", {"words": table})
        results["case-study"] = table.to_records()
        blocks += case_study_blocks(table)
    for outcome in outcomes:
        name = outcome.experiment.name
        place = folder / name
        claims = judge(outcome)
        made = tables(outcome)
        made["claims"] = table_of(claims)
        _write_tables(place, made)
        figures = draw(outcome, place)
        seeds = [_without_words(seed) for seed in outcome.seeds]
        large = ("vocabulary", "documents_known", "documents_novel", "tfidf")
        corpus = {key: value for key, value in outcome.corpus.items() if key not in large}
        results[name] = {
            "parameters": dict(outcome.parameters),
            "other_parameters": other_parameters(outcome),
            "corpus": {**corpus, "words": len(outcome.corpus["vocabulary"])},
            "claims": claims,
            **{
                key: made[key].to_records()
                for key in ("word_statistics", "shared_words", "held_out", "top_words", "fits")
            },
            "seeds": seeds,
        }
        blocks += experiment_blocks(outcome, figures)
    _write_text(folder / "results.json", json.dumps(jsonable(results)) + "\n")
    _write_text(folder / "index.html", to_html(blocks, TITLE))
    return results


def _without_words(seed: dict[str, Any] | Any) -> dict[str, Any]:
    """Return a seed without what words.csv and curves.csv contain."""
    whole = {key: value for key, value in seed["all"].items() if key not in _LARGE}
    held_out = [
        {
            **fold,
            "scorers": {
                scorer: {
                    task: {k: v for k, v in found.items() if k in AREAS}
                    if isinstance(found, dict)
                    else found
                    for task, found in tasks.items()
                }
                for scorer, tasks in fold["scorers"].items()
            },
        }
        for fold in seed["held_out"]
    ]
    return {"seed": seed["seed"], "all": whole, "held_out": held_out}


def _write_tables(folder: Path, made: dict[str, Table]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in made.items():
        table.to_csv(folder / f"{name}.csv", force=True)


def _write_text(path: Path, text: str) -> None:
    with replacing(path, force=True) as aside:
        aside.write_text(text, encoding="utf-8")


def _chosen(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return all parameters of the preset, with one machine as in `measure_seed`."""
    return resolve(parameters.get("preset"), {**parameters, "n_machines": 1})


def _settings(name: str, texts: str, seed: int, chosen: dict[str, Any]) -> dict[str, Any]:
    """Return everything that determines the result of a seed; the threads do not."""
    settings = {"experiment": name, "texts": texts, "seed": seed, "parameters": chosen}
    return jsonable({"code": _code(), **settings})  # type: ignore[no-any-return]


def _digest(corpus: LabelledDocuments) -> str:
    """Return a hash of the texts, their labels and their splits."""
    whole = [corpus.texts, corpus.labels, corpus.splits]
    return hashlib.sha256(json.dumps(whole).encode()).hexdigest()


@functools.cache
def _code() -> str:
    """Return a hash of the installed package: Python, compiled core and data files."""
    return package_hash(Path(__file__).parents[2])


def package_hash(folder: Path) -> str:
    """Return a SHA-256 of the names and contents of all files of a package.

    Parameters
    ----------
    folder : Path
        The folder of the package. Bytecode and hidden files are left out.

    Returns
    -------
    str
    """
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in inside.parts)
        if path.is_file() and not hidden:
            digest.update(f"{inside.as_posix()}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _kept(path: Path, settings: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Return a finished seed with these settings, or None; and a sentence on what was found."""
    if not path.exists():
        return None, ""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            kept = json.load(file)
        if kept["settings"] == settings:
            return kept["seed"], "finished before, and reused"
        other = _differences(kept["settings"], settings)
        return None, f"what was finished before has {other}; it is made again and replaced"
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, AttributeError):
        return None, "what was finished before cannot be read; it is made again and replaced"


def _differences(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Return in words in which settings a finished seed differs from what is asked for."""
    old, new = before["parameters"], now["parameters"]
    names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    told = [f"{name} {old.get(name)}, not {new.get(name)}" for name in names]
    told += ["other texts"] if before["texts"] != now["texts"] else []
    told += ["other code of newfound"] if before["code"] != now["code"] else []
    return ", ".join(told) or "other settings"


def _keep(path: Path, data: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, force=True) as aside:
        aside.write_bytes(gzip.compress(json.dumps(data).encode(), mtime=0))


def _named(fitting: Fitting, beginning: str) -> Fitting:
    return lambda what: fitting(f"{beginning}, {what}")
