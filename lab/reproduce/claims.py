"""The claims of the paper that can be checked, each with the rule by which it holds here.

The result is "yes" (it holds), "different" (it holds with another figure than the paper's, or on a
condition that the rule states) or "no" (it does not hold). A comparison must hold in every seed,
and a tie does not count. Shares and lifts are means over seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lab.reproduce import checks
from lab.reproduce.outcome import Outcome

__all__ = ["CLAIMS", "Claim", "judge"]

_BOTH = ("bbcsport", "20newsgroups")
_BBC, _NEWS = ("bbcsport",), ("20newsgroups",)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper.

    Attributes
    ----------
    section : str
        The section of the paper.
    sentence : str
        The claim in the paper's words.
    rule : str
        When it holds.
    check : callable
        Returns the paper's figure, ours and the result, or None if a word is missing.
    experiments : tuple of str
        The experiments that it is about.
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
        Section, claim, the paper's figure, ours, whether it holds, and the rule.
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


CLAIMS = (
    Claim(
        "BBC sports dataset; 20 Newsgroups dataset ('similar behaviour')",
        "class Novel words have distinctively higher scores on average than the words from class "
        "Known",
        "the mean score of words of novel documents only is above that of known documents only",
        checks.novel_higher,
    ),
    Claim(
        "BBC sports dataset; 20 Newsgroups dataset ('similar behaviour')",
        "the shared words have the highest mean and standard deviation",
        "both the mean and the standard deviation of the shared words are the highest",
        checks.shared_highest,
    ),
    Claim(
        "BBC sports dataset",
        "the shared words will be present in more clauses as characterizing class features",
        "on average, a shared word is in more clauses than a word of one side only",
        checks.shared_in_more,
    ),
    Claim(
        "BBC sports dataset, figure of cumulative frequencies",
        "85% of the known words output scores lower than 1.0",
        "yes within 5 points of 85 %, different if above half, else no",
        checks.known_below,
        _BBC,
    ),
    Claim(
        "20 Newsgroups dataset, figure of cumulative frequencies",
        "90% of the scores of the [known] words are below around 1.3",
        "yes within 5 points of 90 %, different if above half, else no",
        checks.known_below,
        _NEWS,
    ),
    Claim(
        "BBC sports dataset, figure of cumulative frequencies",
        "only about 45% of the words unique for the novel class have scores below 1",
        "yes within 5 points of 45 %, different if below half, else no",
        checks.novel_below,
        _BBC,
    ),
    Claim(
        "20 Newsgroups dataset, figure of cumulative frequencies",
        "only 45% of the novel word scores are below approx. 1.3",
        "yes within 5 points of 45 %, different if below half, else no",
        checks.novel_below,
        _NEWS,
    ),
    Claim(
        "BBC sports dataset",
        "The majority of the uniquely novel words produce scores greater than 1",
        "more than half of them do",
        checks.novel_majority,
        _BBC,
    ),
    Claim(
        "20 Newsgroups dataset",
        "most of the novel words have significantly higher scores than the known words",
        "more than half of the novel words score above 90 % of the known words",
        checks.most_novel,
        _NEWS,
    ),
    Claim(
        "BBC sports dataset; 20 Newsgroups dataset, 'Composition of shared words'",
        "the words that are shared produce both high and low scores",
        "some shared words score at most 1/4, and some at least 4",
        checks.shared_both,
    ),
    Claim(
        "BBC sports dataset",
        "the shared words constitutes words that are either characteristic for class Known or for "
        "class Novel",
        "more than half of the shared words score at most 1/4 or at least 4",
        checks.shared_characteristic,
    ),
    Claim(
        "BBC sports dataset",
        "common words (e.g. stopwords), also have low scores",
        "the median score of words of at least a tenth of all documents is below that of words of "
        "novel documents only (stop words themselves are removed)",
        checks.frequent_low,
        _BBC,
    ),
    Claim(
        "20 Newsgroups dataset",
        "some of the low scores of some novel words are due to the common words (e.g. stop words) "
        "present in the novel bag-of-words",
        "among words of novel documents only, frequent words score lower (rank correlation < 0)",
        checks.novel_low_are_common,
        _NEWS,
    ),
    Claim(
        "BBC sports dataset",
        "'Rugby' is repeated only 5 times in the clauses representing class Known, for class Novel "
        "215 times",
        "yes within a factor of two, different if at least ten times as often in novel, else no",
        checks.probe,
        _BBC,
    ),
    Claim(
        "BBC sports dataset",
        "the scores can be calculated accurately even if the words are present in both categories",
        "held-out AUROC of words that both sides of the training documents contain is at least "
        "0.8; different if it is lower, but at least that of the best baseline",
        checks.shared_accurate,
    ),
    Claim(
        "Baseline",
        "the word scores produced by TF-IDF for both known and novel classes are very similar",
        "the greatest distance of their cumulative frequencies (Kolmogorov-Smirnov) is below 0.2; "
        "different if only with counts (TF is a share, so the smaller group has higher values)",
        checks.tfidf_similar,
    ),
    Claim(
        "BBC sports dataset; conclusion",
        "our approach produces more distinctive novelty scores than TF-IDF",
        "that distance is greater for our score than for TF-IDF; different if only with counts",
        checks.more_distinctive,
    ),
    Claim(
        "Baseline",
        "TF-IDF does not provide enough discrimination power to distinguish between the two types "
        "of words",
        "TF-IDF in the novel minus TF-IDF in the known documents separates words of novel "
        "documents only from words of known documents only worse than our score (one of the two "
        "is always 0)",
        checks.tfidf_separates,
    ),
    Claim(
        "BBC sports dataset; conclusion",
        "the classification performance for our novelty scores are significantly better than what "
        "is obtained with TF-IDF: words",
        "on held-out documents, AUROC and average precision both exceed those of TF-IDF by two "
        "standard errors over seeds (the randomness of training, not of the documents)",
        checks.better("words"),
    ),
    Claim(
        "BBC sports dataset; conclusion",
        "the same: documents, by the sum of their words' scores",
        "as above",
        checks.better("documents"),
    ),
    Claim(
        "BBC sports dataset; conclusion",
        "the same: documents, by logistic regression on their words' scores",
        "as above",
        checks.better("regression"),
    ),
    Claim(
        "Contextual scoring",
        "a high correspondence between words such as 'Manchester' and 'Chelsea' ('Guns' and "
        "'Weapon') from class Known",
        "their lift is above 1 and above all lifts of either with the novel words",
        checks.pair(0, 1),
    ),
    Claim(
        "Contextual scoring",
        "high correspondence between words such as 'Rugby' and 'Flyhalf' ('Baseball' and 'Player') "
        "from class Novel",
        "their lift is above 1 and above all lifts of either with the known words",
        checks.pair(3, 4),
    ),
    Claim(
        "Contextual scoring",
        "the common word 'Particular' ('Gather') shows similar correspondence with words from both "
        "of the classes",
        "its mean lifts with the two known and the two novel words are within a factor of two",
        checks.between,
    ),
    Claim(
        "Conclusion",
        "training a TM is computationally more expensive than calculating TF-IDF",
        "a fit takes longer",
        checks.costs_more,
    ),
)
