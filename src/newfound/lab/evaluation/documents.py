"""The quality of detection: our detector and all baselines, on the same splits.

Each suite is a function of a `Setting` that gives a `Table`. Everything is trained on known
documents only. Where a threshold is needed, all methods set it by the same held-back documents.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.detection.calibration import Calibration
from newfound.detection.detector import NOVEL, NoveltyDetector
from newfound.lab.datasets import load_20newsgroups, load_bbcsport, load_clinc150
from newfound.lab.evaluation.deletion import deletion
from newfound.lab.evaluation.holdout import folds
from newfound.lab.evaluation.rivals import RIVALS, Rival
from newfound.table import Table

__all__ = ["SUITES", "Setting", "run_suites"]

OURS = "newfound"
ALPHA = 0.05
PAPER_KNOWN, PAPER_NOVEL = ("comp.graphics", "talk.politics.guns"), "rec.sport.baseball"
BBC_SEEDS = 3
SPLITS = 50
ALPHAS = (0.01, 0.05, 0.10)


@dataclass(frozen=True)
class Setting:
    """What all suites share: where the data sets are, threads, and whom to tell of progress."""

    data: Path | None = None
    n_jobs: int = 1
    splits: int = SPLITS
    say: Callable[[str], None] = print

    def path(self, name: str) -> Path | None:
        """Give the folder of a data set; None leaves it to the environment."""
        return None if self.data is None else self.data / name

    def detector(self, alpha: float = ALPHA, seed: int = 0, **parameters: Any) -> NoveltyDetector:
        """Give a detector with the parameters that users get."""
        return NoveltyDetector(alpha, n_jobs=self.n_jobs, random_state=seed, **parameters)


def clinc150(setting: Setting) -> Table:
    """CLINC150: trained on the training split, threshold by the validation split, then the test.

    No out-of-scope request is used but in the test.
    """
    train, held, test, strange = _clinc(setting)
    rows = [_clinc_ours(setting, train, held, test, strange)]
    rival = Rival(*train, stop_words=False)
    classes = rival.classify(test[0])
    right = classes == test[1]
    for name, score in RIVALS.items():
        setting.say(f"clinc150: {name}")
        known, new = score(rival, test[0]), score(rival, strange)
        calibration = Calibration(
            score(rival, held[0]), np.zeros(len(held[0]), np.int64), ALPHA, classwise=False
        )
        alarm, found = (
            calibration.p_values(s, np.zeros(len(s), np.int64)) <= ALPHA for s in (known, new)
        )
        rows.append(
            {
                "scorer": name,
                "AUROC": _auroc(known, new),
                "recall at 5 %": float(found.mean()),
                "false alarms": float(alarm.mean()),
                "accuracy, refused wrong": float((right & ~alarm).mean()),
                "class accuracy": float(right.mean()),
            }
        )
    return _table(rows)


def _clinc_ours(setting: Setting, train: Any, held: Any, test: Any, strange: Any) -> dict[str, Any]:
    detector = setting.detector().fit(*train, held_back=held[0])
    predicted = detector.predict(test[0])
    votes = detector.rule_votes(test[0])
    return {
        "scorer": OURS,
        "AUROC": _auroc(detector.novelty(test[0]), detector.novelty(strange)),
        "recall at 5 %": float((detector.predict(strange) == NOVEL).mean()),
        "false alarms": float((predicted == NOVEL).mean()),
        "accuracy, refused wrong": float((predicted == test[1]).mean()),
        "class accuracy": float((detector.nearest(test[0]) == test[1]).mean()),
        "class accuracy, rules alone": float(
            (detector.classes_[votes.argmax(axis=1)] == test[1]).mean()
        ),
    }


def clinc150_unlabelled(setting: Setting) -> Table:
    """CLINC150 without labels: all one class, or groups that are made."""
    train, held, test, strange = _clinc(setting)
    rows = []
    for n_groups in (1, 10, 50):
        detector = setting.detector(n_groups=n_groups).fit(train[0], held_back=held[0])
        rows.append(
            {
                "scorer": f"{OURS}, n_groups={n_groups}",
                "AUROC": _auroc(detector.novelty(test[0]), detector.novelty(strange)),
                "recall at 5 %": float((detector.predict(strange) == NOVEL).mean()),
                "false alarms": float((detector.predict(test[0]) == NOVEL).mean()),
            }
        )
    return _table(rows)


def newsgroups_paper(setting: Setting) -> Table:
    """20 Newsgroups, the paper's three groups: bydate, headers stripped."""
    corpus = load_20newsgroups(setting.path("20newsgroups"))
    train = corpus.only(*PAPER_KNOWN, split="train")
    known = corpus.only(*PAPER_KNOWN, split="test").texts
    novel = corpus.only(PAPER_NOVEL, split="test").texts
    found = _all_scorers(setting, train.texts, train.labels, known, novel)
    return _table([{"scorer": name, "AUROC": value} for name, value in found.items()])


def newsgroups_each(setting: Setting) -> Table:
    """20 Newsgroups, each group novel in turn against five others, drawn once."""
    corpus = load_20newsgroups(setting.path("20newsgroups"))
    groups = sorted(set(corpus.labels or ()))
    found: list[dict[str, float]] = []
    for number, group in enumerate(groups):
        setting.say(f"20newsgroups-each: {group}")
        others = [other for other in groups if other != group]
        five = np.random.RandomState(number).choice(others, 5, replace=False).tolist()
        train = corpus.only(*five, split="train")
        known = corpus.only(*five, split="test").texts
        novel = corpus.only(group, split="test").texts
        found.append(_all_scorers(setting, train.texts, train.labels, known, novel))
    return _means(found, groups)


def bbcsport(setting: Setting) -> Table:
    """BBC Sport, each class novel in turn; a third of the known articles is held out, 3 seeds."""
    corpus = load_bbcsport(setting.path("bbcsport"))
    classes = sorted(set(corpus.labels or ()))
    found: list[dict[str, float]] = []
    for group in classes:
        setting.say(f"bbcsport: {group}")
        known = corpus.only(*(other for other in classes if other != group))
        labels = np.array(known.labels)
        for seed in range(BBC_SEEDS):
            train, test = next(folds(labels, 3, random_state=seed))
            found.append(
                _all_scorers(
                    setting,
                    [known.texts[i] for i in train],
                    labels[train],
                    [known.texts[i] for i in test],
                    corpus.only(group).texts,
                    seed=seed,
                )
            )
    return _means(found, [group for group in classes for _ in range(BBC_SEEDS)])


def false_alarms(setting: Setting) -> Table:
    """Alarms on fresh known documents, over many splits of the documents of two corpora."""
    clinc = load_clinc150(setting.path("clinc150"))
    labels = np.array(clinc.labels)
    scope = np.flatnonzero(labels != "oos")
    sport = load_bbcsport(setting.path("bbcsport"))
    piles = {
        "CLINC150, 3,000 known, 2,000 fresh": (
            [clinc.texts[i] for i in scope], labels[scope], 3000, 2000,
        ),
        "BBC Sport, 550 known, 187 fresh": (
            list(sport.texts), np.array(sport.labels), 550, 187,
        ),
    }  # fmt: skip
    rows = []
    for name, (texts, of, n_train, n_test) in piles.items():
        rates: dict[float, list[float]] = {alpha: [] for alpha in ALPHAS}
        exact: dict[float, float] = {}
        for split in range(setting.splits):
            order = np.random.RandomState(split).permutation(len(texts))
            train, test = order[:n_train], order[n_train : n_train + n_test]
            detector = setting.detector(min(ALPHAS), seed=split)
            detector.fit([texts[i] for i in train], of[train])
            score, nearest, _ = detector._scored([texts[i] for i in test])
            held = detector.calibration_
            for alpha in ALPHAS:
                calibration = Calibration(held.scores, held.nearest, alpha)
                rates[alpha].append(float((calibration.p_values(score, nearest) <= alpha).mean()))
                exact[alpha] = np.floor(alpha * (len(held) + 1) + 1e-9) / (len(held) + 1)
        for alpha in ALPHAS:
            mean, n = float(np.mean(rates[alpha])), len(held)
            # A split's rate varies with the documents held back and with the fresh ones.
            error = np.sqrt(alpha * (1 - alpha) * (1 / (n + 2) + 1 / n_test) / setting.splits)
            rows.append(
                {
                    "documents": name,
                    "alpha": alpha,
                    "rate": mean,
                    "expected": float(exact[alpha]),
                    "error, 2 sd": float(2 * error),
                    "within": "yes" if abs(mean - exact[alpha]) <= 2 * error else "no",
                }
            )
    return _table(rows)


def deletions(setting: Setting) -> Table:
    """Words to remove until a novel request of CLINC150 is known: ours, LIME's and random ones."""
    train, held, _, strange = _clinc(setting)
    detector = setting.detector().fit(*train, held_back=held[0])
    return deletion(detector, strange[:300], say=setting.say)


def speed(setting: Setting) -> Table:
    """Messages of CLINC150 on one core, by processor time: in a batch, and one by one."""
    train, held, test, strange = _clinc(setting)
    detector = NoveltyDetector(ALPHA, n_jobs=1, random_state=0)
    fit = _seconds(lambda texts: detector.fit(texts, train[1], held_back=held[0]), train[0])
    texts = [*test[0], *strange] * 4
    detector.predict(texts[:1000])
    batch = min(_seconds(detector.predict, texts) for _ in range(3))
    some = [*test[0][:250], *strange[:250]]

    def explain_all(texts: Sequence[str]) -> None:
        for text in texts:
            detector.explain(text)

    def counterfactuals(texts: Sequence[str]) -> None:
        for text in texts:
            _ = detector.explain(text).counterfactual

    explain_all(some)
    one = min(_seconds(explain_all, some) for _ in range(3)) / len(some)
    whole = _seconds(counterfactuals, some) / len(some)
    rows = [
        {"what": "fit, seconds", "value": fit},
        {"what": "messages a second, in a batch", "value": len(texts) / batch},
        {"what": "one with its explanation, ms", "value": 1000 * one},
        {"what": "and its counterfactual, ms", "value": 1000 * whole},
    ]
    return _table(rows)


SUITES: dict[str, Callable[[Setting], Table]] = {
    "clinc150": clinc150,
    "clinc150-unlabelled": clinc150_unlabelled,
    "20newsgroups": newsgroups_paper,
    "20newsgroups-each": newsgroups_each,
    "bbcsport": bbcsport,
    "false-alarms": false_alarms,
    "deletion": deletions,
    "speed": speed,
}


def run_suites(setting: Setting, names: Sequence[str]) -> dict[str, tuple[Table, float]]:
    """Run suites; give the table of each and the seconds it took."""
    found = {}
    for name in names:
        setting.say(f"{name} ...")
        started = time.perf_counter()
        table = SUITES[name](setting)
        found[name] = table, time.perf_counter() - started
    return found


def _clinc(setting: Setting) -> tuple[Any, Any, Any, list[str]]:
    """Give training, validation and test requests with their intents, and the out-of-scope ones."""
    corpus = load_clinc150(setting.path("clinc150"))
    labels, splits = np.array(corpus.labels), np.array(corpus.splits)
    parts = []
    for split in ("train", "val", "test"):
        rows = np.flatnonzero((splits == split) & (labels != "oos"))
        parts.append(([corpus.texts[i] for i in rows], labels[rows]))
    strange = np.flatnonzero((splits == "test") & (labels == "oos"))
    return (*parts, [corpus.texts[i] for i in strange])  # type: ignore[return-value]


def _all_scorers(
    setting: Setting,
    texts: Sequence[str],
    labels: Any,
    known: Sequence[str],
    novel: Sequence[str],
    *,
    seed: int = 0,
) -> dict[str, float]:
    """Give the AUROC of our detector and of all baselines."""
    detector = setting.detector(seed=seed).fit(texts, labels)
    found = {OURS: _auroc(detector.novelty(known), detector.novelty(novel))}
    rival = Rival(texts, labels, stop_words=True, seed=seed)
    for name, score in RIVALS.items():
        found[name] = _auroc(score(rival, known), score(rival, novel))
    return found


def _auroc(known: NDArray[np.float64], novel: NDArray[np.float64]) -> float:
    from sklearn.metrics import roc_auc_score

    labels = np.repeat([False, True], [len(known), len(novel)])
    return float(roc_auc_score(labels, np.concatenate((known, novel))))


def _seconds(function: Callable[[Sequence[str]], object], texts: Sequence[str]) -> float:
    """Give the processor time, which others on the same computer do not stretch as they do time."""
    started = time.process_time()
    function(texts)
    return time.process_time() - started


def _means(found: list[dict[str, float]], groups: Sequence[str]) -> Table:
    """Average over runs, and over the runs of each group."""
    rows = []
    for name in found[0]:
        values = [run[name] for run in found]
        row: dict[str, Any] = {"scorer": name, "mean AUROC": float(np.mean(values))}
        for group in dict.fromkeys(groups):
            own = [value for value, of in zip(values, groups, strict=True) if of == group]
            row[group] = float(np.mean(own))
        rows.append(row)
    return _table(rows)


def _table(rows: list[dict[str, Any]]) -> Table:
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {}
    for name in names:
        values = [row.get(name) for row in rows]
        is_text = any(isinstance(value, str) for value in values)
        filled = values if is_text else [np.nan if v is None else v for v in values]
        columns[name] = np.array(filled, dtype=object if is_text else np.float64)
    return Table(columns)
