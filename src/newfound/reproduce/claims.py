"""The sentences of the paper that can be checked, each with a rule that says when it holds.

A verdict is "yes": it holds here; "different": what it says holds, but with another figure than
the paper's; "no": it does not hold here. Where a rule speaks of seeds, it means every seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from newfound.reproduce.measure import OURS
from newfound.reproduce.outcome import Outcome, number, spread

__all__ = ["CLAIMS", "Claim", "judge"]

_POINTS = 0.05
_BOTH = ("bbcsport", "20newsgroups")
_BBC, _NEWS = ("bbcsport",), ("20newsgroups",)


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper.

    Attributes
    ----------
    section : str
        Where it stands.
    sentence : str
        What it says, in its words.
    rule : str
        When it holds here.
    check : callable
        Gives the paper's figure, ours and the verdict; None where there is nothing to check by.
    experiments : tuple of str
        Those that it speaks of.
    """

    section: str
    sentence: str
    rule: str
    check: Callable[[Outcome], tuple[str, str, str] | None]
    experiments: tuple[str, ...] = _BOTH


def judge(outcome: Outcome) -> list[dict[str, str]]:
    """Check every claim of an experiment.

    Parameters
    ----------
    outcome : Outcome
        All seeds of an experiment.

    Returns
    -------
    list of dict
        With section, sentence, rule, the paper's figure, ours, and whether it holds.
    """
    rows = []
    for claim in CLAIMS:
        if outcome.experiment.name not in claim.experiments:
            continue
        found = claim.check(outcome)
        paper, ours, holds = found or ("", "a word of it is not in the vocabulary", "no")
        rows.append(
            {
                "section": claim.section,
                "claim": claim.sentence,
                "paper": paper,
                "ours": ours,
                "holds": holds,
                "rule": claim.rule,
            }
        )
    return rows


def _yes(holds: Any) -> str:
    return "yes" if holds else "no"


def _near(ours: float, paper: float, direction: bool) -> str:
    """Give the verdict on a share: within 5 points, another figure, or not even the direction."""
    if abs(ours - paper) <= _POINTS:
        return "yes"
    return "different" if direction else "no"


def _group(outcome: Outcome, group: str, figure: str) -> list[Any]:
    return outcome.values(lambda a: a["words"][group][figure])


def _novel_higher(outcome: Outcome) -> tuple[str, str, str]:
    known, novel = (_group(outcome, group, "mean") for group in ("known", "novel"))
    paper = outcome.experiment.words
    return (
        f"novel {number(paper['novel'].mean)}, known {number(paper['known'].mean)}",
        f"novel {spread(novel)}, known {spread(known)}",
        _yes(all(n > k for n, k in zip(novel, known, strict=True))),
    )


def _shared_highest(outcome: Outcome) -> tuple[str, str, str]:
    holds, paper = [], outcome.experiment.words["shared"]
    for figure in ("mean", "sd"):
        known, novel, shared = (_group(outcome, g, figure) for g in ("known", "novel", "shared"))
        holds += [s > max(k, n) for k, n, s in zip(known, novel, shared, strict=True)]
    mean, sd = (spread(_group(outcome, "shared", figure)) for figure in ("mean", "sd"))
    return (
        f"mean {number(paper.mean)}, sd {number(paper.sd)}",
        f"mean {mean}, sd {sd}",
        _yes(all(holds)),
    )


def _known_below(outcome: Outcome) -> tuple[str, str, str]:
    paper, ours = outcome.experiment.below["known"], _group(outcome, "known", "below_cut")
    mean = spread(ours)
    return f"{paper:.0%}", _percent(ours), _near(mean.mean, paper, mean.mean > 0.5)


def _novel_below(outcome: Outcome) -> tuple[str, str, str]:
    paper, ours = outcome.experiment.below["novel"], _group(outcome, "novel", "below_cut")
    mean, known = spread(ours), spread(_group(outcome, "known", "below_cut"))
    return f"{paper:.0%}", _percent(ours), _near(mean.mean, paper, mean.mean < known.mean)


def _novel_majority(outcome: Outcome) -> tuple[str, str, str]:
    above = [1 - below for below in _group(outcome, "novel", "below_1")]
    return "about 55%", _percent(above), _yes(min(above) > 0.5)


def _most_novel(outcome: Outcome) -> tuple[str, str, str]:
    ours = outcome.values(lambda a: a["novel_above"])
    return "55%", _percent(ours), _yes(min(map(float, filter(None, ours)), default=0) > 0.5)


def _shared_both(outcome: Outcome) -> tuple[str, str, str]:
    paper = outcome.experiment.shared
    counts = {
        role: outcome.values(lambda a, r=role: a["shared"][r]["count"])  # type: ignore[misc]
        for role in ("known", "novel")
    }
    return (
        f"{paper['known'].number} known, {paper['novel'].number} novel",
        f"{spread(counts['known'])} known, {spread(counts['novel'])} novel",
        _yes(all(min(map(int, filter(None, found)), default=0) for found in counts.values())),
    )


def _frequent_low(outcome: Outcome) -> tuple[str, str, str] | None:
    ours = [value for value in outcome.values(lambda a: a["frequent_median"]) if value is not None]
    novel = _group(outcome, "novel", "median")
    if len(ours) < len(novel):
        return None
    text = f"median {spread(ours)}, of novel words {spread(novel)}"
    return "no figure", text, _yes(all(o < n for o, n in zip(ours, novel, strict=True)))


def _novel_low_are_common(outcome: Outcome) -> tuple[str, str, str] | None:
    found = [v for v in outcome.values(lambda a: a["novel_correlation"]) if v is not None]
    if not found:
        return None
    return "no figure", f"rank correlation {spread(found)}", _yes(max(found) < 0)


def _probe(outcome: Outcome) -> tuple[str, str, str] | None:
    probe = outcome.experiment.probe
    found = [seed["all"]["probe"] for seed in outcome.seeds]
    if probe is None or None in found:
        return None
    _, known, novel = probe
    F_K, F_N = (np.array([one[key] for one in found], float) for key in ("F_K", "F_N"))
    near = [abs(np.log2(ours / paper)) <= 1 for ours, paper in ((F_K + 1e-9, known), (F_N, novel))]
    often = F_N / np.maximum(F_K, 1) >= 10
    verdict = "yes" if np.all(near) else "different" if often.all() else "no"
    return f"{known} and {novel}", f"{spread(F_K)} and {spread(F_N)}", verdict


def _tfidf_similar(outcome: Outcome) -> tuple[str, str, str]:
    theirs = float(outcome.corpus["tfidf_distance"])
    return "no figure", f"greatest distance {number(theirs)}", _yes(theirs < 0.2)


def _more_distinctive(outcome: Outcome) -> tuple[str, str, str]:
    ours = [float(value or 0) for value in outcome.values(lambda a: a["distance"])]
    theirs = float(outcome.corpus["tfidf_distance"])
    text = f"greatest distance {spread(ours)}, TF-IDF {number(theirs)}"
    return "no figure", text, _yes(min(ours) > theirs)


def _tfidf_separates(outcome: Outcome) -> tuple[str, str, str]:
    theirs = float(outcome.corpus["tfidf_separation"])
    ours = spread(outcome.values(lambda a: a["separation"]))
    text = f"AUROC of TF-IDF, novel less known, {number(theirs)}; of our score {ours}"
    return "no figure", text, _yes(theirs < ours.mean)


def _better(task: str, than: str = "tfidf") -> Callable[[Outcome], tuple[str, str, str]]:
    """Compare ours with another scorer on held-out documents, seed by seed."""

    def check(outcome: Outcome) -> tuple[str, str, str]:
        texts, holds = [], True
        for figure, name in (("auroc", "AUROC"), ("average_precision", "average precision")):
            ours = np.array(outcome.held_out(OURS, task, figure))
            theirs = np.array(outcome.held_out(than, task, figure))
            gain = ours - theirs
            error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else 0.0
            holds &= bool(gain.mean() > 2 * error and gain.mean() > 0)
            more = f"difference {gain.mean():+.4f}, standard error {error:.4f}"
            texts.append(f"{name} {spread(ours)}, TF-IDF {spread(theirs)} ({more})")
        return "no figure", "; ".join(texts), _yes(holds)

    return check


def _shared_accurate(outcome: Outcome) -> tuple[str, str, str]:
    ours = outcome.held_out(OURS, "shared_words")
    return "no figure", f"AUROC {spread(ours)}", _yes(min(ours) >= 0.8)


def _pair(i: int, j: int) -> Callable[[Outcome], tuple[str, str, str] | None]:
    """Check that two words of one side go together, and more than with those of the other side."""

    def check(outcome: Outcome) -> tuple[str, str, str] | None:
        lift, paper = outcome.lift(), outcome.experiment.lift
        if lift is None:
            return None
        others = [k for k in (0, 1, 3, 4) if k not in (i, j)]
        across = max(lift[a, b] for a in (i, j) for b in others)
        texts = (
            f"{number(paper[i][j])}; across at most "
            f"{number(max(paper[a][b] for a in (i, j) for b in others))}",
            f"{number(lift[i, j])}; across at most {number(across)}",
        )
        return *texts, _yes(lift[i, j] > max(1.0, across))

    return check


def _between(outcome: Outcome) -> tuple[str, str, str] | None:
    lift, paper = outcome.lift(), outcome.experiment.lift
    if lift is None:
        return None
    known, novel = lift[2, :2].mean(), lift[2, 3:].mean()
    theirs = (np.mean(paper[2][:2]), np.mean(paper[2][3:]))
    return (
        f"{number(float(theirs[0]))} with known words, {number(float(theirs[1]))} with novel ones",
        f"{number(known)} with known words, {number(novel)} with novel ones",
        _yes(min(known, novel) > 0 and 0.5 <= known / novel <= 2),
    )


def _costs_more(outcome: Outcome) -> tuple[str, str, str]:
    ours = spread(outcome.values(lambda a: a["cost"]["seconds"]))
    theirs = float(outcome.corpus["tfidf_seconds"])
    return "no figure", f"{ours} s, TF-IDF {number(theirs)} s", _yes(ours.mean > theirs)


def _vocabulary(outcome: Outcome) -> tuple[str, str, str]:
    printed = sum(row.number for row in outcome.experiment.words.values())
    ours = len(outcome.corpus["vocabulary"])
    near = abs(ours / printed - 1) <= _POINTS
    return f"{printed:,} words", f"{ours:,} words", "yes" if near else "different"


def _percent(values: list[Any]) -> str:
    found = spread(values)
    sd = "" if np.isnan(found.sd) else f" ± {100 * found.sd:.1f}"
    return f"{100 * found.mean:.1f}{sd} %"


CLAIMS = (
    Claim(
        "Results, tables 'Overall word statistics'",
        "The numbers of known, novel and shared words (their sum).",
        "yes if our vocabulary is within 5 % of it, else different: preprocessing is not specified",
        _vocabulary,
    ),
    Claim(
        "BBC sports dataset; 20 Newsgroups dataset ('similar behaviour')",
        "class Novel words have distinctively higher scores on average than the words from class "
        "Known",
        "the mean score of words of novel documents alone is above that of known ones",
        _novel_higher,
    ),
    Claim(
        "BBC sports dataset; 20 Newsgroups dataset ('similar behaviour')",
        "the shared words have the highest mean and standard deviation",
        "both the mean and the standard deviation of the shared words are the highest",
        _shared_highest,
    ),
    Claim(
        "BBC sports dataset, figure of cumulative frequencies",
        "85% of the known words output scores lower than 1.0",
        "yes within 5 points of 85 %, different if above half, else no",
        _known_below,
        _BBC,
    ),
    Claim(
        "20 Newsgroups dataset, figure of cumulative frequencies",
        "90% of the scores of the [known] words are below around 1.3",
        "yes within 5 points of 90 %, different if above half, else no",
        _known_below,
        _NEWS,
    ),
    Claim(
        "BBC sports dataset, figure of cumulative frequencies",
        "only about 45% of the words unique for the novel class have scores below 1",
        "yes within 5 points of 45 %, different if fewer than of the known words, else no",
        _novel_below,
        _BBC,
    ),
    Claim(
        "20 Newsgroups dataset, figure of cumulative frequencies",
        "only 45% of the novel word scores are below approx. 1.3",
        "yes within 5 points of 45 %, different if fewer than of the known words, else no",
        _novel_below,
        _NEWS,
    ),
    Claim(
        "BBC sports dataset",
        "The majority of the uniquely novel words produce scores greater than 1",
        "more than half of them do",
        _novel_majority,
        _BBC,
    ),
    Claim(
        "20 Newsgroups dataset",
        "most of the novel words have significantly higher scores than the known words",
        "more than half of the novel words score above nine tenths of the known words",
        _most_novel,
        _NEWS,
    ),
    Claim(
        "BBC sports dataset; 20 Newsgroups dataset, 'Composition of shared words'",
        "the words that are shared produce both high and low scores",
        "some shared words score at most 1/4, and some at least 4",
        _shared_both,
    ),
    Claim(
        "BBC sports dataset",
        "common words (e.g. stopwords), also have low scores",
        "the median score of the words of a tenth of all documents or more is below that of the "
        "words of novel documents alone (stop words themselves are removed)",
        _frequent_low,
        _BBC,
    ),
    Claim(
        "20 Newsgroups dataset",
        "some of the low scores of some novel words are due to the common words (e.g. stop words) "
        "present in the novel bag-of-words",
        "among words of novel documents alone, the more documents have a word the lower its score",
        _novel_low_are_common,
        _NEWS,
    ),
    Claim(
        "BBC sports dataset",
        "'Rugby' is repeated only 5 times in the clauses representing class Known, for class Novel "
        "215 times",
        "yes within a factor of two, different if at least ten times as often in novel, else no",
        _probe,
        _BBC,
    ),
    Claim(
        "BBC sports dataset",
        "the scores can be calculated accurately even if the words are present in both categories",
        "held-out AUROC of words that both sides of the training documents have is at least 0.8",
        _shared_accurate,
    ),
    Claim(
        "Baseline",
        "the word scores produced by TF-IDF for both known and novel classes are very similar",
        "the greatest distance of their cumulative frequencies (Kolmogorov-Smirnov) is below 0.2; "
        "a group with fewer words has the higher TF",
        _tfidf_similar,
    ),
    Claim(
        "BBC sports dataset; conclusion",
        "our approach produces more distinctive novelty scores than TF-IDF",
        "that distance is greater for our score than for TF-IDF",
        _more_distinctive,
    ),
    Claim(
        "Baseline",
        "TF-IDF does not provide enough discrimination power to distinguish between the two types "
        "of words",
        "TF-IDF in the novel less TF-IDF in the known documents tells words of the one from words "
        "of the other worse than our score (it cannot: one of the two is 0)",
        _tfidf_separates,
    ),
    Claim(
        "BBC sports dataset; conclusion",
        "the classification performance for our novelty scores are significantly better than what "
        "is obtained with TF-IDF: words",
        "on held-out documents AUROC and average precision are both higher than those of TF-IDF by "
        "two standard errors over seeds",
        _better("words"),
    ),
    Claim(
        "BBC sports dataset; conclusion",
        "the same: documents, by the sum of their words' scores",
        "as above",
        _better("documents"),
    ),
    Claim(
        "BBC sports dataset; conclusion",
        "the same: documents, by logistic regression on their words' scores",
        "as above",
        _better("regression"),
    ),
    Claim(
        "BBC sports dataset; conclusion",
        "the same: documents by the sum, against TF-IDF in novel less TF-IDF in known documents",
        "as above; this uses both of the values that the paper computes for a word",
        _better("documents", "tfidf_difference"),
    ),
    Claim(
        "Contextual scoring",
        "a high correspondence between words such as 'Manchester' and 'Chelsea' ('Guns' and "
        "'Weapon') from class Known",
        "their lift is above 1 and above all lifts of either with the novel words",
        _pair(0, 1),
    ),
    Claim(
        "Contextual scoring",
        "high correspondence between words such as 'Rugby' and 'Flyhalf' ('Baseball' and 'Player') "
        "from class Novel",
        "their lift is above 1 and above all lifts of either with the known words",
        _pair(3, 4),
    ),
    Claim(
        "Contextual scoring",
        "the common word 'Particular' ('Gather') shows similar correspondence with words from both "
        "of the classes",
        "its mean lifts with the two known and the two novel words are within a factor of two",
        _between,
    ),
    Claim(
        "Conclusion",
        "training a TM is computationally more expensive than calculating TF-IDF",
        "a fit takes longer",
        _costs_more,
    ),
)
