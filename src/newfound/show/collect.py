"""Everything that a page about a description shows, as plain data for JSON."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from newfound.rules import LISTED_Q, readable_rules
from newfound.show import cards, documents
from newfound.show.documents import Excerpts
from newfound.show.sentences import rounded, summary
from newfound.show.themes import axis_of, is_training_corpus, shown_document, themes
from newfound.sides import SIDES, Names
from newfound.table import jsonable
from newfound.text.copies import read_summary
from newfound.text.corpus import Corpus
from newfound.text.documents import Documents, as_sides
from newfound.text.spelling import corpus_spellings

if TYPE_CHECKING:
    from newfound.description.description import Description
    from newfound.stories.themes import Theme

__all__ = ["Limits", "choose", "collect", "gather", "how_made", "pile_data", "versions"]

_COMPANY = 400  # words that can be partners: those with a card, and the most frequent in rules
_NETWORK = 60  # words among which the strongest pairs are searched


@dataclass(frozen=True)
class Limits:
    """The maximum number of everything on a page, so that it is small for a corpus of any size.

    Examples
    --------
    >>> Limits().words, Limits().halved().words
    (1000, 500)
    """

    words: int = 1000  # in the table and the scatter
    forms: int = 8  # of a word
    cards: int = 200  # words with company, rules and examples
    company: int = 8  # partners of each side on a card
    card_rules: int = 3  # rules of each side on a card, which the table of rules may lack
    examples: int = 3  # sentences of each side on a card
    excerpt: int = 240  # characters of a sentence
    rules: int = 200
    literals: int = 24  # words of a rule; the others are counted
    phrases: int = 150
    senses: int = 12  # words whose senses are compared
    matrix: int = 18  # words of the context matrix
    pairs: int = 70  # lines of the network
    documents: int = 120
    document: int = 700  # characters
    themes: int = 40  # also of each period
    theme_words: int = 20
    theme_rules: int = 8
    theme_documents: int = 3
    theme_document: int = 400  # characters
    gone: int = 12  # themes of the known documents
    loose: int = 40  # words in no theme
    set_aside: int = 100  # words
    bins: int = 120  # of time; neighbours are joined if there are more
    periods: int = 400
    period_words: int = 20

    def halved(self) -> Self:
        """Return limits that are half as large, but at least 1."""
        half = {field.name: max(1, getattr(self, field.name) // 2) for field in fields(self)}
        return type(self)(**half)


def gather(description: Description, known: object = None, novel: object = None) -> Corpus | None:
    """Return the texts that a describer was fitted on, as it keeps them or as passed, if any.

    Parameters
    ----------
    description : Description
        What was learned.
    known, novel : what `as_documents` takes, optional
        The documents; needed if the describer was loaded from a file, which holds no texts.
    """
    if (known is None) != (novel is None):
        side, other = SIDES if known is None else SIDES[::-1]
        raise ValueError(f"There are {other} documents but no {side} ones; pass both or neither.")
    corpus = description.corpus
    if known is None:
        return corpus
    fold = description.copies is not None
    piles = as_sides(known, novel, redact=description.given["redact"])
    texts = [*piles["known"].texts, *piles["novel"].texts]
    more: dict[str, Any] = {
        "sources": {side: pile_data(pile, fold=fold) for side, pile in piles.items()}
    }
    if all(map(_has_names, piles.values())):
        more["names"] = [*piles["known"].ids, *piles["novel"].ids]
    if corpus is not None and list(corpus.texts) == texts:
        return replace(corpus, **more)
    is_novel = np.arange(len(texts)) >= len(piles["known"])
    matrix = description.vectorizer.transform(texts)
    more["notes"] = _differences(description, matrix, is_novel)
    return Corpus.without_votes(texts, is_novel, matrix, **more)


def _has_names(pile: Documents) -> bool:
    """Return whether the documents have names, not only positions in a list."""
    return not all(name.isdigit() for name in pile.ids[:100])


def _differences(
    description: Description, matrix: Any, novel: NDArray[np.bool_]
) -> tuple[str, ...]:
    """Return a note if the texts are not those that the describer was fitted on."""
    counts = np.stack([matrix[side].sum(axis=0) for side in (~novel, novel)]).reshape(2, -1)
    words = description.words
    columns = [description.vectorizer.vocabulary_[word] for word in words["word"]]
    learned = np.stack((words["documents_known"], words["documents_novel"]))
    if np.array_equal(counts[:, columns], learned):
        return ()
    return (
        "The texts given for this report are not those that the model was trained on: examples "
        "and documents come from the texts given, counts from the training texts.",
    )


def pile_data(pile: Documents, *, fold: bool = False) -> dict[str, Any]:
    """Return where documents came from, how many there are, and what was left out.

    `fold` says whether their copies count once as evidence.
    """
    return {
        "source": pile.source[:200],
        "documents": len(pile),
        "found": dict(pile.found),
        "summary": read_summary(pile, fold=fold)[:500],
    }


def collect(
    description: Description,
    corpus: Corpus | None,
    limits: Limits,
    names_of_sides: Names | None = None,
) -> dict[str, Any]:
    """Return everything that a page about a description shows.

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
    partners = [names[i] for i in dict.fromkeys([*matter, *used])][:_COMPANY]
    company = cards.Company(description, partners)

    examples, ranked, senses = None, None, None
    if corpus is not None:
        leaning = documents.contributions(description)
        scores = documents.document_scores(corpus, leaning)
        examples = cards.Examples(corpus, excerpts, scores, limits)
        vocabulary = list(description.vectorizer.vocabulary_)
        ranked = documents.documents(corpus, scores, leaning, vocabulary, excerpts, limits)
        senses = cards.senses(description, names, corpus, excerpts, limits)
    rules = cards.Rules(limits.literals)
    rules.add(
        readable_rules(description.clauses, -(-limits.rules // 2), max_q=LISTED_Q), listed=True
    )
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
    return {
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
        "senses": senses,
        "context": company.matrix([names[i] for i in new if i in ruled][: limits.matrix]),
        "pairs": company.pairs([names[number] for number in ends], limits.pairs),
        "documents": ranked,
        "curves": documents.curves(table, description.vectorizer.vocabulary_, corpus),
        "notes": [] if corpus is None else list(corpus.notes),
        "made": how_made(description, corpus),
    }


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
    texts = corpus

    def document(row: int) -> dict[str, Any]:
        day = None if axis is None else axis.day(row)
        return shown_document(texts, day, row, excerpts, limits) if texts is not None else {}

    def theme_curve(theme: Theme) -> dict[str, Any] | None:
        return None if axis is None else axis.theme_curve(theme)

    return {
        "themes": themes(description, corpus, theme_curve, document, limits),
        "time": None if axis is None else axis.data(),
    }


def _written(description: Description, corpus: Corpus | None, words: list[str]) -> dict[str, str]:
    """Return how texts write words, where they give them capitals."""
    if corpus is None:
        return {}
    found = corpus_spellings(corpus, description.vectorizer, words)
    return {word: spelling for word, spelling in found.items() if spelling != word}


def choose(
    novelty: NDArray[np.float64], frequency: NDArray[np.int64], most: int
) -> NDArray[np.intp]:
    """Choose rows of the table of words: the most novel, the most known and the most frequent.

    If there are more than `most` words, five ninths are the most novel, a quarter the most known,
    and the rest the most frequent. They are sorted by novelty.

    Examples
    --------
    >>> novelty = np.array([3.0, 2.5, 2.0, 1.5, 1.0, 0.5, -1.0, -2.0, np.nan])
    >>> choose(novelty, np.array([1, 1, 1, 1, 1, 9, 1, 1, 9]), 6).tolist()
    [0, 1, 2, 3, 5, 7]
    """
    ranked = np.flatnonzero(~np.isnan(novelty))
    ranked = ranked[np.argsort(-novelty[ranked], kind="stable")]
    if len(ranked) <= most:
        return ranked
    n_novel, n_known = -(-most * 5 // 9), most // 4
    taken = np.zeros(len(novelty), bool)
    taken[ranked[:n_novel]] = True
    taken[ranked[len(ranked) - n_known :]] = True
    frequent = ranked[np.argsort(-frequency[ranked], kind="stable")]
    rest = frequent[~taken[frequent]][: most - int(taken.sum())]
    taken[rest] = True
    return ranked[taken[ranked]]


def words(description: Description, rows: NDArray[np.intp], limits: Limits) -> dict[str, Any]:
    """Return the columns of the words of a page, in the order of `rows`."""
    table = description.words.take(rows)
    columns = {
        "word": table["word"].tolist(),
        "side": table.sides.tolist(),
        "new": (table.sides == "novel").tolist(),
        **{
            name: [rounded(value) for value in table[name].tolist()]
            for name in ("novelty", "times", "low", "high", "q", "stability", "score")
        },
        **{
            name: table[name].tolist()
            for name in ("F_N", "F_K", "documents_novel", "documents_known", "group")
        },
        "forms": [list(forms[: limits.forms]) for forms in table["forms"]],
    }
    return {
        "columns": columns,
        "total": len(description.words),
        "new": int((description.words.sides == "novel").sum()),
        "several_machines": description.n_machines > 1,
        "set_aside": [word[:60] for word in list(description.set_aside)[: limits.set_aside]],
        "n_set_aside": len(description.set_aside),
    }


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
