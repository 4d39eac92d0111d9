"""The defaults of NoveltyDescriber: a sweep of its parameters on three corpora.

    NEWFOUND_DATA=folder python benchmarks/describe_defaults.py

One thread, about five minutes. The table is printed and written to
benchmarks/results/describe_defaults.md. For each setting:

- AUROC of the votes of the machines that were not trained on a document, on BBC Sport (rugby
  against cricket and football), 20 Newsgroups (baseball against graphics and guns) and CLINC150
  (requests about travel against banking).
- The number of planted pairs of words among the 20 strongest phrases, three for each of two seeds;
  see the suite planted-pairs of ``python -m lab evaluate words``.
- Words a rule on BBC Sport; seconds of the processor for the rules of each corpus.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the lab is not installed

from lab.evaluation.word_corpora import Corpus, Setting, fitted_words, learned_rules
from newfound.description.words import find_phrases
from newfound.storage.files import replacing
from newfound.stories.evidence import document_weights

RESULT = Path(__file__).resolve().parent / "results" / "describe_defaults.md"
FEWER = {"n_machines": 5}  # half the default, to save time
SETTINGS: dict[str, dict[str, Any]] = {
    "5 machines": {},
    "10 machines, the default": {"n_machines": 10},
    "250 clauses": {"n_clauses": 250},
    "T = 50": {"T": 50},
    "T = 250": {"T": 250},
    "s = 25": {"s": 25.0},
    "5 epochs": {"epochs": 5},
    "any number of documents": {"max_documents": 0},
}
PAIR_SEEDS = 2


def votes(shared: Setting, corpus: Corpus, setting: dict[str, Any]) -> tuple[float, float, float]:
    """Return the AUROC of held-out votes, the words a rule and the processor seconds."""
    often = np.asarray(corpus.matrix.sum(axis=0)).ravel() >= 2
    began = time.process_time()
    learned = learned_rules(shared, corpus.matrix[:, often], corpus.novel, 1, **setting)
    seconds = time.process_time() - began
    judged = ~np.isnan(learned.votes)
    area = float(roc_auc_score(corpus.novel[judged], learned.votes[judged]))
    return area, float(learned.clauses.lengths.mean()), seconds


def pairs(shared: Setting, setting: dict[str, Any]) -> tuple[int, float]:
    """Return the number of planted pairs found, and the processor seconds for a seed."""
    found, began = 0, time.process_time()
    for seed in range(PAIR_SEEDS):
        matrix, novel, planted = shared.planted_pairs(seed)
        table, _ = fitted_words(shared, matrix, novel, seed, **setting)
        phrases = find_phrases(table, matrix, document_weights(matrix, novel))
        named = [{int(word) for word in words} for words in phrases["words"][:20]]
        found += sum(any(set(pair) <= words for words in named) for pair in planted)
    return found, (time.process_time() - began) / PAIR_SEEDS


def main() -> None:
    """Measure all settings and write the table."""
    shared = Setting()
    lines = [
        "# The defaults of NoveltyDescriber",
        "",
        f"`python benchmarks/describe_defaults.py`, {time.strftime('%Y-%m-%d')}: held-out AUROC of "
        "the votes, and processor seconds in brackets. Each row is the default with five machines, "
        "except for the parameter that it names.",
        "",
        f"| setting | BBC Sport | 20 Newsgroups | CLINC150 | pairs found of {3 * PAIR_SEEDS} | "
        "words a rule |",
        "|---|---|---|---|---|---|",
    ]
    for name, changed in SETTINGS.items():
        setting = {**FEWER, **changed}
        cells, length = [], 0.0
        for corpus in (shared.bbcsport, shared.newsgroups, shared.requests):
            area, words, seconds = votes(shared, corpus, setting)
            length = length or words
            cells.append(f"{area:.4f} ({seconds:.1f})")
        found, seconds = pairs(shared, setting)
        cells += [f"{found} ({seconds:.1f})", f"{length:.1f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    with replacing(RESULT, force=True) as aside:
        Path(aside).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
