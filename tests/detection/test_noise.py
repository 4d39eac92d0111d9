"""What of a message is no news: greetings, signatures, numbers, emoji, typing errors."""

import time

import numpy as np
import pytest

from newfound import NoveltyDetector
from newfound.text.bags import BagReader
from newfound.text.courtesies import without_courtesies
from newfound.text.vectorizer import TextVectorizer


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Hello, I hope you are well. My card was stolen. Kind regards", "My card was stolen"),
        (
            "Dear Anna Lee,\n\nmy card is lost\n\nThanks\nTom O'Brien\n+44 20 1234",
            "my card is lost",
        ),
        ("Hi! Where is it - and when? Many thanks in advance!", "Where is it - and when"),
        ("my card\n--\nTom\nSent from my phone", "my card"),
        ("Guten Tag, meine Karte ist weg. Mit freundlichen Grüßen", None),
        ("Thank you!", None),
        ("what is 12.5 minus 3?", None),
        ("call +44 (0)20 1234-5678 now", "call" + " " * 21 + "now"),
        ("Refund order 17. Thanks\nit is lost", None),
        ("no greeting here", None),
    ],
)
def test_greeting_farewell_and_signature_are_not_read(text, read):
    found = without_courtesies(text, "en")
    assert len(found) == len(text)
    assert found.strip() == (text if read is None else read)


def test_other_languages_have_other_courtesies():
    text = "Guten Tag, meine Karte ist weg. Mit freundlichen Grüßen"
    assert without_courtesies(text, "de").strip() == "meine Karte ist weg"
    assert without_courtesies(text, "xx") == text


@pytest.mark.parametrize(
    "piece", [" ", "\n", ".", "-", " -", "1(", "1 ", ", a", "Thanks.\n", "A\n"]
)
def test_the_time_is_proportional_to_the_length(piece):
    began = time.process_time()
    without_courtesies(piece * 200_000 + "x", "en")
    assert time.process_time() - began < 20  # it takes less than a second; a square, hours


def test_unseen_numbers_and_emoji_are_no_words():
    vectorizer = TextVectorizer(stop_words=None, ngram_range=(1, 2)).fit(["pay 7 bills 🎉", "me"])
    bags = BagReader(vectorizer).read(["pay 8 me 🙏", "pay 7 🎉 4711"])
    assert (bags.n_words.tolist(), bags.n_pairs.tolist()) == ([2, 3], [1, 2])
    assert bags.unseen_terms == () and bags.unseen_pairs.tolist() == [1, 1]


def test_noise_leaves_known_messages_known(sample):
    texts, labels, _ = sample
    detector = NoveltyDetector(random_state=1).fit(texts[::2], labels[::2])
    known = texts[1::6]
    rate = (detector.p_values(known) <= 0.05).mean()
    for noisy in (
        lambda text: f"{text} 🙏",
        lambda text: f"Hello, I hope you are well. {text}. Kind regards",
        lambda text: f"{text} 4929 1234 5678 9012",
        lambda text: f"{text}.\nThank you\nAnna Müller\n+44 20 1234 5678",
        lambda text: text.replace("'", "’"),
        lambda text: text.replace("'", ""),
    ):
        found = detector.score_texts(map(noisy, known)).judged(detector.calibration_)
        assert found.novel.mean() < rate + 0.02


def test_words_of_courtesies_keep_their_places(sample):
    texts, labels, _ = sample
    detector = NoveltyDetector(random_state=1).fit(texts[::2], labels[::2])
    text = "Hello, I hope you are well. zyxw my account! Kind regards"
    verdict = detector.explain(text)
    assert {word.word for word in verdict.words} == {"zyxw", "my", "account"}
    assert all(text[a:b].lower() == word.word for word in verdict.words for a, b in word.spans)
    assert verdict.text == text and verdict.unseen == ("zyxw",)
    (found,) = detector.explain_texts([text])
    assert found.to_dict() == verdict.to_dict()
    plain = detector.explain("zyxw my account")
    assert np.isclose(plain.novelty, verdict.novelty)
