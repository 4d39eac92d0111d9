"""Which sentences of a text are new, for a detector and a describer."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

import newfound
from newfound.cli import app
from newfound.detection import sentences as sentences_module
from newfound.detection.sentences import HeldBackSentences
from newfound.text.sentences import sentence_spans

PLANTED = "what is the capital of portugal?"


@pytest.fixture(scope="module")
def sample() -> tuple[list[str], list[str], list[str]]:
    known, novel = newfound.load_sample()
    return list(known.texts), list(known.labels), list(novel.texts)


@pytest.fixture(scope="module")
def documents(sample: tuple[list[str], list[str], list[str]]) -> list[str]:
    """Return documents of three known requests each."""
    texts = [f"{text.rstrip('.?!')}." for text in sample[0]]
    return [" ".join(texts[i : i + 3]) for i in range(0, len(texts) - 2, 3)]


@pytest.fixture(scope="module")
def detector(documents: list[str]) -> newfound.NoveltyDetector:
    return newfound.NoveltyDetector(0.1, random_state=1).fit(documents[::2])


def test_each_sentence_is_judged_as_a_text(
    detector: newfound.NoveltyDetector, documents: list[str]
) -> None:
    text = f"{documents[1]} {PLANTED} {documents[3]} ?!"
    sentences = detector.explain(text).sentences
    assert [(s.start, s.end) for s in sentences] == sentence_spans(text)[
        :-1
    ]  # the last has no word
    alone = detector.novelty([s.text for s in sentences])
    assert [s.novelty for s in sentences] == alone.tolist()
    known = detector.knowledge_.sentences
    assert known is not None
    assert [s.p_value for s in sentences] == known.p_values(alone).tolist()
    for sentence in sentences:
        assert text[sentence.start : sentence.end] == sentence.text
        assert sum(word.contribution for word in sentence.words) == pytest.approx(sentence.novelty)
        for word in sentence.words:
            assert all(sentence.start <= a < b <= sentence.end for a, b in word.spans)


def test_the_planted_sentence_is_the_newest(
    detector: newfound.NoveltyDetector, documents: list[str], sample: tuple[list[str], ...]
) -> None:
    planted = [text for text in sample[2] if len(text.split()) > 4][:40]
    found = 0
    for document, sentence in zip(documents[1::2], planted, strict=False):
        first = sentence_spans(document)[0][1]
        text = f"{document[:first]} {sentence.rstrip('.?!')}. {document[first:]}"
        newest = detector.explain(text).newest_sentence
        assert newest is not None
        found += newest.text.startswith(sentence.rstrip(".?!"))
    assert found > 0.7 * len(planted)
    assert detector.explain("pay my bill").newest_sentence is None


def test_p_values_of_sentences_of_known_documents_are_valid(documents: list[str]) -> None:
    """One sentence of each new known document; the mean over draws of what is held back."""
    rates = []
    for seed in range(6):
        draw = np.random.RandomState(seed)
        order = draw.permutation(len(documents)).tolist()
        texts = [documents[i] for i in order]
        detector = newfound.NoveltyDetector(0.1, random_state=seed, n_clauses=4, epochs=1)
        detector.fit(texts[:120], held_back=texts[120:220])
        known = detector.knowledge_.sentences
        assert known is not None and len(known.sizes) > 90
        drawn = []
        for text in texts[220:]:
            begin, end = sentence_spans(text)[draw.randint(3)]
            drawn.append(text[begin:end])
        rates.append((known.p_values(detector.novelty(drawn)) <= 0.1).mean())
    assert len(drawn) > 100
    assert 0.05 < np.mean(rates) < 0.14  # 0.1, and two standard deviations of six draws


def test_a_document_with_many_sentences_counts_once() -> None:
    known = HeldBackSentences(np.array([9.0] * 98 + [1.0, 2.0]), np.array([98, 1, 1]))
    assert known.p_values(np.array([9.0]))[0] == pytest.approx(2 / 4)
    assert known.p_values(np.array([1.5]))[0] == pytest.approx(3 / 4)


def test_of_many_held_back_documents_some_are_drawn(
    detector: newfound.NoveltyDetector, documents: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    every = HeldBackSentences.of(detector.scorer_, documents)
    monkeypatch.setattr(sentences_module, "_MOST_DOCUMENTS", 20)
    some = HeldBackSentences.of(detector.scorer_, documents)
    assert len(every.sizes) == len(documents) and len(some.sizes) == 20
    assert set(some.scores.tolist()) <= set(every.scores.tolist())
    assert HeldBackSentences.of(detector.scorer_, ["?!"]).p_values(np.zeros(2)).tolist() == [1, 1]


def test_a_file_keeps_what_the_sentences_are_ranked_among(
    detector: newfound.NoveltyDetector, documents: list[str], tmp_path: object
) -> None:
    path = f"{tmp_path}/d.nf"
    detector.save(path)
    text = f"{documents[1]} {PLANTED}"
    loaded = newfound.load(path)
    assert loaded.explain(text).sentences == detector.explain(text).sentences
    forgotten = newfound.load(path).forget_texts()
    assert forgotten.explain(text).sentences == detector.explain(text).sentences
    state = detector.to_state()
    for name, change in (("sizes", lambda x: x + 1), ("scores", lambda x: x[1:])):
        held_back = state["held_back"]
        broken = {**held_back["sentences"], name: change(held_back["sentences"][name])}
        with pytest.raises(ValueError, match=r"held_back\.sentences"):
            newfound.NoveltyDetector.from_state(
                {**state, "held_back": {**held_back, "sentences": broken}}
            )
    without = {
        name: state["held_back"][name] for name in ("scores", "nearest", "terms", "documents")
    }
    old = newfound.NoveltyDetector.from_state({**state, "held_back": without})
    assert all(math.isnan(s.p_value) for s in old.explain(text).sentences)


def test_detect_names_the_newest_sentence_of_each_novel_document(
    detector: newfound.NoveltyDetector, documents: list[str], sample: tuple[list[str], ...]
) -> None:
    texts = [
        *documents[1:20:2],
        *(f"{one}. {two}." for one, two in zip(sample[2][:40:2], sample[2][1:40:2], strict=True)),
        "zyxw",
        "ok?! vuts",
    ]
    found = detector.detect(texts, describe=False)
    for row in found:
        if not row["novel"]:
            assert row["newest_sentence"] == ""
            continue
        newest = detector.explain(row["text"]).newest_sentence
        assert row["newest_sentence"] == (row["text"] if newest is None else newest.text)
    assert len(set(found["newest_sentence"])) > 10


def test_the_newest_sentence_is_marked(
    detector: newfound.NoveltyDetector, documents: list[str]
) -> None:
    text = f"{documents[1]} {PLANTED} {documents[3]}"
    verdict = detector.explain(text)
    newest = verdict.newest_sentence
    assert newest is not None
    parts = [
        (inside, "".join(part for part, _ in parts)) for inside, parts in verdict.shown_parts()
    ]
    assert [part for inside, part in parts if inside] == [newest.text]
    assert "".join(part for _, part in parts) == text
    assert f"newest sentence ({newest.figures()}): {newest.text}" in " ".join(str(verdict).split())
    assert verdict._repr_html_().count('<span style="border-inline-start') == 1


def test_the_command_judges_sentences_and_reads_a_file(
    detector: newfound.NoveltyDetector, documents: list[str], tmp_path: object
) -> None:
    model, path = f"{tmp_path}/d.nf", f"{tmp_path}/text.txt"
    detector.save(model)
    text = f"{documents[1]}\n{PLANTED}"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    sentences = detector.explain(text).sentences
    asked = ["explain", model, path, "--sentences"]
    told = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    assert told["sentences"] == [sentence.to_dict() for sentence in sentences]
    assert told["text"] == text
    shown = CliRunner().invoke(app, asked).stdout
    newest = detector.explain(text).newest_sentence
    assert newest is not None
    (marked,) = (line for line in shown.splitlines() if line.startswith("* "))
    assert marked.startswith(f"* {newest.figures()}  {newest.text}"[:60])
    plain = json.loads(CliRunner().invoke(app, ["explain", model, text, "--json"]).stdout)
    assert "sentences" not in plain


def test_a_describer_says_how_probably_each_sentence_is_new() -> None:
    known = [f"six wickets in over {word}" for word in "abcdefghijklmnopqrst"]
    novel = [f"a try from the scrum of {word}" for word in "abcdefghijklmnopqrst"]
    describer = newfound.describe(known, novel, n_machines=3, n_clauses=20, T=5, random_state=1)
    told = describer.explain("Six wickets in the over. A try from the scrum! Zyxw vuts.")
    probabilities = [sentence.novelty for sentence in told.sentences]
    assert len(probabilities) == 2 and probabilities[0] < 0.5 < probabilities[1]
    assert all(math.isnan(sentence.p_value) for sentence in told.sentences)
    assert told.newest_sentence is not None
    assert told.newest_sentence.text == "A try from the scrum!"
    assert told.sentences[1].novelty == describer.explain("A try from the scrum!").probability
    assert told.newest_sentence.to_dict()["p_value"] is None
