"""Words can be left out by a file of stop words and by a regular expression."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sklearn.base import clone

from newfound.text.filters import compile_ignore, read_stop_words
from newfound.text.vectorizer import TextVectorizer


class TestStopWords:
    def test_one_word_a_line_with_comments(self, tmp_path: Path) -> None:
        path = tmp_path / "words.txt"
        path.write_bytes("\ufeffReuters # agency\r\n\r\n  # more\r\nDon’t\nfly-half".encode())
        assert read_stop_words(path) == {"reuters", "don't", "fly-half"}

    def test_words_of_a_file_are_left_out(self, tmp_path: Path) -> None:
        path = tmp_path / "words.txt"
        path.write_text("Match\n")
        vectorizer = TextVectorizer(stop_words=read_stop_words(path)).fit(["Rugby matches"])
        assert list(vectorizer.vocabulary_) == ["rugby"]

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"one\ntwo three\n", "line 2: 'two three' has several words; write one word a line"),
            (b"one, two\n", "line 1: 'one, two' has several words"),
            (b"one\n\n---\n", "line 3: '---' is not a word"),
            (b"one,\n", "line 1: 'one,' is not a word"),
            (b"one\ncaf\xe9\n", "line 2: not UTF-8"),
        ],
    )
    def test_an_error_names_file_and_line(
        self, content: bytes, message: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "words.txt"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message) as error:
            read_stop_words(path)
        assert str(error.value).startswith(str(path))

    def test_a_file_that_is_not_there_is_an_error(self, tmp_path: Path) -> None:
        for path in (tmp_path / "none.txt", tmp_path):
            with pytest.raises(ValueError, match=f"The stop words in {path} cannot be read: "):
                read_stop_words(path)

    def test_an_empty_file_has_no_words(self, tmp_path: Path) -> None:
        (tmp_path / "words.txt").touch()
        assert read_stop_words(tmp_path / "words.txt") == frozenset()


class TestIgnore:
    @pytest.mark.parametrize(
        ("ignore", "expected"),
        [
            (None, ["2003", "match", "mp3", "rugby", "rt"]),
            (r"\d+|RT", ["match", "mp3", "rugby"]),
            ("match", ["2003", "mp3", "rugby", "rt"]),
            ("matches", ["2003", "mp3", "rugby", "rt"]),
            ("m", ["2003", "match", "mp3", "rugby", "rt"]),
            (r".*\d.*", ["match", "rugby", "rt"]),
        ],
    )
    def test_a_word_is_left_out_if_all_of_it_or_of_its_lemma_matches(
        self, ignore: str | None, expected: list[str]
    ) -> None:
        vectorizer = TextVectorizer(ignore=ignore)
        matrix = vectorizer.fit_transform(["RT Rugby matches", "mp3 2003"])
        assert sorted(vectorizer.vocabulary_) == sorted(expected)
        assert (matrix != vectorizer.transform(["RT Rugby matches", "mp3 2003"])).nnz == 0
        terms = [token.term for token in vectorizer.tokens("RT Rugby matches mp3 2003")]
        assert sorted(terms) == sorted(expected)

    def test_a_pair_skips_what_is_left_out(self) -> None:
        vectorizer = TextVectorizer(ignore=r"\d+", ngram_range=(2, 2)).fit(["world 2003 cup"])
        assert list(vectorizer.vocabulary_) == ["world cup"]

    def test_a_clone_keeps_the_expression(self) -> None:
        assert clone(TextVectorizer(ignore="rt")).ignore == "rt"

    @pytest.mark.parametrize(
        ("ignore", "message"),
        [
            ("(rt", r"ignore='\(rt' is no regular expression: missing \), .* at position 0"),
            ("*", "nothing to repeat at position 0"),
            ("a*", "matches the empty text"),
            (3, "ignore=3: expected a regular expression"),
        ],
    )
    def test_a_wrong_expression_is_an_error(self, ignore: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            compile_ignore(ignore)
        with pytest.raises(ValueError, match=message):
            TextVectorizer(ignore=ignore).fit(["a b"])
