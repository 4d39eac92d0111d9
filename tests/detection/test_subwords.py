"""Sub-words and typing errors: words never seen that are like known ones; lengths of documents."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import newfound
from detector_files import DATA, answers
from newfound import NoveltyDetector
from newfound.detection.calibration import PARTS, WEIGHTS, Scales
from newfound.detection.linear import MAX_NGRAMS, Subwords, ngrams_of
from newfound.text.bags import BagReader
from newfound.text.spelling import Spelling
from newfound.text.vectorizer import TextVectorizer


def with_typos(texts, seed):
    """Put one typing error into each text: a letter left out, doubled, replaced, or exchanged."""
    random = np.random.RandomState(seed)
    found = []
    for text in texts:
        words = text.split()
        long = [i for i, word in enumerate(words) if len(word) >= 5 and word.isalpha()]
        if not long:
            continue
        i = long[random.randint(len(long))]
        word, at = words[i], random.randint(1, len(words[i]) - 1)
        head, letter, rest = word[:at], word[at], word[at + 1 :]
        other = "abcdefghijklmnopqrstuvwxyz"[random.randint(26)]
        changed = (head + rest, head + letter + letter + rest, head + other + rest,
                   head + rest[0] + letter + rest[1:])  # fmt: skip
        words[i] = changed[random.randint(4)]
        found.append((text, " ".join(words)))
    return found


class TestNgrams:
    def test_a_word_is_a_unit_vector_over_known_ngrams(self):
        words = ["transfer", "transport", "bill"]
        subwords = Subwords.learn(words, np.array([5.0, 3.0, 2.0]), 20)
        vectors = subwords.vectors(words)
        assert np.allclose(np.sqrt(vectors.multiply(vectors).sum(axis=1)), 1)
        similar = (vectors @ vectors.T).toarray()
        assert similar[0, 1] > 0.2 > similar[0, 2] == 0

    def test_ngrams_of_a_single_document_are_left_out_but_count_in_the_norm(self):
        subwords = Subwords.learn(["transfer", "bill"], np.array([5.0, 1.0]), 20)
        assert " bi" not in subwords.ngrams and "tran" in subwords.ngrams
        lengths = replace(subwords, weights=np.zeros((len(subwords.ngrams), 2), np.float32)).rows(
            ["transfer", "transferral", "bill"]
        )
        assert lengths.squares[0] == pytest.approx(1)
        assert 0.2 < lengths.squares[1] < 0.9
        assert lengths.squares[2] == 0

    def test_the_most_frequent_ngrams_are_kept(self):
        words = [f"w{i:05d}x" for i in range(20_000)]
        frequencies = np.where(np.arange(20_000) == 7, 500.0, 2.0)
        subwords = Subwords.learn(words, frequencies, 40_000)
        assert len(subwords.ngrams) == MAX_NGRAMS == len(subwords.rarity)
        assert set(ngrams_of(words[7])) <= set(subwords.ngrams)

    def test_the_weight_of_a_word_is_that_of_the_word_and_of_its_ngrams(self, detector):
        """Compare a known word with the same word where it is taken for one never seen."""
        statistics = detector.scorer_.statistics
        column = detector.vectorizer_.vocabulary_["transfer"]
        by_ngrams = statistics.subwords.rows(["transfer"]).weights[0]
        own = statistics.weights[:, column] - by_ngrams
        transfer = detector.classes_.tolist().index("transfer")
        assert by_ngrams.argmax() == transfer == own.argmax()
        assert by_ngrams[transfer] > 0.1

    def test_a_new_word_like_known_words_makes_a_text_less_novel(self, detector):
        like, unlike = (
            detector.explain(f"a {word} from savings to checking please")
            for word in ("transferral", "zyxwvuts")
        )
        assert like.unseen == ("transferral",) and unlike.unseen == ("zyxwvuts",)
        assert like.novelty < unlike.novelty - 0.5
        by_word = {word.word: word.contribution for word in (*like.words, *unlike.words)}
        assert by_word["transferral"] < by_word["zyxwvuts"]

    def test_contributions_of_new_words_add_up(self, detector):
        texts = ["transferral of savingses", "zyxwvuts transferral", "acount blance", "savingses"]
        for text, novelty in zip(texts, detector.novelty(texts), strict=True):
            verdict = detector.explain(text)
            added = verdict.baseline + sum(word.contribution for word in verdict.words)
            assert added == pytest.approx(novelty, abs=1e-9)
            # What is left is the intercept and the centre, whatever the words are.
            number = detector.classes_.tolist().index(verdict.nearest)
            columns, unseen, new_pairs = _columns(detector, verdict)
            by_term, by_word, by_pair = detector.scorer_.contributions(
                columns, unseen, new_pairs, number
            )
            words = by_term.sum() + by_word.sum() + new_pairs * by_pair
            scales = detector.scorer_.scales
            rest = -scales.centres(np.array([len(verdict.words)]))[0, :4]
            linear = detector.scorer_.naming(by_rules=False).score_texts([text]).nearest[0]
            rest[0] -= detector.scorer_.statistics.weights[linear, -1]
            parts = sum(verdict.parts[part] for part in PARTS if part != "rules")
            assert parts - words == pytest.approx(rest @ scales.scale[:4], abs=1e-6)

    def test_one_text_scores_the_same_alone_and_among_many(self, detector, sample):
        texts = [*sample[2][:30], *(typed for _, typed in with_typos(sample[0][1:60:2], 0))]
        together = detector.novelty(texts)
        assert [detector.novelty([text])[0] for text in texts] == pytest.approx(
            together.tolist(), abs=1e-9
        )

    def test_texts_are_scored_in_batches_as_one_by_one(self, detector, sample, monkeypatch):
        texts = [*sample[2][:50], "transferral", "", "zyxwvuts acount"]
        together = detector.novelty(texts)
        monkeypatch.setattr("newfound.detection.scoring._BATCH", 7)
        assert np.array_equal(detector.novelty(texts), together)


def _columns(detector, verdict):
    """Return the columns of the terms of a text, its unseen words and the number of new pairs."""
    vectorizer = detector.vectorizer_
    forms = [detector.scorer_.corrected(form) for form in verdict.text.split()]
    terms = [vectorizer.term(form) for form in forms]
    pairs = {f"{left} {right}" for left, right in pairwise(terms)}
    seen = [vectorizer.vocabulary_[t] for t in {*terms, *pairs} if t in vectorizer.vocabulary_]
    unseen = [t for t in dict.fromkeys(terms) if t not in vectorizer.vocabulary_]
    new_pairs = sum(pair not in vectorizer.vocabulary_ for pair in pairs)
    return np.array(seen, np.int64), unseen, new_pairs


class TestTypos:
    def test_typing_errors_stop_looking_new(self, detector, sample):
        texts, labels, _ = sample
        pairs = with_typos(texts[1::2], 3)
        clean, typed = (
            (detector.p_values(list(some)) <= 0.05).mean() for some in zip(*pairs, strict=True)
        )
        assert typed < clean + 0.05
        plain = NoveltyDetector(random_state=1, correct_typos=False)
        plain.fit(texts[::2], labels[::2])
        assert (plain.p_values([text for _, text in pairs]) <= 0.05).mean() > typed + 0.08

    def test_what_is_new_stays_new(self, detector, sample):
        texts, labels, novel = sample
        plain = NoveltyDetector(random_state=1, correct_typos=False)
        plain.fit(texts[::2], labels[::2])
        found, before = ((d.predict(novel) == "novel").mean() for d in (detector, plain))
        assert found > before - 0.01

    def test_the_explanation_says_what_was_read(self, detector):
        verdict = detector.explain("what is the blance of my acount")
        assert verdict.read_as == {"blance": "balance", "acount": "account"}
        assert {"balance", "account"} <= {word.word for word in verdict.words}
        (account,) = [word for word in verdict.words if word.word == "account"]
        assert [verdict.text[start:end] for start, end in account.spans] == ["acount"]
        assert "read as known words: blance as balance, acount as account" in verdict.lines()
        assert verdict.to_dict()["read_as"] == verdict.read_as
        assert verdict.without(["account"]) == "what is the blance of my "

    @pytest.mark.parametrize(
        ("form", "read"),
        [
            ("acount", "account"),  # a letter left out
            ("acccount", "account"),  # added
            ("accoumt", "account"),  # replaced
            ("accuont", "account"),  # exchanged
            ("qccount", "qccount"),  # not the first letter
            ("acont", "acont"),  # two edits
            ("mouse", "mouse"),  # a word of the dictionary
            ("bil", "bill"),
            ("pa", "pa"),  # too short,
            ("pya", "pya"),  # as is the known word
            ("acc0unt", "acc0unt"),  # no letters
            ("rarely", "rarely"),
            ("rarelly", "rarely"),  # of a single document
            ("dont", "don't"),
            ("whats", "what's"),
            ("they're", "they're"),  # never seen without its apostrophe
        ],
    )
    def test_which_words_are_corrected(self, form, read):
        spelling = Spelling(
            {"account": 5, "house": 9, "bill": 9, "rarely": 1, "pay": 2, "don't": 3, "what's": 1},
            "en",
        )
        assert spelling.corrected(form) == read

    def test_of_several_spellings_the_most_frequent_is_taken(self):
        assert Spelling({"carts": 2, "cards": 3}, "en").corrected("carxs") == "cards"

    def test_a_language_without_a_dictionary_has_no_corrections(self):
        assert Spelling({"account": 5}, "xx").corrected("acount") == "acount"

    def test_a_reader_corrects_only_if_it_is_told_to(self):
        vectorizer = TextVectorizer(stop_words=None, ngram_range=(1, 2))
        vectorizer.fit(["check my accounts", "my accounts"])
        given, corrected = (
            BagReader(vectorizer, spelling).read(["my acounts"])
            for spelling in (None, Spelling.of(vectorizer))
        )
        assert (given.unseen_terms, corrected.unseen_terms) == (("acounts",), ())
        assert corrected.matrix.nnz == 3 and not corrected.unseen_pairs.any()


class TestLengths:
    def test_parts_are_compared_with_known_documents_of_the_same_length(self):
        random = np.random.RandomState(0)
        n_words = random.randint(1, 40, 1000)
        lengths = np.log1p(n_words)
        parts = np.column_stack(
            [k + lengths - 0.2 * lengths**2 + 0.1 * random.randn(1000) for k in range(5)]
        )
        scales = Scales.of(parts, n_words)
        scaled = (parts - scales.centres(n_words)) * scales.scale
        assert np.allclose(scaled.std(axis=0), [WEIGHTS[name] for name in PARTS], rtol=0.01)
        for low, high in ((1, 4), (4, 12), (12, 40)):
            here = (n_words >= low) & (n_words < high)
            assert (np.abs(scaled[here].mean(axis=0)) < 0.3).all()

    def test_beyond_the_known_lengths_nothing_is_extrapolated(self):
        n_words = np.arange(1, 401) % 20 + 3
        parts = np.column_stack([np.log(n_words)] * 5)
        scales = Scales.of(parts, n_words)
        ends = scales.centres(np.array([1, 2, 3, 22, 23, 10_000]))[:, 0]
        assert ends[0] == ends[1] == ends[2] < ends[3] == ends[4] == ends[5]

    def test_a_part_may_have_the_same_centre_for_all_lengths(self):
        n_words = np.arange(1, 401) % 20 + 3
        parts = np.column_stack([np.log(n_words)] * 5)
        centres = Scales.of(parts, n_words, constant=("pairs",)).centres(np.array([3, 10, 22]))
        assert np.allclose(centres[:, PARTS.index("pairs")], parts.mean())
        assert centres[0, 0] < centres[1, 0] < centres[2, 0]

    def test_few_documents_have_one_centre(self):
        n_words = np.arange(1, 101)
        parts = np.column_stack([np.log(n_words)] * 5)
        centres = Scales.of(parts, n_words).centres(np.array([1, 50, 100]))
        assert np.allclose(centres, parts.mean(axis=0))


def test_a_kept_file_stays_readable(tmp_path):
    """Read a file that was written once, by ``python tests/detector_files.py detector``."""
    loaded = newfound.load(DATA / "detector.newfound")
    kept = json.loads((DATA / "detector.json").read_text(encoding="utf-8"))
    found = answers(loaded)
    assert found == kept
    loaded.save(tmp_path / "again")
    assert answers(newfound.load(tmp_path / "again")) == found
    loaded.partial_fit(["what is the exchange rate"] * 3, ["exchange_rate"] * 3)
    assert loaded.nearest(["exchange rate"])[0] == "exchange_rate"
