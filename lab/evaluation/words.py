"""Suites for the quality of words: the scores of newfound and all baselines on the same splits.

Each suite takes a `Setting` and returns a `Table` with a row for each scorer. The C of logistic
regression is chosen by 3-fold cross-validation on the training side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

from lab.evaluation.faithfulness import faithfulness
from lab.evaluation.holdout import folds
from lab.evaluation.planting import pair_columns
from lab.evaluation.shifting import shifted_piles
from lab.evaluation.suites import C_GRID, Values, add_value, means
from lab.evaluation.word_corpora import Corpus, Matrix, Setting, fitted_words
from newfound.baselines import BASELINES, Baseline, logistic_regression
from newfound.description.novelty import word_evidence
from newfound.description.words import find_phrases
from newfound.metrics import document_scores
from newfound.stories.evidence import document_weights
from newfound.table import Table

__all__ = ["SUITES", "WORD_BASELINES"]

NOVELTY, SCORE = "newfound: novelty", "newfound: score of the committee"
SINGLE = "newfound: score of one machine"
TOPS = (10, 30, 100)
N_PHRASES = 20
PAIR_MIN_SHARE = 0.01
WORD_BASELINES: Mapping[str, Baseline] = MappingProxyType(
    {**BASELINES, "logistic_regression": partial(logistic_regression, C=C_GRID)}
)


def planted_words(setting: Setting) -> Table:
    """Average precision for 30 words, each planted in a share q of the documents of a random half.

    The C of logistic regression is chosen by 3-fold cross-validation on the same documents.
    """
    rows: Values = {}
    for q in (0.02, 0.05):
        for seed in range(setting.seeds):
            setting.say(f"planted words, q = {q:.0%}, seed {seed}")
            matrix, novel, planted = setting.planted_words(seed, q)
            for name, scores in _scorers(setting, matrix, novel, seed, single=False):
                value = float(average_precision_score(planted, scores))
                add_value(rows, name, f"q = {q:.0%}", value)
    return means(rows)


def planted_pairs(setting: Setting) -> Table:
    """Share of three planted word pairs among the 20 pairs that are ranked highest.

    The two words of a pair are together in novel documents only. newfound reads pairs from its
    rules (phrases). The others rank all pairs of words that at least 1 % of the documents contain.
    """
    rows: Values = {}
    for seed in range(setting.seeds):
        setting.say(f"planted pairs, seed {seed}")
        matrix, novel, pairs = setting.planted_pairs(seed)
        table, _ = fitted_words(setting, matrix, novel, seed)
        phrases = find_phrases(table, matrix, document_weights(matrix, novel))
        top = [{int(word) for word in words} for words in phrases["words"][:N_PHRASES]]
        share = np.mean([any(set(pair) <= words for words in top) for pair in pairs])
        add_value(rows, "newfound: phrases", f"among {N_PHRASES}", float(share))
        columns, words_of = pair_columns(matrix, max(2, round(PAIR_MIN_SHARE * len(novel))))
        for name, scores in (
            (NOVELTY, word_evidence(columns, novel).novelty),
            *((name, baseline(columns, novel)) for name, baseline in WORD_BASELINES.items()),
        ):
            best = words_of[np.argsort(-scores, kind="stable")[:N_PHRASES]]
            ranked = [set(pair) for pair in best.tolist()]
            add_value(
                rows,
                name,
                f"among {N_PHRASES}",
                float(np.mean([set(pair) in ranked for pair in pairs])),
            )
    return means(rows)


def documents_from_words(setting: Setting) -> Table:
    """AUROC of held-out documents ranked by the sum of the scores of their words.

    "top n" uses only the n words with the greatest absolute scores. The C of logistic regression is
    chosen by 3-fold cross-validation on the training side.
    """
    rows: Values = {}
    for seed in range(setting.seeds):
        for corpus_name, corpus in (
            ("BBC Sport", setting.bbcsport),
            ("20 Newsgroups", setting.newsgroups),
        ):
            setting.say(f"documents from words, {corpus_name}, seed {seed}")
            for learned, test in _splits(corpus, seed):
                seen = corpus.matrix[learned]
                kept = np.flatnonzero(np.asarray(seen.sum(axis=0)).ravel() >= 2)
                seen, rest = seen[:, kept], corpus.matrix[test][:, kept]
                for name, scores in _scorers(setting, seen, corpus.novel[learned], seed):
                    for title, weights in (("all", scores), *_tops(scores)):
                        value = roc_auc_score(corpus.novel[test], document_scores(rest, weights))
                        add_value(rows, name, f"{corpus_name}, {title}", float(value))
    return means(rows)


def months(setting: Setting) -> Table:
    """AUROC of held-out headlines of a month against all before, by the words of the other half.

    Half of the headlines of both sides is held out. "top n" are the n words with the greatest
    absolute scores. Means and standard deviations are over the months.
    """
    rows: Values = {}
    every = sorted(set(setting.headlines.months.tolist()))[1:]
    for month in every[: len(every) if setting.seeds > 1 else 2]:
        setting.say(f"months, {month}")
        corpus = setting.month(month)
        _held_out_tops(rows, corpus.matrix, corpus.novel, "", 0)
    return means(rows)


def shift(setting: Setting) -> Table:
    """AUROC of held-out documents where both piles have all topics and some topics have grown.

    In the novel pile a tenth of the topics is 3 (or 5) times as frequent as in the known one, and
    another tenth is as much rarer. "words of grown topics" is the average precision with which
    words are ranked that are at least twice as frequent in a grown topic as in all documents.
    """
    rows: Values = {}
    for name in ("CLINC150", "20 Newsgroups"):
        for times in (3, 5):
            for seed in range(setting.seeds):
                setting.say(f"shift, {name}, {times} times, seed {seed}")
                matrix, topics = setting.topics(name)
                piles = shifted_piles(topics, seed=seed, times=times)
                chosen = np.concatenate((piles.known, piles.novel))
                novel = np.arange(len(chosen)) >= len(piles.known)
                column = f"{name}, {times} times, "
                grown = np.isin(topics[chosen], piles.grown)
                _held_out_tops(rows, matrix[chosen], novel, column, seed, grown)
    return means(rows)


def _held_out_tops(
    rows: Values,
    matrix: Matrix,
    novel: NDArray[np.bool_],
    column: str,
    seed: int,
    grown: NDArray[np.bool_] | None = None,
) -> None:
    """Score words on half of the documents, and add how well they rank the other half."""
    learned = np.random.default_rng([seed, 3]).random(len(novel)) < 0.5
    kept = np.flatnonzero(np.asarray(matrix[learned].sum(axis=0)).ravel() >= 2)
    seen, rest = matrix[learned][:, kept], matrix[~learned][:, kept]
    scorers = {NOVELTY: lambda X, y: word_evidence(X, y).novelty, **WORD_BASELINES}
    if grown is not None:
        of_grown = np.asarray(matrix[grown][:, kept].mean(axis=0)).ravel()
        telling = of_grown >= 2 * np.asarray(matrix[:, kept].mean(axis=0)).ravel()
    for name, scorer in scorers.items():
        scores = scorer(seen, novel[learned])
        for title, weights in _tops(scores, (12, 50, 200)):
            value = roc_auc_score(novel[~learned], document_scores(rest, weights))
            add_value(rows, name, f"{column}{title}", float(value))
        if grown is not None:
            value = average_precision_score(telling, scores)
            add_value(rows, name, f"{column}words of grown topics", float(value))


def stability(setting: Setting) -> Table:
    """Agreement between the rankings of different seeds: Spearman's correlation, overlap."""
    corpus = setting.bbcsport
    found: dict[str, list[NDArray[np.float64]]] = {}
    for seed in range(setting.seeds):
        setting.say(f"stability, seed {seed}")
        for name, scores in _scorers(setting, corpus.matrix, corpus.novel, seed, baselines=False):
            found.setdefault(name, []).append(scores)
    rows: Values = {}
    for name, rankings in found.items():
        for one, other in combinations(rankings, 2):
            add_value(rows, name, "Spearman", float(stats.spearmanr(one, other).statistic))
            for n in (25, 100):
                both = set(np.argsort(-one)[:n]) & set(np.argsort(-other)[:n])
                add_value(rows, name, f"top {n}", len(both) / n)
    return means(rows)


def no_novelty(setting: Setting, splits: int = 100) -> Table:
    """Share of random splits of one corpus in which any word has q <= 5 %, though none is novel.

    The q-values do not depend on the machines.
    """
    rows: Values = {}
    setting.say(f"no novelty, {splits} splits")
    for share in (0.5, 0.1):
        for seed in range(splits):
            matrix, novel = setting.halves(1000 + seed, share)
            kept = np.flatnonzero(np.asarray(matrix.sum(axis=0)).ravel() >= 2)
            evidence = word_evidence(matrix[:, kept], novel)
            q = evidence.q[evidence.times > 1]
            alarm = float((q <= 0.05).any())
            column = f"{share:.0%} of the documents novel"
            add_value(rows, "splits with a word of q <= 5 %", column, alarm)
            beyond = float((evidence.novelty > 2).mean())
            add_value(rows, "words with a novelty beyond 2", column, beyond)
    return means(rows, spread=False)


def intervals(setting: Setting) -> Table:
    """Share of words whose 90 % interval contains the true ratio of frequencies.

    A corpus is taken for the population, with the ratios that it has. Documents of each side are
    drawn from it with replacement, and intervals are made from the draw. Words that both sides
    have, and that at least two documents of the draw have, count. "q <= 5 %" are the words that the
    draw calls novel or known.
    """
    rows: Values = {}
    for name, corpus in (
        ("BBC Sport", setting.bbcsport),
        ("20 Newsgroups", setting.newsgroups),
        ("CLINC150", setting.requests),
        ("ABC News", setting.month("2003-04")),
    ):
        sides = [np.flatnonzero(corpus.novel == side) for side in (False, True)]
        share = [np.asarray(corpus.matrix[side].mean(axis=0)).ravel() for side in sides]
        for seed in range(setting.seeds):
            setting.say(f"intervals, {name}, seed {seed}")
            draw = np.random.default_rng([seed, 5])
            chosen = np.concatenate([draw.choice(side, len(side)) for side in sides])
            drawn = corpus.matrix[chosen]
            both = (np.asarray(drawn.sum(axis=0)).ravel() >= 2) & (share[0] > 0) & (share[1] > 0)
            evidence = word_evidence(drawn[:, both], corpus.novel[chosen])
            truth = share[1][both] / share[0][both]
            held = (evidence.low <= truth) & (truth <= evidence.high)
            add_value(rows, NOVELTY, f"{name}, all words", float(held.mean()))
            sure = evidence.q <= 0.05
            if sure.any():
                add_value(rows, NOVELTY, f"{name}, q <= 5 %", float(held[sure].mean()))
    return means(rows)


def faithful_words(setting: Setting) -> Table:
    """Effect of removing the words of explanations from 100 posts, judged by another classifier."""
    corpus = setting.newsgroups
    setting.say("faithfulness of the words of 100 posts")
    train = np.asarray(corpus.splits) == "train"
    parameters = {**setting.parameters, "n_jobs": setting.n_jobs}
    return faithfulness(corpus.texts, corpus.novel, train, parameters)


SUITES: Mapping[str, Callable[[Setting], Table]] = MappingProxyType(
    {
        "planted-words": planted_words,
        "planted-pairs": planted_pairs,
        "documents-from-words": documents_from_words,
        "shift": shift,
        "months": months,
        "stability": stability,
        "no-novelty": no_novelty,
        "intervals": intervals,
        "faithfulness": faithful_words,
    }
)


def _scorers(
    setting: Setting,
    matrix: Matrix,
    novel: NDArray[np.bool_],
    seed: int,
    *,
    baselines: bool = True,
    single: bool = True,
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    yield NOVELTY, word_evidence(matrix, novel).novelty
    yield SCORE, fitted_words(setting, matrix, novel, seed)[1]
    if single:
        yield SINGLE, fitted_words(setting, matrix, novel, seed, n_machines=1)[1]
    if baselines:
        for name, baseline in WORD_BASELINES.items():
            yield name, baseline(matrix, novel)


def _tops(
    scores: NDArray[np.float64], sizes: tuple[int, ...] = TOPS
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield the scores with all but the greatest absolute ones set to 0."""
    order = np.argsort(-np.abs(scores), kind="stable")
    for n in sizes:
        few = np.zeros_like(scores)
        few[order[:n]] = scores[order[:n]]
        yield f"top {n}", few


def _splits(corpus: Corpus, seed: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    if corpus.splits is None:
        yield from folds(corpus.novel, 3, random_state=seed)
    else:
        yield np.flatnonzero(corpus.splits == "train"), np.flatnonzero(corpus.splits == "test")
