"""The detector: false alarms at the rate asked for, reasons that add up, growth, bad input."""

import json
import math
import zipfile

import numpy as np
import pytest
from scipy import sparse

import newfound
from newfound import NoveltyDetector
from newfound.detection.calibration import (
    WEIGHTS,
    WEIGHTS_WITHOUT_LABELS,
    Scales,
    held_back_needed,
    share_of_new,
)
from newfound.detection.mixture import split_mixture
from newfound.stories.clusters import find_groups
from newfound.text import bags as bags_of_text
from newfound.text.bags import BagReader
from newfound.text.tokens import stop_words_by_language, tokenize
from newfound.text.vectorizer import TextVectorizer


def test_most_new_documents_are_found_and_few_known_ones_are(detector, sample):
    texts, labels, novel = sample
    fresh, of = texts[1::2], labels[1::2]
    assert (detector.p_values(fresh) <= 0.05).mean() < 0.09
    assert (detector.predict(novel) == "novel").mean() > 0.8
    assert (detector.nearest(fresh) == of).mean() > 0.9
    predicted = detector.predict(fresh)
    assert set(predicted) <= {*labels, "novel"}


@pytest.mark.parametrize("alpha", [0.05, pytest.param(0.1, marks=pytest.mark.slow), 0.3])
def test_false_alarms_come_at_the_rate_asked_for_even_in_small_samples(sample, alpha):
    texts, labels, _ = sample
    alarms, total = 0, 0
    for seed in range(12):
        order = np.random.RandomState(seed).permutation(len(texts))
        train, test = order[:200], order[200:500]
        found = NoveltyDetector(alpha, n_clauses=4, epochs=1, random_state=seed).fit(
            [texts[i] for i in train], labels[train]
        )
        p = found.p_values([texts[i] for i in test])
        alarms, total = alarms + int((p <= alpha).sum()), total + len(p)
    # The threshold of each split is itself random: 40 held-back documents of 200.
    spread = math.sqrt(alpha * (1 - alpha) / 42 / 12)
    assert alarms / total < alpha + 3 * spread
    assert alarms / total > alpha - 1 / 41 - 3 * spread


def test_contributions_add_up_to_the_novelty_and_so_do_the_parts(detector, sample):
    texts = sample[0][:40] + sample[2][:40] + ["", "!!!", "zyxw", "pay pay bill zyxw bill"]
    for text, novelty, p in zip(
        texts, detector.novelty(texts), detector.p_values(texts), strict=True
    ):
        verdict = detector.explain(text)
        added = verdict.baseline + sum(word.contribution for word in verdict.words)
        assert added == pytest.approx(verdict.novelty, abs=1e-9)
        assert sum(verdict.parts.values()) == pytest.approx(verdict.novelty, abs=1e-9)
        assert verdict.novelty == pytest.approx(novelty, abs=1e-4)
        assert verdict.p_value == pytest.approx(p, abs=0.01)


def test_without_the_words_of_the_counterfactual_the_text_is_known(detector, sample):
    flipped = 0
    novel = [text for text in sample[2][:60] if detector.predict([text])[0] == "novel"]
    for text in novel:
        gone = detector.explain(text).counterfactual
        if gone is None:
            continue
        left = [t.surface for t in tokenize(text)]
        terms = {t.surface: t.term for t in detector.vectorizer_.tokens(text) if " " not in t.term}
        left = " ".join(word for word in left if terms.get(word) not in gone)
        flipped += detector.p_values([left])[0] > 0.05
        assert len(set(gone)) == len(gone) < len(detector.explain(text).words)
    assert flipped >= 0.9 * len(novel)
    known = next(text for text in sample[0] if detector.predict([text])[0] != "novel")
    assert detector.explain(known).counterfactual == ()


def test_texts_are_explained_together_as_one_by_one(sample, detector):
    texts = [*sample[0][:20], *sample[2][:20], "", "don't say 'hotel'"]
    together = [verdict.to_dict() for verdict in detector.explain_texts(texts)]
    assert together == [detector.explain(text).to_dict() for text in texts]
    assert {verdict["verdict"] for verdict in together} == {"known", "novel", "unclear"}


def test_an_explanation_tells_unseen_words_new_pairs_and_rules(detector):
    verdict = detector.explain("transfer my zyxwvut account to bill the checking routing")
    assert verdict.unseen == ("zyxwvut",)
    assert all(word in verdict.text for pair in verdict.new_pairs for word in pair.split())
    for rule in verdict.rules:
        present = {word.word for word in verdict.words}
        assert present.issuperset(rule.plain) and present.isdisjoint(rule.negated)
    for rule, missing in verdict.nearly:
        assert missing in rule.plain
        assert missing not in {word.word for word in verdict.words}


def test_empty_wordless_and_short_texts_are_told_apart(detector):
    for text, status, said in (
        ("", "empty", "empty"),
        ("  \n", "empty", "empty"),
        ("?!", "no words", "no words"),
        ("transfer", "short", "too short to be of a class"),
        ("transfer money", "ok", ""),
    ):
        verdict = detector.explain(text)
        assert verdict.status == status
        assert said in verdict.sentence
        assert bool(verdict.summary()) == (verdict.verdict != "unclear")
        assert detector.score_texts([text]).status[0] == (
            status if status != "empty" else "no words"
        )
    assert detector.predict(["", "?!"]).tolist() == [None, None]
    assert detector.p_values(["", "?!"]).tolist() == [1.0, 1.0]


def test_small_talk_is_of_no_class_unless_known_documents_of_one_class_say_it():
    known = [
        f"{verb} my {a}{b} card" for verb in ("pay", "lose") for a in "abcdef" for b in "abcdef"
    ]
    talk = [("thanks", "bye"), ("thank you", "bye"), ("ok", "bye"), ("ok", "pay"), ("stop", "lose")]
    labels = [text.split()[0] for text in known]
    detector = NoveltyDetector(0.2, n_clauses=4, random_state=0)
    held_back = [f"pay my {letter} card" for letter in "uvwxyz"]
    detector.fit(
        [*known, *(text for text, _ in talk)],
        [*labels, *(label for _, label in talk)],
        held_back=held_back,
    )
    said = {
        "thanks": "ok", "thank you": "ok", "stop": "ok", "ok": "short", "yes": "short",
        "ok thank you": "short", "hello": "short", "card": "short", "pay card": "ok",
    }  # fmt: skip
    found = detector.detect(list(said), describe=False)
    assert dict(zip(found["text"], found["status"], strict=True)) == said
    for row in found:
        verdict = detector.explain(row["text"])
        assert (row["nearest"] is None) == (row["status"] == "short") == (not verdict.is_of_class)
        assert verdict.status == row["status"] and verdict.to_dict()["nearest"] == row["nearest"]
        label = detector.predict([row["text"]])[0]
        assert label == ("novel" if row["novel"] else row["nearest"])
    assert found["nearest"][:3].tolist() == ["bye", "bye", "lose"]


def test_markup_and_control_characters_of_a_text_do_nothing(detector):
    verdict = detector.explain("<script>alert(1)</script> pay \x1b[31m my bill")
    page = verdict._repr_html_()
    assert "<script" not in page and "&lt;<mark" in page
    assert "\x1b[31m" not in verdict.to_terminal(colour=False)
    json.dumps(verdict.to_dict(), allow_nan=False)


def test_the_same_seed_gives_the_same_detector(sample):
    texts, labels, novel = sample
    first, second = (
        NoveltyDetector(random_state=3, n_jobs=jobs).fit(texts[::5], labels[::5]) for jobs in (1, 2)
    )
    assert np.array_equal(first.novelty(novel[:50]), second.novelty(novel[:50]))


def test_without_labels_all_are_known_or_groups_are_made_and_named(sample):
    texts, _, novel = sample
    alone = NoveltyDetector(random_state=1).fit(texts[::3])
    assert alone.classes_.tolist() == ["known"]
    assert set(alone.predict(texts[1::3])) == {"known", "novel"}
    assert alone.novelty(novel).mean() > alone.novelty(texts[1::3]).mean() + 2
    assert not alone.rule_votes(novel[:5]).any()  # the rules of groups only explain
    grouped = NoveltyDetector(random_state=1, n_groups=8).fit(texts[::3])
    assert len(grouped.classes_) == 8
    assert all(name.startswith("group ") and ": " in name for name in grouped.classes_)
    assert grouped.novelty(novel).mean() > grouped.novelty(texts[1::3]).mean() + 1


def test_documents_held_back_by_hand_set_the_threshold(sample):
    texts, labels, _ = sample
    detector = NoveltyDetector(random_state=1).fit(texts[::2], labels[::2], held_back=texts[1::4])
    assert detector.n_documents_["learned"] == len(texts[::2])
    assert sum(detector.n_documents_.values()) == len(texts[::2]) + len(texts[1::4])
    with pytest.raises(ValueError, match=r"needs at least 19 held-back known documents; 3 with"):
        NoveltyDetector().fit(texts[::2], labels[::2], held_back=texts[:3])


def test_new_documents_and_new_classes_are_taken_in(sample):
    texts, labels, _ = sample
    late = sorted(set(labels))[-2:]
    is_late = np.isin(labels, late)
    rows, late_rows = np.flatnonzero(~is_late), np.flatnonzero(is_late)
    detector = NoveltyDetector(random_state=1).fit([texts[i] for i in rows], labels[rows])
    train, test = late_rows[::2], late_rows[1::2]
    fresh = [texts[i] for i in test]
    before = detector.p_values(fresh)
    n = detector.n_documents_
    detector.partial_fit([texts[i] for i in train], labels[train])
    assert set(late) <= set(detector.classes_)
    assert (detector.nearest(fresh) == labels[test]).mean() > 0.8
    assert np.median(detector.p_values(fresh)) > np.median(before) + 0.2
    assert detector.n_documents_["learned"] > n["learned"]
    assert detector.n_documents_["held_back"] > n["held_back"]
    assert (detector.rule_votes(fresh)[:, -2:] > 0).any(axis=1).mean() > 0.8
    verdict = detector.explain(fresh[0])
    assert verdict.novelty == pytest.approx(detector.novelty(fresh[:1])[0], abs=1e-4)
    detector.partial_fit(["what is the zyxw of my account"], [late[0]])
    assert "zyxw" in detector.vectorizer_.vocabulary_
    unlabelled = detector.partial_fit([texts[0], texts[1]])
    assert unlabelled is detector


def test_a_saved_detector_says_the_same_and_goes_on(tmp_path, sample):
    texts, labels, novel = sample
    detector = NoveltyDetector(random_state=1).fit(texts[::3], labels[::3])
    detector.partial_fit(novel[:60], ["travel"] * 60)
    path = tmp_path / "model.nf"
    detector.save(path)
    loaded = newfound.load(path)
    assert np.array_equal(loaded.novelty(novel), detector.novelty(novel))
    assert np.array_equal(loaded.p_values(texts), detector.p_values(texts))
    assert loaded.explain(novel[0]).to_dict() == detector.explain(novel[0]).to_dict()
    loaded.partial_fit(novel[60:80], ["travel"] * 20)
    detector.partial_fit(novel[60:80], ["travel"] * 20)
    assert np.array_equal(loaded.novelty(novel), detector.novelty(novel))
    with pytest.raises(ValueError, match="holds a detector, not a describer"):
        newfound.NoveltyDescriber.load(path)


def test_detect_tells_which_why_and_groups_them(detector, sample):
    texts, _, novel = sample
    mixed = texts[1:41:2] + novel[:200:2]
    found = detector.detect(mixed, n_clauses=20, T=10, epochs=2)
    assert found.columns == (
        "document", "text", "novel", "novelty", "p_value", "nearest", "status", "why", "reasons",
        "newest_sentence", "group", "group_name",
    )  # fmt: skip
    assert found["novel"][20:].mean() > 0.7 > 0.3 > found["novel"][:20].mean()
    grouped = np.concatenate([group.documents for group in found.groups])
    assert len(set(grouped.tolist())) == len(grouped) > 0.7 * found.n_novel
    assert all(found["novel"][group.documents].all() for group in found.groups)
    assert found.groups[0].words["word"].size > 0
    assert found.description is not None and found.description.n_documents_["novel"] > 50
    assert 0.6 < found.share.share <= 1.0
    first = found.novel()
    assert first["novel"].all() and (np.diff(first["p_value"]) >= 0).all()
    assert found.explain(25).text == mixed[25]
    assert all(found["why"])
    none = detector.detect(texts[:3], describe=False)
    assert none.description is None


def test_a_missing_label_is_an_error_also_as_pandas_writes_it():
    pandas = pytest.importorskip("pandas")
    for missing in (None, float("nan"), pandas.NA, pandas.NaT):
        with pytest.raises(ValueError, match="missing label"):
            newfound.NoveltyDetector().fit(["pay my bill"] * 60, ["a"] * 59 + [missing])


def test_a_wrong_parameter_of_the_description_is_an_error_also_if_nothing_is_new(detector, sample):
    texts, _, novel = sample
    for mixed in (novel[:40], texts[:2]):
        with pytest.raises(ValueError, match=r"^T=-1"):
            detector.detect(mixed, T=-1)
        with pytest.raises(TypeError, match="colour"):
            detector.detect(mixed, colour="red")


def test_novel_texts_that_cannot_be_described_cause_a_warning(detector):
    """All have the same words."""
    with (
        pytest.warns(UserWarning, match="could not be described"),
        pytest.warns(UserWarning, match="in another language"),
    ):
        found = detector.detect(["zyxw"] * 8, known=["zyxw"] * 8)
    assert found.n_novel == 8 and found.description is None


def test_the_share_of_new_documents_is_estimated(sample):
    rng = np.random.RandomState(0)
    for share in (0.0, 0.3, 0.8):
        p = np.concatenate(
            (rng.uniform(size=round(2000 * (1 - share))), np.full(round(2000 * share), 0.01))
        )
        found = share_of_new(p)
        assert found.low <= share <= found.high
        assert abs(found.share - share) < 0.06
    texts, labels, novel = sample
    mixed = texts[1:600:4] + novel[:50]
    found = split_mixture(texts[::2], mixed, labels=labels[::2], random_state=1)
    assert 0.1 < found.share.share < 0.45
    assert found.novel[150:].mean() > 0.6 > found.novel[:150].mean()
    with pytest.raises(ValueError, match="from 0 to 1"):
        share_of_new([2.0])
    # All of 100 are new: an error of one document, 1.645 times, is left.
    assert share_of_new([0.01] * 100).low == pytest.approx(1 - 1.645 * 0.01 / 0.5)


def test_a_mixture_is_described_by_its_new_documents(sample):
    texts, _, novel = sample
    mixed = texts[1:400:4] + novel[:100]
    settings = {"n_clauses": 40, "T": 20, "epochs": 2, "random_state": 1}
    described = newfound.describe(texts[::2], mixed, mixture=True, **settings)
    assert 0.25 < described.mixture_.share.share < 0.65
    assert described.n_documents_["novel"] == described.mixture_.novel.sum()
    assert described.mixture_.novel[100:].mean() > described.mixture_.novel[:100].mean() + 0.5
    with pytest.raises(ValueError, match="too few to describe"):
        newfound.describe(texts[::2], texts[:80:2], mixture=True, **settings)


@pytest.mark.parametrize("largest", [0, 1 << 63])
def test_bags_count_what_was_never_seen(largest, monkeypatch):
    monkeypatch.setattr(bags_of_text, "_MAX_KEY", largest)  # many words: another way to sort pairs
    vectorizer = TextVectorizer(stop_words=None, ngram_range=(1, 2)).fit(["pay my bill", "my card"])
    texts = ["Pay my card, zyxw zyxw!", "", "pay pay my my bill", "it's naïve — my-bill a3"]
    bags = BagReader(vectorizer).read(texts)
    assert np.array_equal(bags.matrix.toarray(), vectorizer.transform(texts).toarray())
    for i, text in enumerate(texts):
        terms = {token.term: token.index for token in vectorizer.tokens(text)}
        words = [index for term, index in terms.items() if " " not in term]
        pairs = [index for term, index in terms.items() if " " in term]
        assert bags.n_words[i] == len(words) and bags.n_pairs[i] == len(pairs)
        assert bags.unseen_words[i] == sum(index < 0 for index in words)
        assert bags.unseen_pairs[i] == sum(index < 0 for index in pairs)


def test_a_class_of_one_document_is_learned_from_with_a_warning(sample):
    texts, labels, _ = sample
    with pytest.warns(UserWarning, match="The class 'lamp' has a single known document"):
        detector = NoveltyDetector(random_state=0).fit(
            [*texts[::5], "turn the zyxw lamp off"], [*labels[::5], "lamp"]
        )
    assert detector.nearest(["zyxw lamp off please"])[0] == "lamp"
    with (
        pytest.warns(UserWarning, match="have a single"),
        pytest.raises(ValueError, match="100 classes of 100 known documents, which leaves 0"),
    ):
        NoveltyDetector().fit(["pay my bill"] * 100, range(100))


@pytest.mark.parametrize(
    ("texts", "labels", "alpha", "message"),
    [
        (["pay my bill"], None, 0.05, r"is 1 known document with text; alpha=0.05 needs 19 .* \d+"),
        (["pay my bill"] * 60, None, 0.01, r"60 known documents .*alpha=0.01 needs 99"),
        (["a b", "c d"], ["a"], 0.05, r"y has the shape \(1,\) for 2 known documents"),
        (["a b", "c d"], ["a", 1], 0.05, "mixes texts with other labels, such as 1"),
        (["a b", "c d"], ["a", None], 0.05, "missing label"),
        ("pay my bill", None, 0.05, "single str"),
        ([], None, 0.05, "are 0 known documents"),
        (["  ", ""], None, 0.05, "are 0 known documents"),
        (["a b"] * 100, None, 0.0, "between 0 and 1"),
        (["a b"] * 100, None, "5 %", "such as 0.05"),
        (["?!"] * 100, None, 0.05, "Nothing is left after cleaning"),
    ],
)  # fmt: skip
def test_what_cannot_be_learned_from_is_refused_in_a_sentence(texts, labels, alpha, message):
    with pytest.raises(ValueError, match=message):
        NoveltyDetector(alpha).fit(texts, labels)


def test_the_number_of_documents_it_asks_for_is_enough():
    texts = [f"pay bill {i}" for i in range(400)]
    for alpha in (0.01, 0.05, 0.2):
        with pytest.raises(ValueError, match="pass at least") as caught:
            NoveltyDetector(alpha).fit(texts[:3])
        enough = int(str(caught.value).split("at least ")[1].split(",")[0])
        NoveltyDetector(alpha, n_clauses=2, epochs=1).fit(texts[:enough])
        with pytest.raises(ValueError, match="pass at least"):
            NoveltyDetector(alpha).fit(texts[: enough - 1])
        assert held_back_needed(alpha) == math.ceil(1 / alpha) - 1


def test_a_language_unlike_the_models_is_said(detector):
    text = "wo ist der nächste bahnhof und wie komme ich dorthin"
    verdict = detector.explain(text)
    assert verdict.verdict == "novel"
    assert "Few of its words are known" in verdict.sentence
    with pytest.warns(UserWarning, match="in another language"):
        found = detector.detect([text] * 3)
    assert found["novel"].all()


def test_a_message_of_ten_megabytes_is_scored_and_its_explanation_refused(detector):
    text = "please transfer money from checking to savings zyxw " * 200_000
    assert len(text) > 10_000_000
    assert np.isfinite(detector.novelty([text])[0])
    with pytest.raises(ValueError, match=r"The text has 10,400,000 characters, and up to"):
        detector.explain(text)
    verdict = detector.explain(text[:150_000])
    assert verdict.novelty == pytest.approx(detector.novelty([text[:150_000]])[0], abs=1e-4)
    assert len(verdict._repr_html_()) < 1_000_000


def test_documents_that_are_all_the_same_still_tell_what_is_new():
    for labels in (None, ["a", "b"] * 50, list(range(50)) * 2):
        detector = NoveltyDetector(random_state=1).fit(["pay my bill"] * 100, labels)
        assert detector.predict(["zyxw wvu"])[0] == "novel"
        assert detector.predict(["pay my bill"])[0] != "novel"


def test_labels_of_any_kind_come_back_as_they_were(sample):
    texts = sample[0][:120]
    for labels in ([i % 2 == 0 for i in range(120)], np.arange(120) % 3 / 2, np.arange(120) % 3):
        detector = NoveltyDetector(random_state=1).fit(texts, labels)
        assert set(detector.predict(texts)) <= {*np.unique(labels).tolist(), "novel"}


def test_not_fitted_is_said():
    with pytest.raises(ValueError, match="not fitted"):
        NoveltyDetector().predict(["a"])


def test_a_single_text_is_refused(detector):
    with pytest.raises(ValueError, match="wrap it in a list"):
        detector.novelty("pay my bill")


def test_growth_keeps_the_lemmas_that_were_decided_at_fit(tmp_path):
    texts = [f"they went to Wales for {thing}" for thing in ("rugby", "coal", "rain", "song")] * 10
    detector = NoveltyDetector(random_state=0, alpha=0.2).fit(texts)
    assert detector.vectorizer_.term("wales") == "wales"
    detector.partial_fit(["a wale and a ridge", "wales of corduroy", "two wales", "wales"])
    assert detector.vectorizer_.term("wales") == "wales"
    assert detector.vectorizer_.forms_["wales"]["wales"] > 16
    detector.save(tmp_path / "detector")
    loaded = NoveltyDetector.load(tmp_path / "detector")
    assert loaded.vectorizer_.lemmas_ == detector.vectorizer_.lemmas_
    assert loaded.novelty(texts).tolist() == detector.novelty(texts).tolist()


def test_rows_carry_reasons_as_data_and_the_group_with_its_name(detector, sample, tmp_path):
    texts, _, novel = sample
    found = detector.detect(texts[1:41:2] + novel[:200:2], describe=False)
    for i, row in enumerate(found):
        of = [n for n, group in enumerate(found.groups, 1) if i in group.documents]
        assert [row["group"]] == (of or [0])
        assert row["group_name"] == (found.groups[of[0] - 1].name if of else "")
        words = {w.word: w for w in found.explain(i).words}
        assert bool(row["reasons"]) <= row["novel"]
        for reason in row["reasons"]:
            word = words[reason["word"]]
            assert (
                reason["contribution"] == pytest.approx(word.contribution) and word.contribution > 0
            )
            assert reason["seen"] == word.role
    assert any(found["reasons"])
    first = found.novel().to_csv().splitlines()[1]
    assert "|".join(reason["word"] for reason in found.novel()["reasons"][0]) in first
    assert "contribution" not in first
    assert json.loads(found.to_json())[-1]["reasons"] == list(found["reasons"][-1])


def test_it_says_which_share_of_those_called_novel_is_expected_to_be_known(detector, sample):
    texts, _, novel = sample
    found = detector.detect(texts[1:401:2] + novel[:20], describe=False, group=False)
    known = (1 - found.share.share) * len(found)
    assert found.expected_false == pytest.approx(min(1, found.alpha * known / found.n_novel))
    assert found.expected_false > 0.1
    assert np.isnan(detector.detect(texts[:1], describe=False).expected_false)


def test_a_counterfactual_names_words_that_suggest_novel_or_says_why_not(detector, sample):
    named = 0
    for text in sample[2][:120]:
        verdict = detector.explain(text)
        if verdict.verdict != "novel" or not verdict.counterfactual:
            continue
        line = next(line for line in verdict.lines() if line.startswith("would be known without"))
        adds = {word.word: word.contribution for word in verdict.words}
        against = [word for word in verdict.counterfactual if adds[word] <= 0]
        named += not against
        assert bool(against) == ("suggests known by itself" in line)
    assert named > 10


def test_groups_are_as_many_as_the_kinds_of_documents():
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(60)]
    for kinds in (1, 4, 12):
        matrix = sparse.csr_array(rng.random((30 * kinds, 60)) < 0.05)
        kind = np.repeat(np.arange(kinds), 30)
        dense = matrix.toarray()
        for k in range(kinds):
            dense[kind == k, 5 * k : 5 * k + 5] |= rng.random((30, 5)) < 0.7
        found = find_groups(sparse.csr_array(dense), words, {}, 100, seed=0)
        assert len(found) == kinds
        assert all(np.bincount(kind[one.documents]).max() > 0.8 * one.size for one in found)


def test_stories_within_a_kind_of_long_documents_are_no_groups():
    rng = np.random.default_rng(3)
    kind, story = np.repeat([0, 1], 60), np.repeat(np.arange(24), 5)
    common = rng.random((120, 200)) < 0.2
    of_kind = rng.random((120, 2, 40)) < np.where(np.eye(2)[kind] > 0, 0.4, 0.02)[:, :, None]
    of_story = rng.random((120, 24, 20)) < np.where(np.eye(24)[story] > 0, 0.8, 0.0)[:, :, None]
    dense = np.column_stack((common, of_kind.reshape(120, -1), of_story.reshape(120, -1)))
    words = [f"w{i}" for i in range(dense.shape[1])]
    found = find_groups(sparse.csr_array(dense), words, {}, 100, seed=0)
    assert len(found) == 2
    assert all(len(set(kind[one.documents].tolist())) == 1 for one in found)


def test_long_documents_are_judged_by_their_neighbours_more():
    known, _ = newfound.load_sample()
    labels = np.array(known.labels)
    names = np.unique(labels)
    rng, weights = np.random.default_rng(0), {}
    for n in (1, 8):
        texts = [
            " ".join(rng.choice(np.array(known.texts)[labels == name], n))
            for name in names
            for _ in range(12)
        ]
        scorer = NoveltyDetector(alpha=0.2, n_clauses=4, epochs=1, random_state=0)
        scorer = scorer.fit(texts, np.repeat(names, 12)).scorer_
        held_out = scorer.read([" ".join(rng.choice(known.texts, n)) for _ in range(100)])
        parts = scorer.score(held_out).parts / scorer.scales.scale  # but for the centres
        parts += scorer.scales.centres(held_out.n_words)
        scales = Scales.of_known(parts, held_out.n_words, len(names))
        weights[n] = scales.scale * (parts - scales.centres(held_out.n_words)).std(axis=0)
    assert weights[1] == pytest.approx([1.75, 1.0, 0.5, 1.0, 1.75])
    assert weights[8] == pytest.approx([0.25, 0.5, 3.0, 1.5, 0.5])


def test_groups_that_were_found_are_judged_by_their_neighbours_more(monkeypatch):
    known, _ = newfound.load_sample()
    given = []
    monkeypatch.setattr(Scales, "of", lambda *a, **_: given.append(a[2]) or Scales.none())
    detector = NoveltyDetector(n_clauses=4, epochs=1, random_state=0)
    detector.fit(known.texts[::8], known.labels[::8])
    for n_groups in (1, 3):
        detector.set_params(n_groups=n_groups).fit(known.texts[::8])
    assert given == [WEIGHTS, WEIGHTS_WITHOUT_LABELS, WEIGHTS_WITHOUT_LABELS]


def test_words_to_ignore_are_left_out_everywhere_and_stay_so_in_a_file(sample, tmp_path):
    texts, labels, novel = sample
    pattern = "|".join(["say", "french", *("x" * 30 for _ in range(5))])  # long ones are kept, too
    detector = NoveltyDetector(n_clauses=4, epochs=1, random_state=1, ignore=pattern)
    detector.fit(texts[::4], labels[::4]).save(tmp_path / "d.nf")
    loaded = newfound.load(tmp_path / "d.nf")
    found = loaded.detect(novel[:60], n_clauses=10, T=5, epochs=1)
    shown = {word.word for text in novel[:20] for word in loaded.explain(text).words}
    named = {word for group in found.groups for word in group.words["word"].tolist()}
    described = set(found.description.words_["word"].tolist())
    assert "hello" in shown and not {"say", "french"} & (shown | named | described)


def test_documents_without_a_common_word_belong_to_no_group():
    rng = np.random.default_rng(5)
    common = [f"common{i}" for i in range(200)]

    def headline(*words: str) -> str:
        return " ".join([*rng.choice(common, 5, replace=False).tolist(), *words])

    known = [headline() for _ in range(600)]
    alone = [headline(f"new{i}", f"fresh{i}") for i in range(40)]
    together = [headline("volcano", f"lava{i}") for i in range(12)]
    detector = NoveltyDetector(0.05, random_state=1).fit(known)
    found = detector.detect([*alone, *together], describe=False)
    assert [group.words["word"][0] for group in found.groups] == ["volcano"]
    assert set(found.groups[0].documents.tolist()) <= set(range(40, 52))
    assert "have too little in common to form groups" in found.without_group()
    assert set(found["group"][:40].tolist()) == {0}
    none = detector.detect(alone, describe=False)
    assert none.groups == ()
    assert none.without_group() == "They have too little in common to form groups."


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_words_of_groups_are_called_as_the_detector_calls_them():
    known = [f"the worker waits in hall {'abcdefghij'[i % 10] * 3}" for i in range(200)]
    known += [f"workers meet at gate {'klmnopqrst'[i % 10] * 3}" for i in range(200)]
    detector = NoveltyDetector(0.2, random_state=1).fit(known)
    found = detector.detect([f"workers see volcano {i}xyz" for i in range(9)], describe=False)
    counts = {row["word"]: row["known"] for group in found.groups for row in group.words}
    assert counts["volcano"] == 0
    assert counts.get("worker", 1) > 0 and counts.get("workers", 1) > 0


def test_a_detector_without_its_texts_judges_the_same_and_learns_no_more(
    detector, sample, tmp_path
):
    texts, _, novel = sample
    path = tmp_path / "d.nf"
    detector.save(path)
    kept = detector.held_back_texts_[0]
    assert (
        kept in json.loads(zipfile.ZipFile(path).read("model.json"))["state"]["held_back"]["texts"]
    )
    other = NoveltyDetector.load(path).forget_texts()
    other.save(path, force=True)
    assert kept not in zipfile.ZipFile(path).read("model.json").decode()
    loaded = NoveltyDetector.load(path)
    assert np.array_equal(loaded.p_values(novel[:20]), detector.p_values(novel[:20]))
    assert loaded.explain(novel[0]).to_dict() == detector.explain(novel[0]).to_dict()
    assert loaded.n_documents_ == detector.n_documents_
    with pytest.raises(ValueError, match="cannot learn more: it was saved without"):
        loaded.partial_fit(texts[:5])
    with pytest.raises(ValueError, match="cannot watch a stream: it was saved without"):
        newfound.Monitor(loaded, every=50, state=tmp_path / "watch.db")
    assert not (tmp_path / "watch.db").exists()


def test_a_short_reason_has_stop_words_only_if_there_are_no_others(sample):
    detector = NoveltyDetector(random_state=0, n_jobs=1).fit(sample[0][::2])  # keeps stop words
    mixed, without = detector.explain_texts(["whose zyxw is that of his", "whose theirs than been"])
    assert [word.word for word in mixed.words[:3]] == ["zyxw", "whose", "his"]
    assert mixed.sentence.startswith("New: *zyxw* does not occur in known documents.")
    assert [reason["word"] for reason in mixed.reason_data()] == ["zyxw", "whose", "his"]
    assert without.verdict == "novel" and "*theirs*" in without.sentence


def test_the_sentence_says_first_what_is_new_and_what_is_near(detector, sample):
    verdicts = [detector.explain(text) for text in [*sample[0][1:160:2], *sample[2][:80]]]
    starts = {"known": ("Known: like *", "Known, but only just: like *"), "novel": "New: "}
    near = 0
    for verdict in verdicts:
        said = verdict.sentence
        assert said.startswith(starts[verdict.verdict]) and said.endswith((".", "?")), said
        assert str(verdict).startswith(said[:60]) and verdict.to_dict()["sentence"] == said
        if verdict.verdict == "known":
            assert f"*{verdict.nearest}*" in said
            continue
        near += verdict.is_near
        assert verdict.is_near == (f"nearest is *{verdict.nearest}*, but only" in said), said
        assert verdict.is_near or str(verdict.nearest) not in said.split("*")
        first = verdict.telling[0] if verdict.telling else None
        written = None if first is None else verdict.text[slice(*first.spans[0])]
        assert written is None or f"New: *{written}*" in said
    assert 0 < near < sum(verdict.verdict == "novel" for verdict in verdicts)
    assert detector.explain("").sentence == "Unclear: the text is empty."
    assert detector.detect(["?!"])["why"].tolist() == ["Unclear: the text has no words."]


def test_stop_words_are_named_last_unless_they_decide(detector, sample):
    listed = stop_words_by_language()["en"]
    last, decided = 0, 0
    for text in [*sample[2][:200], "whose theirs than been"]:
        verdict = detector.explain(text)
        stops = [word.word in listed for word in verdict.telling]
        if verdict.verdict != "novel" or True not in stops:
            continue
        added = sum(word.contribution for word in verdict.telling if word.word in listed)
        if verdict.novelty - added > verdict.threshold:  # novel without them
            assert stops == sorted(stops), text
            last += 1
        else:
            values = [word.contribution for word in verdict.telling]
            assert values == sorted(values, reverse=True)
            decided += 1
    assert last > 10 and decided


def test_rules_are_shown_that_a_person_can_use(detector, sample):
    listed, shown, left_out = stop_words_by_language()["en"], 0, 0
    for text in [*sample[0][1:160:2], *sample[2][:80]]:
        verdict = detector.explain(text)
        lines = [line for line in verdict.lines() if line.startswith("rule for ")]
        assert len(lines) == len(verdict.useful_rules) <= 5
        for rule in verdict.useful_rules:
            assert rule.precision >= 0.5 and rule.polarity > 0 and not listed.issuperset(rule.plain)
        shown, left_out = shown + len(lines), left_out + len(verdict.rules) - len(lines)
    assert shown > 50 and left_out > 50


def test_a_counterfactual_prefers_words_that_are_new(detector, sample):
    chosen = 0
    pairs = zip(sample[0][1:400:4], sample[2], strict=False)
    # A known request with a word of another class, and one that was never seen.
    mixed = [f"{known} {novel.split()[-1]} zyxw" for known, novel in pairs]
    for text in [*sample[2][:200], *mixed]:
        verdict = detector.explain(text)
        roles = {word.word: word.role for word in verdict.words if word.contribution > 0}
        gone = verdict.counterfactual or ()
        if len(gone) != 1:
            continue
        enough = {
            roles[word]
            for word in roles
            if detector.predict([verdict.without([word])])[0] not in ("novel", None)
        }
        newest = next(role for role in ("never", "elsewhere", "here") if role in enough)
        assert roles[gone[0]] == newest
        chosen += len(enough) > 1
    assert chosen
