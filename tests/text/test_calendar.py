"""Dates, numbers, time zones and single letters are told from words."""

from __future__ import annotations

import time

import numpy as np
import pytest

from newfound.text.filters import calendar_terms
from newfound.text.vectorizer import TextVectorizer
from work import count_calls


def kinds(terms: str, language: str = "en", texts: list[str] | None = None) -> set[str]:
    return set(calendar_terms(terms.split(), language, texts).tolist())


class TestKinds:
    @pytest.mark.parametrize(
        ("kind", "terms"),
        [
            (
                "date",
                "april apr monday tues december 2003 1999 1990s 90s 1st 2nd 3rd 22nd 31st 12th",
            ),
            ("date", "10am 7pm 1030am mid-april 1993apr20 3april"),
            (
                "number",
                "0 7 42 1066 10000 45m 3bn 100km 50kmh 15pc 125cc 32nd 100th 27-year-old 747",
            ),
            ("number", "٤٢ 13secs 5-day"),
            ("zone", "gmt est utc aest"),
            ("letter", "o x é я ω"),
            (
                "",
                "sars iraq covid-19 f-16 b2b mp3 3com 世 の third week today march may sun pm",
            ),
            ("", "fly-half january's-sale 1qvg'qv decent"),
        ],
    )
    def test_terms_have_their_kind(self, kind: str, terms: str) -> None:
        found = dict(zip(terms.split(), calendar_terms(terms.split()).tolist(), strict=True))
        assert {term for term, other in found.items() if other != kind} == set()

    def test_a_pair_has_a_kind_if_both_words_have(self) -> None:
        pairs = ["3 april", "april 2003", "10 km", "45m x", "april fool", "world 2003"]
        assert calendar_terms(pairs).tolist() == ["date", "date", "", "number", "", ""]

    def test_no_terms_are_no_kinds(self) -> None:
        assert calendar_terms([]).tolist() == []


class TestLanguages:
    @pytest.mark.parametrize(
        ("language", "terms"),
        [
            ("en", "january october wednesday"),
            ("de", "januar märz dezember dienstag"),
            ("fr", "février août jeudi"),
            ("es", "enero septiembre miércoles"),
            ("it", "gennaio luglio venerdì"),
            ("pt", "março outubro segunda-feira"),
            ("nl", "maart augustus woensdag"),
            ("sv", "augusti oktober lördag"),
            ("da", "marts maj søndag"),
            ("pl", "styczeń stycznia październik środa"),
        ],
    )
    def test_names_of_months_and_weekdays_are_dates(self, language: str, terms: str) -> None:
        assert kinds(terms, language) == {"date"}

    def test_a_language_without_names_has_numbers(self) -> None:
        assert calendar_terms(["april", "2003", "7"], "fi").tolist() == ["", "date", "number"]

    def test_a_name_of_one_language_is_a_word_of_another(self) -> None:
        assert kinds("est", "fr") == {""}

    def test_the_terms_of_a_vectorizer_keep_their_kind(self) -> None:
        vectorizer = TextVectorizer().fit(["Mondays in April 2003, the 3rd, at 10am GMT"])
        assert calendar_terms(vectorizer.vocabulary_).tolist() == [
            "date", "date", "date", "date", "zone", "date",
        ]  # fmt: skip


class TestContext:
    @pytest.mark.parametrize(
        ("word", "texts", "kind"),
        [
            (
                "march",
                ["On 3 March it rained", "March 2003 was dry", "He was born in March"],
                "date",
            ),
            ("march", ["Thousands join peace march", "A march on Rome", "march 4"], ""),
            ("march", ["Monday, March", "last March"], "date"),
            ("sun", ["The sun rose", "sun and rain"], ""),
            ("sun", ["Sun, 18 Apr 1993", "Sun 25 Apr"], "date"),
            ("pm", ["PM rules out early poll", "pm in us"], ""),
            ("pm", ["at 10 pm", "at 7:30pm or 8 pm"], "date"),
        ],
    )
    def test_texts_decide_on_names_that_are_also_words(
        self, word: str, texts: list[str], kind: str
    ) -> None:
        assert calendar_terms([word], texts=texts).tolist() == [kind]

    def test_long_texts_take_linear_time(self) -> None:
        texts = ["march " * 50_000, "1 " * 100_000, "- " * 100_000 + "march"]
        start = time.process_time()
        calendar_terms(["march"], texts=texts)
        assert time.process_time() - start < 20  # a tenth of a second; else minutes

    def test_many_terms_take_little_time(self) -> None:
        terms = [f"{number}x{number}" for number in np.arange(100_000)]
        assert count_calls(lambda: calendar_terms(terms)) < 30 * len(terms)
