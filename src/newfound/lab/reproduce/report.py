"""What the page of a reproduction says, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from newfound.lab.reproduce.claims import judge
from newfound.lab.reproduce.figures import CAPTIONS, NAMES
from newfound.lab.reproduce.measure import GROUPS, MIN_DOCUMENTS, N_FOLDS
from newfound.lab.reproduce.outcome import ROLES, TASKS, Outcome, number, spread, tables
from newfound.lab.reproduce.page import Block, Figure, Heading, Rows, Text, rows_of
from newfound.table import Table

__all__ = ["case_study_blocks", "experiment_blocks", "opening_blocks"]

_SHOWN_WORDS, _SHOWN_RULES = 15, 5
_PAPER = (
    "B. Bhattarai, O.-C. Granmo, L. Jiao, “Word-level Human Interpretable Scoring Mechanism for "
    "Novel Text Detection Using Tsetlin Machines”"
)


def opening_blocks(about: Mapping[str, Any], outcomes: Sequence[Outcome]) -> Iterator[Block]:
    """Say what this is, how it was made, and how many claims hold."""
    yield Heading(1, "The paper's experiments, reproduced")
    yield Text(
        f"{_PAPER}: its tables and figures, ours beside the published ones. Figures are mean ± "
        "standard deviation over seeds. Training is random: expect the paper's shape, not its "
        "digits."
    )
    made = (
        "newfound", "code", "python", "numpy", "platform", "cores", "threads", "started", "seconds",
    )  # fmt: skip
    yield Rows(["made with", ""], [[key, str(about[key])] for key in made if key in about])
    if about.get("resumed"):
        yield Text(
            f"{about['resumed']} of the seeds had been finished before, by the same code; the "
            "seconds above are those of this call. What every fit took is said with each corpus."
        )
    for outcome in outcomes:
        verdicts = [row["holds"] for row in judge(outcome)]
        counts = {verdict: verdicts.count(verdict) for verdict in ("yes", "different", "no")}
        yield Text(
            f"{outcome.experiment.title}: of {len(verdicts)} claims {counts['yes']} hold, "
            f"{counts['different']} with another figure or on a condition, {counts['no']} do not."
        )


def case_study_blocks(table: Table) -> Iterator[Block]:
    """Give the case study: exact scores beside those printed."""
    yield Heading(2, "Case study")
    wrong = [row["word"] for row in table.to_records() if not row["agrees"]]
    yield Text(
        "The scores of the ten words from the paper's eight clauses, exact, beside what it prints. "
        f"Not explained by rounding: {', '.join(wrong)}; for words that only novel clauses have, "
        "the paper divides by 15 (14 and the floor) where it should divide by 14."
    )
    records = [
        {**row, "score": f"{row['score']:.4f}", "agrees": "yes" if row["agrees"] else "no"}
        for row in table.to_records()
    ]
    columns = {
        "word": "word", "F_K": "F_K", "F_N": "F_N", "fraction": "exact", "score": "score",
        "paper": "the paper", "agrees": "agrees",
    }  # fmt: skip
    yield rows_of(records, columns, (1, 2, 3, 4, 5))


def experiment_blocks(outcome: Outcome, folder: Path, figures: Sequence[str]) -> Iterator[Block]:
    """Give an experiment: claims, tables, figures."""
    experiment, documents = outcome.experiment, outcome.corpus["documents"]
    seeds, parameters = [seed["seed"] for seed in outcome.seeds], outcome.parameters
    yield Heading(2, experiment.title)
    yield Text(
        f"Known: {' and '.join(experiment.known)} ({documents['known']:,} documents); novel: "
        f"{' and '.join(experiment.novel)} ({documents['novel']:,}); "
        f"{len(outcome.corpus['vocabulary']):,} words. "
        f"{parameters['n_clauses']:,} clauses for each class, T = {parameters['T']}, s = "
        f"{parameters['s']:g}, at most {parameters['epochs']} epochs, one machine; seeds "
        f"{', '.join(map(str, seeds))}."
    )
    yield Heading(3, "Does what the paper says hold here?")
    yield Text(
        "What a rule compares has to be so in every seed, and a tie is none; shares and lifts are "
        "means over seeds. “Different”: what it says holds, but with another figure, or on the "
        "condition that the rule names."
    )
    claims = {"claim": "the paper says", "paper": "its figure", "ours": "ours", "holds": "holds"}
    yield rows_of(judge(outcome), {**claims, "rule": "when it holds"})
    shown = {name: Figure(folder / f"{name}.svg", CAPTIONS[name]) for name in figures}
    yield from _words(outcome)
    yield from (shown[name] for name in ("cumulative", "cumulative_tfidf") if name in shown)
    yield from _held_out(outcome)
    yield from (shown[name] for name in ("roc", "precision_recall") if name in shown)
    if "context" in shown:
        yield Heading(3, "Words in context")
        yield shown["context"]
        yield from _lifts(outcome)
    yield from _top(outcome)
    yield from _costs(outcome)


def _words(outcome: Outcome) -> Iterator[Block]:
    yield Heading(3, "Overall word statistics")
    header = ["words", "number", "the paper", "mean score", "the paper", "sd", "the paper"]
    rows = []
    for group in GROUPS:
        paper = outcome.experiment.words[group]
        count, mean, sd = (
            spread(outcome.values(lambda a, k=key, g=group: a["words"][g][k]))  # type: ignore[misc]
            for key in ("count", "mean", "sd")
        )
        rows.append(
            [group, f"{count.mean:,.0f}", f"{paper.number:,}", str(mean), number(paper.mean),
             str(sd), number(paper.sd)]
        )  # fmt: skip
    yield Rows(header, rows, range(1, 7))
    yield Heading(3, "Composition of shared words")
    chosen = outcome.parameters
    yield Text(
        f"The paper gives no cut-offs; here a shared word is known up to {chosen['shared_low']:g} "
        f"and novel from {chosen['shared_high']:g} on."
    )
    rows = []
    for role in ROLES:
        paper = outcome.experiment.shared[role]
        count, mean, sd = (
            spread(outcome.values(lambda a, k=key, r=role: a["shared"][r][k]))  # type: ignore[misc]
            for key in ("count", "mean", "sd")
        )
        rows.append(
            [role, str(count), f"{paper.number:,}", str(mean), number(paper.mean), str(sd),
             number(paper.sd)]
        )  # fmt: skip
    yield Rows(["shared words", *header[1:]], rows, range(1, 7))


def _held_out(outcome: Outcome) -> Iterator[Block]:
    yield Heading(3, "On documents held out")
    fold = outcome.seeds[0]["held_out"][0]
    how = (
        "the corpus's own split by date"
        if outcome.experiment.split
        else f"{N_FOLDS} folds, stratified, near-duplicates kept together"
    )
    yield Text(
        f"Held out: {how}; for example {fold['train']:,} documents to learn from and "
        f"{fold['test']:,} to judge by. Vocabulary, scores and parameters come from the former "
        f"alone. Words: those of at least {MIN_DOCUMENTS} held-out documents ({fold['judged']:,}); "
        "a word is truly novel if a greater share of the novel than of the known ones has it. "
        "Documents: the sum of their words' scores, and a logistic regression on their words' "
        "scores; of the paper's score the logarithm is taken in both, which the paper does not do. "
        "TF-IDF has hardly a value below 0, so its sum follows the length of a "
        "document. A logistic regression of words on their score alone ranks them as the score "
        "does. newfound's novelty is made of documents, not of rules."
    )
    rows = []
    for scorer in outcome.scorers:
        cells = [NAMES.get(scorer, scorer)]
        for task in TASKS:
            for figure in ("auroc", "average_precision"):
                values = outcome.held_out(scorer, task, figure)
                cells.append(str(spread(values)) if values else "–")
        rows.append(cells)
    header = ["score", "words: AUROC", "AP", "documents by sum: AUROC", "AP",
              "by regression: AUROC", "AP"]  # fmt: skip
    yield Rows(header, rows, range(1, 7))


def _lifts(outcome: Outcome) -> Iterator[Block]:
    lift, experiment = outcome.lift(), outcome.experiment
    if lift is None:
        return
    words = experiment.context_words
    yield Text("The same in figures, ours (mean of the seeds) / the paper's:")
    rows = [
        [
            word,
            *(
                "" if i == j else f"{number(lift[i, j])} / {number(experiment.lift[i][j])}"
                for j in range(len(words))
            ),
        ]
        for i, word in enumerate(words)
    ]
    yield Rows(["", *words], rows, range(1, len(words) + 1))


def _top(outcome: Outcome) -> Iterator[Block]:
    top = tables(outcome)["top_words"].to_records()
    yield Heading(3, "Top words")
    columns = {
        "word": "word", "score": "score", "F_N": "F_N", "F_K": "F_K",
        "documents_novel": "novel docs", "documents_known": "known docs", "group": "group",
    }  # fmt: skip
    for side in ("novel", "known"):
        chosen = [row for row in top if row["side"] == side][:_SHOWN_WORDS]
        for row in chosen:
            row |= {key: number(row[key]) for key in ("score", "F_N", "F_K")}
        yield Text(f"The most {side} words, by the mean score of the seeds:")
        yield rows_of(chosen, columns, range(1, 6))
    first = outcome.seeds[0]
    yield Heading(3, "Top rules")
    yield Text(
        f"Seed {first['seed']}: of the rules with a plain word, those that tell the sides apart "
        "best, by the share of the documents that they match."
    )
    rules = []
    for side in ("novel", "known"):
        rules += [rule for rule in first["all"]["rules"] if rule["side"] == side][:_SHOWN_RULES]
    columns = {
        "rule": "rule", "side": "for", "matches_novel": "novel docs", "matches_known": "known docs",
        "count": "times",
    }  # fmt: skip
    yield rows_of(rules, columns, (2, 3, 4))


def _costs(outcome: Outcome) -> Iterator[Block]:
    costs = [seed["all"]["cost"] for seed in outcome.seeds]
    held = [fold["cost"] for seed in outcome.seeds for fold in seed["held_out"]]
    epochs = [seed["all"]["epochs"] for seed in outcome.seeds]
    plain, negated = (
        spread([seed["all"][key] for seed in outcome.seeds])
        for key in ("plain_words", "negated_words")
    )
    yield Heading(3, "What it cost")
    yield Text(
        f"A fit to all documents took {spread([c['seconds'] for c in costs])} s, at most "
        f"{max(c['peak_mb'] for c in costs):,.0f} MB, and {_range(epochs)} epochs; one to training "
        f"documents "
        f"{spread([c['seconds'] for c in held])} s. A rule has {plain} plain and {negated} negated "
        "words."
    )


def _range(values: Sequence[int]) -> str:
    low, high = int(np.min(values)), int(np.max(values))
    return str(low) if low == high else f"{low} to {high}"
