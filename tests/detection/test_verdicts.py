"""Verdicts on held-out texts: as right as logistic regression, also where one side is small."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from typer.testing import CliRunner

from lab.__main__ import app
from lab.evaluate import VERDICT_SUITES
from lab.evaluation import verdicts
from newfound import NoveltyDescriber, describe, load, load_sample
from newfound.description.calibration import VerdictCalibration
from newfound.table import Table

pytestmark = pytest.mark.filterwarnings("ignore:.*no words left after cleaning")


def sample_suite(setting: verdicts.Setting) -> Table:
    """Measure as the suites do, on the bundled sample."""
    known, novel = load_sample()
    is_novel = np.arange(len(known) + len(novel)) >= len(known)
    texts = [*known.texts, *novel.texts]
    return verdicts._compare(setting, "sample", texts, lambda draw: (~is_novel, is_novel), 250)


@pytest.mark.quality
def test_they_are_as_right_as_tuned_logistic_regression_at_any_ratio() -> None:
    table = sample_suite(verdicts.Setting(seeds=3))
    ours, peer = (table.take(table["scorer"] == name) for name in table["scorer"].tolist())
    for ratio in verdicts.RATIOS:
        assert ours[ratio][0] > peer[ratio][0] - 0.02, ratio
        assert ours[ratio][0] > 0.9, ratio


def test_each_kind_of_evidence_counts_only_as_far_as_it_holds_on_other_documents() -> None:
    rng = np.random.default_rng(0)
    novel = np.arange(200) >= 100
    words = sparse.csr_array(rng.random((200, 60)) < 0.2)
    telling = sparse.csr_array(np.column_stack((words.toarray(), novel, ~novel)))
    noise, clear = rng.normal(size=200), np.where(novel, 3.0, -3.0) + rng.normal(size=200)
    by_votes = VerdictCalibration.of(clear, novel, words)
    by_words = VerdictCalibration.of(noise, novel, telling)
    assert by_votes is not None and by_words is not None
    assert by_votes.slope > 0.5
    assert np.abs(by_votes.contributions([0, 1, 2])).max() < 0.5
    assert by_words.slope < 0.1
    assert by_words.contributions([0, 60])[1] > 1 > -1 > by_words.contributions([0, 61])[1]
    assert VerdictCalibration.of(np.full(200, math.nan), novel, telling) is None


def test_a_small_side_is_recognised_as_often_as_a_large_one() -> None:
    known, novel = load_sample()
    texts = [*known.texts[::20], *novel.texts[1::2]]
    labels = ["known"] * len(known.texts[::20]) + ["novel"] * len(novel.texts[1::2])
    describer = NoveltyDescriber(random_state=1, n_machines=5).fit(texts, labels)
    right = {
        side: np.mean([describer.explain(text).verdict == side for text in pile])
        for side, pile in (("known", known.texts[1:1000:7]), ("novel", novel.texts[:1000:8]))
    }
    assert min(right.values()) > 0.8


def test_the_explanation_adds_up_in_words_and_in_json() -> None:
    known, novel = load_sample()
    describer = NoveltyDescriber(random_state=1, n_machines=3, n_clauses=100, epochs=3)
    describer.fit([*known, *novel], ["known"] * len(known) + ["novel"] * len(novel))
    explanation = describer.explain("book a flight to Lisbon and pay my account")
    parts = explanation.to_dict()["evidence"]
    odds = sum(parts["words"].values()) + parts["rules"] + parts["baseline"]
    assert explanation.probability == pytest.approx(1 / (1 + math.exp(-odds)))
    assert parts["words"]["flight"] > 0 > parts["words"]["account"]
    line = next(iter(explanation.lines()))
    assert line.startswith("words: ") and f"flight {parts['words']['flight']:+.2f}" in line
    assert f"rules {parts['rules']:+.2f}" in explanation.summary()


@pytest.mark.slow
def test_the_command_knows_the_suites(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tuple(verdicts.SUITES) == VERDICT_SUITES
    monkeypatch.setattr(verdicts, "SUITES", {"bbcsport": sample_suite})
    result = CliRunner().invoke(
        app, ["evaluate", "verdicts", "bbcsport", "--seeds", "1", "--json", "--quiet"]
    )
    (rows,) = [suite["rows"] for suite in json.loads(result.stdout)["suites"].values()]
    assert [row["scorer"] for row in rows] == ["newfound: explain", "logistic_regression"]


def test_where_nothing_is_new_hardly_any_text_gets_a_clear_verdict() -> None:
    known, _ = load_sample()
    unclear = 0
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(len(known.texts))[:600]
        texts, labels = [known.texts[i] for i in order], ["known", "novel"] * 300
        describer = NoveltyDescriber(random_state=seed, n_machines=4).fit(texts, labels)
        found = [describer.explain(text) for text in known.texts[:200]]
        found = [explanation for explanation in found if explanation.words]
        assert all(0.2 < explanation.probability < 0.8 for explanation in found)
        if all(explanation.verdict == "unclear" for explanation in found):
            unclear += 1
            assert {explanation.probability for explanation in found} == {0.5}
            assert "cannot be told apart" in found[0].summary()
            assert list(found[0].lines()) == []
    assert unclear >= 3


def test_sides_that_differ_only_by_chance_get_no_calibration() -> None:
    rng = np.random.default_rng(1)
    novel = np.arange(300) >= 150
    given = [
        VerdictCalibration.of(
            rng.normal(size=300), novel, sparse.csr_array(rng.random((300, 40)) < 0.2)
        )
        for _ in range(40)
    ]
    assert sum(not calibration.is_empty for calibration in given if calibration is not None) <= 14


def test_what_a_short_text_lacks_does_not_decide() -> None:
    """The many rules for known that ask for absent words only would call any short text known."""
    rng = np.random.default_rng(4)
    words = np.array([f"w{n}" for n in range(300)])
    old, new = words[:100], words[100:200]

    def articles(own: np.ndarray, n: int, length: int) -> list[str]:
        mixed = (
            [*rng.choice(words[200:], length // 2), *rng.choice(own, length // 2)] for _ in range(n)
        )
        return [" ".join(rng.permutation(pile)) for pile in mixed]

    texts = [*articles(old, 60, 80), *articles(new, 60, 80)]
    describer = NoveltyDescriber(random_state=0, n_machines=4)
    describer.fit(texts, ["known"] * 60 + ["novel"] * 60)
    assert describer.calibration_ is not None and describer.calibration_.slope > 0
    for text in articles(new, 20, 8):
        explanation = describer.explain(text)
        with_words = [rule for rule in explanation.rules if rule.plain]
        lead = sum(rule.count * (1 if rule.side == "novel" else -1) for rule in with_words)
        assert explanation.rules_evidence == pytest.approx(describer.calibration_.slope * lead / 4)
        assert f"from {len(with_words):,} rules with its words" in explanation.summary()
    right = {
        side: np.mean([describer.explain(text).verdict == side for text in articles(own, 60, 8)])
        for side, own in (("known", old), ("novel", new))
    }
    assert min(right.values()) > 0.8


def test_the_colour_of_a_word_is_what_it_adds() -> None:
    known, novel = load_sample()
    describer = NoveltyDescriber(random_state=1, n_machines=3, n_clauses=100, epochs=3)
    describer.fit([*known, *novel], ["known"] * len(known) + ["novel"] * len(novel))
    explanation = describer.explain("book a flight to Lisbon and pay my account")
    marks = {explanation.text[m.start : m.end].lower(): m for m in explanation.marks()}
    strongest = max(map(abs, explanation.contributions.values()))
    for word, added in explanation.contributions.items():
        assert marks[word].strength == pytest.approx(added / max(strongest, 0.25))
        assert marks[word].title.startswith(f"{word}: {added:+.2f}; score ")
    votes_only = replace(explanation, probability=math.nan)
    by_score = {explanation.text[m.start : m.end].lower(): m.strength for m in votes_only.marks()}
    assert by_score["flight"] > 0.5 and by_score != {w: m.strength for w, m in marks.items()}


WHO = ["who are you", "where are you from", "how old are you", "what do you do", "are you a robot"]
YES = ["that is right", "no it is not", "yes it is", "it is not that", "that was not it"]


def test_stop_words_count_where_they_are_all_there_is() -> None:
    rng = np.random.default_rng(0)
    fillers = ["tea", "rain", "desk", "lamp", "road", "sky"]
    texts = [f"{rng.choice(pile)} {rng.choice(fillers)}" for pile in (YES, WHO) for _ in range(60)]
    describer = NoveltyDescriber(random_state=1, n_machines=3, n_clauses=20, epochs=2)
    describer.fit(texts, ["known"] * 60 + ["novel"] * 60)
    text = "How are you?"
    explanation = describer.explain(text)
    assert explanation.verdict == "novel"
    assert {(word.word, word.spans) for word in explanation.stop_words} == {
        ("how", ((0, 3),)), ("are", ((4, 7),)), ("you", ((8, 11),)),
    }  # fmt: skip
    assert {word.role for word in explanation.words} == {"stop word"}
    assert explanation.contributions["you"] > 0.5
    assert [text[mark.start : mark.end] for mark in explanation.marks()] == ["How", "are", "you"]
    odds = sum(explanation.contributions.values()) + explanation.rules_evidence
    assert explanation.probability == pytest.approx(
        1 / (1 + math.exp(-odds - explanation.baseline))
    )
    assert describer.explain("That is not it").verdict == "known"
    assert describer.explain("zyx").verdict == "unclear"
    describer.set_params(stop_words=["how", "are", "you"]).fit(
        texts, ["known"] * 60 + ["novel"] * 60
    )
    assert describer.explain(text).verdict == "unclear"


def test_stop_words_do_not_count_where_they_say_nothing() -> None:
    rng = np.random.default_rng(3)
    stops = sparse.csr_array(rng.random((400, 8)) < 0.4)
    is_novel = np.arange(400) >= 200
    words = sparse.csr_array(rng.random((400, 30)) < np.where(is_novel, 0.3, 0.2)[:, None])
    names = {name: column for column, name in enumerate("abcdefgh")}
    made = VerdictCalibration.of(rng.normal(size=400), is_novel, words, names, stops)
    assert made is not None and made.stop_words == () and len(made.weights) == 30


def test_stop_words_of_a_verdict_are_saved(tmp_path: Path) -> None:
    texts = [f"{pile[i % 5]} tea" for pile in (YES, WHO) for i in range(50)]
    describer = NoveltyDescriber(
        random_state=1, n_machines=2, n_clauses=20, epochs=1, fold_copies=True
    )
    texts = [f"{text} {'rain' * (i % 3)} w{i}" for i, text in enumerate(texts)]
    describer.fit(texts, ["known"] * 50 + ["novel"] * 50)
    assert describer.calibration_ is not None and describer.calibration_.stop_words
    describer.save(tmp_path / "d.nf")
    loaded = load(tmp_path / "d.nf")
    assert loaded.explain("Who are you?").to_dict() == describer.explain("Who are you?").to_dict()


def test_one_vote_is_no_votes_and_no_verdict_is_certain() -> None:
    known = [f"the bank sent card {number}" for number in range(40)]
    novel = [f"the flight to town {number} is late" for number in range(40)]
    made = describe(known, novel, random_state=1, n_clauses=20, epochs=5, fold_copies=False)
    told = made.explain("a late flight to town")
    certain = replace(told, probability=0.9997, votes={"known": 0, "novel": 1})
    assert "(probability of novel >99%; " in certain.summary()
    assert "probability of novel <1%" in replace(told, probability=0.0003).summary()
    voted = replace(told, probability=math.nan, votes={"known": 0, "novel": 1})
    assert voted.summary().startswith("novel: 1 vote for novel, 0 for known, from ")
