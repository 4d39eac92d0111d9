"""Descriptions of batches: those of all documents at once, however the documents are cut."""

from __future__ import annotations

import json
import pickle
import signal
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import newfound
from newfound.cli import app
from newfound.description.calibration import VerdictCalibration
from newfound.description.novelty import (
    OtherWords,
    WordSums,
    by_length,
    evidence_from_sums,
    word_evidence,
)
from newfound.machine.committee import new_machines, train
from newfound.scale import counting, describe
from newfound.scale.arrow import Checkpoint
from newfound.scale.counting import draw_sample, place_of, sample_sizes
from newfound.scale.describing import describe_with
from newfound.scale.engines import Batches, train_as_tasks
from newfound.scale.themes import ThemeCounts, measured_themes
from newfound.show.collect import Limits, collect
from newfound.show.themes import TimeAxis, axis_of
from newfound.stories.evidence import (
    PSEUDO_DOCUMENTS,
    beyond_chance,
    deviance_root,
    document_weights,
)
from newfound.stories.themes import Themes
from newfound.text.spelling import Capitals
from newfound.text.vectorizer import TextVectorizer

QUICK = {"n_machines": 3, "n_clauses": 40, "T": 10, "epochs": 3, "random_state": 1}


@pytest.fixture(scope="module")
def table() -> Any:
    known, novel = newfound.load_sample()
    texts = [*known.texts[:400], *novel.texts[:250], None, " ", *novel.texts[:3], known.texts[0]]
    sides = ["known"] * 400 + ["novel"] * 255 + ["known"]
    order = np.random.default_rng(0).permutation(len(texts))
    return pa.table({"text": [texts[i] for i in order], "side": [sides[i] for i in order]})


def with_text(table: Any) -> tuple[list[str], np.ndarray]:
    rows = [row for row in table.to_pylist() if row["text"] and row["text"].strip()]
    return [r["text"] for r in rows], np.array([r["side"] == "novel" for r in rows])


def same(one: newfound.NoveltyDescriber, other: newfound.NoveltyDescriber) -> None:
    """Check that two descriptions are the same bits."""
    for name in one.words_.columns:
        left, right = one.words_[name], other.words_[name]
        assert left.tolist() == right.tolist() or np.array_equal(left, right, equal_nan=True), name
    for name in ("clauses_", "phrases_", "themes_", "gone_"):
        assert getattr(one, name).to_records() == getattr(other, name).to_records(), name
    assert np.array_equal(one.unexplained_, other.unexplained_, equal_nan=True)
    assert one.loose_ == other.loose_
    both = (found.description_.all_themes.groups for found in (one, other))
    for mine, its in zip(*both, strict=True):
        assert mine.rules == its.rules and mine.words == its.words and mine.gone == its.gone
        if one.corpus_ is not None and other.corpus_ is not None:
            assert typical_texts(one, mine) == typical_texts(other, its)
    assert one.n_documents_ == other.n_documents_ and one.set_aside_ == other.set_aside_
    text = "zyxw pay my bill and book a flight"
    assert one.explain(text).to_dict() == other.explain(text).to_dict()


def typical_texts(described: newfound.NoveltyDescriber, theme: Any) -> list[str]:
    return [described.corpus_.texts[row] for row in theme.typical]


@pytest.fixture(scope="module")
def sampled(table: Any) -> newfound.NoveltyDescriber:
    return describe(table.to_batches(max_chunksize=100), sample=120, **QUICK)


def test_a_sample_of_all_documents_gives_what_memory_gives(table):
    texts, novel = with_text(table)
    rows = sorted(zip(map(place_of, texts), texts, novel.tolist(), strict=True))
    whole = newfound.NoveltyDescriber(**QUICK).fit([r[1] for r in rows], [int(r[2]) for r in rows])
    for size in (1000, 37):
        same(describe(table.to_batches(max_chunksize=size), **QUICK), whole)


@pytest.mark.parametrize("most", [None, 50])
def test_machines_that_learn_as_tasks_are_those_of_one_process(table, most):
    texts, novel = with_text(table)
    matrix = TextVectorizer(min_df=2).fit_transform(texts)
    parameters = newfound.NoveltyDescriber(**QUICK).resolve_parameters()

    def run(work: Any, items: Any) -> list[Any]:
        done = [pickle.dumps(work(pickle.loads(pickle.dumps(item)))) for item in reversed(items)]
        return list(map(pickle.loads, reversed(done)))

    here, elsewhere = (new_machines(parameters, 1) for _ in range(2))
    rows = train(here, matrix, novel, 3, most=most)
    others = train_as_tasks(run, elsewhere, matrix, novel, 3, n_jobs=2, callback=None, most=most)
    assert all(map(np.array_equal, rows, others)) and len(rows) == 3
    for one, other in zip(here, elsewhere, strict=True):
        assert np.array_equal(one.states_, other.states_) and one.states_.any()


def test_a_text_with_very_many_copies_counts_once_as_evidence(table):
    texts, novel = with_text(table)
    often = "order a zeppelin to reykjavik"
    batch = pa.record_batch(
        {"text": [*texts, *[often] * 3000], "side": [*novel.astype(int).tolist(), *[1] * 3000]}
    )
    found = describe([batch], sample=240, **QUICK)
    assert often in found.corpus_.texts  # its hash is small enough to be drawn
    rows = {row["word"]: row for row in found.words_.to_records()}
    assert rows["zeppelin"]["documents_novel"] == 3000 and rows["zeppelin"]["novelty"] < 2
    whole = newfound.NoveltyDescriber(**QUICK).fit(batch["text"].to_pylist(), batch["side"])
    memory = {row["word"]: row for row in whole.words_.to_records()}
    for word in ("travel", "flight", "account"):
        assert rows[word]["times"] == pytest.approx(memory[word]["times"], rel=0.25)


@pytest.mark.parametrize("size", [1000, 61])
def test_the_cut_and_the_order_do_not_matter(table, sampled, size):
    same(describe(table.to_batches(max_chunksize=size)[::-1], sample=120, **QUICK), sampled)


def test_counts_come_from_all_documents(table, sampled):
    texts, novel = with_text(table)
    whole = newfound.NoveltyDescriber(**QUICK).fit(texts, novel.astype(int))
    counts = ("documents_known", "documents_novel")
    one, other = (
        {row["word"]: [row[name] for name in counts] for row in found.words_.to_records()}
        for found in (sampled, whole)
    )
    assert one == other
    assert sampled.n_documents_ == whole.n_documents_ == {"known": 401, "novel": 253}
    assert sampled.vectorizer_.lemmas_ == whole.vectorizer_.lemmas_
    assert [*sampled.vectorizer_.vocabulary_] == [*whole.vectorizer_.vocabulary_]
    frequencies = whole.vectorizer_.document_frequencies_
    assert np.array_equal(sampled.vectorizer_.document_frequencies_, frequencies)
    sample = list(zip(sampled.corpus_.novel[:240].tolist(), sampled.corpus_.texts, strict=False))
    assert sum(side for side, _ in sample) == 120
    # The sample has a third of the documents, and the evidence comes from all.
    novelty = [{r["word"]: r["novelty"] for r in d.words_.to_records()} for d in (sampled, whole)]
    values = np.array([[by_word[word] for word in other] for by_word in novelty])
    assert np.corrcoef(values)[0, 1] > 0.97


def test_rules_are_counted_on_all_documents(table, sampled):
    texts, novel = with_text(table)
    matrix = sampled.vectorizer_.transform(texts).toarray().astype(bool)
    for clause in list(sampled.all_clauses_)[::17]:
        columns = [sampled.vectorizer_.vocabulary_[word] for word in clause.plain]
        absent = [sampled.vectorizer_.vocabulary_[word] for word in clause.negated]
        found = matrix[:, columns].all(axis=1) & ~matrix[:, absent].any(axis=1)
        if columns or absent:
            expected = int((found & ~novel).sum()), int((found & novel).sum())
            assert (clause.matches_known, clause.matches_novel) == expected


def rows_of_rules(rules: Any, vectorizer: TextVectorizer, matrix: np.ndarray) -> np.ndarray:
    """Return which documents have all words of any of some rules."""
    columns = [[vectorizer.vocabulary_[word] for word in words] for words in rules]
    return np.any([matrix[:, own].all(axis=1) for own in columns], axis=0)


@pytest.mark.parametrize("fold", [True, False])
def test_themes_and_phrases_are_counted_on_all_documents(table, sampled, fold):
    found = sampled
    if not fold:
        found = describe(table.to_batches(), sample=120, fold_copies=False, **QUICK)
    texts, novel = with_text(table)
    matrix = found.vectorizer_.transform(texts).toarray().astype(bool)
    assert len(found.themes_) > 2 and len(found.phrases_) > 2
    groups = found.description_.all_themes.groups
    assert any(theme.gone for theme in groups)
    for theme in groups:
        rows = rows_of_rules([r.words for r in theme.rules], found.vectorizer_, matrix)
        known, new = int((rows & ~novel).sum()), int((rows & novel).sum())
        assert (theme.documents_known, theme.documents_novel) == (known, new)
        assert theme.to_dict()["documents_novel"] == new >= len(theme.novel_documents)
        assert theme.share_novel == new / novel.sum() and theme.share_known == known / 401
        for rule in theme.rules:
            own = rows_of_rules([rule.words], found.vectorizer_, matrix)
            assert (rule.known, rule.novel) == ((own & ~novel).sum(), (own & novel).sum())
        own_side, share = (known, 1 - novel.mean()) if theme.gone else (new, novel.mean())
        root = deviance_root(own_side, known + new, share, PSEUDO_DOCUMENTS)
        assert theme.evidence == pytest.approx(beyond_chance(root, theme.by_chance)) or fold
        side = novel != theme.gone
        assert {text for text in typical_texts(found, theme)} <= set(np.array(texts)[rows & side])
    strengths = [theme.evidence for theme in found.themes_]
    assert strengths == sorted(strengths, reverse=True) and min(strengths) >= 2
    assert 0 < found.unexplained_ < 1
    for row in found.phrases_.to_records():
        own = rows_of_rules([row["words"]], found.vectorizer_, matrix)
        counts = int((own & ~novel).sum()), int((own & novel).sum())
        assert (row["documents_known"], row["documents_novel"]) == counts
        assert row["precision"] == counts[row["side"] == "novel"] / sum(counts)


def test_typical_documents_are_the_best_of_all_documents(table):
    texts, novel = with_text(table)
    found = describe(table.to_batches(max_chunksize=50), sample=60, **QUICK)
    bags = found.vectorizer_.transform(texts)
    matrix = bags.toarray().astype(bool)
    outside = 0
    for theme in found.themes_:
        rows = rows_of_rules([r.words for r in theme.rules], found.vectorizer_, matrix) & novel
        drawn = np.array([text in found.corpus_.texts[:120] for text in texts])
        # The lengths are compared with those of the theme in the sample.
        typical = np.median(np.diff(bags.indptr)[np.flatnonzero(rows & drawn)])
        weights = np.zeros(matrix.shape[1])
        weights[[found.vectorizer_.vocabulary_[word] for word, _ in theme.words]] = [
            weight for _, weight in theme.words
        ]
        scores = bags.astype(float) @ weights / np.sqrt(np.diff(bags.indptr) + typical)
        best = sorted({(-round(scores[i], 9), texts[i].lower()) for i in np.flatnonzero(rows)})
        shown = typical_texts(found, theme)
        assert [-score for score, _ in best[: len(shown)]] == [
            round(scores[texts.index(text)], 9) for text in shown
        ]
        outside += sum(text not in found.corpus_.texts[:120] for text in shown)
    assert outside > 0  # some are not in the sample


def test_a_theme_that_all_documents_do_not_bear_out_is_left_out(sampled):
    first, second = (replace(sampled.themes_[0], parts=()) for _ in range(2))
    both = Themes((first, second), (replace(first, gone=True),))
    groups = np.array([[400, 10, 10], [250, 200, 200]])
    ands = np.zeros((2, 3 * len(first.rules)), np.int64)
    counts = ThemeCounts(ands, groups, [])
    found, numbers = measured_themes(both, counts, (401, 253), np.ones((3, 2)), [()] * 3)
    assert numbers == [1] and not found.gone
    (kept,) = found.themes
    assert kept.counted == (10, 200) and kept.share_novel == 200 / 253
    copied, _ = measured_themes(both, counts, (401, 253), np.full((3, 2), 0.1), [()] * 3)
    assert 2 <= copied.themes[0].evidence < kept.evidence / 2
    assert copied.themes[0].counted == (10, 200)


def test_a_description_of_a_sample_is_saved_and_reported(sampled, tmp_path):
    sampled.save(tmp_path / "d.nf")
    loaded = newfound.NoveltyDescriber.load(tmp_path / "d.nf")
    same(loaded, sampled)
    sampled.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert sampled.words_["word"][0] in page
    themes = collect(sampled.description_, sampled.corpus_, Limits())["themes"]["rows"]
    for theme, row in zip(sampled.themes_, themes, strict=True):
        assert row["documents_novel"] == theme.documents_novel
        names = [sampled.corpus_.names[place] for place in theme.typical]
        assert [document["name"] for document in row["documents"]] == names


def test_evidence_from_sums_is_that_of_documents(table):
    texts, novel = with_text(table)
    matrix = TextVectorizer(min_df=2).fit_transform(texts).astype(float)
    matrix.sort_indices()
    weights = document_weights(matrix, novel)
    expected, _ = OtherWords.learn(matrix, weights).expected(matrix)
    rows = np.repeat(np.arange(len(texts)), np.diff(matrix.indptr))
    w, width = weights.weight[rows], matrix.shape[1]
    values = (np.ones(len(rows)), w, w**2, w * expected, w**2 * expected * (1 - expected))
    keys = matrix.indices + width * novel[rows]
    documents, weight, *rest = (
        np.bincount(keys, value, 2 * width).reshape(2, width) for value in values
    )
    summed = (total.sum(axis=0) for total in rest)
    sums = WordSums(documents.astype(np.int64), weight.sum(axis=0), weight[1], *summed)
    counts = by_length(np.diff(matrix.indptr), novel)
    found = evidence_from_sums(sums, sums.weights, *counts)
    for name, one, other in zip(found._fields, found, word_evidence(matrix, novel), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9, err_msg=name)


def test_terms_are_learned_from_counts_alone(table):
    texts = with_text(table)[0] + ["He left Wales", "in Wales,", "sees Wales", "the Innings"] * 3
    whole = TextVectorizer(min_df=2)
    matrix = whole.fit_transform(texts)
    plain = TextVectorizer(stop_words=None, lemmatize=False).fit(texts)
    counts = dict(zip(plain.vocabulary_, plain.document_frequencies_.tolist(), strict=True))
    capitals = Capitals()
    for text in texts:
        capitals.count(text)
    found = TextVectorizer(min_df=2).fit_counts(counts, len(texts), capitals)
    assert found.lemmas_ == whole.lemmas_ and "wales" in found.lemmas_
    assert set(whole.vocabulary_) <= set(found.vocabulary_)
    assert {term: found.forms_[term] for term in whole.forms_} == whole.forms_
    assert (
        found.transform(texts)[:, [found.vocabulary_[t] for t in whole.vocabulary_]] != matrix
    ).nnz == 0
    with pytest.raises(ValueError, match="counts of words have no pairs"):
        TextVectorizer(ngram_range=(1, 2)).fit_counts(counts, len(texts), capitals)


def test_clauses_count_as_the_machine_does(table):
    texts, novel = with_text(table)
    matrix = TextVectorizer(min_df=2).fit_transform(texts)
    labels = np.where(novel, "novel", "known")
    machine = newfound.TsetlinMachineClassifier(n_clauses=40, T=10, s=5, epochs=3, random_state=1)
    machine.fit(matrix, labels)
    matches, agrees = machine.support(matrix, labels)
    counts = machine.clauses_.support(matrix, novel)
    assert np.array_equal(counts.sum(axis=0), matches)
    for_novel = (machine.clauses_.class_index == 1) == (machine.clauses_.polarity > 0)
    assert np.array_equal(np.where(for_novel, counts[1], counts[0]), agrees)


def test_one_text_does_not_fill_a_sample():
    texts = [f"text number {i}" for i in range(2000)] + ["the same again"] * 3000
    table = pa.table({"text": texts, "side": [i % 2 for i in range(len(texts))]})
    engine = Batches(table.to_batches(max_chunksize=999))
    drawn, novel, _, stands_for = draw_sample(
        engine.sums, (2500, 2500), (500, 500), text="text", side="side"
    )
    copied = np.array([text == "the same again" for text in drawn])
    assert (stands_for[~copied] == 1).all()
    for side in (novel, ~novel):
        assert stands_for[copied & side].sum() == pytest.approx(1500 if copied.any() else 0)
    assert 200 < novel.sum() <= 500 and 200 < (~novel).sum() <= 500
    assert drawn.count("the same again") <= 10
    assert [place_of(text) for text in drawn] == sorted(map(place_of, drawn))


def test_of_long_documents_fewer_are_drawn():
    asked = 20_000
    assert sample_sizes((10**6, 10**6), (50 * 10**6, 10**7), asked) == (asked, asked)
    assert sample_sizes((10**6, 10**6), (100 * 10**6, 10**11), asked) == (asked // 2, 1000)
    assert sample_sizes((10**6, 10**6), (10**11, 10**11), 300) == (300, 300)
    assert sample_sizes((5, 5), (10, 0), asked) == (asked, asked)


def test_the_sample_of_long_documents_does_not_depend_on_the_cut(monkeypatch):
    monkeypatch.setattr(counting, "_LEAST", 10)
    draw = np.random.default_rng(0)
    texts = [" ".join(f"w{n}" for n in draw.choice(400, 200, replace=False)) for _ in range(300)]
    table = pa.table({"text": texts, "side": ["known", "novel", "novel"] * 100})
    found = []
    for size in (300, 41):
        learned: list[int] = []
        engine = Batches(table.to_batches(max_chunksize=size))
        described = describe_with(
            engine, text="text", side="side", sample=100, sampled=learned.append, **QUICK
        )
        assert learned == [50]  # 5,000 words of each side
        assert described.n_documents_ == {"known": 100, "novel": 200}
        found.append(described)
    same(*found)
    drawn = sorted(texts, key=place_of)
    assert set(found[0].corpus_.texts[:50]) <= set(drawn[:150])


@pytest.mark.parametrize(
    "change, said",
    [
        ({"ngram_range": (1, 2)}, "pairs of words are not counted batch by batch"),
        ({"sample": 1}, "expected at least 2 documents of each side"),
        ({"side": "label"}, "has no column 'label'; it has: text, side"),
        ({"text": "body"}, "has no column 'body'"),
        ({"n_clauses": 7}, "n_clauses"),
    ],
)
def test_requests_that_make_no_sense_are_refused(table, change, said):
    with pytest.raises(ValueError, match=said):
        describe(table.to_batches(), **{**QUICK, **change})


def test_a_side_without_documents_is_told():
    batch = pa.record_batch({"text": ["a b", "c d"], "side": ["known", "known"]})
    with pytest.raises(ValueError, match="novel has 0 documents with text"):
        describe([batch])


def test_stop_words_that_count_come_after_all_words():
    given = VerdictCalibration(1.0, 0.5, np.array([1.0, 2, 3]), np.array([4.0, 5, 6]), ("who",))
    found = given.widened(np.array([0, 2]), 4, 9)
    assert found.weights.tolist() == [1, 0, 2, 0, 3] and found.idf[[0, 2, 4]].tolist() == [4, 5, 6]
    assert found.contributions([0, 4]).tolist() == given.contributions([0, 2]).tolist()


@pytest.mark.slow
def test_a_killed_run_goes_on_with_the_same_bits(table, sampled, tmp_path):
    pq.write_table(table, tmp_path / "all.parquet")
    script = f"""
import os, signal, sys
import pyarrow.parquet as pq
from newfound.scale.arrow import Checkpoint
from newfound.scale.describing import describe_with
from newfound.scale.engines import Batches

table = pq.read_table("all.parquet")
seen = []

def progress(done):
    seen.append(done)
    if sys.argv[1] == "kill" and len(seen) == 145:  # in the last of three passes of 55 batches
        os.kill(os.getpid(), signal.SIGKILL)

engine = Batches(table.to_batches(max_chunksize=12), 1, progress, Checkpoint("kept", {{"a": 1}}))
describe_with(engine, text="text", side="side", sample=120, **{QUICK!r}).save("d.nf")
print(len(seen), seen[0])
"""
    one, two = (
        subprocess.run([sys.executable, "-c", script, how], cwd=tmp_path, capture_output=True,
                       text=True, check=False)
        for how in ("kill", "go on")
    )  # fmt: skip
    assert one.returncode == -signal.SIGKILL and not one.stdout
    assert two.returncode == 0, two.stderr
    begun, first = map(int, two.stdout.split())
    assert first > 1 and begun < 55  # two passes and a part of the third were not done again
    same(newfound.NoveltyDescriber.load(tmp_path / "d.nf"), sampled)
    with pytest.raises(ValueError, match="has the checkpoint of other documents or options"):
        Checkpoint(tmp_path / "kept", {"a": 2})
    with pytest.raises(ValueError, match=r"has other files, such as all\.parquet; name an empty"):
        Checkpoint(tmp_path, {"a": 1})
    (tmp_path / "kept" / "pass-1.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"pass-1\.parquet is damaged; remove it"):
        Checkpoint(tmp_path / "kept", {"a": 1}).load(1, pa.schema([]))


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_the_command_describes_folders_of_parquet(table, sampled, tmp_path):
    for side in ("known", "novel"):
        (tmp_path / side).mkdir()
        rows = table.filter(pc.equal(table["side"], side)).select(["text"])
        pq.write_table(rows.slice(0, 90), tmp_path / side / "a.parquet")
        pq.write_table(rows.slice(90), tmp_path / side / "b.parquet")
    piles = ("--known", tmp_path / "known", "--novel", f"{tmp_path}/novel/*.parquet")
    options = ("--machines", 3, "--n-clauses", 40, "--T", 10, "--epochs", 3, "--seed", 1)
    asked = ("describe", *piles, *options, "--sample", 120, "--jobs", 1)
    saved = (
        "--save",
        tmp_path / "d.nf",
        "-o",
        tmp_path / "words.csv",
        "--report",
        tmp_path / "r.html",
    )
    done = run(*asked, *saved, "--checkpoint", tmp_path / "kept", "--json")
    assert done.exit_code == 0, done.stderr
    assert "401 documents from 2 files" in done.stderr
    assert "described 654 documents" in done.stderr
    assert "themes are learned from a sample of 240, and measured on all" in done.stderr
    same(newfound.NoveltyDescriber.load(tmp_path / "d.nf"), sampled)
    found = json.loads(done.stdout)
    assert (found["known"]["documents"], found["novel"]["documents"]) == (401, 253)
    schema = json.loads((files("newfound") / "data" / "schema" / "output.json").read_text("utf-8"))
    jsonschema.validate(found, {**schema, "$ref": "#/$defs/describe"})
    again = run(*asked, "--checkpoint", tmp_path / "kept", "--json", "-q")
    assert json.loads(again.stdout)["novel_words"] == found["novel_words"]
    other = run(*asked, "--checkpoint", tmp_path / "kept", "--min-df", 3)
    assert other.exit_code == 1 and "other documents or options" in other.stderr


@pytest.mark.parametrize(
    "options, said",
    [
        (("--sample", 9), "--sample is for --stream"),
        (("--checkpoint", "kept"), "--checkpoint is for --stream"),
        (("--stream", "--pairs"), "pairs are not counted in a stream"),
    ],
)
def test_options_of_streams_are_told_apart(tmp_path, options, said):
    for name in ("old", "new"):
        (tmp_path / f"{name}.txt").write_text("text\n", "utf-8")
    done = run(
        "describe", "--known", tmp_path / "old.txt", "--novel", tmp_path / "new.txt", *options
    )
    assert done.exit_code == 2 and said in " ".join(done.stderr.replace("│", " ").split())


@pytest.mark.parametrize(
    "options, said",
    [
        (("--by", "month", "--date-column", "day"), "--by month: a stream is read three times"),
        (("--by", "topic"), "use --dates-from DAY for one at a time"),
    ],
)
def test_a_stream_is_not_described_by_parts(tmp_path, options, said):
    (tmp_path / "all.csv").write_text("text,day,topic\na,2024-05-01,b\n", "utf-8")
    done = run("describe", "--documents", tmp_path / "all.csv", "--stream", *options)
    assert done.exit_code == 2 and said in " ".join(done.stderr.replace("│", " ").split())


@pytest.fixture(scope="module")
def dated(table: Any) -> Any:
    """Return the documents with days over ten weeks, novel ones mostly later, some missing."""
    draw = np.random.default_rng(3)
    late = np.array([side == "novel" for side in table["side"].to_pylist()])
    days = np.datetime64("2024-03-04") + draw.integers(0, 40, len(late)) + 30 * late
    texts = [None if draw.random() < 0.05 else str(day) for day in days]
    return table.append_column("day", pa.array(texts, pa.string()).cast(pa.date32()))


def dated_rows(dated: Any) -> tuple[list[str], np.ndarray, np.ndarray]:
    rows = [row for row in dated.to_pylist() if row["text"] and row["text"].strip()]
    days = np.array([row["day"] for row in rows], "datetime64[D]")
    return [r["text"] for r in rows], np.array([r["side"] == "novel" for r in rows]), days


def curves_of(found: newfound.NoveltyDescriber) -> list[dict[str, Any]]:
    words = found.words_["word"].tolist()
    return [found.curve(what).to_dict() for what in (*words, *found.themes_)]


@pytest.fixture(scope="module")
def sampled_dated(dated: Any) -> newfound.NoveltyDescriber:
    return describe(dated.to_batches(max_chunksize=90), date="day", sample=120, **QUICK)


def test_curves_of_a_stream_count_all_documents(dated, sampled, sampled_dated):
    same(sampled_dated, sampled)  # dates change nothing else
    texts, novel, days = dated_rows(dated)
    timeline, found = newfound.Timeline(days), sampled_dated.timeline_
    assert found.to_dict() == timeline.to_dict() and found.by == "week" and found.n_missing > 5
    matrix = sampled_dated.vectorizer_.transform(texts).toarray().astype(bool)
    for word, column in sampled_dated.vectorizer_.vocabulary_.items():
        expected = timeline.curve(matrix[:, column]).to_dict()
        assert sampled_dated.curve(word).to_dict() == expected
    axis = axis_of(sampled_dated.description_, 120)
    expected_axis = TimeAxis(timeline, novel, 120)
    assert axis.data() == expected_axis.data()
    for theme in sampled_dated.themes_:
        rules = [rule.words for rule in theme.rules]
        rows = rows_of_rules(rules, sampled_dated.vectorizer_, matrix)
        assert sampled_dated.curve(theme).to_dict() == timeline.curve(rows).to_dict()
        assert axis.theme_curve(theme) == expected_axis.curve(np.flatnonzero(rows))
    column = sampled_dated.vectorizer_.vocabulary_["travel"]
    rows = np.flatnonzero(matrix[:, column])
    assert axis.word_curves([column], None) == [expected_axis.curve(rows)]
    with pytest.raises(ValueError, match="is not one of the themes of this description"):
        sampled_dated.curve(sampled.themes_[0])


def test_curves_do_not_depend_on_the_cut(dated, sampled_dated):
    batches = dated.to_batches(max_chunksize=61)[::-1]
    found = describe(batches, date="day", sample=120, **QUICK)
    same(found, sampled_dated)
    assert curves_of(found) == curves_of(sampled_dated)


@pytest.mark.slow
def test_several_processes_give_the_same_and_end_in_silence(dated, sampled_dated, capfd):
    batches = dated.to_batches(max_chunksize=300)
    found = describe(batches, date="day", sample=120, **{**QUICK, "n_jobs": 2})
    same(found, sampled_dated)
    assert curves_of(found) == curves_of(sampled_dated)
    assert capfd.readouterr().err == ""


def test_curves_of_a_sample_of_all_documents_are_those_of_memory(dated):
    texts, novel, days = dated_rows(dated)
    places = map(place_of, texts)
    rows = sorted(zip(places, texts, novel.tolist(), days.astype(str).tolist(), strict=True))
    whole = newfound.NoveltyDescriber(**QUICK).fit(
        [r[1] for r in rows],
        [int(r[2]) for r in rows],
        dates=[None if r[3] == "NaT" else r[3] for r in rows],
    )
    found = describe(dated.to_batches(max_chunksize=61), date="day", **QUICK)
    same(found, whole)
    assert curves_of(found) == curves_of(whole) and found.timeline_.n_missing > 5


def test_the_command_draws_curves_of_a_stream(dated, sampled_dated, tmp_path):
    for side in ("known", "novel"):
        rows = dated.filter(pc.equal(dated["side"], side)).select(["text", "day"])
        pq.write_table(rows, tmp_path / f"{side}.parquet")
    piles = [part for side in ("known", "novel") for part in (f"--{side}", f"{tmp_path}/{side}.p*")]
    options = ("--machines", 3, "--n-clauses", 40, "--T", 10, "--epochs", 3, "--seed", 1)
    asked = ("describe", *piles, *options, "--sample", 120, "--jobs", 1, "--date-column", "day")
    done = run(*asked, "--json", "-q", "--report", tmp_path / "r.html")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["timeline"] == sampled_dated.timeline_.to_dict()
    for row in (*found["novel_words"], *found["known_words"]):
        assert row["curve"] == sampled_dated.curve(row["word"]).to_dict()
    for row, theme in zip(found["themes"], sampled_dated.themes_, strict=True):
        assert row["curve"] == sampled_dated.curve(theme).to_dict()
    shown = run(*asked, "-q")
    assert "over time" in shown.stdout and sampled_dated.themes_[0].name in shown.stdout
    page = collect(sampled_dated.description_, sampled_dated.corpus_, Limits())
    for number, card in page["cards"].items():
        curve = sampled_dated.curve(page["words"]["columns"]["word"][int(number)])
        counts = np.add(card["curve"]["known"], card["curve"]["novel"])
        assert counts.tolist() == curve.counts.tolist()


def test_a_file_keeps_the_curves_of_a_stream(sampled_dated, tmp_path):
    sampled_dated.save(tmp_path / "d.nf")
    loaded = newfound.NoveltyDescriber.load(tmp_path / "d.nf")
    same(loaded, sampled_dated)
    assert curves_of(loaded) == curves_of(sampled_dated)
    assert loaded.timeline_.to_dict() == sampled_dated.timeline_.to_dict()
    loaded.save(tmp_path / "again.nf")
    assert (tmp_path / "again.nf").read_bytes() == (tmp_path / "d.nf").read_bytes()


@pytest.mark.parametrize(
    "name, change, said",
    [
        ("days", lambda days: days[::-1], "days in their order"),
        ("documents", lambda counts: counts + 1, "documents, with those without a date"),
        ("starts", lambda starts: starts[:, ::-1], "places that end with"),
        ("bins", lambda bins: bins + 1000, "whole numbers from 0 to"),
        ("word_days", lambda days: days[:, ::-1], "a first and a last day"),
        ("theme_days", lambda days: days[:0], "whole numbers of the shape"),
        ("themes", lambda counts: counts - 2**40, "whole numbers from 0"),
    ],
)
def test_curves_of_a_file_that_cannot_be_are_refused(sampled_dated, name, change, said):
    state = sampled_dated.to_state()
    state["curves"] = {**state["curves"], name: change(state["curves"][name])}
    with pytest.raises(ValueError, match=f"curves.{name}.*{said}"):
        newfound.NoveltyDescriber.from_state(state)


def test_the_command_splits_a_stream_by_dates(table, sampled, tmp_path):
    days = {"known": "2024-04-30", "novel": "2024-05-01"}
    dates = [days[side] for side in table["side"].to_pylist()]
    dated = table.select(["text"]).append_column("day", pa.array(dates))
    undated = pa.table({"text": ["a text without a date"], "day": pa.array([None], pa.string())})
    pq.write_table(pa.concat_tables([dated, undated]), tmp_path / "all.parquet")
    options = ("--machines", 3, "--n-clauses", 40, "--T", 10, "--epochs", 3, "--seed", 1)
    file = tmp_path / "all.parquet"
    split = ("--documents", file, "--date-column", "day", "--stream", "--sample", 120)
    asked = ("describe", *split, *options, "--jobs", 1, "--dates-from")
    kept = ("--checkpoint", tmp_path / "kept")
    done = run(*asked, "2024-05", *kept, "--save", tmp_path / "d.nf", "--json")
    assert done.exit_code == 0, done.stderr
    same(newfound.NoveltyDescriber.load(tmp_path / "d.nf"), sampled)
    assert json.loads(done.stdout)["known"]["found"]["undated"] == 1
    other = run(*asked, "2024-04-30", *kept)
    assert other.exit_code == 1 and "other documents or options" in other.stderr
