"""The suites for themes: which topics that grew or are new have a theme, beside topic models.

How topics are drawn, and when one is found, is in `lab.evaluation.theme_piles`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np
from joblib import Parallel, delayed  # type: ignore[import-untyped,unused-ignore]

from lab.datasets import (
    LabelledDocuments,
    load_20newsgroups,
    load_abcnews,
    load_bbcsport,
    load_clinc150,
)
from lab.evaluation.suites import SuiteSetting, Values, add_value, means
from lab.evaluation.theme_chance import by_chance
from lab.evaluation.theme_names import NameChecks, months
from lab.evaluation.theme_piles import (
    Groups,
    Piles,
    Topics,
    agreement,
    other_piles,
    other_texts,
    piles_of,
)
from lab.evaluation.topic_models import MODELS, bertopic, grown_clusters, has_bertopic
from lab.tables import table_of
from newfound.processes import safe_path
from newfound.stories.themes import Theme
from newfound.table import Table

__all__ = ["SUITES", "Piles", "Setting", "Topics", "agreement", "piles_of"]

OURS = "newfound: themes"
BOTH = "newfound: themes and parts"
GRID = (10, 20, 40, 80)
N_COMPARED = 3  # draws of the suites that take long
# Themes do not depend on rules, so that as few as possible are learned.
FEW_RULES: dict[str, Any] = {"n_machines": 1, "n_clauses": 10, "T": 5, "epochs": 1}

Figures = dict[str, float]
Draw = Callable[[int], Piles]  # of a seed
Rows = list[tuple[str, Figures]]


@dataclass(frozen=True)
class Setting(SuiteSetting):
    """The setting of the suites, and the corpora that they use.

    Attributes
    ----------
    seeds : int
        The number of draws of topics.
    first_seed : int
        The seed of the first draw; the others follow it.
    sentence_model : str, optional
        The folder of a sentence-transformers model for BERTopic.
    splits : int
        The number of random splits of each corpus for "no-novelty".
    """

    seeds: int = 5
    first_seed: int = 200  # the method was developed on draws below 10
    sentence_model: str | None = None
    splits: int = 100

    @cached_property
    def requests(self) -> Topics:
        """Requests of CLINC150 with their intents: of 100 in a draw 10 grow."""
        return Topics.of("CLINC150", load_clinc150(self.data), 100, 10)

    @cached_property
    def newsgroups(self) -> Topics:
        """Posts of 20 Newsgroups without headers: 3 of the groups grow."""
        corpus = load_20newsgroups(self.data, remove=("headers",))
        return Topics.of("20 Newsgroups", corpus, 20, 3, most=4000)

    @cached_property
    def reports(self) -> Topics:
        """Articles of BBC Sport with their sports."""
        return Topics.of("BBC Sport", load_bbcsport(self.data), 5, 1)

    @cached_property
    def headlines(self) -> LabelledDocuments:
        """Headlines of ABC News, in the order of their dates."""
        return load_abcnews(self.data)


def shift(setting: Setting) -> Table:
    """Topics that grew in the novel pile, and the themes that newfound finds.

    "topics found": share of the grown topics with a theme whose novel documents agree with theirs
    with F1 >= 0.5; "with parts": with a theme or a part of one. "about no topic": share of the
    themes in which no grown topic makes up half of the documents; "about nothing new": in which all
    grown topics together do not. "sure" leaves out the themes that are marked as maybe chance. Of
    100 intents of CLINC150 10 grow and 10 shrink; of the 20 newsgroups (without headers) 3 grow and
    3 shrink. Copied text counts once, as in a description, also for the topic models.
    """
    return _table(_measured(setting, "themes", _shifted(setting), _ours, setting.seeds))


def other(setting: Setting) -> Table:
    """Piles without a common topic: the themes and parts of newfound, beside topic models.

    Known and novel are halves of the topics: five of ten domains of CLINC150 with 15 intents each,
    ten of the 20 newsgroups (without headers, at most 4,000 posts a side), three of the five sports
    of BBC Sport against two. "topics found": share of the novel topics with a theme or a part whose
    documents agree with theirs with F1 >= 0.5; "by themes alone": without parts. "about no topic":
    share of the themes and parts in which no topic makes up half of the documents. Rows "first
    draws" and those of topic models are of the first three draws. The models cluster the novel pile
    as in "topic-models", and only clusters that are significantly more frequent there count. Their
    number of topics (10, 20, 40 or 80) is chosen without labels, by silhouette or held-out
    perplexity, or with the labels in the rows "best number". "seconds" are those of one number.
    """
    corpora = (setting.requests, setting.newsgroups, setting.reports)
    cases = [(topics.name, partial(other_piles, topics)) for topics in corpora]
    whole = _measured(setting, "other topics", cases, _ours_other, setting.seeds)
    compared = min(setting.seeds, N_COMPARED)
    beside = _measured(setting, "other topics, models", cases, _all_other, compared)
    return _table({**whole, **beside})


def topic_models(setting: Setting) -> Table:
    """Topics that grew, and the clusters of topic models: the first three draws of "shift".

    The models cluster the novel pile; only their clusters that are significantly more frequent
    there than in the known pile count, and their number of topics (10, 20, 40 or 80) is chosen by
    silhouette (k-means, NMF) or held-out perplexity (LDA), or, in the rows "best number", with the
    labels. BERTopic is included if it is installed; it chooses its number of topics itself.
    "seconds" are those of one number of topics.
    """
    draws = min(setting.seeds, N_COMPARED)
    return _table(_measured(setting, "topic models", _shifted(setting), _all_methods, draws))


def stability(setting: Setting) -> Table:
    """Agreement of the themes of newfound between seeds, and between halves of the documents.

    Jaccard index of the 12 strongest words of each theme and of its best counterpart, means over
    themes and draws. "another seed": the same documents in another order and with another seed.
    "another half": two halves of the documents that share none. The first three draws of "shift".
    """
    draws = min(setting.seeds, N_COMPARED)
    return _table(_measured(setting, "stability of themes", _shifted(setting), _stable, draws))


def no_novelty(setting: Setting) -> Table:
    """Themes of random halves of a corpus, of which nothing is novel: 100 splits of each.

    Shares of splits with any theme, with a theme that is not marked as maybe chance ("sure"), the
    same for themes that are gone, and with a sure theme of either kind; and how many themes there
    are on average. Each split is of a random 3,000 documents, so that 600 splits take a quarter of
    an hour. "near copies": each of 30 % of the documents is there three times, twice with
    a word left out or changed; these copies are on either side by chance and are no news.
    """
    corpora = (
        ("CLINC150", setting.requests.texts.tolist()),
        ("20 Newsgroups", setting.newsgroups.texts.tolist()),
        ("headlines", list(setting.headlines.texts)),
    )
    rows = []
    for near in (False, True):
        for name, texts in corpora:
            data = f"{name}, near copies" if near else name
            setting.say(f"no novelty: {data}")
            seeds = range(setting.first_seed, setting.first_seed + setting.splits)
            with safe_path():
                run = Parallel(n_jobs=setting.n_jobs)
                found = run(delayed(by_chance)(texts, near=near, seed=seed) for seed in seeds)
            columns = {column: [one[column] for one in found] for column in found[0]}
            shares = {column: float(np.mean(values)) for column, values in columns.items()}
            rows.append({"data": data, **shares})
    return table_of(rows)


def names(setting: Setting) -> Table:
    """Whether names of themes are phrases of their documents: headlines by month, and posts.

    Of headlines, each of twelve months is described against up to 20,000 headlines before it; of 20
    Newsgroups, the draws of "other". Themes that are marked as maybe chance are left out. "one word
    or in half": share of the names that are a single word, or one phrase that half of the theme's
    documents have, word by word; case and punctuation do not matter. "of one word" and "of several
    phrases": shares of such names. "a phrase in half": half of the documents have one of the
    phrases. "in typical": the first typical document has the first phrase. "share": mean share of
    the documents that have the first phrase.
    """
    seeds = range(setting.first_seed, setting.first_seed + setting.seeds)
    checks = NameChecks(setting.say)
    for month, known, novel in months(setting.headlines):
        checks.describe("headlines", month, known, novel)
    for seed in seeds:
        known, novel = other_texts(setting.newsgroups, seed)
        checks.describe("20 Newsgroups", str(seed), known, novel, **FEW_RULES)
    return table_of(checks.rows())


SUITES: Mapping[str, Callable[[Setting], Table]] = MappingProxyType(
    {
        "shift": shift,
        "other": other,
        "topic-models": topic_models,
        "stability": stability,
        "no-novelty": no_novelty,
        "names": names,
    }
)


def _shifted(setting: Setting) -> list[tuple[str, Draw]]:
    """Return the draws in which topics are 3 and 5 times as frequent."""
    return [
        (f"{topics.name}, {times} times", partial(piles_of, topics, times=times))
        for topics in (setting.requests, setting.newsgroups)
        for times in (3, 5)
    ]


def _measured(
    setting: Setting,
    title: str,
    cases: Sequence[tuple[str, Draw]],
    measure: Callable[[Draw, int, str | None], Rows],
    n_draws: int,
) -> dict[tuple[str, str], dict[str, list[float]]]:
    """Return the figures of each case and method in each draw, several draws at a time."""
    values: dict[tuple[str, str], dict[str, list[float]]] = {}
    for data, draw in cases:
        setting.say(f"{title}: {data}")
        draws = range(setting.first_seed, setting.first_seed + n_draws)
        run = Parallel(n_jobs=setting.n_jobs)
        with safe_path():
            done = run(delayed(measure)(draw, seed, setting.sentence_model) for seed in draws)
        for method, figures in chain.from_iterable(done):
            for column, value in figures.items():
                values.setdefault((data, method), {}).setdefault(column, []).append(value)
    return values


def _table(measured: Mapping[tuple[str, str], Mapping[str, Sequence[float]]]) -> Table:
    """Return the means of figures over draws, all rows of a case after each other."""
    values: Values = {}
    rows = sorted(measured, key=lambda row: [case for case, _ in measured].index(row[0]))
    for number, row in enumerate(rows):
        for column, some in measured[row].items():
            for value in some:
                add_value(values, str(number), column, value)
    records = means(values, row_name="row").to_records()
    return table_of(
        [
            {"data": data, "method": method, **{k: v for k, v in record.items() if k != "row"}}
            for (data, method), record in zip(rows, records, strict=True)
        ]
    )


def _ours(draw: Draw, seed: int, sentence_model: str | None) -> Rows:
    """Return the figures of newfound."""
    return [(OURS, _own_figures(draw(seed)))]


def _own_figures(piles: Piles) -> Figures:
    began = time.perf_counter()
    themes = piles.found().themes
    seconds = time.perf_counter() - began
    sure = agreement(_groups(theme for theme in themes if not theme.may_be_chance), piles)
    figures = agreement(_groups(themes), piles)
    return {
        "topics found": figures.pop("topics found"),
        "with parts": agreement(_with_parts(themes), piles)["topics found"],
        **figures,
        "sure: topics found": sure["topics found"],
        "sure: about no topic": sure["about no topic"],
        "sure: themes": sure["themes"],
        "seconds": seconds,
    }


def _ours_other(draw: Draw, seed: int, sentence_model: str | None) -> Rows:
    return [(BOTH, _other_figures(draw(seed)))]


def _other_figures(piles: Piles) -> Figures:
    began = time.perf_counter()
    themes = piles.found().themes
    seconds = time.perf_counter() - began
    alone = agreement(_groups(themes), piles)
    return _beside(
        agreement(_with_parts(themes), piles),
        piles,
        {"by themes alone": alone["topics found"], "themes": alone["themes"], "seconds": seconds},
    )


def _beside(figures: Figures, piles: Piles, more: Figures) -> Figures:
    """Return the figures of "other" in their order."""
    return {
        "topics": float(len(piles.grown)),
        "topics found": figures["topics found"],
        "by themes alone": more.get("by themes alone", figures["topics found"]),
        "mean F1": figures["mean F1"],
        "about no topic": figures["about no topic"],
        "themes": more.get("themes", figures["themes"]),
        "themes and parts": figures["themes"],
        "seconds": more["seconds"],
    }


def _all_other(draw: Draw, seed: int, sentence_model: str | None) -> Rows:
    piles = draw(seed)
    models = (
        (method, _beside(figures, piles, {"seconds": figures["seconds"]}))
        for method, figures in _models(piles, sentence_model)
    )
    return [(f"{BOTH}, first draws", _other_figures(piles)), *models]


def _groups(themes: Iterable[Theme]) -> Groups:
    return [theme.novel_documents for theme in themes]


def _with_parts(themes: Iterable[Theme]) -> Groups:
    return [group.novel_documents for theme in themes for group in (theme, *theme.parts)]


def _all_methods(draw: Draw, seed: int, sentence_model: str | None) -> Rows:
    """Return the figures of newfound, and of each model with two choices of the number."""
    piles = draw(seed)
    return [(OURS, _own_figures(piles)), *_models(piles, sentence_model)]


def _models(piles: Piles, sentence_model: str | None) -> Iterator[tuple[str, Figures]]:
    rows = np.flatnonzero(piles.novel)
    for name, model in MODELS.items():
        tried = []
        for n_topics in GRID:
            began = time.perf_counter()
            found = model(piles.matrix[rows], piles.matrix[~piles.novel], n_topics)
            figures = agreement([rows[one] for one in grown_clusters(found)], piles)
            figures["seconds"] = time.perf_counter() - began
            tried.append((found.quality, figures))
        yield name, max(tried, key=lambda one: one[0])[1]
        best = max(tried, key=lambda one: (one[1]["topics found"], -one[1]["about no topic"]))
        yield f"{name}, best number", best[1]
    if has_bertopic():
        began = time.perf_counter()
        found = bertopic(piles.matrix, piles.novel, piles.texts, sentence_model)
        figures = agreement([rows[one] for one in grown_clusters(found)], piles)
        name = "BERTopic" if sentence_model else "BERTopic on TF-IDF"
        yield name, {**figures, "seconds": time.perf_counter() - began}


def _stable(draw: Draw, seed: int, sentence_model: str | None) -> Rows:
    """Return how well themes agree between orders and seeds, and between halves."""
    piles = draw(seed)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(piles.novel))
    half = rng.random(len(order)) < 0.5
    first, second, *parts = (
        piles.themes(part, number)
        for number, part in enumerate((np.arange(len(order)), order, half, ~half))
    )
    figures = {"another seed": _overlap(first, second), "another half": _overlap(*parts)}
    return [(OURS, figures)]


def _overlap(ones: Sequence[Theme], others: Sequence[Theme]) -> float:
    """Return the mean Jaccard index of the words of each theme and of its best counterpart."""
    sets = [[{word for word, _ in theme.words[:12]} for theme in side] for side in (ones, others)]
    best = [max((len(a & b) / len(a | b) for b in sets[1]), default=0.0) for a in sets[0]]
    return float(np.mean(best)) if best else float(not sets[1])
