"""Everything that a page shows, as plain data for JSON."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from newfound.report import cards, certainty, documents
from newfound.report.context import Company
from newfound.report.excerpts import Excerpts
from newfound.report.limits import Limits
from newfound.report.senses import senses
from newfound.report.summary import summary
from newfound.report.themes import is_training_corpus, themes
from newfound.report.timeline import axis_of, with_fewer_bins
from newfound.report.words import choose, rounded, words
from newfound.rules import LISTED_Q, readable_rules
from newfound.sides import Names
from newfound.table import jsonable
from newfound.text.capitals import corpus_spellings
from newfound.text.corpus import Corpus

if TYPE_CHECKING:
    from newfound.description.description import Description

__all__ = ["collect", "how_made", "versions"]

_COMPANY = 400  # words that can be partners: those with a card, and the most frequent in rules
_NETWORK = 60  # words among which the strongest pairs are searched


def collect(
    description: Description,
    corpus: Corpus | None,
    limits: Limits,
    names_of_sides: Names | None = None,
) -> dict[str, Any]:
    """Return everything that a page about a description shows.

    Parameters
    ----------
    description : Description
        Fitted.
    corpus : Corpus or None
        The texts; without them there are no examples, documents or held-out curves.
    limits : Limits
        The maximum number of everything.
    names_of_sides : Names, optional
        What the two sides are called.

    Returns
    -------
    dict
        Plain data, with the keys ``summary``, ``themes``, ``time``, ``words``, ``cards``,
        ``examples``, ``rules``, ``phrases``, ``senses``, ``context``, ``pairs``, ``documents``,
        ``curves``, ``notes``, ``made``, ``names`` and ``n_documents``; of a page that is
        rendered also ``title``.
    """
    table, n = description.words, description.n_documents
    frequency = table["documents_known"] + table["documents_novel"]
    rows = choose(table["novelty"], frequency, limits.words)
    shown = words(description, rows, limits)
    names = shown["columns"]["word"]
    numbers = {word: number for number, word in enumerate(names)}
    novelty = [value or 0.0 for value in shown["columns"]["novelty"]]
    excerpts = Excerpts(description.vectorizer, numbers, novelty.__getitem__)
    new = np.flatnonzero(shown["columns"]["new"]).tolist()[: limits.cards // 2]
    others = table["word"][choose(table["novelty"], frequency, limits.cards - len(new))]
    matter = sorted({*new, *(numbers[word] for word in others)})
    uses = (table["F_K"] + table["F_N"])[rows]
    used, ruled = np.argsort(-uses, kind="stable").tolist(), set(np.flatnonzero(uses).tolist())
    company = Company(description, [names[i] for i in dict.fromkeys([*matter, *used])][:_COMPANY])

    examples, ranked = None, None
    if corpus is not None:
        leaning = documents.contributions(description)
        scores = documents.document_scores(corpus, leaning)
        examples = cards.Examples(corpus, excerpts, scores, limits)
        vocabulary = list(description.vectorizer.vocabulary_)
        ranked = documents.documents(corpus, scores, leaning, vocabulary, excerpts, limits)
    rules = _first_rules(description, limits)
    made = {
        str(number): cards.card(description, names[number], company, rules, examples, limits)
        for number in matter
    }
    # Both ends of the ranking: the most novel words and, fewer, the most known.
    ends = dict.fromkeys([*matter[: 2 * _NETWORK // 3], *matter[-(_NETWORK // 3) :]])
    rest = sorted(set(range(len(names))) - set(matter))
    written = _written(description, corpus, [names[number] for number in (*matter, *rest)])
    shown["columns"]["written"] = [written.get(word) for word in names]
    found = _themes_and_time(description, corpus, excerpts, limits, made)
    data = {
        "n_documents": dict(n),
        "names": (names_of_sides or Names()).to_dict(),
        "summary": summary(
            shown,
            n["known"],
            n["novel"],
            lambda word: written.get(word, word),
            found["themes"],
            names_of_sides,
        ),
        **found,
        "words": shown,
        "cards": made,
        "examples": None if examples is None else examples.rows,
        "rules": {"rows": rules.rows, "total": len(description.clauses)},
        "phrases": _phrases(description, limits),
        "senses": None if corpus is None else senses(description, names, corpus, excerpts, limits),
        "context": company.matrix([names[i] for i in new if i in ruled][: limits.matrix]),
        "pairs": company.pairs([names[number] for number in ends], limits.pairs),
        "documents": ranked,
        "curves": certainty.curves(table, description.vectorizer.vocabulary_, corpus),
        "notes": [] if corpus is None else list(corpus.notes),
        "made": how_made(description, corpus),
    }
    return with_fewer_bins(data, limits.bins)


def _themes_and_time(
    description: Description,
    corpus: Corpus | None,
    excerpts: Excerpts,
    limits: Limits,
    cards: Mapping[str, dict[str, Any]],
) -> dict[str, Any]:
    """Return the themes and the bins of time; each card gets the curve of its word."""
    axis = axis_of(description, limits.bins)
    if corpus is not None and not is_training_corpus(description, corpus):
        corpus = None  # rows of themes and dates are not rows of these texts
    if axis is not None:
        vocabulary, words = description.vectorizer.vocabulary_, excerpts.words
        columns = [vocabulary[words[int(number)]] for number in cards]
        curves = axis.word_curves(columns, corpus)
        for card, curve in zip(cards.values(), curves or (), strict=curves is not None):
            card["curve"] = curve
    return {
        "themes": themes(description, corpus, axis, excerpts, limits),
        "time": None if axis is None else axis.data(),
    }


def _written(description: Description, corpus: Corpus | None, words: list[str]) -> dict[str, str]:
    """Return how texts write words, where they give them capitals."""
    if corpus is None:
        return {}
    found = corpus_spellings(corpus, description.vectorizer, words)
    return {word: spelling for word, spelling in found.items() if spelling != word}


def _first_rules(description: Description, limits: Limits) -> cards.Rules:
    """Return the best rules of each side."""
    rules = cards.Rules(limits.literals)
    listed = readable_rules(description.clauses, -(-limits.rules // 2), max_q=LISTED_Q)
    rules.add(listed, listed=True)
    return rules


def _phrases(description: Description, limits: Limits) -> dict[str, Any]:
    table = description.phrases
    rows = [
        {name: rounded(x) if isinstance(x, float) else x for name, x in row.items()}
        for row in table.take(slice(limits.phrases))
    ]
    return {"rows": rows, "total": len(table)}


def how_made(description: Description, corpus: Corpus | None) -> dict[str, Any]:
    """Return the parameters and versions behind a description, and where its texts came from."""
    parameters = {
        "preset": description.given["preset"] or "default",
        **{name: value for name, value in description.parameters.items() if name != "stop_words"},
        "stop_words": f"{len(description.vectorizer.stop_words_):,} words",
        "random_state": _seed(description.given["random_state"]),
    }
    return {
        "parameters": {name: jsonable(value) for name, value in parameters.items()},
        "versions": versions(),
        "piles": {} if corpus is None else jsonable(corpus.sources),
        "n_words": len(description.words),
        "n_rules": len(description.clauses),
        "n_machines": description.n_machines,
    }


def versions() -> dict[str, str]:
    """Return the versions of all libraries that influence the result."""
    names = ("newfound", "numpy", "scipy", "scikit-learn", "simplemma")
    return {**{name: version(name) for name in names}, "Python": platform.python_version()}


def _seed(random_state: object) -> object:
    if random_state is None:
        return "none; another run may give another result"
    return random_state if isinstance(random_state, int) else "a generator"
