"""`newfound.scale`: batches of documents give what all documents at once give."""

from __future__ import annotations

import json
import os
import re
import resource
import weakref
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import newfound
from newfound.cli import app
from newfound.scale import Source, count_batch, score, score_batch, sources
from newfound.scale.arrow import row_writer
from newfound.scale.counting import counts_schema
from newfound.scale.engines import add_up, map_batches
from newfound.scale.scoring import Tally
from newfound.text.formats import is_dataset
from newfound.text.vectorizer import TextVectorizer

NEW = (
    "novel", "novelty", "p_value", "nearest", "status", "why", "reasons", "newest_sentence",
)  # fmt: skip


@pytest.fixture(scope="module")
def detector() -> newfound.NoveltyDetector:
    known, _ = newfound.load_sample()
    detector = newfound.NoveltyDetector(random_state=1, epochs=3)
    return detector.fit(known.texts[::3], known.labels[::3])


@pytest.fixture(scope="module")
def texts() -> list[str]:
    known, novel = newfound.load_sample()
    return [*known.texts[1:90:3], *novel.texts[:60], "zyxw", "?!"]


@pytest.fixture(scope="module")
def model(detector: newfound.NoveltyDetector, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scale") / "d.nf"
    detector.save(path)
    return path


def run(*arguments: object) -> Any:
    """Run the command in this process."""
    return CliRunner().invoke(app, list(map(str, arguments)))


def told(result: Any) -> str:
    """Return what was said on standard error, without the frame of typer."""
    return " ".join(result.stderr.replace("│", " ").split())


def cut(texts: list[str], sizes: list[int]) -> list[Any]:
    """Return the texts as batches of these sizes, again and again."""
    table, batches, start = pa.table({"text": texts}), [], 0
    while start < len(texts):
        size = sizes[len(batches) % len(sizes)]
        batches += table.slice(start, size).combine_chunks().to_batches()
        start += size
    return batches


@pytest.mark.parametrize("sizes", [[1000], [1], [7, 30, 2]])
@pytest.mark.parametrize("reasons", [True, False])
def test_scores_are_those_of_all_texts_at_once(detector, texts, sizes, reasons):
    expected = detector.detect(texts, describe=False, group=False)
    found = pa.Table.from_batches(list(score(cut(texts, sizes), detector, reasons=reasons)))
    assert found.column_names == ["text", *(NEW if reasons else NEW[:5])]
    for name in found.column_names[1:5]:
        assert found[name].to_pylist() == expected[name].tolist(), name  # the same bits
    if reasons:
        assert found["why"].to_pylist() == expected["why"].tolist()
        assert [tuple(row) for row in found["reasons"].to_pylist()] == expected["reasons"].tolist()
    assert 10 < sum(found["novel"].to_pylist()) < len(texts)


def test_several_processes_give_the_same_in_order(detector, model, texts):
    batches, pulled, ahead = cut(texts * 2, [15]), 0, []

    def pull():
        nonlocal pulled
        for batch in batches:
            pulled += 1
            yield batch

    found = []
    for batch in score(pull(), model, n_jobs=2):
        found.append(batch)
        ahead.append(pulled - len(found))
    alone = [score_batch(batch, detector) for batch in batches]
    assert pa.Table.from_batches(found).equals(pa.Table.from_batches(alone))
    assert len(batches) == 13 and max(ahead) <= 4  # few batches wait: memory is bounded


def test_batches_are_not_kept(detector, texts):
    alive = []

    def pull():
        for start in range(0, len(texts), 9):
            batch = pa.record_batch({"text": texts[start : start + 9]})
            alive.append(weakref.ref(batch))
            yield batch
            assert sum(ref() is not None for ref in alive) <= 2  # this one, and a scored one

    for scored in score(pull(), detector, reasons=False):
        alive.append(weakref.ref(scored))
    assert len(alive) > 20


def test_what_was_scored_before_does_not_matter(model, texts):
    one, other = newfound.NoveltyDetector.load(model), newfound.NoveltyDetector.load(model)
    forward = one.novelty(texts).tolist()
    backward = [other.novelty([text])[0] for text in reversed(texts)][::-1]
    assert forward == backward  # the same bits, with unseen words met in another order


def test_rows_without_text_stay_and_have_no_score(detector):
    batch = pa.record_batch({"id": [1, 2, 3], "message": ["zyxw", None, " \n"]})
    rows = score_batch(batch, detector, text="message").to_pylist()
    assert [row["id"] for row in rows] == [1, 2, 3]
    assert rows[0]["p_value"] is not None
    for row in rows[1:]:
        assert (row["novel"], row["novelty"], row["p_value"]) == (False, None, None)
        assert (row["nearest"], row["why"], row["reasons"]) == (None, "no text", [])
        assert row["status"] == "no text"


@pytest.mark.parametrize("kind", ["large_string", "string_view", "dictionary"])
def test_texts_have_any_type_of_strings(detector, kind):
    kinds = {"dictionary": pa.dictionary(pa.int32(), pa.string())}
    texts = pa.array(["zyxw", "pay my bill"]).cast(kinds.get(kind) or getattr(pa, kind)())
    plain = score_batch(pa.record_batch({"text": ["zyxw", "pay my bill"]}), detector)
    found = score_batch(pa.record_batch({"text": texts}), detector)
    assert found.select(NEW).equals(plain.select(NEW))


@pytest.mark.parametrize(
    "batch, said",
    [
        ({"text": [1, 2]}, "The column 'text' of The batch holds int64, not text."),
        ({"body": ["a"]}, "The batch has no column 'text'; it has: body."),
        ({"text": ["a"], "novel": [1]}, "already have a column 'novel'; rename it"),
    ],
)
def test_a_batch_of_another_kind_is_told(detector, batch, said):
    with pytest.raises(newfound.DocumentError, match=said.replace(".", r"\.")):
        score_batch(pa.record_batch(batch), detector)


def test_counts_are_those_of_documents_by_side():
    known, novel = newfound.load_sample()
    texts = [*known.texts[:200], *novel.texts[:100], "He met an American in Wales, in Wales", None]
    sides = ["known"] * 200 + ["novel"] * 102
    table = pa.table({"text": texts, "side": sides})

    def counted(size: int) -> Any:
        found = [count_batch(batch) for batch in table.to_batches(max_chunksize=size)[::-1]]
        tables = [pa.Table.from_batches([batch]) for batch in found]
        return add_up(tables, counts_schema(), ["kind", "word"])

    whole = counted(1000)
    assert counted(17).equals(whole)
    found = {(row["kind"], row["word"]): (row["known"], row["novel"]) for row in whole.to_pylist()}
    assert found["documents", ""] == (200, 101)
    assert found["capital", "wales"] == (0, 1) and found["noun", "american"] == (0, 1)
    vectorizer = TextVectorizer(stop_words=None, lemmatize=False)
    matrix = vectorizer.fit_transform([text for text in texts if text])
    for word, column in vectorizer.vocabulary_.items():
        counts = matrix[:200, column].sum(), matrix[200:, column].sum()
        assert found["word", word] == counts, word
    assert sum(kind == "word" for kind, _ in found) == len(vectorizer.vocabulary_)


@pytest.fixture
def dataset(tmp_path, texts):
    """A folder of Parquet files as an engine writes it."""
    folder = tmp_path / "rows"
    (folder / "day=2").mkdir(parents=True)
    half = len(texts) // 2
    pq.write_table(
        pa.table({"text": [*texts[:half], None]}), folder / "a.parquet", row_group_size=9
    )
    pq.write_table(pa.table({"text": texts[half:], "n": range(len(texts) - half)}),
                   folder / "day=2" / "b.parquet")  # fmt: skip
    (folder / "_SUCCESS").touch()
    (folder / ".a.parquet.crc").write_bytes(b"crc")
    return folder


def test_a_folder_of_parquet_is_read_in_order(dataset, texts):
    source = Source(dataset, batch_size=13)
    rows = [row for batch in source for row in batch.to_pylist()]
    assert [row["text"] for row in rows] == texts
    half = len(texts) // 2
    assert [rows[i]["document"] for i in (0, half - 1, half)] == [
        "a.parquet:1", f"a.parquet:{half}", "day=2/b.parquet:1",
    ]  # fmt: skip
    assert (source.n_documents, source.found["empty"], source.n_rows()) == (len(texts), 1, 93)
    assert source.summary() == "92 documents from 2 files; left out: 1 empty"
    patterns = Source(str(dataset / "**" / "*.parquet"))
    assert [row["text"] for batch in patterns for row in batch.to_pylist()] == texts


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_a_batch_of_long_texts_has_fewer_of_them(tmp_path, monkeypatch, suffix):
    texts = [f"{number} " + "word " * (number % 7 * 10) for number in range(90)]
    path = tmp_path / f"long.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.table({"text": texts}), path, row_group_size=40)
    else:
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    whole = [row for batch in Source(path) for row in batch.to_pylist()]
    monkeypatch.setattr(sources, "CHARACTERS", 320)
    batches = [batch.to_pylist() for batch in Source(path)]
    assert [row for batch in batches for row in batch] == whole
    assert len(batches) > 40
    for batch in batches:
        assert len(batch) == 1 or sum(len(row["text"]) for row in batch) <= 320


def test_what_is_many_tables(dataset):
    assert is_dataset(str(dataset)) and is_dataset(str(dataset / "*.parquet"))
    assert not is_dataset(str(dataset / "a.parquet")) and not is_dataset("-")
    (dataset / "readme.txt").write_text("text")
    assert not is_dataset(str(dataset))


def damage(path: Path, group: int) -> None:
    """Overwrite the data of a row group."""
    column = pq.read_metadata(path).row_group(group).column(0)
    raw = bytearray(path.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    raw[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(raw)


def bad_files(folder: Path) -> list[tuple[str, str]]:
    """Make files that cannot be read; return their names and what is said of them."""
    pq.write_table(pa.table({"body": ["a"], "n": [1]}), folder / "other.parquet")
    pq.write_table(pa.table({"text": [1, 2]}), folder / "numbers.parquet")
    pq.write_table(pa.table({"text": [f"text {i}" for i in range(30)]}), folder / "torn.parquet",
                   row_group_size=10)  # fmt: skip
    damage(folder / "torn.parquet", 1)
    (folder / "cut.parquet").write_bytes((folder / "numbers.parquet").read_bytes()[:-9])
    return [
        ("other.parquet", "has no column 'text'; it has: body, n."),
        ("numbers.parquet", "numbers.parquet holds int64, not text."),
        ("torn.parquet", "torn.parquet, row group 1, cannot be read: "),
        ("cut.parquet", "cut.parquet is not a complete Parquet file: "),
        ("gone.parquet", "There is no file "),
    ]


def test_bad_input_is_one_sentence_with_its_place(tmp_path):
    for name, said in bad_files(tmp_path):
        with pytest.raises(newfound.DocumentError) as error:
            list(Source([str(tmp_path / name)], text_column="text"))
        assert said in str(error.value) and name in str(error.value)
        assert "\n" not in str(error.value) and str(error.value).endswith(".")


def test_a_file_that_vanishes_is_told(tmp_path):
    for name in "ab":
        pq.write_table(pa.table({"text": ["a b"]}), tmp_path / f"{name}.parquet")
    source = Source(tmp_path)
    (tmp_path / "b.parquet").unlink()
    with pytest.raises(newfound.DocumentError) as told_so:
        list(source)
    assert str(told_so.value) == f"There is no file or folder {tmp_path / 'b.parquet'}."


@pytest.mark.slow
def test_a_killed_process_is_told():
    with pytest.raises(ChildProcessError, match="was killed, probably because memory ran out"):
        list(map_batches(os._exit, [9, 9, 9], 2))


def test_bad_input_can_be_skipped_and_is_counted(tmp_path):
    names = [name for name, _ in bad_files(tmp_path)]
    pq.write_table(pa.table({"text": ["good"]}), tmp_path / "good.parquet")
    paths = [str(tmp_path / name) for name in (*names, "good.parquet")]
    source = Source(paths, text_column="text", skip_bad=True)
    texts = [text for batch in source for text in batch.column("text").to_pylist()]
    assert texts == [*(f"text {i}" for i in [*range(10), *range(20, 30)]), "good"]
    assert source.bad == Counter({"files": 4, "row groups": 1, "rows": 13})
    assert len(source.problems) == 5
    assert "could not be read: 4 files, 13 rows, 1 row groups" in source.summary()


def test_other_columns_are_known_though_a_row_group_is_bad(tmp_path):
    path = tmp_path / "torn.parquet"
    pq.write_table(pa.table({"text": ["a", "b"], "n": [1, 2]}), path, row_group_size=1)
    damage(path, 0)
    source = Source(path, skip_bad=True, keep=lambda name: True)
    assert [row for batch in source for row in batch.to_pylist()] == [
        {"document": "torn.parquet:2", "text": "b", "n": 2}
    ]
    assert source.bad == Counter({"row groups": 1, "rows": 1})


def test_reasons_have_one_type_even_if_no_document_is_novel(model, texts, tmp_path):
    detector = newfound.NoveltyDetector.load(model)
    known = [t for t, novel in zip(texts, detector.predict(texts), strict=True) if novel != "novel"]
    lines = tmp_path / "all.jsonl"
    lines.write_text("\n".join(json.dumps({"text": text}) for text in known[:5]), "utf-8")
    asked = ("detect", "--model", model, "--no-description", "-q", "--incoming", lines)
    for name, options in (("plain", ()), ("stream", ("--stream",))):
        done = run(*asked, *options, "-o", tmp_path / f"{name}.parquet")
        assert done.exit_code == 0, done.stderr
        reasons = pq.read_table(tmp_path / f"{name}.parquet")["reasons"]
        assert reasons.to_pylist() == [[]] * 5
        assert [f.name for f in reasons.type.value_type] == ["word", "contribution", "seen"]


def test_the_command_streams_and_writes_the_rows_of_the_other_path(dataset, model, texts, tmp_path):
    lines = tmp_path / "all.jsonl"
    lines.write_text("\n".join(json.dumps({"text": text}) for text in texts), "utf-8")
    options = ("--model", model, "--no-description", "--json")
    plain = run("detect", *options, "--incoming", lines, "-q", "-o", tmp_path / "plain.parquet")
    assert plain.exit_code == 0, plain.stderr
    done = run("detect", *options, "--incoming", dataset, "-o", tmp_path / "rows.parquet")
    assert done.exit_code == 0, done.stderr
    assert "92 documents from 2 files; left out: 1 empty" in done.stderr
    expected = pq.read_table(tmp_path / "plain.parquet").drop(["document", "group", "group_name"])
    rows = pq.read_table(tmp_path / "rows.parquet")
    assert rows["n"].to_pylist() == [None] * 46 + list(range(46))  # only one file has the column
    assert rows.drop(["document", "n"]).equals(expected)
    one, other = json.loads(done.stdout), json.loads(plain.stdout)
    for name in ("alpha", "known", "novel", "expected_false", "share_new"):
        assert one[name] == other[name], name
    assert one["stream"] == {"sampled": one["novel"], "could_not_be_read": {}}
    ranked = [row for row in other["documents"] if row["novel"]]
    ranked.sort(key=lambda row: (row["p_value"], -row["novelty"]))
    assert [row["text"] for row in one["documents"]] == [row["text"] for row in ranked[:20]]
    assert sum(group["size"] for group in one["groups"]) == one["novel"]
    assert not list(tmp_path.glob(".newfound*"))
    schema = json.loads((files("newfound") / "data" / "schema" / "output.json").read_text("utf-8"))
    jsonschema.validate(one, {**schema, "$ref": "#/$defs/detect"})


def test_a_column_of_several_types_is_told(model, texts, tmp_path):
    pq.write_table(pa.table({"text": texts[:5], "n": range(5)}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": texts[5:7], "n": ["one", "two"]}), tmp_path / "b.parquet")
    done = run("detect", "--model", model, "--incoming", tmp_path / "*.parquet", "--no-description",
               "-o", tmp_path / "out.csv", "--text-column", "text", "--jobs", 1)  # fmt: skip
    assert done.exit_code == 1 and len(done.stderr.splitlines()) == 1
    assert "The column 'n' is int64 in the first file, and not in all of them" in done.stderr


def test_a_stream_is_described_by_a_sample(model, texts, tmp_path):
    more = [f"{word} the zeppelin hangar" for word in ["rent", "paint", "heat", "open", "lock"] * 8]
    (tmp_path / "all.txt").write_text("\n".join([*texts, *more]), "utf-8")
    done = run("detect", "--model", model, "--incoming", tmp_path / "all.txt", "--stream",
               "--sample", 30, "--no-reasons", "--jobs", 1)  # fmt: skip
    assert done.exit_code == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "Groups and words are those of 30 of the novel documents, drawn at random" in told
    assert re.search(r"Group 1, \d+% of the sample \(\d+\): ", told)
    assert "100 of 132 incoming documents are called novel at alpha = 0.05" in told


def test_a_stream_is_written_to_csv_as_all_rows_are(detector, texts, tmp_path):
    texts = [*texts, "=1+1 zyxw evil formula"]
    expected = detector.detect(texts, describe=False, group=False)
    batch = pa.record_batch({"document": list(map(str, range(len(texts)))), "text": texts})
    scored = list(score([batch.slice(0, 50), batch.slice(50)], detector))
    with row_writer(tmp_path / "rows.csv", scored[0].schema) as write:
        for rows in scored:
            write(rows)
    shown = [line.removesuffix(",0,") for line in (expected.to_csv() or "").splitlines()[1:]]
    assert (tmp_path / "rows.csv").read_text("utf-8").splitlines()[1:] == shown
    assert "'=1+1 zyxw evil formula" in shown[-1]


def test_a_bad_file_leaves_nothing_half_written(dataset, model, tmp_path):
    bad_files(dataset)
    output = tmp_path / "rows.parquet"
    asked = ("detect", "--model", model, "--incoming", dataset, "-o", output, "--jobs", 1,
             "--text-column", "text", "--no-description", "--no-reasons")  # fmt: skip
    done = run(*asked)
    assert done.exit_code == 1 and len(done.stderr.splitlines()) == 1
    assert "cut.parquet is not a complete Parquet file" in done.stderr
    assert not output.exists() and not list(tmp_path.glob(".newfound*"))
    done = run(*asked, "--skip-bad")
    assert done.exit_code == 0, done.stderr
    assert "could not be read" in done.stderr and "torn.parquet, row group 1" in done.stderr
    assert pq.read_metadata(output).num_rows == 92 + 20


def test_a_full_disk_is_one_sentence(dataset, model, tmp_path):
    output = tmp_path / "rows.parquet"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, limits[1]))
    try:
        done = run("detect", "--model", model, "--incoming", dataset, "-o", output, "--jobs", 1,
                   "--no-description", "--no-reasons")  # fmt: skip
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert done.exit_code == 1 and len(done.stderr.splitlines()) == 1
    assert f"Cannot write {output}" in done.stderr and "File too large" in done.stderr
    assert not list(tmp_path.glob("*.parquet")) and not list(tmp_path.glob(".newfound*"))


@pytest.mark.parametrize(
    "options, said",
    [
        (("--stream", "--report", "r.html"), "--report is not for a stream"),
        (("--stream", "--json-lines"), "--json-lines is not for a stream"),
        (("--stream", "-o", "rows.json"), "a stream is written to .csv or .parquet"),
        (("--skip-bad",), "--skip-bad is for --stream"),
        (("--sample", "9"), "--sample is for --stream"),
        (("--checkpoint", "kept"), "--checkpoint is for --stream"),
    ],
)
def test_options_of_streams_are_told_apart(model, tmp_path, options, said):
    (tmp_path / "all.txt").write_text("text\n", "utf-8")
    done = run("detect", "--model", model, "--incoming", tmp_path / "all.txt", *options)
    assert done.exit_code == 2 and said in told(done)


def test_a_pattern_without_a_file_is_told(model):
    done = run("detect", "--model", model, "--incoming", "x/*.parquet")
    assert (done.exit_code, done.stderr) == (1, "newfound: No file matches x/*.parquet.\n")


def test_the_sample_does_not_depend_on_the_cut(detector, texts):
    batches = cut(texts * 2, [11, 40])
    named = [b.append_column("document", pa.array([f"{i}:{j}" for j in range(len(b))]))
             for i, b in enumerate(batches)]  # fmt: skip
    scored = pa.Table.from_batches([score_batch(batch, detector) for batch in named])
    drawn = []
    for size in (5, 1000):
        for order in (1, -1):
            tally = Tally(detector, top=7, sample=20)
            for batch in scored.to_batches(max_chunksize=size)[::order]:
                tally.add(batch)
            drawn.append((tally.sample, {row["document"] for row in tally.most_novel}))
    assert len(drawn[0][0]) == 20 and len(drawn[0][1]) == 7
    assert all(sample == drawn[0][0] for sample, _ in drawn)
    assert drawn[0][1] == drawn[2][1]


def test_a_killed_stream_goes_on_with_the_same_bytes(model, texts, tmp_path, monkeypatch):
    (tmp_path / "all.txt").write_text("\n".join(texts), "utf-8")
    monkeypatch.setitem(Source.__init__.__kwdefaults__, "batch_size", 2)
    asked = ("detect", "--model", model, "--incoming", tmp_path / "all.txt", "--stream", "-q",
             "--jobs", 1, "--no-description", "--json")  # fmt: skip
    whole = run(*asked, "-o", tmp_path / "whole.parquet")
    assert whole.exit_code == 0, whole.stderr
    scored = 0

    def stop_after(batch, *arguments, **options):
        nonlocal scored
        scored += 1
        if scored == 40:
            raise KeyboardInterrupt
        return score_batch(batch, *arguments, **options)

    monkeypatch.setattr("newfound.scale.scoring.score_batch", stop_after)
    kept = ("--checkpoint", tmp_path / "kept", "-o", tmp_path / "rows.parquet")
    assert run(*asked, *kept).exit_code == 130
    assert not (tmp_path / "rows.parquet").exists()
    done = run(*asked, *kept)
    assert done.exit_code == 0, done.stderr
    assert scored == 40 + 46 - 32  # two parts of 16 batches were not scored again
    assert done.stdout == whole.stdout
    rows = [(tmp_path / f"{name}.parquet").read_bytes() for name in ("rows", "whole")]
    assert rows[0] == rows[1]
    other = run(*asked, *kept, "--no-reasons", "--force")
    assert other.exit_code == 1 and "other documents or options" in other.stderr


def test_a_writer_keeps_an_existing_file(tmp_path):
    batch = pa.record_batch({"word": ["try"]})
    (tmp_path / "rows.parquet").write_text("mine")
    with (
        pytest.raises(OSError, match="exists; pass --force"),
        row_writer(tmp_path / "rows.parquet", batch.schema) as write,
    ):
        write(batch)
    assert (tmp_path / "rows.parquet").read_text() == "mine"


def test_novel_documents_keep_their_scores_as_numbers(detector, texts):
    found = score_batch(pa.record_batch({"text": texts}), detector, reasons=False)
    scores = detector.novelty(texts)
    assert np.array_equal(found.column("novelty").to_numpy(), scores)
