"""Texts become a Boolean bag of words, and every term points back into the raw text."""

from __future__ import annotations

import copy
import gzip
import json
import os
import pickle
import re
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.base import clone  # type: ignore[import-untyped,unused-ignore]
from sklearn.exceptions import (  # type: ignore[import-untyped,unused-ignore]
    NotFittedError,
)
from sklearn.feature_extraction.text import (  # type: ignore[import-untyped,unused-ignore]
    CountVectorizer,
)

from newfound.storage.fields import Fields
from newfound.text.documents import DocumentError
from newfound.text.encoding import BREAK, END, Encoder
from newfound.text.lemmas import lemmatize
from newfound.text.state import vectorizer_from_state, vectorizer_state
from newfound.text.tokens import (
    CHUNK_OR_BREAK,
    MAX_WORD_LENGTH,
    UNSPACED,
    ascii_chunks,
    chunks_and_breaks,
    fold,
    is_emoji,
    stop_words,
    tokenize,
    words_and_breaks,
)
from newfound.text.vectorizer import TextVectorizer

UNICODE = st.text(max_size=60)
# Letters that grow, join, combine or break in odd ways, and the words of the stop list.
TRICKY = st.text(alphabet="İIıiſßΣσςǅé\u0301\u00ad\u200d'’-‐_ .\n69٣½ﬁabt", max_size=40)
TEXTS = UNICODE | TRICKY
CASE_STUDY = {"england", "ball", "won", "match", "cricket", "six", "hit", "rugby", "despite", "old"}


def words(text: str) -> list[str]:
    return [token.term for token in tokenize(text)]


def terms(*texts: str, **parameters: Any) -> list[str]:
    vectorizer = TextVectorizer(**parameters).fit(texts)
    return list(vectorizer.get_feature_names_out())


def same(left: Any, right: Any) -> bool:
    return bool(left.shape == right.shape and (left != right).nnz == 0)


class TestTokens:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("The Match, at 3pm!", ["the", "match", "at", "3pm"]),
            ("don't o'neill rock'n'roll", ["don't", "o'neill", "rock'n'roll"]),
            ("don’t", ["don't"]),
            ("the 'players' cup", ["the", "players", "cup"]),
            ("players' fly-half covid-19", ["players", "fly-half", "covid-19"]),
            ("won 6-4, 5'10 in 2004-05", ["won", "6", "4", "5", "10", "in", "2004", "05"]),
            ("well--known -dash- a-", ["well", "known", "dash", "a"]),
            ("fly\u2011half", ["fly-half"]),
            ("snake_case __init__", ["snake", "case", "init"]),
            ("foo@bar.com", ["foo", "bar", "com"]),
            ("café CAFE\u0301", ["café", "café"]),
            ("ﬁre", ["fire"]),
            ("inter\u00adnational", ["international"]),
            ("हिन्दी में", ["हिन्दी", "में"]),
            ("ΟΔΟΣ ПРИВЕТ", ["οδος", "привет"]),
            ("", []),
            (" \t\n'-_- ", []),
            ("\u0301 \u200d", []),
            ("🙂👍🏽", ["🙂", "👍"]),
        ],
    )
    def test_rule(self, text: str, expected: list[str]) -> None:
        assert words(text) == expected

    def test_lower_casing_that_would_lengthen_the_text_does_not_shift_offsets(self) -> None:
        text = "İİİ İzmir"
        assert [(t.term, t.start, t.end) for t in tokenize(text)] == [
            ("iii", 0, 3),
            ("izmir", 4, 9),
        ]

    def test_only_one_character_needs_that_care(self) -> None:
        grows = [c for c in map(chr, range(sys.maxunicode + 1)) if len(c.lower()) != 1]
        assert grows == ["İ"]

    @given(TEXTS)
    @example("İ'İ-İ")
    def test_offsets_give_the_surface_of_any_text(self, text: str) -> None:
        start, end = -1, 0
        for token in tokenize(text):
            assert text[token.start : token.end] == token.surface
            assert token.start >= end or UNSPACED.search(token.surface)  # pairs overlap
            assert start < token.start < token.end
            assert any(map(str.isalnum, token.surface)) or is_emoji(token.surface)
            assert token.term
            assert not re.search(r"\s", token.term)
            start, end = token.start, token.end

    @given(TEXTS)
    def test_every_letter_and_digit_is_in_some_word(self, text: str) -> None:
        covered = {i for token in tokenize(text) for i in range(token.start, token.end)}
        assert {i for i, c in enumerate(text) if c.isalnum()} <= covered

    def test_encoded_data_is_no_word(self) -> None:
        longest = "x" * MAX_WORD_LENGTH
        assert words(f"{longest} {longest}x end") == [longest, "end"]


class TestLemmas:
    @pytest.mark.parametrize(
        ("word", "lemma"),
        [
            ("england's", "england"),
            ("we'll", "we"),
            ("matches", "match"),
            ("gone", "go"),
            ("leaves", "leaf"),
            ("media", "media"),
            ("won", "win"),
            ("meeting", "meeting"),
            ("meetings", "meeting"),
            ("reed", "reed"),
            ("ai", "ai"),
            ("playing", "play"),
            ("thinking", "think"),
            ("deposited", "deposit"),
            ("cancelled", "cancel"),
            ("travelling", "travel"),
            ("americans", "american"),
            ("skies", "sky"),
            ("preferred", "prefer"),
            ("1960s", "1960s"),
            ("etc", "etc"),
            ("fly-halves", "fly-half"),
            ("anti-doping", "anti-doping"),
            ("e-mail", "email"),
        ],
    )
    def test_english(self, word: str, lemma: str) -> None:
        assert lemmatize(word) == lemma

    @pytest.mark.parametrize("word", ["overs", "outing", "cans", "wills", "ca", "downing"])
    def test_a_content_word_never_becomes_a_function_word(self, word: str) -> None:
        assert lemmatize(word) == word
        assert terms(word) == [word]

    def test_other_languages(self) -> None:
        assert lemmatize("häuser", language="de") == "haus"
        assert lemmatize("l'homme", language="fr") == "homme"
        assert terms("Die Häuser", language="de", stop_words=["die"]) == ["haus"]

    def test_unknown_language_lists_the_known_ones(self) -> None:
        with pytest.raises(ValueError, match=r"language='xx' has no lemmas; .*de.*en.*lemmatize"):
            lemmatize("word", language="xx")
        with pytest.raises(ValueError, match="language='xx'"):
            TextVectorizer(language="xx").fit(["a word"])
        parameters = {"language": "xx", "lemmatize": False, "stop_words": None}
        assert terms("words", **parameters) == ["words"]


def column_of(vectorizer: TextVectorizer, word: str) -> int:
    (token,) = vectorizer.tokens(word)
    return token.index


class TestLemmasFromTexts:
    WALES = ("He went to Wales.", "Now Wales won.", "It rained, Wales lost.", "A wale is a ridge.")

    def test_a_word_with_a_capital_inside_sentences_stays_as_it_is(self) -> None:
        assert lemmatize("wales") == "wale"
        vectorizer = TextVectorizer().fit(self.WALES)
        assert vectorizer.lemmas_ == {"wales": "wales"}
        assert vectorizer.forms_["wales"] == {"wales": 3}
        assert vectorizer.forms_["wale"] == {"wale": 1}
        assert [token.term for token in vectorizer.tokens("Wales’s WALES wale")] == [
            "wales",
            "wales",
            "wale",
        ]

    def test_possessives_go_with_the_name(self) -> None:
        texts = [*self.WALES, "They saw Wales's coach and Wales's captain."]
        assert TextVectorizer().fit(texts).forms_["wales"] == {"wales": 3, "wales's": 1}

    @pytest.mark.parametrize(
        "texts",
        [
            ("Matches were lost. Matches!", "Oh. Matches", '"Matches", he said', "one match"),
            ("a match", *["it was a match, the matches, then Matches"] * 2, *["matches"] * 9),
            (
                "Two Matches Were Lost In Leeds",
                "All Matches Were Won",
                "Good Matches Last",
                "match",
            ),
            ("TWO MATCHES", "MORE MATCHES", "BAD MATCHES", "A MATCH"),
        ],
        ids=["at the start of a sentence", "seldom", "in titles", "in upper case"],
    )
    def test_other_capitals_make_no_name(self, texts: tuple[str, ...]) -> None:
        assert "matches" not in TextVectorizer().fit(texts).vocabulary_

    def test_two_documents_are_not_enough(self) -> None:
        assert "wale" in TextVectorizer().fit(self.WALES[:2]).vocabulary_

    def test_the_plural_of_a_noun_with_a_capital_is_no_name(self) -> None:
        texts = ["the Americans won again", "some Americans came back", "many Americans saw it"]
        singular = [f"he won an American {prize}" for prize in ("prize", "medal", "cup")]
        assert "americans" not in terms(*texts, *singular)
        assert "americans" in terms(*texts, *(text.replace("an A", "his A") for text in singular))
        giants = [text.replace("American", "Giant") for text in texts]
        assert "giants" in terms(*giants, "he met a Giant today", *["a giant leap"] * 3)
        with_first_name = ["he met Stevens"] * 3 + ["a Steven Gerrard goal, then Steven ran"]
        assert "stevens" in terms(*with_first_name)

    def test_nouns_with_capitals_are_no_names_in_german(self) -> None:
        texts = ["er sah Häuser", "dann sah er Häuser", "er baut Häuser", "ein Haus"]
        assert "haus" in terms(*texts, language="de", stop_words=None)
        assert "häuser" not in terms(*texts, language="de", stop_words=None)

    def test_a_term_has_the_name_of_the_form_that_the_texts_use(self) -> None:
        vectorizer = TextVectorizer().fit(["long innings", "two innings", "good innings ended"])
        assert vectorizer.lemmas_ == {"inning": "innings"}
        assert vectorizer.forms_["innings"] == {"innings": 3}
        assert column_of(vectorizer, "inning") == vectorizer.vocabulary_["innings"]

    def test_forms_that_share_the_documents_keep_the_lemma(self) -> None:
        assert terms("ranked", "he ranked", "ranked second", "ranking", "his ranking")[0] == "rank"
        assert terms(*["the inning"] * 2, *["the innings"] * 3) == ["inning"]

    def test_a_lemma_that_is_a_form_of_another_word_keeps_its_name(self) -> None:
        texts = [*["he is saying"] * 3, *["old sayings"] * 5, "they say so"]
        vectorizer = TextVectorizer().fit(texts)
        assert vectorizer.forms_["saying"] == {"sayings": 5}
        assert vectorizer.forms_["say"] == {"saying": 3, "say": 1}

    @pytest.mark.parametrize("options", [{}, {"min_df": 2}, {"ngram_range": (1, 2)}])
    def test_fit_transform_and_copies_agree(self, options: dict[str, Any]) -> None:
        texts = [*self.WALES, "two innings in Wales", "his innings", "innings", "Lions and a lion"]
        vectorizer = TextVectorizer(**options)
        X = vectorizer.fit_transform(texts)
        assert len(vectorizer.lemmas_) == 2
        assert same(X, vectorizer.transform(texts))
        assert same(X, pickle.loads(pickle.dumps(vectorizer)).transform(texts))
        loaded = vectorizer_from_state(Fields(vectorizer_state(vectorizer)), options)
        assert same(X, loaded.transform(texts))
        assert loaded.lemmas_ == vectorizer.lemmas_
        backwards = TextVectorizer(**options).fit(texts[::-1])
        assert list(backwards.lemmas_.items()) == list(vectorizer.lemmas_.items())

    def test_given_lemmas_hold_for_other_texts(self) -> None:
        vectorizer = TextVectorizer().fit(self.WALES).fitted_on(["wales and inning", "innings"])
        assert list(vectorizer.vocabulary_) == ["inning", "wales"]

    def test_words_as_they_are(self) -> None:
        vectorizer = TextVectorizer(lemmatize=False).fit(["an inning"] * 2 + ["the innings"] * 60)
        assert (list(vectorizer.vocabulary_), vectorizer.lemmas_) == (["inning", "innings"], {})

    @pytest.mark.parametrize("lemmas", [["wales"], [["wales", 3]], [["wales", "a\ud800"]]])
    def test_a_file_with_other_lemmas_is_refused(self, lemmas: Any) -> None:
        state = {**vectorizer_state(TextVectorizer().fit(self.WALES)), "lemmas": lemmas}
        with pytest.raises(
            ValueError, match="in the field lemmas, expected words with their terms"
        ):
            vectorizer_from_state(Fields(state), {})


class TestStopWords:
    def test_only_function_words(self) -> None:
        assert not stop_words() & {"system", "bill", "fire", "first", "new", "mine", *CASE_STUDY}
        assert {"the", "and", "is", "don't", "themselves"} <= stop_words()
        assert len(stop_words()) < 260

    def test_contractions_go_with_their_function_words(self) -> None:
        assert terms("It's what they'd say: I'm sure we've, that's who’s Rugby's") == [
            "rugby",
            "say",
            "sure",
        ]

    def test_given_words_match_forms_and_lemmas_and_none_matches_nothing(self) -> None:
        assert terms("Matches of RUGBY", stop_words=["match", "Rugby"]) == ["of"]
        assert terms("matches match", "x", stop_words=["matches"]) == ["match", "x"]
        assert terms("to be", stop_words=None) == ["be", "to"]

    def test_another_language(self) -> None:
        assert "und" in stop_words("de")
        assert terms("und Nashorn", language="de") == ["nashorn"]
        assert terms("und Städte", language="de", stop_words=None) == ["stadt", "und"]

    def test_a_language_without_a_list_warns(self) -> None:
        message = r"^No stop words are left out: .* no list for 'xx'; .*\(--stop-words FILE\)"
        with pytest.warns(UserWarning, match=message):
            assert stop_words("xx") == frozenset()


class TestMatrix:
    def test_is_boolean_and_canonical(self) -> None:
        X = TextVectorizer().fit_transform(["zebra ant zebra", "", "ant bee"])
        assert X.format == "csr"
        assert X.dtype == bool
        assert X.indices.dtype == np.int32
        assert X.data.all()
        assert X.has_canonical_format
        assert X.toarray().tolist() == [[1, 0, 1], [0, 0, 0], [1, 1, 0]]

    def test_agrees_with_count_vectorizer(self) -> None:
        texts = ["Red fish, blue fish", "one fish two", "blue", "a b c A"]
        ours = TextVectorizer(stop_words=None, lemmatize=False)
        theirs = CountVectorizer(binary=True, token_pattern=r"\w+")
        assert same(ours.fit_transform(texts), theirs.fit_transform(texts))
        assert ours.vocabulary_ == theirs.vocabulary_

    @given(st.lists(TEXTS, min_size=1, max_size=8), st.sampled_from([(1, 1), (1, 2), (2, 2)]))
    def test_fit_transform_and_tokens_agree(self, texts: list[str], n: tuple[int, int]) -> None:
        vectorizer = TextVectorizer(ngram_range=n)
        try:
            X = vectorizer.fit_transform(texts)
        except ValueError as error:
            assert "Nothing is left after cleaning" in str(error)
            return
        assert same(X, vectorizer.transform(iter(texts)))
        for i, text in enumerate(texts):
            tokens = vectorizer.tokens(text)
            assert set(X.indices[X.indptr[i] : X.indptr[i + 1]]) == {t.index for t in tokens}
            for token in tokens:
                assert text[token.start : token.end] == token.surface
                assert vectorizer.vocabulary_[token.term] == token.index
        assert vectorizer.document_frequencies_.tolist() == X.sum(axis=0).tolist()[0]

    @given(st.text(alphabet=[chr(i) for i in range(128)], max_size=60))
    def test_fast_way_for_ascii_gives_the_same_words(self, text: str) -> None:
        plain = TextVectorizer(stop_words=None, lemmatize=False).fit([text, "x"])
        mixed = TextVectorizer(stop_words=None, lemmatize=False).fit([text + " é", "x"])
        assert {*plain.vocabulary_, "é"} == set(mixed.vocabulary_)

    def test_unknown_words_are_left_out(self) -> None:
        vectorizer = TextVectorizer().fit(["ant bee"])
        assert vectorizer.transform(["bee wasp", "wasp"]).toarray().tolist() == [[0, 1], [0, 0]]
        assert vectorizer.transform([]).shape == (0, 2)

    def test_document_frequency_bounds(self) -> None:
        texts = ["a b c", "a b", "a", "a"]
        kept = {"lemmatize": False, "stop_words": None}
        assert terms(*texts, min_df=2, **kept) == ["a", "b"]
        assert terms(*texts, min_df=0.5, **kept) == ["a", "b"]
        assert terms(*texts, max_df=2, **kept) == ["b", "c"]
        assert terms(*texts, max_df=0.5, **kept) == ["b", "c"]
        assert terms(*texts, max_df=1, **kept) == ["c"]

    def test_max_features_keeps_what_most_documents_have_and_short_words_can_go(self) -> None:
        assert terms("x y", "y z", "z q", max_features=2) == ["y", "z"]
        assert terms("q y z", max_features=2) == ["q", "y"]
        assert terms("x yy zzz", min_word_length=2) == ["yy", "zzz"]

    def test_forms_behind_a_term_with_their_documents(self) -> None:
        vectorizer = TextVectorizer().fit(
            ["Matches matches", "match MATCHES", "England's", "England"]
        )
        assert vectorizer.forms_ == {
            "england": {"england": 1, "england's": 1},
            "match": {"matches": 2, "match": 1},
        }
        assert list(vectorizer.forms_["match"]) == ["matches", "match"]
        assert vectorizer.document_frequencies_.tolist() == [2, 2]
        assert vectorizer.n_documents_ == 4

    def test_result_does_not_depend_on_the_order_of_texts(self) -> None:
        texts = ["match matches", "rugby coach", "coaches", "match coach"]
        one = TextVectorizer(ngram_range=(1, 2)).fit(texts)
        other = TextVectorizer(ngram_range=(1, 2)).fit(texts[::-1])
        assert one.vocabulary_ == other.vocabulary_
        assert json.dumps(one.forms_) == json.dumps(other.forms_)


class TestPairs:
    def test_stop_words_do_not_part_a_pair_but_punctuation_does(self) -> None:
        text = "Change my pin. Credit cards - now (bank of america)\nPlug\n \nHotel\nroom"
        assert terms(text, ngram_range=(2, 2)) == [
            "bank america",
            "change pin",
            "credit card",
            "hotel room",
        ]

    def test_an_unknown_word_parts_a_pair(self) -> None:
        vectorizer = TextVectorizer(ngram_range=(2, 2)).fit(["credit card"])
        assert vectorizer.transform(["credit card", "credit nonsense card"]).nnz == 1

    def test_pairs_stay_when_their_words_are_too_frequent(self) -> None:
        vectorizer = TextVectorizer(ngram_range=(1, 2), max_df=1)
        X = vectorizer.fit_transform(["red fox", "red hen", "hen fox"])
        assert list(vectorizer.vocabulary_) == ["hen fox", "red fox", "red hen"]
        assert same(X, vectorizer.transform(["red fox", "red hen", "hen fox"]))

    def test_pairs_do_not_cross_documents(self) -> None:
        assert terms("red", "fox", ngram_range=(1, 2)) == ["fox", "red"]

    def test_forms_and_offsets(self) -> None:
        vectorizer = TextVectorizer(ngram_range=(1, 2)).fit(["lost my luggage", "lose luggage"])
        assert vectorizer.forms_["lose luggage"] == {"lose luggage": 1, "lost luggage": 1}
        text = "He LOST his luggage!"
        found = [(t.term, t.surface, t.index >= 0) for t in vectorizer.tokens(text)]
        assert found == [
            ("lose", "LOST", True),
            ("lose luggage", "LOST his luggage", True),
            ("luggage", "luggage", True),
        ]


class TestEstimator:
    def test_tokens_of_a_text(self) -> None:
        vectorizer = TextVectorizer().fit(["rugby match"])
        tokens = vectorizer.tokens("The Matches: a SCRUM")
        assert [(t.term, t.surface, t.index) for t in tokens] == [
            ("match", "Matches", 0),
            ("scrum", "SCRUM", -1),
        ]

    def test_parameters_and_clone(self) -> None:
        vectorizer = TextVectorizer(min_df=2, ngram_range=(1, 2))
        assert clone(vectorizer).get_params() == vectorizer.get_params()
        assert vectorizer.set_params(min_df=3).min_df == 3

    def test_pickle_leaves_the_cache_behind(self) -> None:
        vectorizer = TextVectorizer().fit(["rugby match"])
        vectorizer.transform(["rugby"])
        again = pickle.loads(pickle.dumps(vectorizer))
        assert again.transform(["a rugby scrum"]).toarray().tolist() == [[0, 1]]

    def test_fitting_again_forgets(self) -> None:
        vectorizer = TextVectorizer().fit(["rugby"])
        vectorizer.transform(["cricket"])
        vectorizer.fit(["cricket"])
        assert vectorizer.transform(["cricket", "rugby"]).toarray().tolist() == [[1], [0]]

    def test_cache_is_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("newfound.text.vectorizer._MAX_CACHED", 100)
        vectorizer = TextVectorizer(lemmatize=False).fit(["rugby"])
        vectorizer.transform(["rugby"])
        tracemalloc.start()
        for i in range(200):
            text = " ".join(f"{i}w{j}" for j in range(200))
            assert vectorizer.transform([f"{text} rugby"]).nnz == 1
        used, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert used < 1_000_000  # 40,000 cached words need about 4 MB

    def test_threads_share_a_fitted_vectorizer(self) -> None:
        texts = [f"w{i} w{i}-x 6-{i} rugby {i}-7" for i in range(500)]
        vectorizer = TextVectorizer().fit(texts)
        expected = vectorizer.transform(texts)
        empty_cache = copy.copy(vectorizer)
        results = []

        def work() -> None:
            results.append(empty_cache.transform(texts))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 8
        assert all(same(X, expected) for X in results)

    @pytest.mark.parametrize("call", ["transform", "tokens"])
    def test_not_fitted(self, call: str) -> None:
        with pytest.raises(NotFittedError):
            getattr(TextVectorizer(), call)("text")


class TestBadInput:
    @pytest.mark.parametrize(
        ("texts", "message"),
        [
            ("a text", "got a single str; wrap it in a list"),
            (b"a text", "got a single bytes"),
            (["a", 3], "Document 1 is int, not a str"),
            (["a", None], r"Document 1 is None \(missing\)"),
            (["a", float("nan")], r"Document 1 is nan \(missing\)"),
            (["a", "b", b"c"], "Document 2 is bytes, not a str; decode it"),
            ({"a": "text"}, "got dict; pass a list"),
            (7, "Expected an iterable of texts, got int"),
            (np.array([["a", "b"]]), "Document 0 is ndarray"),
        ],
    )
    @pytest.mark.parametrize("fitted", [False, True])
    def test_wrong_documents(self, texts: Any, message: str, fitted: bool) -> None:
        vectorizer = TextVectorizer().fit(["a word"])
        with pytest.raises(DocumentError, match=message):
            (vectorizer.transform if fitted else vectorizer.fit)(texts)
        with pytest.raises(DocumentError, match="Document 0 is bytes"):
            vectorizer.tokens(b"word")  # type: ignore[arg-type]

    def test_frame_is_refused(self) -> None:
        pandas = pytest.importorskip("pandas", reason="pandas is not installed")
        with pytest.raises(DocumentError, match="DataFrame; pass a list of str, or one column"):
            TextVectorizer().fit(pandas.DataFrame({"text": ["a"]}))
        assert terms(*pandas.Series(["a word"])) == ["word"]

    @pytest.mark.parametrize(
        ("texts", "parameters", "message"),
        [
            ([], {}, "no documents to learn from"),
            (["", "the and"], {}, "Nothing is left after cleaning: the 2 documents hold no words"),
            (["ant", "bee"], {"min_df": 2}, "of 2 terms in 2 documents none has min_df=2"),
            (["ant"], {"ngram_range": (2, 2)}, r"ngram_range=\(2, 2\)"),
        ],
    )
    def test_nothing_left(self, texts: list[str], parameters: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            TextVectorizer(**parameters).fit(texts)

    @pytest.mark.parametrize(
        "parameters",
        [
            {"min_df": 0},
            {"min_df": -1},
            {"min_df": 1.5},
            {"min_df": "2"},
            {"min_df": True},
            {"max_df": -0.1},
            {"max_df": float("nan")},
            {"max_features": 0},
            {"max_features": 2.0},
            {"min_word_length": 0},
            {"min_word_length": None},
            {"ngram_range": (1, 3)},
            {"ngram_range": (2, 1)},
            {"ngram_range": 2},
            {"stop_words": "english"},
            {"stop_words": 5},
            {"stop_words": ["a", 5]},
            {"language": None},
            {"language": "english"},
        ],
    )
    def test_bad_parameters(self, parameters: dict[str, Any]) -> None:
        (name,) = parameters
        with pytest.raises(ValueError, match=f"^{name}") as caught:
            TextVectorizer(**parameters).fit(["a word"])
        assert "\n" not in str(caught.value)

    def test_a_long_line_is_no_trouble(self) -> None:
        text = "x" * 10_000_000 + " rugby " + "a-" * 1_000_000
        assert terms(text) == ["rugby"]


def test_corpora_are_read_whole() -> None:
    folder = os.environ.get("NEWFOUND_DATA")
    if not folder:
        pytest.skip("NEWFOUND_DATA does not name the folder with the corpora")
    with gzip.open(Path(folder) / "bbcsport" / "bbcsport.jsonl.gz", "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    chosen = [r["text"] for r in records if r["label"] in {"cricket", "football", "rugby"}]
    vectorizer = TextVectorizer()
    X = vectorizer.fit_transform(chosen)
    assert X.shape[0] == 536
    assert 8_000 < X.shape[1] < 12_000
    assert {"rugby", "innings", "wales", "fly-half", "overs"} <= set(vectorizer.vocabulary_)
    assert vectorizer.forms_["rugby"].keys() == {"rugby", "rugby's"}


@given(st.text(st.characters(max_codepoint=127)))
def test_the_fast_pattern_for_ascii_finds_the_same_chunks(text: str) -> None:
    folded = fold(text)
    assert chunks_and_breaks(text) is not CHUNK_OR_BREAK
    assert chunks_and_breaks(text).findall(folded) == CHUNK_OR_BREAK.findall(folded)


@given(st.text(st.characters(min_codepoint=1, max_codepoint=127)))
@example("a\n \x1c\n\n-b' 6-4\x1fc\x0bd. e")
def test_ascii_texts_are_split_at_the_same_places(text: str) -> None:
    found = CHUNK_OR_BREAK.findall(fold(text))
    expected = ["." if not re.match(r"[\w'\-]", chunk) else chunk for chunk in found]
    assert ascii_chunks(text) == expected


@given(st.lists(st.text(alphabet="ab'-. \0\n\x1cé", max_size=8), max_size=200))
def test_texts_have_the_same_codes_alone_and_among_others(texts: list[str]) -> None:
    numbers: dict[str, int] = {}
    encoder = Encoder(lambda form: numbers.setdefault(form, len(numbers)))
    alone = [encoder.encode([text], ordered=True).tolist() for text in texts]
    assert encoder.encode(texts, ordered=True).tolist() == [code for one in alone for code in one]
    assert [codes.count(END) for codes in alone] == [1] * len(texts)
    for text, codes in zip(texts, alone, strict=True):
        forms = [form for _, _, form in words_and_breaks(text)]
        assert codes[:-1] == [numbers[form] if form else BREAK for form in forms]
