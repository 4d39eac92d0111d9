"""Copied text counts once, on whichever side it is."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newfound.text.copies import LONG, PASSAGE, Copies, fold_copies, read_summary
from newfound.text.documents import as_documents
from newfound.text.vectorizer import TextVectorizer

WORDS = np.array([f"w{number}" for number in range(4000)])


def fold(texts: list[str], novel: Any = None, **parameters: Any) -> tuple[Copies, Any, list[str]]:
    vectorizer = TextVectorizer(stop_words=["the", "a", "in", "on", "my"], **parameters)
    matrix = vectorizer.fit_transform(texts)
    novel = np.zeros(len(texts), dtype=bool) if novel is None else np.asarray(novel)
    return fold_copies(texts, novel, matrix, vectorizer), matrix, list(vectorizer.vocabulary_)


def groups(copies: Copies) -> list[list[int]]:
    rows: dict[int, list[int]] = {}
    for row, original in enumerate(copies.copy_of.tolist()):
        rows.setdefault(original, []).append(row)
    return [group for group in rows.values() if len(group) > 1]


def document(rng: np.random.Generator, n: int = 60) -> str:
    return " ".join(rng.choice(WORDS, n, replace=False))


def edited(text: str, rng: np.random.Generator, share: float) -> str:
    words = text.split()
    return " ".join(str(rng.choice(WORDS)) if rng.random() < share else word for word in words)


class TestSummary:
    def test_the_duplicates_that_count_once_are_those_that_are_folded(self) -> None:
        lengths = [*range(1, 12), 40]
        ends = np.cumsum(lengths)
        own = [" ".join(WORDS[end - n : end]) for n, end in zip(lengths, ends, strict=True)]
        long_words = "incomprehensibilities mismanagement"
        texts = [*own, "the", "the a in on", "the a in on my goal", long_words, "Goal!"] * 2
        copies, _, _ = fold(texts)
        n, folded = len(texts) // 2, int(copies.is_copy.sum())
        assert 0 < folded < n
        said = read_summary(as_documents(texts), fold=True)
        assert said.endswith(f"{n} duplicates kept, {folded} of them counted once as evidence")


class TestDocuments:
    def test_the_words_of_exact_copies_are_kept_once(self) -> None:
        rng = np.random.default_rng(0)
        text = document(rng)
        copies, _, _ = fold([text, document(rng), text.upper(), f"> {text}"])
        assert copies.is_copy.sum() == 2
        assert groups(copies) == [[0, 2, 3]]
        assert copies.first[[0, 2, 3]].sum() == 60
        assert copies.first[1].sum() == 60

    def test_near_copies_keep_only_words_that_no_other_copy_has(self) -> None:
        rng = np.random.default_rng(1)
        text = document(rng)
        texts = [text, *(edited(text, rng, 0.05) for _ in range(20))]
        copies, matrix, _ = fold(texts, np.arange(21) > 0)
        assert copies.is_copy.sum() == 20
        assert sum(copies.n_documents.values()) == 20
        assert copies.first.sum(axis=0).max() == 1
        assert (copies.first.sum(axis=0) > 0).sum() == matrix.shape[1]

    def test_headlines_that_share_most_words_are_no_copies(self) -> None:
        texts = [
            "Man dies in crash on Bruce Highway",
            "Woman dies in crash on Bruce Highway",
            "Man dies in crash on Hume Highway",
            "Police find body in river",
            "Police find gun in river",
        ]
        copies, matrix, _ = fold(texts)
        assert (copies.first != matrix).nnz == 0
        assert copies.summary() == ""

    def test_equal_headlines_are_copies_and_shorter_texts_are_not(self) -> None:
        texts = ["Police find body in river"] * 3 + ["thank you"] * 3
        copies, _, vocabulary = fold(texts)
        counts = dict(zip(vocabulary, copies.first.sum(axis=0).A1.tolist(), strict=True))
        assert (counts["police"], counts["thank"]) == (1, 3)

    @pytest.mark.parametrize(
        ("text", "is_copy"),
        [
            ("pay it by card", True),  # four words of few letters
            ("telecommunications infrastructure", True),  # two words of many letters
            ("pay by card", False),
        ],
    )
    def test_a_text_of_some_words_or_many_letters_can_be_a_copy(
        self, text: str, is_copy: bool
    ) -> None:
        assert fold([text, text, "something else"])[0].is_copy.any() == is_copy

    def test_a_short_request_in_other_words_is_no_copy(self) -> None:
        copies, matrix, _ = fold(["block the card in my account", "my account: block a card"])
        assert (copies.first != matrix).nnz == 0

    def test_one_other_word_makes_another_document_if_it_is_short(self) -> None:
        words = WORDS[:LONG].tolist()
        short, long = words[: LONG - 1], words
        for text, is_copy in ((short, False), (long, True)):
            copies, _, _ = fold([" ".join(text), " ".join([*text[:-1], "other"])])
            assert copies.is_copy.any() == is_copy


class TestPassages:
    def test_a_signature_counts_once(self) -> None:
        rng = np.random.default_rng(2)
        signature = "\n-- \nAnn Lee | Dept. of Physics\n University of Leeds | ann@leeds.ac.uk"
        texts = [document(rng) + signature for _ in range(30)]
        copies, _, vocabulary = fold(texts, np.arange(30) % 2 == 0)
        counts = dict(zip(vocabulary, copies.first.sum(axis=0).A1.tolist(), strict=True))
        assert {counts[word] for word in ("ann", "lee", "physics", "leeds", "uk")} == {1}
        assert not copies.is_copy.any()
        assert copies.passages.sum() == 29
        assert copies.summary() == "Copied text counts once: folded 29 passages."

    def test_a_quoted_passage_is_found_however_its_lines_are_broken(self) -> None:
        rng = np.random.default_rng(3)
        quoted = WORDS[:12].tolist()
        lines = "\n".join("> " + " ".join(part) for part in (quoted[:5], quoted[5:8], quoted[8:]))
        a, b = (" ".join(rng.choice(WORDS[100:], 40, replace=False)) for _ in range(2))
        copies, _, vocabulary = fold([f"{a}\n{' '.join(quoted)}", f"{lines}\n{b}"])
        columns = [vocabulary.index(word) for word in quoted]
        assert copies.first[:, columns].sum() == 12

    def test_a_word_that_also_stands_outside_the_passage_stays(self) -> None:
        passage = " ".join(WORDS[:PASSAGE])
        copies, _, vocabulary = fold([f"{passage} x y", f"{passage} z", f"w0 again: {passage}"])
        counts = dict(zip(vocabulary, copies.first.sum(axis=0).A1.tolist(), strict=True))
        assert counts["w1"] == 1
        keeper = int(copies.first[:, vocabulary.index("w1")].nonzero()[0][0])
        assert counts["w0"] == (1 if keeper == 2 else 2)
        assert counts["again"] == counts["z"] == 1

    def test_repetition_within_one_document_is_no_copy(self) -> None:
        copies, matrix, _ = fold([" ".join([*WORDS[:8]] * 3), "other words"])
        assert (copies.first != matrix).nnz == 0

    def test_a_pair_stays_if_one_of_its_words_is_outside(self) -> None:
        passage = " ".join(WORDS[:PASSAGE])
        copies, _, vocabulary = fold([f"{passage} x", f"{passage} y"], ngram_range=(1, 2))
        counts = dict(zip(vocabulary, copies.first.sum(axis=0).A1.tolist(), strict=True))
        assert (counts["w0 w1"], counts["w5 x"], counts["w5 y"]) == (1, 1, 1)


class TestSides:
    def test_text_that_recurs_everywhere_favours_neither_side(self) -> None:
        rng = np.random.default_rng(4)
        templates = [f"common {document(rng, 12)}" for _ in range(400)]
        texts = [f"{document(rng, 20)} {t}" for t in templates for _ in range(10)]
        novel = rng.random(len(texts)) < 0.1
        copies, _, vocabulary = fold(texts, novel)
        kept = copies.first[:, vocabulary.index("common")].toarray().ravel().astype(bool)
        assert kept.sum() == 400
        assert 20 <= (kept & novel).sum() <= 60  # 40 expected; one on each side gave 260

    def test_the_result_does_not_depend_on_the_sides(self) -> None:
        rng = np.random.default_rng(5)
        text = document(rng)
        texts = [edited(text, rng, 0.3) for _ in range(30)]
        one, _, _ = fold(texts, np.arange(30) < 10)
        other, _, _ = fold(texts, np.arange(30) >= 10)
        assert (one.first != other.first).nnz == 0


class TestInput:
    def test_documents_without_words_are_left_alone(self) -> None:
        copies, _, _ = fold(["the", "", "a b c", "the"])
        assert not copies.is_copy.any()
        assert groups(copies) == []

    def test_sizes_that_differ_are_an_error(self) -> None:
        vectorizer = TextVectorizer()
        matrix = vectorizer.fit_transform(["a b", "c d"])
        with pytest.raises(ValueError, match="1 texts, 2 sides and 2 rows"):
            fold_copies(["a b"], np.array([True, False]), matrix, vectorizer)

    @settings(max_examples=50)
    @given(st.lists(st.text("abc the.\n>é-", max_size=60), min_size=1, max_size=8))
    def test_any_texts_keep_every_word_and_add_none(self, texts: list[str]) -> None:
        texts = [*texts, "one word"]
        copies, matrix, _ = fold(texts, ngram_range=(1, 2))
        assert (copies.first > matrix).nnz == 0
        assert ((copies.first.sum(axis=0) > 0) == (matrix.sum(axis=0) > 0)).all()
        assert (copies.copy_of[copies.copy_of] == copies.copy_of).all()

    def test_many_copies_take_linear_time(self) -> None:
        rng = np.random.default_rng(6)
        texts = [document(rng, 20)] * 20_000
        start = time.process_time()
        copies, _, _ = fold(texts)
        assert copies.is_copy.sum() == 19_999
        assert time.process_time() - start < 20  # a tenth of a second


class TestBounds:
    def test_two_copies_are_a_group(self) -> None:
        rng = np.random.default_rng(3)
        text = document(rng)
        copies, _, _ = fold([document(rng), text, document(rng), text])
        assert groups(copies) == [[1, 3]]

    def test_texts_of_few_words_are_copies_only_if_all_words_are_the_same(self) -> None:
        words = [*WORDS[: LONG - 1]]
        copies, _, _ = fold([" ".join(words)] * 2)
        assert copies.is_copy.sum() == 1
        copies, _, _ = fold([" ".join(words), " ".join([*words, WORDS[50]])])
        assert copies.is_copy.sum() == 0

    def test_long_texts_are_copies_from_the_similarity_on(self) -> None:
        common = [*WORDS[:14]]  # of 20 words of both: 0.7
        texts = [" ".join([*common, *WORDS[20:23]]), " ".join([*common, *WORDS[30:33]])]
        assert fold(texts)[0].is_copy.sum() == 1
        texts[1] += f" {WORDS[40]}"
        assert fold(texts)[0].is_copy.sum() == 0

    def test_words_that_come_again_count_once(self) -> None:
        words = [*WORDS[:12]]
        texts = [" ".join(words), " ".join([*words, *words, *words])]
        assert fold(texts)[0].is_copy.sum() == 1

    def test_default_stop_words_are_counted_on_the_way(self) -> None:
        texts = ["the cat of the house sleeps", "a dog barks in the yard"]
        vectorizer = TextVectorizer()
        matrix = vectorizer.fit_transform(texts)
        copies = fold_copies(texts, np.zeros(2, dtype=bool), matrix, vectorizer)
        assert {"the", "of", "a", "in"} == set(copies.stop_words)
        found = copies.stops[:, [copies.stop_words[word] for word in ("the", "of", "in")]]
        assert found.toarray().tolist() == [[True, True, False], [True, False, True]]
