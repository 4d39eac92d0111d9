"""The themes of a page: words, rules, documents, and how each was joined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from newfound.machine.rule_set import rows_with
from newfound.report.excerpts import Excerpts
from newfound.report.limits import Limits
from newfound.report.timeline import CountedAxis, TimeAxis
from newfound.report.words import rounded
from newfound.text.corpus import Corpus

if TYPE_CHECKING:
    from newfound.description.description import Description
    from newfound.stories.themes import Theme

__all__ = ["is_training_corpus", "themes"]

_MAX_NAME = 100  # characters of the name of a theme
_MAX_WORD = 60  # characters of a word of a theme
_SHARES = ("share_novel", "share_known", "held_out_share_novel", "held_out_share_known")

Data = dict[str, Any]


def themes(
    description: Description,
    corpus: Corpus | None,
    axis: TimeAxis | CountedAxis | None,
    excerpts: Excerpts,
    limits: Limits,
) -> Data:
    """Return the themes of a page, in the order of the description.

    Parameters
    ----------
    description : Description
        Fitted.
    corpus : Corpus or None
        The texts that it was fitted on; None shows no documents.
    axis : TimeAxis, CountedAxis or None
        The dates of the documents; without them there are no curves.
    excerpts : Excerpts
        Cuts the beginnings of documents.
    limits : Limits
        The maximum number of everything.

    Returns
    -------
    dict
        ``rows``, the themes; ``total``, their number; ``may_be_chance``, how many of them may be
        chance; ``unexplained``, the share of the novelty that no theme explains.
    """
    found = description.themes
    rows = [_theme(theme, limits) for theme in found[: limits.themes]]
    for row, theme in zip(rows, found, strict=False):
        if axis is not None:
            row["curve"] = axis.theme_curve(theme)
        if corpus is not None:
            places = theme.typical[: limits.theme_documents]
            row["documents"] = [
                _document(corpus, axis, place, excerpts, limits) for place in places
            ]
    return {
        "rows": rows,
        "total": len(found),
        "may_be_chance": sum(theme.may_be_chance for theme in found),
        "unexplained": rounded(description.unexplained),
    }


def is_training_corpus(description: Description, corpus: Corpus) -> bool:
    """Return whether the documents of a describer's themes are rows of a corpus.

    They are not if other texts were passed, or the same ones in another order.
    """
    if corpus is description.corpus:  # of a stream, these are fewer than all documents
        return True
    if corpus.notes or len(corpus) != sum(description.n_documents.values()):
        return False
    if description.corpus is not None and list(corpus.texts) != list(description.corpus.texts):
        return False
    return all(_finds_its_documents(theme, description, corpus) for theme in description.themes)


def _finds_its_documents(theme: Theme, description: Description, corpus: Corpus) -> bool:
    """Return whether each document of a theme is on its side and matches one of the rules."""
    if not corpus.novel[theme.novel_documents].all() or corpus.novel[theme.known_documents].any():
        return False
    vocabulary = description.vectorizer.vocabulary_
    rows = np.concatenate((theme.novel_documents, theme.known_documents))
    matched = np.zeros(len(corpus), bool)
    for rule in theme.rules:
        matched[rows_with(corpus.columns, [vocabulary[word] for word in rule.words])] = True
    return bool(matched[rows].all())


def _theme(theme: Theme, limits: Limits) -> Data:
    return {
        "name": _short(theme.name, _MAX_NAME),
        "words": [_short(word, _MAX_WORD) for word, _ in theme.words[: limits.theme_words]],
        "rules": [
            {
                "words": [_short(word, _MAX_WORD) for word in rule.words],
                "novel": rule.novel,
                "known": rule.known,
                "held_out_novel": rule.held_out_novel,
                "held_out_known": rule.held_out_known,
            }
            for rule in theme.rules[: limits.theme_rules]
        ],
        "n_rules": len(theme.rules),
        "documents_novel": theme.documents_novel,
        "documents_known": theme.documents_known,
        **{share: rounded(getattr(theme, share)) for share in _SHARES},
        "evidence": rounded(theme.evidence),
        "may_be_chance": theme.may_be_chance,
        "joined": [
            [_short(one, _MAX_WORD), _short(other, _MAX_WORD), rounded(strength, 2)]
            for one, other, strength in theme.joined[: limits.joined]
        ],
        "documents": None,
        "curve": None,
    }


def _document(
    corpus: Corpus,
    axis: TimeAxis | CountedAxis | None,
    row: int,
    excerpts: Excerpts,
    limits: Limits,
) -> Data:
    return {
        "name": corpus.names[row][:80],
        "date": None if axis is None else axis.day(row),
        **excerpts.opening(corpus.texts[row].strip(), limits.theme_document),
    }


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
