"""A corpus with labels, splits and dates, and the check of its contents."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from newfound.text.dates import parse_dates
from newfound.text.documents import Documents, as_documents

__all__ = [
    "DatasetError",
    "LabelledDocuments",
    "Post",
    "check_content",
    "content_hash",
    "make_corpus",
]

_NOT_PLAIN = re.compile(r"[^a-z0-9]+")
_SHOWN = 3


class DatasetError(ValueError):
    """A data set is missing or has unexpected contents; the message says what to do."""


class Post(NamedTuple):
    """A document of a corpus as it was read; fields that a corpus does not have are empty."""

    id: str
    text: str
    label: str
    split: str = ""
    domain: str = ""
    date: str = ""


@dataclass(frozen=True)
class LabelledDocuments(Documents):
    """Documents with the splits and domains that the corpus has, beside labels and dates.

    Attributes
    ----------
    splits : tuple of str or None
        The standard split that each document is in, such as "train" or "test".
    domains : tuple of str or None
        The domain of each document's label.

    Examples
    --------
    >>> corpus = LabelledDocuments(("a try", "a wicket"), ("1", "2"), ("rugby", "cricket"))
    >>> corpus.only("rugby").texts
    ('a try',)
    """

    splits: tuple[str, ...] | None = None
    domains: tuple[str, ...] | None = None

    def only(
        self,
        *labels: str,
        split: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> LabelledDocuments:
        """Return the documents with one of these labels, of one split and of a period.

        Parameters
        ----------
        *labels : str
            Labels of the corpus; by default all.
        split : str, optional
            A split of the corpus; by default all.
        since, until : str, optional
            The first and the last day of the period, such as "2003-03-20"; by default all days.

        Returns
        -------
        LabelledDocuments
            `found` is empty, because its counts are those of the whole corpus.
        """
        names = self.labels or ()
        unknown = [label for label in labels if label not in names]
        if unknown:
            raise ValueError(f"There is no label {unknown[0]!r} in {self.source}.")
        if split is not None and split not in (self.splits or ()):
            raise ValueError(f"There is no split {split!r} in {self.source}.")
        if (since or until) and self.dates is None:
            raise ValueError(f"The documents of {self.source} have no dates.")
        days = [str(day) for day in self.dates or (None,) * len(self)]
        rows = [
            row
            for row in range(len(self))
            if (not labels or names[row] in labels)
            and (split is None or (self.splits or ())[row] == split)
            and (since is None or days[row] >= since)
            and (until is None or days[row] <= until)
        ]
        return self.take(rows)


def make_corpus(posts: Iterable[Post], source: str, recoded: int = 0) -> LabelledDocuments:
    """Return a corpus of posts; posts without text are left out and counted."""
    rows = list(posts)
    kept = as_documents([post.text for post in rows])
    rows = [rows[int(number)] for number in kept.ids]
    found = {**kept.found, **({"recoded": recoded} if recoded else {})}

    def column(values: Iterable[str]) -> tuple[str, ...] | None:
        complete = tuple(values)
        return complete if all(complete) else None

    return LabelledDocuments(
        texts=kept.texts,
        ids=tuple(post.id for post in rows),
        labels=column(post.label for post in rows),
        source=source,
        found=found,
        splits=column(post.split for post in rows),
        domains=column(post.domain for post in rows),
        dates=parse_dates(days) if (days := column(post.date for post in rows)) else None,
    )


def content_hash(posts: Iterable[Post], *, dated: bool = False) -> str:
    """Return a SHA-256 of splits, labels and texts, and of dates if `dated`.

    Order and spacing do not matter: only the letters a to z, in lower case and without accents, and
    the digits of a text count.

    Examples
    --------
    >>> a, b = Post("1", "A  try!", "rugby"), Post("2", "Six", "cricket")
    >>> content_hash([a, b]) == content_hash([b, Post("9", "a try", "rugby")])
    True
    """
    lines = sorted(
        f"{post.split}/{post.label}{f'/{post.date}' if dated else ''} {_plain(post.text)}\n"
        for post in posts
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def check_content(
    posts: Collection[Post],
    counts: Mapping[tuple[str, str], int],
    digest: str,
    *,
    name: str,
    source: str,
    dated: bool = False,
) -> None:
    """Raise an error if the numbers of documents or the texts are not the expected ones.

    Parameters
    ----------
    posts : collection of Post
        The documents.
    counts : mapping of (split, label) to int
        The expected numbers of documents.
    digest : str
        The expected `content_hash`.
    name, source : str
        The name of the data set, and the path that it was read from.
    dated : bool, default=False
        Whether the hash includes the dates.
    """
    hint = "pass verify=False (on the command line --no-verify) to use it anyway"
    found = Counter((post.split, post.label) for post in posts)
    if found != counts:
        wrong = [
            f"{'/'.join(filter(None, key)) or 'in all'} {found[key]:,} instead of {expected:,}"
            for key in sorted({*found, *counts})
            if found[key] != (expected := counts.get(key, 0))
        ]
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise DatasetError(
            f"{source} has {len(posts):,} documents where {name} has {sum(counts.values()):,} "
            f"({', '.join(wrong[:_SHOWN])}{more}); {hint}."
        )
    if content_hash(posts, dated=dated) != digest:
        raise DatasetError(
            f"{source} has as many documents as {name}, but other texts; get it again, or {hint}."
        )


def _plain(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    return _NOT_PLAIN.sub("", text.lower())
