"""Why the defaults of NoveltyDescriber are what they are: held-out ranking, planted words, time.

    NEWFOUND_DATA=folder python benchmarks/describe_defaults.py

The folder holds bbcsport/bbcsport.jsonl.gz and 20newsgroups/20newsgroups.jsonl.gz. One thread,
some minutes. The table is printed and written to benchmarks/results/describe_defaults.md.

- BBC Sport, rugby against cricket and football. Documents held out by 3-fold cross-validation are
  ranked by the votes, by the sum of the log scores of their words, and by that of only those of
  their words that are among the 30 of the highest score. Seconds, those of the processor, and
  words a rule are from one fit to all documents.
- 20 Newsgroups, comp.graphics and talk.politics.guns, all documents. A random half is novel; each
  of 30 made-up words is planted in 5 % of its documents. Average precision of the planted words in
  the table of words, by three seeds.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from newfound import NoveltyDescriber
from newfound.files import written_aside

RESULT = Path(__file__).resolve().parent / "results" / "describe_defaults.md"
SETTINGS: dict[str, dict[str, Any]] = {
    "default (T = 200)": {},
    "default, but T = 50": {"T": 50},
    "paper": {"preset": "paper"},
}
SEEDS = (11, 12, 13)
SHARE, STRONGEST = 0.05, 30


def corpus(folder: Path, name: str, labels: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Give the texts with one of these labels, and their labels."""
    with gzip.open(folder / name / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["label"] in labels]
    rows = [row for row in rows if row["text"].strip()]
    return [row["text"] for row in rows], [row["label"] for row in rows]


def held_out(texts: list[str], novel: NDArray[Any], setting: dict[str, Any]) -> list[float]:
    """Give the AUROC of votes, all words and the strongest words, each the mean of three folds."""
    found = []
    folds = StratifiedKFold(3, shuffle=True, random_state=SEEDS[0])
    for train, test in folds.split(texts, novel):
        describer = NoveltyDescriber(**setting, random_state=SEEDS[0])
        describer.fit([texts[i] for i in train], novel[train])
        matrix = describer.vectorizer_.transform([texts[i] for i in test])
        votes = describer.machines_[0].decision_function(matrix)
        log_score = np.zeros(matrix.shape[1])
        columns = [describer.vectorizer_.vocabulary_[word] for word in describer.words_["word"]]
        log_score[columns] = np.nan_to_num(describer.words_["log_score"])
        strongest = np.zeros_like(log_score)
        strongest[columns[:STRONGEST]] = log_score[columns[:STRONGEST]]
        rankings = (votes, matrix @ log_score, matrix @ strongest)
        found.append([roc_auc_score(novel[test], ranking) for ranking in rankings])
    return [fmean(column) for column in zip(*found, strict=True)]


def whole(texts: list[str], novel: NDArray[Any], setting: dict[str, Any]) -> tuple[float, float]:
    """Give the seconds of a fit to all documents, and the mean number of words of a rule."""
    start = time.process_time()
    describer = NoveltyDescriber(**setting, random_state=SEEDS[0]).fit(texts, novel)
    seconds = time.process_time() - start
    return seconds, float(np.mean(describer.clauses_.lengths))


def planted(texts: list[str], setting: dict[str, Any], seed: int) -> float:
    """Give the average precision of planted words among all words."""
    rng = np.random.default_rng(seed)
    changed = list(texts)
    novel = rng.permutation(len(texts)) < len(texts) // 2
    names = [f"planted{first}{second}" for first in "vwx" for second in "abcdefghij"]
    rows = np.flatnonzero(novel)
    for name in names:
        for row in rng.choice(rows, round(SHARE * len(rows)), replace=False):
            changed[row] += f"\n{name}"
    describer = NoveltyDescriber(**setting, random_state=seed).fit(changed, novel)
    words = describer.words_
    assert all(name in words for name in names)
    scores = np.nan_to_num(words["score"], nan=-1.0)
    return float(average_precision_score(np.isin(words["word"].astype(str), names), scores))


def table(folder: Path) -> Iterator[str]:
    """Measure, line by line."""
    texts, labels = corpus(folder, "bbcsport", ("cricket", "football", "rugby"))
    novel = np.array([label == "rugby" for label in labels])
    yield f"BBC Sport, {len(texts):,} documents, {novel.sum():,} of them novel:\n"
    yield "| setting | AUROC: votes | all words | 30 words | seconds | words a rule |"
    yield "|---|---|---|---|---|---|"
    for name, setting in SETTINGS.items():
        seconds, length = whole(texts, novel, setting)
        aurocs = held_out(texts, novel, setting) if name != "paper" else []
        cells = [f"{auroc:.3f}" for auroc in aurocs] or ["not measured"] * 3
        yield f"| {name} | {' | '.join(cells)} | {seconds:.1f} | {length:.1f} |"
    texts, _ = corpus(folder, "20newsgroups", ("comp.graphics", "talk.politics.guns"))
    yield f"\n20 Newsgroups, {len(texts):,} documents, average precision of planted words:\n"
    yield "| setting | mean | by seed |"
    yield "|---|---|---|"
    for name, setting in list(SETTINGS.items())[:2]:
        precisions = [planted(texts, setting, seed) for seed in SEEDS]
        yield f"| {name} | {fmean(precisions):.2f} | {', '.join(f'{p:.2f}' for p in precisions)} |"


def main() -> int:
    """Measure, print and write."""
    folder = os.environ.get("NEWFOUND_DATA")
    if not folder:
        print("Set NEWFOUND_DATA to the folder with the corpora.", file=sys.stderr)
        return 1
    lines = [
        "# The defaults of NoveltyDescriber",
        "",
        "`python benchmarks/describe_defaults.py`",
        "",
    ]
    for line in table(Path(folder)):
        print(line, flush=True)
        lines.append(line)
    RESULT.parent.mkdir(exist_ok=True)
    with written_aside(RESULT, force=True) as aside:
        aside.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
