"""All seeds of an experiment: figures as mean ± standard deviation over seeds, and tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.reproduce.measure import GRID, GROUPS, QUANTILES
from lab.reproduce.published import Experiment
from lab.tables import table_of
from newfound.description.learning import resolve
from newfound.description.scores import word_scores
from newfound.table import Table

__all__ = ["AREAS", "ROLES", "TASKS", "Outcome", "Spread", "counted", "number", "spread", "tables"]

TASKS = ("words", "documents", "regression")
ROLES = ("known", "novel", "common")
AREAS = ("auroc", "average_precision")

_TOP = 30


class Spread(NamedTuple):
    """A mean over seeds and their standard deviation, which is nan for one seed."""

    mean: float
    sd: float

    def __str__(self) -> str:
        if math.isnan(self.sd):
            return number(self.mean)
        return f"{number(self.mean)} ± {number(self.sd)}"


def number(value: float | None) -> str:
    """Return a figure as text, with four significant digits or three decimals.

    Examples
    --------
    >>> number(1941.13), number(11.3), number(0.0701), number(None)
    ('1,941', '11.30', '0.070', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    size = abs(value)
    digits = 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 10 else 3
    return f"{value:,.{digits}f}"


def spread(values: Iterable[float | None]) -> Spread:
    """Return the mean and the sample standard deviation of the values that are not None.

    Examples
    --------
    >>> print(spread([1.0, 2.0, 3.0]), "|", spread([2.0]))
    2.000 ± 1.000 | 2.000
    """
    given = np.array([value for value in values if value is not None], np.float64)
    if not len(given):
        return Spread(math.nan, math.nan)
    return Spread(float(given.mean()), float(given.std(ddof=1)) if len(given) > 1 else math.nan)


def counted(values: Iterable[float | None]) -> str:
    """Return the number of something over the seeds as text: whole for one seed, else its spread.

    Examples
    --------
    >>> counted([2696]), counted([0]), counted([1, 2])
    ('2,696', '0', '1.5 ± 0.7')
    """
    mean, sd = spread(values)
    if math.isnan(mean):
        return "–"
    return f"{mean:,.0f}" if math.isnan(sd) else f"{mean:,.1f} ± {sd:,.1f}"


@dataclass(frozen=True)
class Outcome:
    """The results of all seeds, what does not depend on the seed, and the parameters used."""

    experiment: Experiment
    corpus: Mapping[str, Any]
    seeds: Sequence[Mapping[str, Any]]
    parameters: Mapping[str, Any]

    def changed_parameters(self) -> dict[str, tuple[Any, Any]]:
        """Return the parameters that are not the paper's, each with the paper's value and ours."""
        paper = resolve("paper", {})
        return {
            name: (paper[name], ours)
            for name, ours in self.parameters.items()
            if name in paper and ours != paper[name]
        }

    def values(self, of: Callable[[Mapping[str, Any]], float | None]) -> list[float | None]:
        """Return a figure of the fit to all documents for each seed."""
        return [of(seed["all"]) for seed in self.seeds]

    def spreads(self, section: str, row: str, figures: Sequence[str]) -> list[Spread]:
        """Return figures of a row of a table of words, as mean and deviation over the seeds.

        Parameters
        ----------
        section : {"words", "shared"}
            Statistics of all words, or the composition of the shared words.
        row : str
            A group of words, or a role of shared words.
        figures : sequence of str
            The names of the figures.
        """
        return [
            spread(seed["all"][section][row][figure] for seed in self.seeds) for figure in figures
        ]

    def held_out(self, scorer: str, task: str, figure: str = "auroc") -> list[float]:
        """Return a held-out figure of a scorer for each seed, the mean of its folds."""
        found = []
        for seed in self.seeds:
            parts = [fold["scorers"][scorer].get(task) for fold in seed["held_out"]]
            if None in parts:
                return []
            values = [part[figure] if isinstance(part, Mapping) else part for part in parts]
            found.append(float(np.mean(values)))
        return found

    def curve(self, scorer: str, task: str, name: str) -> NDArray[np.float64] | None:
        """Return a curve of a scorer on the common grid, the mean of all seeds and folds."""
        curves = [
            fold["scorers"][scorer][task][name]
            for seed in self.seeds
            for fold in seed["held_out"]
            if task in fold["scorers"][scorer]
        ]
        return np.mean(curves, axis=0) if curves else None

    def lift(self) -> NDArray[np.float64] | None:
        """Return the lifts of the five words on both sides together, the mean of the seeds."""
        found = [seed["all"]["context"] for seed in self.seeds]
        if any(context is None for context in found):
            return None
        lifts = [np.array(context["both"]["lift"], np.float64) for context in found]
        mean: NDArray[np.float64] = np.mean(lifts, axis=0)
        return mean

    @property
    def scorers(self) -> list[str]:
        """The names of all scorers, the paper's score first."""
        return list(self.seeds[0]["held_out"][0]["scorers"])


def tables(outcome: Outcome) -> dict[str, Table]:
    """Return all tables of an outcome, by the names of their files."""
    return {
        "word_statistics": _statistics(outcome),
        "shared_words": _composition(outcome),
        "held_out": _held_out(outcome),
        "top_words": _top_words(outcome),
        "words": _words(outcome),
        "rules": _rules(outcome),
        "context": _context(outcome),
        "cumulative": _cumulative(outcome),
        "curves": _curves(outcome),
        "fits": _fits(outcome),
    }


def _statistics(outcome: Outcome) -> Table:
    rows = []
    for group in GROUPS:
        paper = outcome.experiment.words[group]
        names = ("count", "mean", "sd", "median", "below_1", "below_cut")
        figures = dict(zip(names, outcome.spreads("words", group, names), strict=True))
        rows.append(
            {
                "group": group,
                "paper_words": paper.number,
                "words": round(figures["count"].mean),
                "paper_mean": paper.mean,
                "mean": figures["mean"].mean,
                "mean_sd_over_seeds": figures["mean"].sd,
                "paper_sd": paper.sd,
                "sd": figures["sd"].mean,
                "sd_sd_over_seeds": figures["sd"].sd,
                "median": figures["median"].mean,
                "share_below_1": figures["below_1"].mean,
                "cut_of_the_paper": outcome.experiment.cut,
                "paper_share_below_cut": outcome.experiment.below.get(group),
                "share_below_cut": figures["below_cut"].mean,
            }
        )
    return table_of(rows)


def _composition(outcome: Outcome) -> Table:
    rows = []
    for role in ROLES:
        paper = outcome.experiment.shared[role]
        count, mean, sd = outcome.spreads("shared", role, ("count", "mean", "sd"))
        rows.append(
            {
                "role": role,
                "paper_words": paper.number,
                "words": count.mean,
                "words_sd_over_seeds": count.sd,
                "paper_mean": paper.mean,
                "mean": mean.mean,
                "mean_sd_over_seeds": mean.sd,
                "paper_sd": paper.sd,
                "sd": sd.mean,
                "sd_sd_over_seeds": sd.sd,
            }
        )
    return table_of(rows)


def _held_out(outcome: Outcome) -> Table:
    rows = []
    for scorer in outcome.scorers:
        row: dict[str, Any] = {"scorer": scorer}
        for task in TASKS:
            for figure in AREAS:
                found = spread(outcome.held_out(scorer, task, figure))
                row[f"{task}_{figure}"] = found.mean
                row[f"{task}_{figure}_sd_over_seeds"] = found.sd
        row["shared_words_auroc"] = spread(outcome.held_out(scorer, "shared_words")).mean
        rows.append(row)
    return table_of(rows)


def _words(outcome: Outcome) -> Table:
    """Return all words with their scores, mean and deviation over seeds, the highest first."""
    corpus = outcome.corpus
    known, novel = (np.array(corpus[f"documents_{side}"]) for side in ("known", "novel"))
    F_K, F_N = (np.array([seed["all"][key] for seed in outcome.seeds]) for key in ("F_K", "F_N"))
    scores = np.array([word_scores(k, n).score for k, n in zip(F_K, F_N, strict=True)])
    ranked = ~np.isnan(scores)
    n = np.maximum(ranked.sum(axis=0), 1)
    mean = np.where(ranked.any(axis=0), np.nansum(scores, axis=0) / n, np.nan)
    sd = np.sqrt(np.nansum((scores - mean) ** 2, axis=0) / np.maximum(n - 1, 1))
    top = np.zeros(scores.shape[1], np.int64)
    for row in scores:
        top[np.argsort(-np.nan_to_num(row, nan=-1.0), kind="stable")[:_TOP]] += 1
    table = Table(
        {
            "word": np.array(corpus["vocabulary"], dtype=object),
            "group": np.select(
                [(known > 0) & (novel > 0), known > 0], ["shared", "known"], "novel"
            ),
            "documents_known": known,
            "documents_novel": novel,
            "score": mean.round(6),
            "score_sd_over_seeds": np.where(n > 1, sd, np.nan).round(6),
            "F_K": F_K.mean(axis=0),
            "F_N": F_N.mean(axis=0),
            f"seeds_in_top_{_TOP}": top,
        }
    )
    return table.take(np.argsort(-np.nan_to_num(mean, nan=-1.0), kind="stable"))


def _top_words(outcome: Outcome) -> Table:
    """Return the words with the highest and with the lowest scores."""
    words = _words(outcome)
    novel, known = words.top(_TOP), words.top(_TOP, ascending=True)
    side = np.repeat(["novel", "known"], [len(novel), len(known)])
    columns = {name: np.concatenate((novel[name], known[name])) for name in words.columns}
    return Table({"side": side, **columns})


def _rules(outcome: Outcome) -> Table:
    return table_of(
        [{"seed": seed["seed"], **rule} for seed in outcome.seeds for rule in seed["all"]["rules"]]
    )


def _context(outcome: Outcome) -> Table:
    experiment, rows = outcome.experiment, []
    for seed in outcome.seeds:
        context = seed["all"]["context"]
        for side in ("known", "novel", "both") if context else ():
            scores = context[side]
            for i, first in enumerate(experiment.context_words):
                for j, second in enumerate(experiment.context_words):
                    if i < j:
                        rows.append(
                            {
                                "seed": seed["seed"],
                                "side": side,
                                "word": first,
                                "other": second,
                                "F_i": scores["F_i"][i],
                                "F_j": scores["F_i"][j],
                                "F_ij": scores["F_ij"][i][j],
                                "lift": scores["lift"][i][j],
                                "pmi": scores["pmi"][i][j],
                                "equation": scores["equation"][i][j],
                                "paper_lift": experiment.lift[i][j],
                            }
                        )
    return table_of(rows)


def _cumulative(outcome: Outcome) -> Table:
    """Return cumulative frequencies: the score, mean of the seeds, below which a share lies."""
    columns: dict[str, NDArray[Any]] = {"share": QUANTILES.round(3)}
    for group in GROUPS:
        quantiles = outcome.values(lambda a, g=group: a["words"][g]["quantiles"])  # type: ignore[misc]
        columns[f"score_{group}"] = np.mean(np.array(quantiles), axis=0).round(6)
    for name, values in outcome.corpus["tfidf"].items():
        columns[f"tfidf_{name}"] = np.array(values).round(9)
    return Table(columns)


def _curves(outcome: Outcome) -> Table:
    """Return all curves, a column for each scorer.

    A ROC curve is the true-positive rate at a false-positive rate, a precision curve the precision
    at a recall.
    """
    rows = []
    for task in TASKS:
        for name in ("roc", "precision"):
            curves = {scorer: outcome.curve(scorer, task, name) for scorer in outcome.scorers}
            for place, at in enumerate(GRID):
                row: dict[str, Any] = {"task": task, "curve": name, "at": round(float(at), 2)}
                for scorer, curve in curves.items():
                    row[scorer] = None if curve is None else round(float(curve[place]), 4)
                rows.append(row)
    return table_of(rows)


def _fits(outcome: Outcome) -> Table:
    rows = []
    for seed in outcome.seeds:
        whole = seed["all"]
        rows.append(
            {
                "seed": seed["seed"],
                "documents": sum(outcome.corpus["documents"].values()),
                "words": len(outcome.corpus["vocabulary"]),
                "what": "all documents",
                **whole["cost"],
                "epochs": whole["epochs"],
                "plain_words_a_rule": whole["plain_words"],
                "negated_words_a_rule": whole["negated_words"],
            }
        )
        for fold in seed["held_out"]:
            rows.append(
                {
                    "seed": seed["seed"],
                    "documents": fold["train"],
                    "words": fold["words"],
                    "what": "training documents",
                    **fold["cost"],
                    "epochs": fold["epochs"],
                    "plain_words_a_rule": None,
                    "negated_words_a_rule": None,
                }
            )
    return table_of(rows)
