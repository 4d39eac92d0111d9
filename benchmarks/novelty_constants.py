"""The constants of novelty: what each does on planted words, on shifts and on months.

    NEWFOUND_DATA=folder python benchmarks/novelty_constants.py

One thread, some minutes. The table is printed and written to
benchmarks/results/novelty_constants.md. The draws are others than those of
``python -m lab evaluate words``, where the suites are described.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the lab is not installed

from lab.evaluation.shifting import shifted_piles
from lab.evaluation.word_corpora import Matrix, Setting
from newfound.description import novelty
from newfound.metrics import document_scores
from newfound.storage.files import replacing
from newfound.stories import evidence

RESULT = Path(__file__).resolve().parent / "results" / "novelty_constants.md"
# (weight of z2, k of z1)
CONSTANTS = {
    "0.3 z₂, k = 16: the default": (0.3, 16.0),
    "no z₂": (0.0, 16.0),
    "0.15 z₂": (0.15, 16.0),
    "0.5 z₂": (0.5, 16.0),
    "k = 4": (0.3, 4.0),
    "k = 0, no z₂": (0.0, 0.0),
}
SEEDS = range(10, 14)
MONTHS = ("2003-05", "2003-09", "2004-01")
Values = dict[str, list[float]]


def held_out(
    found: Values, matrix: Matrix, novel: NDArray[np.bool_], column: str, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Add the AUROC of held-out documents by the top 50 words; return words and their novelty."""
    learned = np.random.default_rng([seed, 3]).random(len(novel)) < 0.5
    kept = np.flatnonzero(np.asarray(matrix[learned].sum(axis=0)).ravel() >= 2)
    scores = novelty.word_evidence(matrix[learned][:, kept], novel[learned]).novelty
    few = np.zeros_like(scores)
    top = np.argsort(-np.abs(scores), kind="stable")[:50]
    few[top] = scores[top]
    ranked = document_scores(matrix[~learned][:, kept], few)
    found.setdefault(f"{column}, top 50", []).append(float(roc_auc_score(novel[~learned], ranked)))
    return kept, scores


def measure(shared: Setting) -> Values:
    """Return the values of all draws, by column."""
    found: Values = {}
    for seed in SEEDS:
        matrix, novel, planted = shared.planted_words(seed, 0.02)
        value = average_precision_score(planted, novelty.word_evidence(matrix, novel).novelty)
        found.setdefault("planted words, 2 %", []).append(float(value))
    for name in ("CLINC150", "20 Newsgroups"):
        bags, topics = shared.topics(name)
        for seed in SEEDS:
            piles = shifted_piles(topics, seed=seed, times=5)
            rows = np.concatenate((piles.known, piles.novel))
            novel = np.arange(len(rows)) >= len(piles.known)
            matrix, grown = bags[rows], np.isin(topics[rows], piles.grown)
            kept, scores = held_out(found, matrix, novel, f"{name}, 5 times", seed)
            shares = [np.asarray(m[:, kept].mean(axis=0)).ravel() for m in (matrix, matrix[grown])]
            value = average_precision_score(shares[1] >= 2 * shares[0], scores)
            found.setdefault(f"{name}, 5 times, words of grown topics", []).append(float(value))
    for month in MONTHS:
        corpus = shared.month(month)
        held_out(found, corpus.matrix, corpus.novel, "months", 0)
    return found


def main() -> None:
    """Measure all constants and write the table."""
    shared, lines = Setting(), [
        "# The constants of novelty",
        "",
        f"`python benchmarks/novelty_constants.py`, {time.strftime('%Y-%m-%d')}: means and, after "
        f"±, standard deviations of {len(SEEDS)} draws or {len(MONTHS)} months. z₂ and k are "
        "explained in `docs/words-method.md`; columns are those of `python -m lab evaluate words`.",
        "",
    ]  # fmt: skip
    for name, (weight, prior) in CONSTANTS.items():
        novelty._WEIGHT_Z2, evidence.PRIOR = weight, prior
        found = measure(shared)
        if not lines[-1].startswith("|"):
            lines += [f"| | {' | '.join(found)} |", f"|{'---|' * (len(found) + 1)}"]
        cells = [f"{np.mean(v):.4f} ± {np.std(v, ddof=1):.4f}" for v in found.values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    with replacing(RESULT, force=True) as aside:
        Path(aside).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
