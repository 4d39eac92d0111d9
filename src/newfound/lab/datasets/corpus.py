"""A corpus with labels and splits, and the check that it is the one it should be."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

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
    """A data set that is not there or not what it should be; the message says what to do."""


class Post(NamedTuple):
    """A document of a corpus as it was found; without a split or domain, they are empty."""

    id: str
    text: str
    label: str
    split: str = ""
    domain: str = ""


@dataclass(frozen=True)
class LabelledDocuments(Documents):
    """Documents with labels, and where the corpus has them, splits and domains.

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

    def only(self, *labels: str, split: str | None = None) -> LabelledDocuments:
        """Give the documents with one of these labels, or any if none is named, of one split.

        Parameters
        ----------
        *labels : str
            Labels of the corpus.
        split : str, optional
            A split of the corpus; by default all.

        Returns
        -------
        LabelledDocuments
            Without the counts of what was found besides, as those are of the whole.
        """
        names = self.labels or ()
        unknown = [label for label in labels if label not in names]
        if unknown:
            raise ValueError(f"There is no label {unknown[0]!r} in {self.source}.")
        if split is not None and split not in (self.splits or ()):
            raise ValueError(f"There is no split {split!r} in {self.source}.")
        rows = [
            row
            for row in range(len(self))
            if (not labels or names[row] in labels)
            and (split is None or (self.splits or ())[row] == split)
        ]

        def taken(column: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(column[row] for row in rows)

        return replace(
            self,
            texts=taken(self.texts),
            ids=taken(self.ids),
            labels=None if self.labels is None else taken(self.labels),
            splits=None if self.splits is None else taken(self.splits),
            domains=None if self.domains is None else taken(self.domains),
            found={},
        )


def make_corpus(posts: Iterable[Post], source: str, recoded: int = 0) -> LabelledDocuments:
    """Make a corpus of posts; those without text are left out and counted, as everywhere."""
    rows = list(posts)
    kept = as_documents([post.text for post in rows])
    rows = [rows[int(number)] for number in kept.ids]
    found = {**kept.found, **({"recoded": recoded} if recoded else {})}

    def column(values: Iterable[str]) -> tuple[str, ...] | None:
        whole = tuple(values)
        return whole if all(whole) else None

    return LabelledDocuments(
        texts=kept.texts,
        ids=tuple(post.id for post in rows),
        labels=tuple(post.label for post in rows),
        source=source,
        found=found,
        splits=column(post.split for post in rows),
        domains=column(post.domain for post in rows),
    )


def content_hash(posts: Iterable[Post]) -> str:
    """Give a SHA-256 of splits, labels and texts, the same in any order, spacing and encoding.

    Of a text only the letters a to z, in lower case and without accents, and the digits count.

    Examples
    --------
    >>> a, b = Post("1", "A  try!", "rugby"), Post("2", "Six", "cricket")
    >>> content_hash([a, b]) == content_hash([b, Post("9", "a try", "rugby")])
    True
    """
    lines = sorted(f"{post.split}/{post.label} {_plain(post.text)}\n" for post in posts)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def check_content(
    posts: Collection[Post],
    counts: Mapping[tuple[str, str], int],
    digest: str,
    *,
    name: str,
    source: str,
) -> None:
    """Refuse a corpus with other numbers of documents, or other texts, than are expected.

    Parameters
    ----------
    posts : collection of Post
        What was read.
    counts : mapping of (split, label) to int
        How many documents there have to be.
    digest : str
        What `content_hash` has to give.
    name, source : str
        What the data set is called, and where it was read.
    """
    hint = "pass verify=False (on the command line --no-verify) to use it all the same"
    found = Counter((post.split, post.label) for post in posts)
    if found != counts:
        wrong = [
            f"{'/'.join(filter(None, key))} {found[key]:,} instead of {counts.get(key, 0):,}"
            for key in sorted({*found, *counts})
            if found[key] != counts.get(key, 0)
        ]
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise DatasetError(
            f"{source} has {len(posts):,} documents where {name} has {sum(counts.values()):,} "
            f"({', '.join(wrong[:_SHOWN])}{more}); {hint}."
        )
    if content_hash(posts) != digest:
        raise DatasetError(
            f"{source} has as many documents as {name}, but other texts; get it again, or {hint}."
        )


def _plain(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    return _NOT_PLAIN.sub("", text.lower())
