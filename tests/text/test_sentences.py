"""One splitter finds the sentences of a text, and of a word."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from newfound.text.corpus import (
    LONGEST_SENTENCE,
    SentenceFinder,
    sentence_around,
    sentence_ends,
)
from newfound.text.vectorizer import TextVectorizer

TEXTS = st.one_of(st.text(min_size=1), st.text(".!? \n'\")aé。…", min_size=1, max_size=2000))


def sentences(text: str) -> list[str]:
    ends = sentence_ends(text)
    return [text[begin:end] for begin, end in zip([0, *ends[:-1]], ends, strict=True)]


class TestSplitter:
    def test_sentences_add_up_to_the_text(self) -> None:
        text = "It rained. (Nobody came!) Why?! 两个梨！？一个苹果。\n \nEnd"
        assert sentences(text) == [
            "It rained. ",
            "(Nobody came!) ",
            "Why?! ",
            "两个梨！？",
            "一个苹果。\n \n",
            "End",
        ]
        assert sentence_ends("") == [0]

    def test_a_long_sentence_is_split_at_a_space(self) -> None:
        parts = sentences("word " * LONGEST_SENTENCE)
        assert len(parts) == 5
        assert all(part.endswith("word ") for part in parts)

    @given(TEXTS)
    def test_ends_rise_to_the_end_of_any_text(self, text: str) -> None:
        ends = sentence_ends(text)
        assert ends == sorted(set(ends))
        assert ends[-1] == len(text)

    @pytest.mark.parametrize(
        "text", ["." * 200_000, "\n" * 200_000, '."' * 100_000, ". " * 100_000]
    )
    def test_odd_text_takes_linear_time(self, text: str) -> None:
        start = time.process_time()
        sentence_ends(text)
        assert time.process_time() - start < 20  # a hundredth of a second; else minutes


class TestFinder:
    TEXT = "It rained. The scrumptious pie. A scrum was won! Scrums collapse, packs push."

    @pytest.fixture
    def finder(self) -> SentenceFinder:
        return SentenceFinder(TextVectorizer().fit(["a scrum", "scrums", "the pack"]))

    def test_sentences_with_a_form_of_the_word_come_first(self, finder: SentenceFinder) -> None:
        found = [self.TEXT[slice(*place)].strip() for place in finder.sentences(self.TEXT, "scrum")]
        assert found[:2] == ["The scrumptious pie.", "A scrum was won!"]
        assert sorted(found) == sorted(sentence.strip() for sentence in sentences(self.TEXT))

    def test_example_has_all_words_or_else_the_first(self, finder: SentenceFinder) -> None:
        both = "Scrums collapse, packs push."
        assert finder.example([self.TEXT], ["scrum", "pack"]) == both
        assert finder.example([self.TEXT], ["scrum", "pie"]) == "A scrum was won!"
        assert finder.example(["Nothing."], ["scrum"]) == ""

    def test_example_finds_a_form_that_fit_has_not_seen(self) -> None:
        finder = SentenceFinder(TextVectorizer().fit(["break a leg"]))
        assert finder.example(["He ran. He broke it."], ["break"]) == "He broke it."


class TestSentenceAround:
    @pytest.mark.parametrize(
        ("text", "word", "sentence"),
        [
            ("It rained. The fly half kicked! Nobody saw it.", "fly", "The fly half kicked!"),
            ("One\n\ntwo three\n\nfour", "three", "two three"),
            ("apple", "apple", "apple"),
            ('He said "apple." She left.', "apple", 'He said "apple."'),
            ('He said "apple." She left.', "left", "She left."),
            ("It is 3.5 apples. Yes.", "apples", "It is 3.5 apples."),
            ("Really?! (An apple.) No.", "apple", "(An apple.)"),
            ("一个苹果。两个梨！", "梨", "两个梨！"),
            ("...apple", "apple", "...apple"),
            ("Wait… apple", "apple", "apple"),
        ],
    )
    def test_where_they_begin_and_end(self, text: str, word: str, sentence: str) -> None:
        begin, end = sentence_around(text, text.index(word))
        assert text[begin:end].strip() == sentence

    def test_of_a_long_one_what_is_near(self) -> None:
        text = "word " * 200 + "apple " + "other " * 200
        begin, end = sentence_around(text, text.index("apple"))
        shown = text[begin:end]
        assert "apple" in shown
        assert set(shown.split()) == {"word", "apple", "other"}  # no word is cut
        assert 400 < len(shown) <= 480

    def test_a_word_longer_than_any_sentence(self) -> None:
        text = "x" * 5000
        begin, end = sentence_around(text, 2500)
        assert 0 < end - begin <= 480

    @settings(max_examples=300)
    @given(
        text=TEXTS,
        share=st.floats(0, 1),
    )
    @example(text=". ", share=1.0)
    @example(text=" " * 600, share=0.5)
    @example(text="." * 600, share=0.5)
    @example(text="a " + "b" * 600, share=0.0)
    def test_any_place_of_any_text_is_inside(self, text: str, share: float) -> None:
        at = min(int(share * len(text)), len(text) - 1)
        begin, end = sentence_around(text, at)
        assert 0 <= begin <= at < end <= len(text)
        assert end - begin <= 480


def test_an_example_begins_with_the_first_letter_of_its_sentence() -> None:
    texts = ["Apple pie is good. Nothing else.", "We eat. Apple pie again"]
    finder = SentenceFinder(TextVectorizer().fit(texts))
    assert finder.example(texts, ["pie"]) == "Apple pie is good."
    assert finder.example(texts[1:], ["pie"]) == "Apple pie again"
