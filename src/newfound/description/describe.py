"""`newfound.describe`: from two groups of documents to a fitted describer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from newfound.description.describer import NoveltyDescriber
from newfound.machine.clauses import EpochInfo
from newfound.text.documents import as_sides

__all__ = ["describe"]


def describe(
    known: object,
    novel: object,
    *,
    mixture: bool = False,
    dates: tuple[Iterable[Any], Iterable[Any]] | None = None,
    callback: Callable[[EpochInfo], bool | None] | None = None,
    **parameters: Any,
) -> NoveltyDescriber:
    """Describe what is new in novel documents, compared with known ones.

    Parameters
    ----------
    known, novel : iterable of str, series, frame or Documents
        The documents of each side; anything that `newfound.as_documents` accepts.
    mixture : bool, default=False
        Whether `novel` is a mixture of known and novel documents. Those that a `NoveltyDetector`
        takes for known are then left out, and ``mixture_`` of the describer says which these are
        and which share of the mixture is new.
    dates : pair of iterables, optional
        The dates of the known and of the novel documents, if they are not in them: Documents that
        were read with a date column have dates. With dates, `NoveltyDescriber.curve` tells how
        often a word or a theme occurs over time.
    callback : callable, optional
        Called with an `EpochInfo` after each epoch; a true result ends training.
    **parameters
        Those of `NoveltyDescriber`.

    Returns
    -------
    NoveltyDescriber
        Fitted.

    Examples
    --------
    >>> known = [f"{who} took a wicket in the {when} over" for who in ("Ann", "Bob", "Cy")
    ...          for when in ("first", "third", "sixth", "ninth", "last")]
    >>> novel = [f"{who} scored a try after the {when} scrum" for who in ("Ann", "Bob", "Cy")
    ...          for when in ("first", "third", "sixth", "ninth", "last")]
    >>> describer = describe(known, novel, n_clauses=20, T=5, random_state=1)
    >>> sorted(describer.words_.top(3)["word"].tolist())
    ['scored', 'scrum', 'try']
    """
    describer = NoveltyDescriber(**parameters)
    sides = as_sides(known, novel, dates, redact=describer.redact)
    texts = [text for documents in sides.values() for text in documents.texts]
    labels = [side for side, documents in sides.items() for _ in documents.texts]
    piles = sides.values()
    days = [day for pile in piles for day in pile.dates or (None,) * len(pile)]
    if not mixture:
        return describer.fit(texts, labels, dates=days, callback=callback)
    from newfound.detection.mixture import describe_mixture

    return describe_mixture(describer, texts, labels, dates=days, callback=callback)
