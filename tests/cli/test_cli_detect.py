"""The command ``newfound detect``, and ``explain`` with a detector."""

import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import newfound
from command_line import call
from newfound.cli.console import show
from newfound.detection.calibration import ShareOfNew
from newfound.show.data import found_in
from newfound.show.tables import detection_parts
from waiting import PATIENCE


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("detect")
    known, novel = newfound.load_sample()
    with gzip.open(folder / "known.csv.gz", "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "intent"])
        writer.writerows(zip(known.texts[::2], known.labels[::2], strict=True))
    two_topics = [*novel.texts[:30], *novel.texts[100:130]]
    incoming = [*known.texts[1:40:2], *two_topics, "=1+1 zyxw evil formula"]
    (folder / "incoming.txt").write_text("\n".join(incoming) + "\n", encoding="utf-8")
    return folder, incoming


KNOWN = ("--known", "known.csv.gz", "--labels-column", "intent", "--text-column", "text")


@pytest.fixture(scope="module")
def learned(files):
    """Save a detector as m.nf; return what was printed."""
    done = call(
        "detect", *KNOWN, "--incoming", "incoming.txt", "--no-description", "-q", "--jobs", 1,
        "--save", "m.nf", "--json", "--fail-on-novel", "82", folder=files[0],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_novel_documents_are_listed_with_reasons_and_written(files):
    folder, incoming = files
    done = call(
        "detect", *KNOWN, "--incoming", "incoming.txt", "-o", "rows.csv", "--save", "d.nf",
        "--jobs", 1, folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "incoming documents are called novel at alpha = 0.05" in done.stdout
    assert "Group 1" in done.stdout
    assert "New: *" in done.stdout
    with open(folder / "rows.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(incoming)
    assert rows[-1]["text"].startswith("'=1+1")
    assert sum(row["novel"] == "True" for row in rows[20:]) > 40
    again = call(
        "detect", "--model", "d.nf", "--incoming", "incoming.txt", "--json", "--jobs", 1,
        "--no-description", "-q", folder=folder,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    data = json.loads(again.stdout)
    assert [row["novel"] for row in data["documents"]] == [row["novel"] == "True" for row in rows]
    assert data["novel"] == sum(group["size"] for group in data["groups"])
    assert 0 < data["share_new"]["low"] <= data["share_new"]["share"] <= 1


def table_of(suffix, rows):
    """Return rows as the bytes of a table."""
    if suffix == ".jsonl":
        return "\n".join(map(json.dumps, rows)).encode()
    if suffix == ".parquet":
        table = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), table)
        return table.getvalue()
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter={".csv": ";", ".tsv": "\t"}[suffix])
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def written(path):
    """Return the rows of a table."""
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    if path.suffix == ".json":
        return json.loads(path.read_text("utf-8"))
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures("learned")
@pytest.mark.parametrize(
    ("suffix", "output", "stream"),
    [
        (".csv", ".csv", False),
        (".tsv", ".json", False),
        (".jsonl", ".parquet", False),
        (".parquet", ".parquet", False),
        (".csv", ".parquet", True),
        (".jsonl", ".csv", True),
        (".parquet", ".parquet", True),
    ],
)
def test_other_columns_are_written_after_the_verdict(files, tmp_path, suffix, output, stream):
    texts = ["pay my bill", "", 'fly to "Rome";\nand back', "a visa", "book a hotel"]
    rows = [
        {"id": 7 + i, "headline": text, "date": f"2024-0{i + 1}-01", "group": "mine"}
        for i, text in enumerate(texts)
    ]
    (tmp_path / f"in{suffix}").write_bytes(table_of(suffix, rows))
    done = call(
        "detect", "--model", files[0] / "m.nf", "--incoming", f"in{suffix}", "--text-column",
        "headline", "-o", f"out{output}", "--no-description", "--jobs", 1,
        *(["--stream"] if stream else []), folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "left out the column group of the documents, which has the name" in done.stderr
    found = written(tmp_path / f"out{output}")
    assert list(found[0])[:3] == ["document", "text", "novel"]
    assert list(found[0])[-2:] == ["id", "date"] and "headline" not in found[0]
    with_text = [row for row in rows if row["headline"]]
    assert [str(row["id"]) for row in found] == [str(row["id"]) for row in with_text]
    assert [row["date"] for row in found] == [row["date"] for row in with_text]
    assert [row["text"] for row in found] == [row["headline"] for row in with_text]
    assert all(row.get("group") != "mine" for row in found)
    if suffix == ".parquet" and output == ".parquet":
        assert [row["id"] for row in found] == [7, 9, 10, 11]


@pytest.mark.usefixtures("learned")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("output", [".csv", ".parquet"])
def test_odd_columns_are_written_too(files, tmp_path, output, stream):
    (tmp_path / "in.csv").write_text("id,text,,\n-12.50,pay my bill,a,b\n=1+1,a visa,,d\n")
    odd = {"text": "pay my bill", "half": "\ud800", "none": {}, "deep": {"a": ["\udfff"]}}
    (tmp_path / "in.jsonl").write_text(json.dumps(odd) + "\n" + json.dumps(odd) + "\n")
    for name in ("in.csv", "in.jsonl"):
        done = call(
            "detect", "--model", files[0] / "m.nf", "--incoming", name, "-o", f"{name}{output}",
            "--no-description", "--jobs", 1, *(["--stream"] if stream else []), folder=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    rows = written(tmp_path / f"in.csv{output}")
    guard = "'" if output == ".csv" else ""
    assert [row["id"] for row in rows] == ["-12.50", f"{guard}=1+1"]
    assert [row[""] for row in rows] == ["b", "d"]  # of two columns of one name the last one
    assert [row["half"] for row in written(tmp_path / f"in.jsonl{output}")] == ["?", "?"]


@pytest.mark.usefixtures("learned")
def test_lines_of_json_have_the_other_fields_of_their_line(files):
    rows = [
        {"text": "pay my bill", "at": 5, "half": "\ud800"},
        {"text": "fly to Rome", "why": "?", "to": ["Rome"]},
    ]
    asked = ("detect", "--model", "m.nf", "--incoming", "-", "--json-lines", "--jobs", 1)
    done = call(*asked, folder=files[0], stdin="\n".join(map(json.dumps, rows)))
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["at"] == 5 and first["half"] == "?" and "to" not in first
    assert second["to"] == ["Rome"] and second["why"] != "?" and "at" not in second


@pytest.mark.usefixtures("learned")
@pytest.mark.parametrize("stream", [False, True])
def test_other_columns_are_left_out_where_texts_are_redacted(files, tmp_path, stream):
    rows = [
        {"text": "call 555 1234", "mail": "a@b.org"},
        {"text": "pay a bill", "mail": "c@d.org"},
    ]
    (tmp_path / "in.csv").write_bytes(table_of(".csv", rows))
    known = ("--known", files[0] / "known.csv.gz", "--known-column", "text", "--redact")
    done = call(
        "detect", *known, "--incoming", "in.csv", "-o", "out.csv", "--no-description", "--jobs", 1,
        "--text-column", "text", *(["--stream"] if stream else []), folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "@" not in (tmp_path / "out.csv").read_text("utf-8")


def test_without_classes_the_nearest_class_is_not_shown(files):
    folder, _ = files
    asked = ("--no-description", "--jobs", 1, "-q")
    (folder / "plain.txt").write_text("\n".join(newfound.load_sample()[0].texts[::2]))
    of_one = call(
        "detect", "--known", "plain.txt", "--incoming", "incoming.txt", *asked, folder=folder
    )
    assert of_one.returncode == 0, of_one.stderr
    (heading,) = (
        line for line in of_one.stdout.splitlines() if line.split()[:2] == ["p", "novelty"]
    )
    assert heading.split() == ["p", "novelty", "text", "why"]
    assert "nearest" not in of_one.stdout
    of_many = call("detect", *KNOWN, "--incoming", "incoming.txt", *asked, "--json", folder=folder)
    assert all(row["nearest"] for row in json.loads(of_many.stdout)["documents"])


@pytest.mark.parametrize(
    ("share", "said", "doubt"),
    [
        (
            0.0,
            "an estimated 0% of all are new (0% to 8%)",
            "all of those called novel may be false",
        ),
        (0.004, "an estimated 0.4% of all are new (0% to 8%)", "Of those called novel, about 100%"),
    ],
)
def test_where_none_is_estimated_to_be_new_all_may_be_false_alarms(
    files, learned, capsys, share, said, doubt
):
    folder, _ = files
    detector = newfound.NoveltyDetector.load(folder / "m.nf")
    known = newfound.as_documents(newfound.load_sample()[0].texts[1:101:2])
    found = found_in(detector.detect(known, describe=False), known)
    assert found.n_novel and learned["novel"]
    guess = replace(found, share=ShareOfNew(share, 0.0, 0.08), expected_false=0.999)
    show(*detection_parts(guess, 5))
    shown = " ".join(capsys.readouterr().out.split())
    assert said in shown and doubt in shown
    assert shown.count("those called novel") == 1


def test_known_documents_alone_give_a_detector(files, learned):
    done = call("detect", *KNOWN, "--jobs", 1, "--save", "alone.nf", folder=files[0])
    assert done.returncode == 0, done.stderr
    assert "alone.nf" in done.stderr and not done.stdout
    found = [newfound.NoveltyDetector.load(files[0] / name) for name in ("alone.nf", "m.nf")]
    p_values = [detector.p_values(files[1]).tolist() for detector in found]
    assert p_values[0] == p_values[1]


def test_alpha_is_heeded_with_a_model(files, learned):
    folder, _ = files
    model = ("detect", "--incoming", "incoming.txt", "--no-description", "-q", "--jobs", 1)
    strict, loose = (
        json.loads(call(*model, "--model", "m.nf", *alpha, "--json", folder=folder).stdout)
        for alpha in ((), ("--alpha", "0.5"))
    )
    assert (strict["alpha"], loose["alpha"]) == (0.05, 0.5)
    assert learned["novel"] == strict["novel"] < loose["novel"]
    none = call(*model, "--model", "m.nf", "--alpha", "0.0001", folder=folder)
    assert none.returncode == 1 and "alpha=0.0001 needs at least 9,999 held-back" in none.stderr
    least = re.search(r"Use alpha=([\d.]+) or more, or learn from more", none.stderr)
    done = call(*model, "--model", "m.nf", "--alpha", least[1], folder=folder)
    assert done.returncode == 0, done.stderr  # what is advised works


@pytest.mark.usefixtures("learned")
def test_explain_understands_a_detector(files):
    folder, _ = files
    shown = call("explain", "m.nf", "book a zyxwvu flight to tokyo", folder=folder)
    assert shown.returncode == 0, shown.stderr
    assert "would be known without" in shown.stdout and "zyxwvu" in shown.stdout
    data = call("explain", "m.nf", "-", "--json", folder=folder, stdin="pay my bill\n\nzyxw a b\n")
    verdicts = [json.loads(line) for line in data.stdout.splitlines()]
    assert [v["verdict"] for v in verdicts] == ["known", "novel"]
    total = verdicts[0]["base"] + sum(w["contribution"] for w in verdicts[0]["words"])
    assert total == pytest.approx(verdicts[0]["novelty"])


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--incoming", "incoming.txt"), 2, "either --known or --model"),
        (KNOWN, 2, "give --incoming, the documents to examine; or --known and --save"),
        (("--model", "m.nf", "--save", "n.nf"), 2, "give --incoming"),
        ((*KNOWN, "--save", "n.nf", "-o", "x.csv"), 2, "--output is for --incoming"),
        ((*KNOWN, "--save", "n.nf", "--json"), 2, "--json is for --incoming"),
        (("--incoming", "incoming.txt", "--known", "incoming.txt"), 2, "are the same"),
        (("--incoming", "incoming.txt", *KNOWN, "--alpha", "1.5"), 2, "between 0 and 1"),
        (("--incoming", "incoming.txt", *KNOWN, "-o", "x.xls"), 2, "must end in .csv"),
        (("--incoming", "incoming.txt", *KNOWN, "--alpha", "0.0001"), 1, "needs 9,999 or more"),
        (("--incoming", "incoming.txt", "--model", "incoming.txt"), 1, "not a newfound model"),
        (("--incoming", "nothing.txt", *KNOWN), 1, "nothing.txt"),
        *(
            (("--incoming", "incoming.txt", "--model", "d.nf", option, value), 2, f"{option} is")
            for option, value in (
                ("--groups", "1"),
                ("--known-column", "text"),
                ("--labels-column", "intent"),
                ("--language", "en"),
                ("--seed", "0"),
            )
        ),
        (("--incoming", "incoming.txt", *KNOWN, "--groups", "3"), 2, "documents without classes"),
    ],
)
def test_a_usage_error_is_said_in_a_sentence(files, arguments, status, said):
    done = call("detect", *arguments, folder=files[0])
    assert done.returncode == status
    assert said in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr


def test_a_script_can_ask_for_an_exit_status(files, learned):
    folder, _ = files
    n = learned["novel"]
    saved = ("detect", "--model", "m.nf", "--incoming", "incoming.txt", "--no-description", "-q")
    for limit, status in ((n, 3), (n + 1, 0), (1, 3)):
        done = call(*saved, "--fail-on-novel", limit, "--json", folder=folder)
        assert done.returncode == status, done.stderr
        assert json.loads(done.stdout)["novel"] == n  # the result is printed all the same
    lines = call(*saved[:5], "--json-lines", "--fail-on-novel", n, "-q", folder=folder)
    assert lines.returncode == 3 and len(lines.stdout.splitlines()) == 81


def test_a_stream_is_answered_line_by_line(files, learned):
    folder, incoming = files
    rows = learned["documents"]
    command = ("detect", "--model", "m.nf", "--incoming", "-", "--json-lines", "--jobs", "1")
    with subprocess.Popen(
        [sys.executable, "-c", "from newfound.cli import main; main()", *command],
        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    ) as process:  # fmt: skip
        for text, row in zip(incoming[::20], rows[::20], strict=True):
            process.stdin.write(json.dumps({"text": text, "n": 1}) + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())  # before the next one is sent
            assert answer["text"] == text
            for name in ("novel", "p_value", "nearest"):
                assert answer[name] == pytest.approx(row[name])
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


@pytest.mark.usefixtures("learned")
def test_a_message_without_text_is_answered_too(files):
    """A program that waits for an answer to each line would wait for ever."""
    texts = ["pay my bill", "", "  ", None, "?!", "pay\0bill"]
    rows = [{"text": text, "id": n} for n, text in enumerate(texts)]
    asked = ("detect", "--model", "m.nf", "--incoming", "-", "--json-lines", "--jobs", 1)
    done = call(*asked, folder=files[0], stdin="\n".join([*map(json.dumps, rows), "", ""]))
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [0, 1, 2, 3, 4, 5]
    for answer in answers[1:]:
        assert answer["why"] == "Unclear: the text has no words." and answer["p_value"] == 1
        assert answer["nearest"] is None and not answer["novel"]  # no class is named for nothing
    (files[0] / "gaps.csv").write_text("id,text\n1,pay my bill\n\n2,\n", encoding="utf-8")
    table = call(*asked[:4], "gaps.csv", *asked[5:], folder=files[0])
    assert [json.loads(line)["id"] for line in table.stdout.splitlines()] == ["1", "2"]


@pytest.mark.usefixtures("learned")
@pytest.mark.parametrize("more", [("--json-lines",), ("--no-description",)])
def test_a_table_on_standard_input_is_not_read_as_lines(files, more):
    asked = ("detect", "--model", "m.nf", "--incoming", "-", *more, "--jobs", 1)
    table = "id,message\n1,pay my bill\n2,fly to Rome\n"
    named = ("--text-column", "message")
    for stdin, option in ((table, named), (table.replace("message", "text"), ())):
        refused = call(*asked, *option, folder=files[0], stdin=stdin)
        assert refused.returncode == 1 and not refused.stdout
        assert "looks like a table with a header; name its format" in refused.stderr
        done = call(*asked, *option, "--format", "csv", folder=files[0], stdin=stdin)
        assert done.returncode == 0, done.stderr
    lines = call(*asked, "--format", "txt", folder=files[0], stdin="id,text\npay my bill\n")
    assert lines.returncode == 0, lines.stderr


@pytest.mark.usefixtures("learned")
def test_rows_are_written_as_lines_of_json(files, tmp_path):
    rows = [{"text": "pay my bill", "at": "1"}, {"text": "fly to Rome für drei", "at": "2"}]
    (tmp_path / "in.csv").write_bytes(table_of(".csv", rows))
    asked = (
        "detect", "--model", files[0] / "m.nf", "--incoming", "in.csv", "--text-column", "text",
        "--no-description", "-q", "--jobs", 1,
    )  # fmt: skip
    for name in ("out.jsonl", "out.json"):
        done = call(*asked, "-o", name, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    lines = (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
    assert list(map(json.loads, lines)) == json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert [json.loads(line)["at"] for line in lines] == ["1", "2"]
    stream = call(*asked, "-o", "other.jsonl", "--stream", folder=tmp_path)
    said = " ".join(stream.stderr.replace("│", " ").split())
    assert stream.returncode == 2 and "a stream is written to .csv or .parquet" in said


@pytest.mark.parametrize("option", [("--json",), ("--output", "x.csv"), ("--report", "x.html")])
def test_a_stream_has_no_report(files, option):
    done = call(
        "detect", "--incoming", "-", "--known", "known.csv.gz", "--json-lines", *option,
        folder=files[0],
    )  # fmt: skip
    assert done.returncode == 2 and "--json-lines prints each document" in done.stderr


def test_forms_and_stop_words_are_the_users_choice(files):
    folder, _ = files
    (folder / "stop.txt").write_text("flight\n", encoding="utf-8")
    quick = (
        "detect", *KNOWN, "--incoming", "incoming.txt", "--no-description", "-q", "--jobs", 1,
        "--no-lemmatize", "--stop-words", "stop.txt", "--ignore", "car[dt]s?", "--save", "w.nf",
    )  # fmt: skip
    done = call(*quick, folder=folder)
    assert done.returncode == 0, done.stderr
    vectorizer = newfound.NoveltyDetector.load(folder / "w.nf").vectorizer_
    assert "flight" in vectorizer.stop_words_ and "the" in vectorizer.stop_words_
    assert vectorizer.term("banks") == "banks"
    assert (
        not {"card", "cards"} & vectorizer.vocabulary_.keys() and "bank" in vectorizer.vocabulary_
    )
