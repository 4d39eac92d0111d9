"""The published experiments, tables and figures, as data.

The paper is B. Bhattarai, O.-C. Granmo, L. Jiao, "Word-level Human Interpretable Scoring Mechanism
for Novel Text Detection Using Tsetlin Machines".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

__all__ = ["CASE_STUDY", "EXPERIMENTS", "CaseWord", "Experiment", "Statistics", "load_corpus"]


class Statistics(NamedTuple):
    """A row of the paper's tables of words: number of words, mean and deviation of scores."""

    number: int
    mean: float
    sd: float


class CaseWord(NamedTuple):
    """A row of the paper's case study; a frequency that is not listed is 0."""

    word: str
    F_K: int
    F_N: int
    score: str


@dataclass(frozen=True)
class Experiment:
    """One of the paper's two experiments, with its published figures.

    Attributes
    ----------
    name, title : str
        The name on the command line, and that of the data set.
    known, novel : tuple of str
        The labels on each side.
    split : bool
        Whether the corpus has a standard split.
    words, shared : dict of str to Statistics
        The tables "Overall word statistics" and "Composition of shared words".
    context_words : tuple of str
        The five words of the context matrix, as our vocabulary spells them.
    printed_words : tuple of str
        The same as the paper spells them.
    lift : tuple of tuple of float
        The context matrix as printed, with its diagonal.
    cut : float
        The score at which the paper states cumulative frequencies.
    below : dict of str to float
        The shares of the known and of the novel words below `cut`.
    probe : (str, int, int) or None
        A word, and the printed numbers of known and novel clauses that contain it.
    """

    name: str
    title: str
    known: tuple[str, ...]
    novel: tuple[str, ...]
    split: bool
    words: Mapping[str, Statistics]
    shared: Mapping[str, Statistics]
    context_words: tuple[str, str, str, str, str]
    printed_words: tuple[str, str, str, str, str]
    lift: tuple[tuple[float, ...], ...]
    cut: float
    below: Mapping[str, float]
    probe: tuple[str, int, int] | None = None


EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        "bbcsport": Experiment(
            name="bbcsport",
            title="BBC Sport",
            known=("cricket", "football"),
            novel=("rugby",),
            split=False,
            words={
                "known": Statistics(6660, 0.74, 0.23),
                "novel": Statistics(1941, 1.3125, 3.75),
                "shared": Statistics(3135, 11.30, 316.93),
            },
            shared={
                "known": Statistics(10, 0.11, 0.070),
                "novel": Statistics(17, 1941.13, 3919.02),
                "common": Statistics(3051, 1.03, 0.99),
            },
            context_words=("manchester", "chelsea", "particular", "rugby", "fly-half"),
            printed_words=("Manchester", "Chelsea", "Particular", "Rugby", "Flyhalf"),
            lift=(
                (14363.688, 6.324, 4.738, 0.33, 0.848),
                (6.324, 19801.49, 6.18, 0.466, 1.326),
                (4.738, 6.18, 30863.006, 2.52, 4.968),
                (0.33, 0.466, 2.52, 486.758, 3.952),
                (0.848, 1.326, 4.968, 3.952, 8888.888),
            ),
            cut=1.0,
            below={"known": 0.85, "novel": 0.45},
            probe=("rugby", 5, 215),
        ),
        "20newsgroups": Experiment(
            name="20newsgroups",
            title="20 Newsgroups",
            known=("comp.graphics", "talk.politics.guns"),
            novel=("rec.sport.baseball",),
            split=True,
            words={
                "known": Statistics(23133, 0.99, 0.21),
                "novel": Statistics(6921, 1.20, 1.04),
                "shared": Statistics(5786, 3.04, 131.62),
            },
            shared={
                "known": Statistics(9, 0.14, 0.074),
                "novel": Statistics(33, 640.75, 2378.87),
                "common": Statistics(5697, 1.11, 0.58),
            },
            context_words=("gun", "weapon", "gather", "baseball", "player"),
            printed_words=("Guns", "Weapon", "Gather", "Baseball", "Player"),
            lift=(
                (12302.96, 17.648, 15.754, 4.036, 4.268),
                (17.648, 13888.888, 12.108, 4.66, 5.102),
                (15.754, 12.108, 14610.272, 11.854, 15.408),
                (4.036, 4.66, 11.854, 4003.824, 18.566),
                (4.268, 5.102, 15.408, 18.566, 9255.402),
            ),
            cut=1.3,
            below={"known": 0.90, "novel": 0.45},
        ),
    }
)

CASE_STUDY = (
    CaseWord("England", 1, 1, "1.070"),
    CaseWord("won", 1, 2, "2.169"),
    CaseWord("cricket", 4, 0, "0.271"),
    CaseWord("match", 1, 2, "2.169"),
    CaseWord("hit", 2, 0, "0.535"),
    CaseWord("six", 4, 0, "0.271"),
    CaseWord("ball", 1, 1, "1.070"),
    CaseWord("rugby", 0, 4, "4.651"),
    CaseWord("despite", 0, 1, "1.15"),
    CaseWord("old", 0, 2, "2.31"),
)


def load_corpus(experiment: Experiment, path: Any = None, **options: Any) -> Any:
    """Load the documents of an experiment; 20 Newsgroups without headers."""
    from lab import datasets

    loaders: dict[str, Callable[..., Any]] = {
        "bbcsport": datasets.load_bbcsport,
        "20newsgroups": datasets.load_20newsgroups,
    }
    corpus = loaders[experiment.name](path, **options)
    return corpus.only(*experiment.known, *experiment.novel)
