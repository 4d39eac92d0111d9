"""Words to leave out: a file of stop words, and a regular expression."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from newfound.text.tokens import stop_words, tokenize

__all__ = ["add_stop_words", "compile_ignore", "read_stop_words"]


def read_stop_words(path: str | os.PathLike[str]) -> frozenset[str]:
    r"""Return the words of a file with one word a line.

    The file is text in UTF-8. ``#`` begins a comment, and blank lines are skipped. Words are
    returned in lower case.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    frozenset of str
        The words. `TextVectorizer` replaces its own list by them; to add them to it, pass
        ``stop_words(language) | read_stop_words(path)``.

    Raises
    ------
    ValueError
        If the file cannot be read or a line is not one word, with the file and the line.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "words.txt")
    ...     _ = path.write_text("Reuters  # the agency\n\n# weekdays\nmonday\n")
    ...     sorted(read_stop_words(path))
    ['monday', 'reuters']
    """
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise ValueError(
            f"The stop words in {path} cannot be read: {error.strerror or error}."
        ) from None
    words: set[str] = set()
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        try:
            text = line.decode("utf-8").partition("#")[0].strip()
        except UnicodeDecodeError:
            raise ValueError(f"{path}, line {number}: not UTF-8; save the file as UTF-8.") from None
        tokens = tokenize(text)
        if text and (len(tokens) != 1 or tokens[0].surface != text):
            what = "has several words" if len(tokens) > 1 else "is not a word"
            raise ValueError(f"{path}, line {number}: {text!r} {what}; write one word a line.")
        words.update(token.term for token in tokens)
    return frozenset(words)


def add_stop_words(words: Iterable[str], language: str | None = None) -> list[str]:
    """Return the default stop words of a language and others.

    Raises
    ------
    ValueError
        If one of the others is not one word.

    Examples
    --------
    >>> {"the", "reuters"} <= set(add_stop_words(["Reuters"]))
    True
    """
    more = set()
    for word in words:
        tokens = tokenize(word)
        if len(tokens) != 1 or tokens[0].surface != word.strip():
            raise ValueError(f"stop_words: {word[:60]!r} is not one word; pass each word alone.")
        more.add(tokens[0].term)
    return sorted(stop_words(language or "en") | more)


def compile_ignore(pattern: str) -> re.Pattern[str]:
    r"""Return the compiled form of a regular expression for words to leave out.

    A word is left out if the expression matches the whole of it, in lower case as it stands in the
    text, or the whole of its lemma. Case is ignored. To match a part of a word, begin and end with
    ``.*``. A pair of words is left out with either of its words.

    Parameters
    ----------
    pattern : str
        A regular expression of Python.

    Raises
    ------
    ValueError
        If the expression has an error, with its position, or if it matches the empty text, as it
        would with ``a*`` for ``a.*``.

    Examples
    --------
    >>> ignore = compile_ignore(r"\d+|rt|http.*")
    >>> [bool(ignore.fullmatch(word)) for word in ("2003", "rt", "https", "start", "mp3")]
    [True, True, True, False, False]
    """
    if not isinstance(pattern, str):
        raise ValueError(f"ignore={pattern!r}: expected a regular expression as a str, or None.")
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        where = "" if error.pos is None else f" at position {error.pos}"
        raise ValueError(
            f"ignore={pattern!r} is no regular expression: {error.msg}{where}; put \\ before a "
            "character that stands for itself."
        ) from None
    if compiled.fullmatch(""):
        raise ValueError(
            f"ignore={pattern!r} matches the empty text, and perhaps every word; write what the "
            "words to leave out have in common."
        )
    return compiled
