"""The quality of words: suites that measure our scores and all baselines, on the same splits.

Each suite is a function of a `Setting` that gives a `Table`, a row for each scorer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats
from sklearn.metrics import average_precision_score, roc_auc_score

from newfound.baselines import BASELINES
from newfound.description.novelty import document_weights, q_values, word_evidence
from newfound.description.phrases import find_phrases
from newfound.description.presets import resolve
from newfound.description.scores import word_scores
from newfound.lab.datasets import load_20newsgroups, load_bbcsport, load_clinc150
from newfound.lab.evaluation.faithfulness import faithfulness
from newfound.lab.evaluation.holdout import folds
from newfound.machine.committee import Learned, new_machines, read, rule_columns, rule_min_df, train
from newfound.metrics import document_scores
from newfound.rules import ClauseTable
from newfound.table import Table
from newfound.text.vectorizer import TextVectorizer

__all__ = [
    "SUITES",
    "Corpus",
    "Setting",
    "fitted_words",
    "learned_rules",
    "planted_pairs_corpus",
    "run_suites",
]

NOVELTY, SCORE = "newfound: novelty", "newfound: score of the committee"
SINGLE = "newfound: score of one machine"
TOPS = (10, 30, 100)
GROUPS = ("comp.graphics", "talk.politics.guns", "rec.sport.baseball")
Matrix = Any


@dataclass(frozen=True)
class Corpus:
    """Boolean bags of words with sides, and the splits of the corpus if it has them."""

    matrix: Matrix
    novel: NDArray[np.bool_]
    texts: tuple[str, ...]
    splits: NDArray[np.str_] | None = None


@dataclass(frozen=True)
class Setting:
    """What all suites share.

    Attributes
    ----------
    data : path, optional
        Where the data sets are; by default, the environment says.
    seeds : int
        How many seeds.
    n_jobs : int
        How many threads.
    parameters : mapping
        Those of the describer, where not the default ones.
    say : callable
        Told what is going on.
    """

    data: Path | None = None
    seeds: int = 5
    n_jobs: int = 1
    parameters: Mapping[str, Any] = field(default_factory=dict)
    say: Callable[[str], None] = lambda what: None

    @cached_property
    def bbcsport(self) -> Corpus:
        """Cricket and football are known, rugby is novel."""
        corpus = load_bbcsport(self.data).only("cricket", "football", "rugby")
        return _corpus(corpus.texts, np.array(corpus.labels) == "rugby")

    @cached_property
    def newsgroups(self) -> Corpus:
        """Graphics and guns are known, baseball is novel; without headers."""
        corpus = load_20newsgroups(self.data, remove=("headers",)).only(*GROUPS)
        return _corpus(corpus.texts, np.array(corpus.labels) == GROUPS[2], np.array(corpus.splits))

    @cached_property
    def requests(self) -> Corpus:
        """Requests of CLINC150: banking is known, travel is novel."""
        corpus = load_clinc150(self.data)
        domains = np.array(corpus.domains)
        rows = np.flatnonzero(np.isin(domains, ["banking", "travel"]))
        texts = tuple(corpus.texts[row] for row in rows)
        return _corpus(texts, domains[rows] == "travel")

    def halves(self, seed: int, share: float = 0.5) -> tuple[Matrix, NDArray[np.bool_]]:
        """Part the known newsgroups at random: nothing is novel."""
        known = self.newsgroups.matrix[~self.newsgroups.novel]
        n = known.shape[0]
        novel = np.zeros(n, bool)
        novel[np.random.default_rng(seed).permutation(n)[: round(share * n)]] = True
        return known, novel


def learned_rules(
    setting: Setting, matrix: Matrix, novel: NDArray[np.bool_], seed: int, **parameters: Any
) -> Learned:
    """Learn from bags of words as a describer does."""
    given = {**setting.parameters, **parameters}
    chosen = resolve(given.get("preset"), given)
    chosen["max_literals"] = chosen["max_literals"] or None
    columns = rule_columns(
        np.asarray(matrix.sum(axis=0)).ravel(), rule_min_df(chosen["rule_min_df"], len(novel))
    )
    machines = new_machines(chosen, seed)
    narrow = matrix[:, columns]
    rows = train(machines, narrow, novel, chosen["epochs"], n_jobs=setting.n_jobs)
    learned = read(machines, rows, narrow, novel)
    return learned._replace(clauses=learned.clauses.spread(columns, matrix.shape[1]))


def fitted_words(
    setting: Setting, matrix: Matrix, novel: NDArray[np.bool_], seed: int, **parameters: Any
) -> tuple[ClauseTable, NDArray[np.float64]]:
    """Give all clauses of a committee, and the log scores of the words."""
    learned = learned_rules(setting, matrix, novel, seed, **parameters)
    names = [str(number) for number in range(matrix.shape[1])]
    sizes = (int((~novel).sum()), int(novel.sum()))
    table = ClauseTable(learned.clauses, names, n_documents=sizes, held_out=learned.held_out)
    return table, np.nan_to_num(word_scores(*table.bags()).log_score)


def planted_words(setting: Setting) -> Table:
    """Find 30 words, each planted in a share q of the documents of a random half."""
    rows: dict[str, dict[str, list[float]]] = {}
    for q in (0.02, 0.05):
        for seed in range(setting.seeds):
            setting.say(f"planted words, q = {q:.0%}, seed {seed}")
            matrix, novel, planted = _planted_words(setting, seed, q)
            for name, scores in _scorers(setting, matrix, novel, seed, single=False):
                value = average_precision_score(planted, scores)
                rows.setdefault(name, {}).setdefault(f"q = {q:.0%}", []).append(value)
    return _means(rows)


def planted_pairs(setting: Setting) -> Table:
    """Find three pairs of words that are together only in novel documents."""
    rows: dict[str, dict[str, list[float]]] = {}
    for seed in range(setting.seeds):
        setting.say(f"planted pairs, seed {seed}")
        matrix, novel, pairs = planted_pairs_corpus(setting, seed)
        table, _ = fitted_words(setting, matrix, novel, seed)
        phrases = find_phrases(table, matrix, document_weights(matrix, novel))
        found = [{int(word) for word in words} for words in phrases["words"][:20]]
        share = np.mean([any(set(pair) <= words for words in found) for pair in pairs])
        rows.setdefault("newfound: phrases", {}).setdefault("among 20", []).append(float(share))
        for name, scores in (
            (NOVELTY, word_evidence(matrix, novel).novelty),
            *((name, baseline(matrix, novel)) for name, baseline in BASELINES.items()),
        ):
            # A scorer of words can rank pairs by the sum of the two at best.
            best = np.argsort(-scores)[:200]
            top = sorted(combinations(best, 2), key=lambda two: -scores[list(two)].sum())[:20]
            ranked = [set(map(int, pair)) for pair in top]
            share = np.mean([set(pair) in ranked for pair in pairs])
            rows.setdefault(name, {}).setdefault("among 20", []).append(float(share))
    return _means(rows)


def documents_from_words(setting: Setting) -> Table:
    """Rank held-out documents by the sum of the scores of their words, and of a few of them."""
    rows: dict[str, dict[str, list[float]]] = {}
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
                    of = rows.setdefault(name, {})
                    for title, weights in (("all", scores), *_tops(scores)):
                        value = roc_auc_score(corpus.novel[test], document_scores(rest, weights))
                        of.setdefault(f"{corpus_name}, {title}", []).append(value)
    return _means(rows)


def stability(setting: Setting) -> Table:
    """Compare the rankings of different seeds: Spearman's correlation, overlap of the top."""
    corpus = setting.bbcsport
    found: dict[str, list[NDArray[np.float64]]] = {}
    for seed in range(setting.seeds):
        setting.say(f"stability, seed {seed}")
        for name, scores in _scorers(setting, corpus.matrix, corpus.novel, seed, baselines=False):
            found.setdefault(name, []).append(scores)
    rows: dict[str, dict[str, list[float]]] = {}
    for name, rankings in found.items():
        of = rows.setdefault(name, {})
        for one, other in combinations(rankings, 2):
            of.setdefault("Spearman", []).append(float(stats.spearmanr(one, other).statistic))
            for n in (25, 100):
                both = set(np.argsort(-one)[:n]) & set(np.argsort(-other)[:n])
                of.setdefault(f"top {n}", []).append(len(both) / n)
    return _means(rows)


def no_novelty(setting: Setting, splits: int = 100) -> Table:
    """Count false alarms where both sides are one: shares of splits with any word at q up to 5 %.

    The q-values do not depend on the machines.
    """
    rows: dict[str, dict[str, list[float]]] = {}
    setting.say(f"no novelty, {splits} splits")
    for share in (0.5, 0.1):
        for seed in range(splits):
            matrix, novel = setting.halves(1000 + seed, share)
            known, new = (np.asarray(matrix[rows].sum(axis=0)) for rows in (~novel, novel))
            kept = known + new >= 2
            q = q_values(known[kept], new[kept], int((~novel).sum()), int(novel.sum()))
            alarm = bool((q <= 0.05).any())
            column = f"{share:.0%} of the documents novel"
            rows.setdefault("newfound: q", {}).setdefault(column, []).append(float(alarm))
    return _means(rows, spread=False)


def intervals(setting: Setting) -> Table:
    """Measure how often a 90 % interval holds the novelty that the other half of documents gives.

    Of words with at least two documents in each half. The intervals do not depend on the machines.
    """
    rows: dict[str, dict[str, list[float]]] = {}
    for name, corpus in (
        ("BBC Sport", setting.bbcsport),
        ("20 Newsgroups", setting.newsgroups),
        ("CLINC150", setting.requests),
    ):
        for seed in range(setting.seeds):
            setting.say(f"intervals, {name}, seed {seed}")
            first, second = next(folds(corpus.novel, 2, random_state=seed))
            often = [
                np.asarray(corpus.matrix[half].sum(axis=0)).ravel() >= 2 for half in (first, second)
            ]
            one, other = (
                word_evidence(corpus.matrix[half][:, words], corpus.novel[half])
                for half, words in zip((first, second), often, strict=True)
            )
            both = often[0] & often[1]
            here, there = both[often[0]], both[often[1]]
            fresh = other.novelty[there]
            held = (one.low[here] <= fresh) & (fresh <= one.high[here])
            of = rows.setdefault("newfound: novelty", {})
            of.setdefault(f"{name}, all words", []).append(float(held.mean()))
            strong = np.abs(one.novelty[here]) > 2
            of.setdefault(f"{name}, novelty beyond 2", []).append(float(held[strong].mean()))
    return _means(rows)


def faithful_words(setting: Setting) -> Table:
    """Take words away from 100 posts on baseball, and see whether a judge changes its mind."""
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
        "stability": stability,
        "no-novelty": no_novelty,
        "intervals": intervals,
        "faithfulness": faithful_words,
    }
)


def _corpus(
    texts: tuple[str, ...], novel: NDArray[np.bool_], splits: NDArray[np.str_] | None = None
) -> Corpus:
    return Corpus(TextVectorizer(min_df=1).fit_transform(texts), novel, texts, splits)


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
        for name, baseline in BASELINES.items():
            scores = np.asarray(baseline(matrix, novel), np.float64)
            yield name, np.log(np.maximum(scores, 1e-12)) if name.endswith("ratio") else scores


def _tops(scores: NDArray[np.float64]) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Keep the scores of the words that lean most to either side."""
    order = np.argsort(-np.abs(scores), kind="stable")
    for n in TOPS:
        few = np.zeros_like(scores)
        few[order[:n]] = scores[order[:n]]
        yield f"top {n}", few


def _splits(corpus: Corpus, seed: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    if corpus.splits is None:
        yield from folds(corpus.novel, 3, random_state=seed)
    else:
        yield np.flatnonzero(corpus.splits == "train"), np.flatnonzero(corpus.splits == "test")


def _candidates(matrix: Matrix, novel: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Give words that both halves use, of 10 to 60 documents."""
    counts = np.array([matrix[rows].sum(axis=0) for rows in (~novel, novel)]).reshape(2, -1)
    total = counts.sum(axis=0)
    return np.flatnonzero((counts > 0).all(axis=0) & (total >= 10) & (total <= 60))


def _planted_words(
    setting: Setting, seed: int, q: float
) -> tuple[Matrix, NDArray[np.bool_], NDArray[np.bool_]]:
    matrix, novel = setting.halves(seed)
    rng = np.random.default_rng([seed, round(1000 * q)])
    words = rng.choice(_candidates(matrix, novel), 30, replace=False)
    there = (rng.random((matrix.shape[0], 30)) < q) & novel[:, None]
    return _with(matrix, words, there, novel)


def planted_pairs_corpus(
    setting: Setting, seed: int
) -> tuple[Matrix, NDArray[np.bool_], list[tuple[int, int]]]:
    """Plant three pairs: in known documents either word alone, in novel ones both, 10 % each."""
    matrix, novel = setting.halves(seed)
    rng = np.random.default_rng([seed, 7])
    words = rng.choice(_candidates(matrix, novel), 6, replace=False)
    draw = rng.random((matrix.shape[0], 3))
    there = np.zeros((matrix.shape[0], 6), bool)
    for pair in range(3):
        there[:, 2 * pair] = draw[:, pair] < 0.1
        alone = (draw[:, pair] >= 0.1) & (draw[:, pair] < 0.2)
        there[:, 2 * pair + 1] = np.where(novel, draw[:, pair] < 0.1, alone)
    planted, novel, _ = _with(matrix, words, there, novel)
    number = {int(old): new for new, old in enumerate(_kept_columns(matrix, words, there))}
    pairs = [(number[int(words[2 * k])], number[int(words[2 * k + 1])]) for k in range(3)]
    return planted, novel, pairs


def _added(matrix: Matrix, words: NDArray[np.intp], there: NDArray[np.bool_]) -> Matrix:
    documents, which = np.nonzero(there)
    more = sparse.csr_array(
        (np.ones(len(documents), np.int64), (documents, words[which])), matrix.shape
    )
    return sparse.csr_array((matrix.astype(np.int64) + more) > 0)


def _kept_columns(
    matrix: Matrix, words: NDArray[np.intp], there: NDArray[np.bool_]
) -> NDArray[np.intp]:
    return np.flatnonzero(np.asarray(_added(matrix, words, there).sum(axis=0)).ravel() >= 2)


def _with(
    matrix: Matrix, words: NDArray[np.intp], there: NDArray[np.bool_], novel: NDArray[np.bool_]
) -> tuple[Matrix, NDArray[np.bool_], NDArray[np.bool_]]:
    """Add words to documents, leave out words of one document, say which words were added."""
    planted = _added(matrix, words, there)
    kept = _kept_columns(matrix, words, there)
    return planted[:, kept], novel, np.isin(kept, words)


def _means(rows: Mapping[str, Mapping[str, list[float]]], *, spread: bool = True) -> Table:
    """Make a table of means, with standard deviations where asked for."""
    names = list(dict.fromkeys(column for of in rows.values() for column in of))
    columns: dict[str, NDArray[Any]] = {"scorer": np.array(list(rows), dtype=object)}
    for name in names:
        values = [of.get(name, [np.nan]) for of in rows.values()]
        columns[name] = np.array([float(np.mean(value)) for value in values])
        if spread:
            columns[f"{name}, sd"] = np.array([float(np.std(value)) for value in values])
    return Table(columns)


def run_suites(setting: Setting, names: list[str]) -> dict[str, tuple[Table, float]]:
    """Run suites; give the table and the seconds of each."""
    found = {}
    for name in names:
        began = time.perf_counter()
        table = SUITES[name](setting)
        found[name] = (table, time.perf_counter() - began)
    return found
