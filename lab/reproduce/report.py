"""The blocks of the page of a reproduction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lab.reproduce.claims import judge
from lab.reproduce.figures import CAPTIONS, NAMES
from lab.reproduce.measure import GROUPS, MIN_DOCUMENTS, N_FOLDS
from lab.reproduce.outcome import AREAS, ROLES, TASKS, Outcome, number, spread, tables
from lab.reproduce.page import Block, Figure, Heading, Rows, Text, rows_of
from newfound.table import Table

__all__ = ["case_study_blocks", "experiment_blocks", "opening_blocks", "other_parameters"]

_SHOWN_WORDS, _SHOWN_RULES = 15, 5
_PAPER = (
    "B. Bhattarai, O.-C. Granmo, L. Jiao, “Word-level Human Interpretable Scoring Mechanism for "
    "Novel Text Detection Using Tsetlin Machines”"
)


def opening_blocks(about: Mapping[str, Any], outcomes: Sequence[Outcome]) -> Iterator[Block]:
    """Yield the introduction: the paper, how the figures were made, how many claims hold."""
    yield Heading(1, "The paper's experiments, reproduced")
    yield Text(
        f"{_PAPER}: the published tables and figures beside ours. Figures are mean ± standard "
        "deviation over seeds. Training is random, so digits differ from the paper's."
    )
    made = (
        "newfound", "code", "python", "numpy", "platform", "cores", "threads", "started", "seconds",
    )  # fmt: skip
    yield Rows(["made with", ""], [[key, str(about[key])] for key in made if key in about])
    if about.get("resumed"):
        yield Text(
            f"{about['resumed']} of the seeds were computed by an earlier call of the same code; "
            "the seconds above are those of the last call. The time of each fit is given below."
        )
    for outcome in outcomes:
        verdicts = [row["holds"] for row in judge(outcome)]
        counts = {verdict: verdicts.count(verdict) for verdict in ("yes", "different", "no")}
        yield Text(
            f"{outcome.experiment.title}: of {len(verdicts)} claims {counts['yes']} hold, "
            f"{counts['different']} hold with another figure or on a condition, {counts['no']} do "
            "not hold."
        )


def case_study_blocks(table: Table) -> Iterator[Block]:
    """Yield the case study: exact scores beside the printed ones."""
    yield Heading(2, "Case study")
    wrong = [row["word"] for row in table.to_records() if not row["agrees"]]
    yield Text(
        "The exact scores of ten words from the paper's eight clauses, beside the printed ones. "
        f"Rounding does not explain {', '.join(wrong)}: for words of novel clauses only, the paper "
        "divides by 15 (14 plus the floor) instead of 14."
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


def experiment_blocks(outcome: Outcome, figures: Sequence[str]) -> Iterator[Block]:
    """Yield an experiment: claims, tables and figures."""
    experiment, documents = outcome.experiment, outcome.corpus["documents"]
    seeds, parameters = [seed["seed"] for seed in outcome.seeds], outcome.parameters
    yield Heading(2, experiment.title)
    yield Text(
        f"Known: {' and '.join(experiment.known)} ({documents['known']:,} documents); novel: "
        f"{' and '.join(experiment.novel)} ({documents['novel']:,}); "
        f"{len(outcome.corpus['vocabulary']):,} words. "
        f"{parameters['n_clauses']:,} clauses for each class, T = {parameters['T']}, s = "
        f"{parameters['s']:g}, at most {parameters['epochs']} epochs, one machine; "
        f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}."
    )
    if (other := other_parameters(outcome)) is not None:
        yield Text(other)
    yield Heading(3, "Claims of the paper")
    yield Text(
        "A comparison must hold in every seed, and a tie does not count. Shares and lifts are "
        "means over seeds. “Different” means that the claim holds with another figure, or on the "
        "condition that the rule states."
    )
    claims = {"claim": "the paper says", "paper": "its figure", "ours": "ours", "holds": "holds"}
    yield rows_of(judge(outcome), {**claims, "rule": "rule"})
    shown = {name: Figure(f"{experiment.name}/{name}.png", CAPTIONS[name]) for name in figures}
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


def other_parameters(outcome: Outcome) -> str | None:
    """Return a sentence on the parameters that are not those of the paper; None if all are.

    Parameters
    ----------
    outcome : Outcome
        All seeds of an experiment.

    Returns
    -------
    str or None
    """
    changed = outcome.changed_parameters()
    if not changed:
        return None
    shown = [
        f"{name} is {_plain(ours)}, in the paper {_plain(paper)}"
        for name, (paper, ours) in changed.items()
    ]
    return (
        f"These are not the parameters of the paper: {'; '.join(shown)}. Claims that do not hold "
        "here may hold with the paper's."
    )


def _plain(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _words(outcome: Outcome) -> Iterator[Block]:
    yield Heading(3, "Overall word statistics")
    yield _statistics(outcome, "words", GROUPS)
    yield Heading(3, "Composition of shared words")
    chosen = outcome.parameters
    yield Text(
        "The paper does not state its cut-offs. Here a shared word is known if it scores at most "
        f"{chosen['shared_low']:g}, and novel if it scores at least {chosen['shared_high']:g}."
    )
    yield _statistics(outcome, "shared", ROLES)


def _statistics(outcome: Outcome, section: str, groups: Sequence[str]) -> Rows:
    """Return number, mean and standard deviation of scores, ours beside the paper's."""
    published = getattr(outcome.experiment, section)
    rows = []
    for group in groups:
        paper = published[group]
        count, mean, sd = outcome.spreads(section, group, ("count", "mean", "sd"))
        # The number of words of a group is the same for every seed.
        shown = f"{count.mean:,.0f}" if section == "words" else str(count)
        rows.append(
            [group, shown, f"{paper.number:,}", str(mean), number(paper.mean), str(sd),
             number(paper.sd)]
        )  # fmt: skip
    first = "words" if section == "words" else "shared words"
    header = [first, "number", "the paper", "mean score", "the paper", "sd", "the paper"]
    return Rows(header, rows, range(1, 7))


def _held_out(outcome: Outcome) -> Iterator[Block]:
    yield Heading(3, "Held-out documents")
    fold = outcome.seeds[0]["held_out"][0]
    how = (
        "the split of the corpus by date"
        if outcome.experiment.split
        else f"{N_FOLDS} stratified folds that keep near-duplicates together"
    )
    yield Text(
        f"Held out by {how}; for example {fold['train']:,} training and {fold['test']:,} test "
        "documents. Vocabulary, scores and parameters come from the training documents alone. "
        f"Words: those of at least {MIN_DOCUMENTS} test documents ({fold['judged']:,}); a word is "
        "truly novel if a greater share of the novel than of the known test documents contains it. "
        "Documents are ranked by the sum of their words' scores, and by a logistic regression on "
        "their words' scores. Both use the logarithm of the paper's score, which the paper does "
        "not. TF-IDF is hardly ever negative, so that its sum follows the length of a document. "
        "newfound's novelty is computed from documents, not from rules."
    )
    rows = []
    for scorer in outcome.scorers:
        cells = [NAMES.get(scorer, scorer)]
        for task in TASKS:
            for figure in AREAS:
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
    yield Text("The lifts, ours (mean of the seeds) / the paper's:")
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
        extreme = "highest" if side == "novel" else "lowest"
        yield Text(f"The words with the {extreme} mean score over the seeds:")
        yield rows_of(chosen, columns, range(1, 6))
    first = outcome.seeds[0]
    yield Heading(3, "Top rules")
    yield Text(
        f"Seed {first['seed']}: the rules with a plain word that separate the sides best, by "
        "the shares of the documents that they match."
    )
    rules = []
    for side in ("novel", "known"):
        rules += [rule for rule in first["all"]["rules"] if rule["side"] == side][:_SHOWN_RULES]
    columns = {
        "rule": "rule", "side": "side", "matches_novel": "novel docs",
        "matches_known": "known docs", "count": "times",
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
    yield Heading(3, "Time and memory")
    yield Text(
        f"A fit to all documents took {spread([c['seconds'] for c in costs])} s, at most "
        f"{max(c['peak_mb'] for c in costs):,.0f} MB and {_range(epochs)} epochs; a fit to "
        f"training documents took {spread([c['seconds'] for c in held])} s. A rule has {plain} "
        f"plain and {negated} negated words on average."
    )


def _range(values: Sequence[int]) -> str:
    low, high = int(np.min(values)), int(np.max(values))
    return str(low) if low == high else f"{low} to {high}"
