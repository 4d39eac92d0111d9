"""Senses: the company of a word on each side, with examples from the right documents."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound.description.context import Senses
from newfound.description.describer import NoveltyDescriber

HOSTILE = "<script>alert(1)</script> \x1b[2J\x07 [bold] {0} %s \N{RIGHT-TO-LEFT OVERRIDE}"


def made_piles() -> tuple[list[str], list[str]]:
    """Write of apples that are phones in known texts, fruit in novel ones, among other things."""
    rng = np.random.default_rng(0)
    piles: tuple[list[str], list[str]] = ([], [])
    for side, pile in enumerate(piles):
        for i in range(150):
            others = [f"filler{k}" for k in rng.integers(0, 300, 8)]
            sentences = [f"Weather {others[0]} and {others[1]}."]
            if i % 3 == 0:
                company = (("phone", "screen"), ("fruit", "orchard"))[side]
                second = company[1] if i % 2 else others[2]
                sentences.append(f"One apple {company[0]} with a {second}!")
            sentences.append(f"Then {' '.join(others[3:])} came.")
            pile.append(" ".join(sentences))
    piles[0][0] = f"Buy an apple phone {HOSTILE} now. Other things."
    return piles


KNOWN, NOVEL = made_piles()


@pytest.fixture(scope="module")
def described() -> NoveltyDescriber:
    describer = NoveltyDescriber(n_clauses=100, T=30, epochs=10, random_state=1, n_machines=3)
    labels = ["known"] * len(KNOWN) + ["novel"] * len(NOVEL)
    return describer.fit([*KNOWN, *NOVEL], labels)


@pytest.fixture(scope="module")
def apple(described: NoveltyDescriber) -> Senses:
    return described.senses("Apples")


class TestSenses:
    def test_the_company_of_each_side(self, apple: Senses) -> None:
        assert apple.word == "apple"
        assert apple.documents == {"known": 50, "novel": 50}
        assert apple["known"]["word"][:2].tolist() == ["phone", "screen"]
        assert apple["novel"]["word"][:2].tolist() == ["fruit", "orchard"]
        assert "apple" not in [*apple.known["word"], *apple.novel["word"]]
        for side in ("known", "novel"):
            assert (np.diff(apple[side]["contrast"]) <= 0).all()
            assert (apple[side]["contrast"] > 0).all()
            assert len(apple[side]) <= 5

    def test_counts_are_those_of_the_documents(self, apple: Senses) -> None:
        for row in [*apple.known.to_records(), *apple.novel.to_records()]:
            for side, pile in (("known", KNOWN), ("novel", NOVEL)):
                words = [set(re.findall(r"\w+", text.lower())) for text in pile]
                both = [mine for mine in words if {"apple", row["word"]} <= mine]
                assert row[f"documents_{side}"] == len(both)
        phone = apple.known.to_records()[0]
        assert (phone["documents_known"], phone["documents_novel"]) == (50, 0)

    def test_rules_are_those_of_the_context(
        self, described: NoveltyDescriber, apple: Senses
    ) -> None:
        for side in ("known", "novel"):
            for row in apple[side].to_records():
                pair = described.context("apple", row["word"])[side]
                assert row["rules"] == pair["F_ij"][0]
        assert apple.known["rules"].max() > 0

    def test_examples_are_sentences_of_that_side_with_both_words(self, apple: Senses) -> None:
        for side, pile in (("known", KNOWN), ("novel", NOVEL)):
            for row in apple[side].take(slice(2)).to_records():
                example = row["example"]
                assert "apple" in example.split()
                assert row["word"] in example
                assert any(example in " ".join(text.split()) for text in pile)
                assert "Weather" not in example
                assert len(example) <= 500

    def test_a_sentence_with_both_words_goes_before_any_other(
        self, described: NoveltyDescriber
    ) -> None:
        copy = NoveltyDescriber.from_state(described.to_state())
        apart = ["An apple fell. A phone rang.", "My phone. Then apples, many apples."]
        together = "An apple rots. Their apple phone rings! The apple is gone."
        copy.remember([*apart, together], ["An apple fruit."])
        (row,) = (row for row in copy.senses("apple").known.to_records() if row["word"] == "phone")
        assert (row["documents_known"], row["example"]) == (3, "Their apple phone rings!")
        copy.remember(apart, ["An apple fruit."])
        (row,) = (row for row in copy.senses("apple").known.to_records() if row["word"] == "phone")
        assert row["example"] == "An apple fell."  # else one with the word itself

    def test_hostile_text_is_data(self) -> None:
        known = [f"Buy an apple phone {HOSTILE} now."] * 5
        novel = ["Eat an apple fruit today."] * 5
        settings: dict[str, Any] = {"n_clauses": 20, "T": 5, "random_state": 0}
        describer = NoveltyDescriber(**settings).fit(known + novel, [0] * 5 + [1] * 5)
        senses = describer.senses("apple", n=100)
        phone = next(row for row in senses.known.to_records() if row["word"] == "phone")
        assert phone["example"] == " ".join(known[0].split())
        assert "<script>alert(1)</script> \x1b[2J\x07 [bold] {0} %s" in phone["example"]
        data = senses.to_dict()
        assert json.loads(json.dumps(data, allow_nan=False)) == data

    def test_how_many(self, described: NoveltyDescriber) -> None:
        assert len(described.senses("apple", n=1).known) == 1
        assert len(described.senses("apple", n=10_000).known) > 20
        for n in (0, -1):
            with pytest.raises(ValueError, match=f"n={n}: expected a number of words from 1"):
                described.senses("apple", n=n)

    def test_words_that_are_not_there_and_sides_that_are_not(
        self, described: NoveltyDescriber, apple: Senses
    ) -> None:
        with pytest.raises(ValueError, match=r"'aple' is not in the vocabulary .* 'apple'"):
            described.senses("aple")
        with pytest.raises(ValueError, match="expected a str, got int"):
            described.senses(5)  # type: ignore[arg-type]
        with pytest.raises(KeyError, match="side='both': expected 'known' or 'novel'"):
            apple["both"]

    def test_a_word_of_one_side_has_company_there_only(self, described: NoveltyDescriber) -> None:
        senses = described.senses("phone")
        assert senses.documents == {"known": 50, "novel": 0}
        assert len(senses.novel) == 0
        assert senses.to_dict()["novel"] == []

    def test_pairs_of_words(self) -> None:
        settings: dict[str, Any] = {"n_clauses": 20, "T": 5, "random_state": 0}
        describer = NoveltyDescriber(**settings, ngram_range=(1, 2))
        texts = ["A fly half kicked. It rained.", "The fly half ran."] * 4
        texts += ["A wicket fell. A fly half cheered.", "Two wickets fell; fly half."] * 4
        senses = describer.fit(texts, [1] * 8 + [0] * 8).senses("fly half")
        assert senses.documents == {"known": 8, "novel": 8}
        assert "wicket" in senses.known["word"]
        row = next(row for row in senses.novel.to_records() if row["word"] == "kicked")
        assert row["example"] == "A fly half kicked."


class TestFiles:
    def test_a_loaded_describer_says_what_to_do_and_remembers(
        self, described: NoveltyDescriber, apple: Senses, tmp_path: Path
    ) -> None:
        described.save(tmp_path / "model")
        loaded = NoveltyDescriber.load(tmp_path / "model")
        assert loaded.corpus_ is None
        with pytest.raises(ValueError, match="has no documents; pass them to remember"):
            loaded.senses("apple")
        assert loaded.words_ == described.words_
        assert loaded.phrases_ == described.phrases_
        assert loaded.remember(iter(KNOWN), tuple(NOVEL)) is loaded
        assert loaded.senses("apple").to_dict() == apple.to_dict()
        assert loaded.n_documents_ == described.n_documents_

    def test_what_it_remembers_is_not_saved(
        self, described: NoveltyDescriber, tmp_path: Path
    ) -> None:
        described.save(tmp_path / "before")
        loaded = NoveltyDescriber.load(tmp_path / "before").remember(KNOWN, NOVEL)
        loaded.save(tmp_path / "after")
        assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()
        assert b"alert" not in (tmp_path / "after").read_bytes()

    @pytest.mark.parametrize(
        ("known", "novel", "message"),
        [
            ([], NOVEL, "^known: There are no documents"),
            (KNOWN, "a text", "^novel: .* wrap it in a list"),
            (KNOWN, None, "^novel: "),
        ],
    )
    def test_what_it_cannot_remember(
        self, described: NoveltyDescriber, known: Any, novel: Any, message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            described.remember(known, novel)
        assert described.corpus_ is not None
        assert len(described.corpus_.texts) == 300

    def test_other_documents_give_other_examples(self, described: NoveltyDescriber) -> None:
        copy = NoveltyDescriber.from_state(described.to_state())
        copy.remember(["My apple phone rings."], ["An apple pie, fruit and all."])
        senses = copy.senses("apple")
        assert senses.documents == {"known": 1, "novel": 1}
        assert senses.known["example"].tolist() == ["My apple phone rings."]
        assert senses.novel["example"].tolist() == ["An apple pie, fruit and all."]
        copy.remember(["nothing of it"], ["nothing at all"])
        assert copy.senses("apple").to_dict() == {
            "word": "apple",
            "documents": {"known": 0, "novel": 0},
            "known": [],
            "novel": [],
        }

    def test_before_fit(self) -> None:
        for call in (lambda d: d.senses("apple"), lambda d: d.remember(KNOWN, NOVEL)):
            with pytest.raises(ValueError, match="not fitted"):
                call(NoveltyDescriber())
