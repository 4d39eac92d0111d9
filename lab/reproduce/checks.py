"""The check of each claim: returns the paper's figure, ours, and "yes", "different" or "no".

A check returns None if a word that it needs is not in the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lab.reproduce.measure import OURS
from lab.reproduce.outcome import Outcome, counted, number, spread

__all__ = [
    "better",
    "between",
    "costs_more",
    "frequent_low",
    "known_below",
    "more_distinctive",
    "most_novel",
    "novel_below",
    "novel_higher",
    "novel_low_are_common",
    "novel_majority",
    "pair",
    "probe",
    "shared_accurate",
    "shared_both",
    "shared_characteristic",
    "shared_highest",
    "shared_in_more",
    "tfidf_separates",
    "tfidf_similar",
]

_POINTS = 0.05


def _yes(holds: Any) -> str:
    return "yes" if holds else "no"


def _every(holds: Sequence[Any]) -> tuple[str, str]:
    """Return "yes" if all seeds agree, and a note if only some do."""
    n = sum(map(bool, holds))
    return _yes(n == len(holds)), f" (in {n} of {len(holds)} seeds)" if 0 < n < len(holds) else ""


def _near(ours: float, paper: float, direction: bool) -> str:
    """Return "yes" within 5 points, "different" if at least the direction is the same."""
    if abs(ours - paper) <= _POINTS:
        return "yes"
    return "different" if direction else "no"


def _group(outcome: Outcome, group: str, figure: str) -> list[Any]:
    return outcome.values(lambda a: a["words"][group][figure])


def novel_higher(outcome: Outcome) -> tuple[str, str, str]:
    """Compare the mean scores of novel and of known words."""
    known, novel = (_group(outcome, group, "mean") for group in ("known", "novel"))
    paper = outcome.experiment.words
    verdict, seeds = _every([n > k for n, k in zip(novel, known, strict=True)])
    return (
        f"novel {number(paper['novel'].mean)}, known {number(paper['known'].mean)}",
        f"novel {spread(novel)}, known {spread(known)}{seeds}",
        verdict,
    )


def shared_highest(outcome: Outcome) -> tuple[str, str, str]:
    """Check that shared words have the highest mean and standard deviation."""
    holds, paper = np.ones(len(outcome.seeds), bool), outcome.experiment.words["shared"]
    for figure in ("mean", "sd"):
        known, novel, shared = (_group(outcome, g, figure) for g in ("known", "novel", "shared"))
        holds &= [s > max(k, n) for k, n, s in zip(known, novel, shared, strict=True)]
    mean, sd = (spread(_group(outcome, "shared", figure)) for figure in ("mean", "sd"))
    verdict, seeds = _every(holds.tolist())
    return (
        f"mean {number(paper.mean)}, sd {number(paper.sd)}",
        f"mean {mean}, sd {sd}{seeds}",
        verdict,
    )


def shared_in_more(outcome: Outcome) -> tuple[str, str, str]:
    """Compare the numbers of clauses that contain a word, by group."""
    known, novel = (np.array(outcome.corpus[f"documents_{side}"]) for side in ("known", "novel"))
    groups = {
        "shared": (known > 0) & (novel > 0), "known": novel == 0, "novel": known == 0,
    }  # fmt: skip
    clauses = [np.add(seed["all"]["F_K"], seed["all"]["F_N"]) for seed in outcome.seeds]
    means = {name: [float(c[of].mean()) for c in clauses] for name, of in groups.items()}
    verdict, seeds = _every([s > max(k, n) for s, k, n in zip(*means.values(), strict=True)])
    text = ", ".join(f"{name} {spread(found)}" for name, found in means.items())
    return "no figure", f"clauses a word: {text}{seeds}", verdict


def known_below(outcome: Outcome) -> tuple[str, str, str]:
    """Compare the share of known words below the paper's cut with the printed one."""
    paper, ours = outcome.experiment.below["known"], _group(outcome, "known", "below_cut")
    mean = spread(ours)
    return f"{paper:.0%}", _percent(ours), _near(mean.mean, paper, mean.mean > 0.5)


def novel_below(outcome: Outcome) -> tuple[str, str, str]:
    """Compare the share of novel words below the paper's cut with the printed one."""
    paper, ours = outcome.experiment.below["novel"], _group(outcome, "novel", "below_cut")
    mean, known = spread(ours), _group(outcome, "known", "below_cut")
    return (
        f"{paper:.0%}",
        f"{_percent(ours)} (known words {_percent(known)})",
        _near(mean.mean, paper, mean.mean < 0.5),
    )


def novel_majority(outcome: Outcome) -> tuple[str, str, str]:
    """Check that most novel words score above 1."""
    above = [1 - below for below in _group(outcome, "novel", "below_1")]
    verdict, seeds = _every([share > 0.5 for share in above])
    return "about 55%", _percent(above) + seeds, verdict


def most_novel(outcome: Outcome) -> tuple[str, str, str]:
    """Check that most novel words score above 90 % of the known words."""
    ours = outcome.values(lambda a: a["novel_above"])
    verdict, seeds = _every([share is not None and share > 0.5 for share in ours])
    return "55%", _percent(ours) + seeds, verdict


def shared_both(outcome: Outcome) -> tuple[str, str, str]:
    """Check that shared words have both high and low scores."""
    paper = outcome.experiment.shared
    counts = {
        role: outcome.values(lambda a, r=role: a["shared"][r]["count"])  # type: ignore[misc]
        for role in ("known", "novel")
    }
    verdict, seeds = _every([k and n for k, n in zip(*counts.values(), strict=True)])
    return (
        f"{paper['known'].number} known, {paper['novel'].number} novel",
        f"{counted(counts['known'])} known, {counted(counts['novel'])} novel{seeds}",
        verdict,
    )


def shared_characteristic(outcome: Outcome) -> tuple[str, str, str]:
    """Check that most shared words are known or novel by their scores."""
    paper = {role: found.number for role, found in outcome.experiment.shared.items()}
    printed = (paper["known"] + paper["novel"]) / sum(paper.values())
    shares = []
    for seed in outcome.seeds:
        counts = {role: found["count"] for role, found in seed["all"]["shared"].items()}
        shares.append((counts["known"] + counts["novel"]) / sum(counts.values()))
    verdict, seeds = _every([share > 0.5 for share in shares])
    return f"{printed:.1%}, by its table", _percent(shares) + seeds, verdict


def frequent_low(outcome: Outcome) -> tuple[str, str, str] | None:
    """Check that words of many documents score lower than novel words."""
    ours = [value for value in outcome.values(lambda a: a["frequent_median"]) if value is not None]
    novel = _group(outcome, "novel", "median")
    if len(ours) < len(novel):
        return None
    verdict, seeds = _every([o < n for o, n in zip(ours, novel, strict=True)])
    return "no figure", f"median {spread(ours)}, of novel words {spread(novel)}{seeds}", verdict


def novel_low_are_common(outcome: Outcome) -> tuple[str, str, str] | None:
    """Check that among novel words the frequent ones score low."""
    found = [v for v in outcome.values(lambda a: a["novel_correlation"]) if v is not None]
    if not found:
        return None
    verdict, seeds = _every([correlation < 0 for correlation in found])
    return "no figure", f"rank correlation {spread(found)}{seeds}", verdict


def probe(outcome: Outcome) -> tuple[str, str, str] | None:
    """Compare how many clauses contain the word that the paper counts."""
    probe = outcome.experiment.probe
    found = [seed["all"]["probe"] for seed in outcome.seeds]
    if probe is None or None in found:
        return None
    _, known, novel = probe
    F_K, F_N = (np.array([one[key] for one in found], float) for key in ("F_K", "F_N"))
    near = [abs(np.log2(ours / paper)) <= 1 for ours, paper in ((F_K + 1e-9, known), (F_N, novel))]
    often = F_N / np.maximum(F_K, 1) >= 10
    verdict = "yes" if np.all(near) else "different" if often.all() else "no"
    return f"{known} and {novel}", f"{counted(F_K)} and {counted(F_N)}", verdict


def tfidf_similar(outcome: Outcome) -> tuple[str, str, str]:
    """Check that TF-IDF has similar values in known and in novel words."""
    plain, counts = _tfidf_distances(outcome)
    text = f"greatest distance {number(plain)}; of counts instead of shares {number(counts)}"
    return "no figure", text, _as_it_is_or_counts(plain < 0.2, counts < 0.2)


def more_distinctive(outcome: Outcome) -> tuple[str, str, str]:
    """Check that our scores of known and novel words differ more than TF-IDF's."""
    ours = [float(value or 0) for value in outcome.values(lambda a: a["distance"])]
    plain, counts = _tfidf_distances(outcome)
    text = (
        f"greatest distance {spread(ours)}, TF-IDF {number(plain)}; of counts instead of shares "
        f"{number(counts)}"
    )
    return "no figure", text, _as_it_is_or_counts(min(ours) > plain, min(ours) > counts)


def _tfidf_distances(outcome: Outcome) -> tuple[float, float]:
    """Return the distance of TF-IDF by the paper's equation, and with counts instead of shares."""
    return tuple(float(outcome.corpus[f"tfidf_distance{end}"]) for end in ("", "_unscaled"))  # type: ignore[return-value]


def _as_it_is_or_counts(plain: bool, counts: bool) -> str:
    return "yes" if plain else "different" if counts else "no"


def tfidf_separates(outcome: Outcome) -> tuple[str, str, str]:
    """Check that TF-IDF separates known from novel words worse than our score."""
    theirs = float(outcome.corpus["tfidf_separation"])
    ours = spread(outcome.values(lambda a: a["separation"]))
    text = (
        f"AUROC of TF-IDF, novel less known, {number(theirs)}, by definition: the groups are those "
        f"where one of the two is 0; of our score {ours}"
    )
    return "no figure", text, _yes(theirs < ours.mean)


def better(task: str) -> Callable[[Outcome], tuple[str, str, str]]:
    """Compare ours with TF-IDF on held-out documents, seed by seed."""

    def check(outcome: Outcome) -> tuple[str, str, str]:
        texts, holds = [], True
        for figure, name in (("auroc", "AUROC"), ("average_precision", "average precision")):
            ours = np.array(outcome.held_out(OURS, task, figure))
            theirs = np.array(outcome.held_out("tfidf", task, figure))
            gain = ours - theirs
            more = f"difference {gain.mean():+.4f}"
            if len(gain) > 1:
                error = gain.std(ddof=1) / np.sqrt(len(gain))
                holds &= bool(gain.mean() > 2 * error and gain.mean() > 0)
                more += f", standard error {error:.4f}"
            else:
                holds = False
                more += ", one seed, so no standard error"
            texts.append(f"{name} {spread(ours)}, TF-IDF {spread(theirs)} ({more})")
        return "no figure", "; ".join(texts), _yes(holds)

    return check


def shared_accurate(outcome: Outcome) -> tuple[str, str, str]:
    """Check that shared words are ranked well on held-out documents."""
    ours = outcome.held_out(OURS, "shared_words")
    others = {
        scorer: spread(outcome.held_out(scorer, "shared_words")).mean
        for scorer in outcome.scorers
        if scorer not in (OURS, "novelty", "votes")
    }
    best = max(others, key=others.__getitem__)
    verdict, seeds = _every([value >= 0.8 for value in ours])
    if verdict == "no" and spread(ours).mean >= others[best]:
        verdict = "different"
    text = f"AUROC {spread(ours)}{seeds}; the best baseline, {best}, {number(others[best])}"
    return "no figure", text, verdict


def pair(i: int, j: int) -> Callable[[Outcome], tuple[str, str, str] | None]:
    """Check that two words of one side are associated, more than with words of the other side."""

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


def between(outcome: Outcome) -> tuple[str, str, str] | None:
    """Check that the common word is associated with words of both sides alike."""
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


def costs_more(outcome: Outcome) -> tuple[str, str, str]:
    """Compare the seconds of a fit with those of TF-IDF."""
    ours = spread(outcome.values(lambda a: a["cost"]["seconds"]))
    theirs = float(outcome.corpus["tfidf_seconds"])
    return "no figure", f"{ours} s, TF-IDF {number(theirs)} s", _yes(ours.mean > theirs)


def _percent(values: list[Any]) -> str:
    found = spread(values)
    sd = "" if np.isnan(found.sd) else f" ± {100 * found.sd:.1f}"
    return f"{100 * found.mean:.1f}{sd} %"
