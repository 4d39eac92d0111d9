"""Attacks on what users pass in: nothing is lost without a word, hangs, or ends in a traceback."""

from __future__ import annotations

import copy
import csv
import gzip
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from detector_files import answers, small_detector
from model_files import assemble, take_apart
from newfound import NoveltyDetector, TsetlinMachineClassifier, load
from newfound.detection.calibration import MIN_ALPHA, check_alpha
from newfound.detection.split import n_held_back
from newfound.machine.native import MachineParameters, NativeMachine
from newfound.monitor.records import parse_length
from newfound.storage.files import ModelFileError
from newfound.text import source
from newfound.text.documents import DocumentError, read_documents
from waiting import PATIENCE
from work import count_calls


def newfound(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "newfound", *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def refused(path: Path, message: str, **options: Any) -> None:
    with pytest.raises(DocumentError, match=message) as caught:
        read_documents(path, **options)
    assert "\n" not in str(caught.value) and len(str(caught.value)) <= 300 + len(str(path))


# rates


@pytest.mark.parametrize("alpha", [1e-300, 5e-324, 1e-10])
def test_a_rate_that_no_collection_can_hold_is_refused_at_once(alpha: float) -> None:
    with pytest.raises(ValueError, match="needs 1/alpha"):
        check_alpha(alpha)


@pytest.mark.parametrize("alpha", [MIN_ALPHA, 1e-6, 0.001, 0.05, 0.3])
@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.97])
def test_how_many_documents_are_enough_is_found_in_constant_time(
    alpha: float, share: float
) -> None:
    def refuse() -> None:
        with pytest.raises(ValueError, match="known document") as caught:
            n_held_back(1, alpha, share)
        told.append(str(caught.value))

    told: list[str] = []
    assert count_calls(refuse) < 2_000
    advice = told[0].partition("pass at least ")[2].partition(", or")[0]
    if advice:
        enough = int(advice.replace(",", ""))
        n_held_back(enough, alpha, share)
        with pytest.raises(ValueError, match="known document"):
            n_held_back(enough - 1, alpha, share)


# folders and files


def test_linked_folders_are_counted(tmp_path: Path) -> None:
    folder, other = tmp_path / "folder", tmp_path / "other"
    for place in (folder, other):
        place.mkdir()
        (place / "a.txt").write_text(f"a match in {place.name}")
    (folder / "link").symlink_to(other, target_is_directory=True)
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    documents = read_documents(folder)
    assert len(documents) == 1 and documents.found["linked folder"] == 2
    assert "2 linked folder" in documents.summary()


def test_a_link_that_leads_nowhere_is_told_as_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a match")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nothing")
    refused(tmp_path, r"There is no file or folder behind the link .*/gone\.txt; remove it, or")
    refused(tmp_path / "gone.txt", r"behind the link .*/gone\.txt; remove it")


INNER = ("None", "sys.", "recursion", "codec", "int_max", "Exceeds", "Error", "position")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "one\ntwo\n".encode("utf-16")[:-1], r"a\.txt, line 2, is not utf-16: it ends wi"),
        ("a.csv", "text\none".encode("utf-32")[:-1], r"a\.csv, line 2, is not utf-32: it ends wi"),
        ("d/a.txt", "one\ntwo".encode("utf-16")[:-1], r"a\.txt, line 2, is not utf-16: it ends wi"),
        (
            "a.txt",
            b"\xff\xfe" + "one\ntwo\n".encode("utf-16-le") + b"\x00\xdc" + b"a\x00" * 9,
            r"a\.txt, line 3, is not utf-16: byte 0x00 is no part of a character in it; name its e",
        ),
        (
            "a.jsonl",
            b'{"text": "a", "n": %s}' % (b"1" * 5000),
            "line 1, .*write it in quotation marks",
        ),
        (
            "a.json",
            b'[{"text": "a", "n": %s}]' % (b"1" * 5000),
            "a.json .*thousands of digits; write",
        ),
        ("a.jsonl", b'{"text": ' * 100_000, "line 1, is not JSON: it has objects within objects"),
        ("a.json", b'[{"text": ' * 100_000, "is not JSON: it has objects within objects, too many"),
    ],
)
def test_what_cannot_be_read_is_told_without_the_words_of_python(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    refused(path.parent if "/" in name else path, message)
    with pytest.raises(DocumentError) as caught:
        read_documents(path.parent if "/" in name else path)
    told = str(caught.value).replace(str(tmp_path), "")
    assert not any(word in told for word in INNER), told


@pytest.mark.parametrize("depth", [100, 300, 480, 700, 950, 5000, 50_000])
def test_json_of_any_depth_is_kept_or_refused_in_a_sentence(tmp_path: Path, depth: int) -> None:
    """What the parser can still read, other steps may not."""
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"text": "a match", "a": {"[" * depth}{"]" * depth}}}\n')
    try:
        documents = read_documents(path, keep_columns=True)
    except DocumentError as error:
        assert "line 1, is not JSON" in str(error) and "objects within objects" in str(error)
    else:
        assert documents.texts == ("a match",)


def test_a_wrong_byte_is_told_with_its_line_however_far_down(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a match of rugby\n" * 12_345 + b"caf\xe9\n" + b"a match\n" * 10_000)
    refused(path, r"line 12346, is not utf-8: byte 0xe9 is no part of a char", encoding="utf-8")


def test_a_long_number_may_be_the_name_of_a_document(tmp_path: Path) -> None:
    detection = small_detector().detect(["book a flight to Oslo", "pay my bill"])
    detection["document"][:] = "9" * 5000
    detection.report(tmp_path / "report.html")
    assert "9" * 80 in (tmp_path / "report.html").read_text()


def test_a_length_of_many_digits_is_no_length() -> None:
    with pytest.raises(ValueError, match="expected a number of documents such as 500"):
        parse_length("9" * 5000)


def test_a_date_of_any_length_is_shown_in_part(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"text,day\na match,{'1' * 100_000}\n")
    refused(path, "line 2, has the date '1111.*…; write dates as", date_column="day")


def test_folders_may_be_nested_as_deep_as_the_system_lets_them(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(1200):
        deep = deep / "d"
        os.mkdir(deep)
    (deep / "a.txt").write_text("a match")
    try:
        assert read_documents(tmp_path).texts == ("a match",)
    finally:  # Python cannot remove it: that is recursive, too
        subprocess.run(["rm", "-r", str(tmp_path / "d")], check=True)


def peak_memory_of(work: Callable[[], object]) -> int:
    """Return the most bytes that are taken at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "a.txt", "folder/a.txt"])
def test_the_memory_of_a_long_document_is_a_small_multiple_of_its_size(
    tmp_path: Path, name: str
) -> None:
    long = "a b c d e f g h " * 125_000
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    rows = {"a.csv": f"text\n{long}", "a.jsonl": json.dumps({"text": long}),
            "a.json": json.dumps([{"text": long}])}  # fmt: skip
    path.write_text(rows.get(name, long))
    source = path.parent if "/" in name else path
    assert peak_memory_of(lambda: read_documents(source)) < 16 * len(long)


def test_detection_takes_a_small_multiple_of_the_size_of_a_long_document() -> None:
    """Its words are single letters, of which a text can have the most."""
    detector, long = small_detector(), "a b c d e f g h " * 125_000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its words are in no known document
        detector.detect(["pay my bill"])
        assert peak_memory_of(lambda: detector.detect([long])) < 36 * len(long)


def test_a_file_that_becomes_shorter_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "many.txt"
    path.write_text("a match of two sides\n" * 200_000)
    with pytest.raises(DocumentError, match="became shorter while it was read"):
        for number, _ in enumerate(source.Reader(str(path)).records()):
            if number == 10:
                os.truncate(path, 1_000_000)


def test_a_file_that_grows_while_it_is_read_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("a match\n" * 1000)
    n = 0
    for _ in source.Reader(str(path)).records():
        if n == 0:
            with open(path, "a") as stream:
                stream.write("another match\n")
        n += 1
    assert n >= 1000


@pytest.mark.parametrize("name", ["bomb.txt.gz", "bomb.csv.gz", "bomb.jsonl.gz"])
@pytest.mark.parametrize("encoding", [None, "utf-8"])
def test_a_gzip_bomb_of_short_lines_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, encoding: str | None
) -> None:
    monkeypatch.setattr(source, "MAX_DOCUMENT_BYTES", 100_000)
    lines = {"bomb.txt.gz": "a b\n", "bomb.csv.gz": "a b\n", "bomb.jsonl.gz": '{"text": "a b"}\n'}
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"text\n" + lines[name].encode() * 150_000))
    if "jsonl" in name:
        path.write_bytes(gzip.compress(lines[name].encode() * 150_000))
    refused(path, "for each compressed byte", encoding=encoding)


def test_compressed_text_is_no_bomb(tmp_path: Path) -> None:
    path = tmp_path / "news.txt.gz"
    path.write_bytes(gzip.compress(b"the same sentence again and again\n" * 1000))
    assert len(read_documents(path)) == 1000


# tracebacks


@pytest.mark.parametrize("encoding", ["", "hex", "undefined", "no-such"])
def test_a_wrong_encoding_is_refused_in_a_sentence(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a match")
    refused(path, "There is no encoding", encoding=encoding)


@pytest.mark.parametrize(
    "content",
    [
        'text,b\n"a,b\nx',
        pytest.param("text,b\n1,2,3\nx,y\n", marks=pytest.mark.slow),
        pytest.param('text\n"a"b\nc\n', marks=pytest.mark.slow),
    ],
)
def test_a_malformed_csv_file_with_an_encoding_leaves_no_exception_behind(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / "bad.csv").write_text(content + "more,rows\n" * 5000)
    ended = newfound(
        "describe", "--known", "bad.csv", "--novel", "bad2.csv", "--encoding", "utf-8",
        cwd=tmp_path,
    )  # fmt: skip
    assert ended.returncode == 1 and len(ended.stderr.splitlines()) == 1, ended.stderr


def test_a_parquet_column_that_cannot_be_read_is_refused_in_a_sentence(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    far = pyarrow.array([2**62], pyarrow.timestamp("us"))
    path = tmp_path / "far.parquet"
    table = pyarrow.table({"text": ["a match"], "day": far})
    parquet.write_table(table, path)
    refused(path, "far.parquet", text_column="text", date_column="day")


def test_a_machine_larger_than_the_memory_is_refused_at_once() -> None:
    before = peak_memory()
    with pytest.raises(MemoryError, match=r"needs [\d.]+ GiB"):
        NativeMachine(MachineParameters(2**28, 10, 3.0, False, 0), 2, 2**24, seed=1)
    X = np.eye(3, dtype=bool)
    with pytest.raises((MemoryError, ValueError)):
        TsetlinMachineClassifier(n_clauses=2**30 - 2).fit(np.tile(X, (1, 1000)), [0, 1, 2])
    assert peak_memory() - before < 200e6


def peak_memory() -> int:
    """Return the most memory that this process has used, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def test_without_threads_a_fit_uses_one() -> None:
    # The stack of a thread, 1 GB here, does not fit into the address space that is left.
    code = """
import resource, threading
import numpy as np
from newfound import TsetlinMachineClassifier
rng = np.random.default_rng(0)
X, y = rng.random((200, 300)) < 0.1, np.arange(200) % 2
settings = dict(n_clauses=1024, T=50, epochs=2, random_state=1)
alone = TsetlinMachineClassifier(**settings).fit(X, y).states_
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 300_000_000,) * 2)
try:
    threading.Thread(target=print).start()
    print("threads")
except RuntimeError:
    print("none")
print((TsetlinMachineClassifier(**settings, n_jobs=4).fit(X, y).states_ == alone).all())
"""
    command = ["sh", "-c", 'ulimit -s 1000000; exec "$@"', "sh", sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ended.stdout.split() == ["none", "True"], ended.stderr[-500:]


def write_piles(folder: Path) -> None:
    draw = random.Random(1)
    words = ["match", "goal", "bank", "tax", "court", "film", "actor", "try", "scrum", "player"]
    for name, own in (("known", "cricket"), ("novel", "rugby")):
        texts = [" ".join([*draw.choices(words, k=8), own]) for _ in range(60)]
        (folder / f"{name}.txt").write_text("\n".join(texts))


LONG = (pytest.mark.slow, pytest.mark.exhaustive)
DESCRIBE = ("describe", "--known", "known.txt", "--novel", "novel.txt", "--jobs", "2", "--quiet")


@pytest.mark.parametrize("kilobytes", [400_000, pytest.param(600_000, marks=LONG)])
def test_too_little_memory_is_one_sentence(tmp_path: Path, kilobytes: int) -> None:
    write_piles(tmp_path)
    limited = ["sh", "-c", f'ulimit -v {kilobytes}; exec "$@"', "sh"]
    command = [*limited, sys.executable, "-m", "newfound", *DESCRIBE, "--save", "model"]
    ended = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ended.returncode in (0, 1)
    assert len(ended.stderr.splitlines()) == ended.returncode, ended.stderr
    files = ["known.txt", "novel.txt", *(["model"] if ended.returncode == 0 else [])]
    assert sorted(os.listdir(tmp_path)) == sorted(files)


FAST = ("--machines", "2", "--n-clauses", "100")
DETECT = ("detect", "--incoming", "novel.txt", "--jobs", "2", "--quiet")
WRITERS = {
    "describe": (*DESCRIBE, *FAST, "--save", "model", "--report", "page.html", "-o", "rows.json"),
    "describe-stream": (
        *DESCRIBE, *FAST, "--stream", "--sample", "40", "--checkpoint", "kept", "--save", "model",
        "--report", "page.html", "-o", "rows.csv",
    ),
    "detect": (
        *DETECT, "--known", "known.txt", "--save", "model", "--report", "page.html",
        "-o", "rows.json",
    ),
    "detect-stream": (
        *DETECT, "--known", "known.txt", "--save", "model", "--stream", "--checkpoint", "kept",
        "-o", "rows.parquet",
    ),
    "monitor": (
        "monitor", "--model", "first", "--incoming", "novel.txt", "--every", "10", "--state",
        "state", "--once", "--report", "page.html", "--quiet",
    ),
}  # fmt: skip


def check_whole(folder: Path) -> set[str]:
    """Read all that a command wrote; return the names of the files that are there."""
    there = {path.name for path in folder.iterdir()}
    if "model" in there:
        load(folder / "model")
    if "page.html" in there:
        assert (folder / "page.html").read_text().rstrip().endswith("</html>")
    if "rows.json" in there:
        assert json.loads((folder / "rows.json").read_text())
    if "rows.csv" in there:
        rows = list(csv.DictReader((folder / "rows.csv").read_text().splitlines()))
        assert rows and all(None not in row.values() for row in rows)
    if "rows.parquet" in there:
        parquet = pytest.importorskip("pyarrow.parquet")
        assert parquet.read_table(folder / "rows.parquet").num_rows == 60
    return there


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("seed", [pytest.param(seed, marks=LONG) for seed in range(4)])
def test_a_command_that_is_killed_leaves_every_file_whole(
    tmp_path: Path, seed: int, writer: str
) -> None:
    if "stream" in writer:
        pytest.importorskip("pyarrow", reason="the extra 'scale' is not installed")
    write_piles(tmp_path)
    if writer == "monitor":
        texts = (tmp_path / "known.txt").read_text().splitlines()
        NoveltyDetector(random_state=1).fit(texts).save(tmp_path / "first")
    command = [sys.executable, "-m", "newfound", *WRITERS[writer], "--force"]
    began = time.monotonic()
    subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    seconds, draw = time.monotonic() - began, random.Random(seed)
    whole = check_whole(tmp_path)
    killed = code = 0
    for _ in range(50):
        if code == 0:  # otherwise what the last run left is taken up
            shutil.rmtree(tmp_path / "kept", ignore_errors=True)
            (tmp_path / "state").unlink(missing_ok=True)
        began = time.monotonic()
        process = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        try:
            process.wait(draw.uniform(0.3 * seconds, 1.1 * seconds))
        except subprocess.TimeoutExpired:
            process.kill()
            killed += 1
        told, code = process.communicate()[1].decode(), process.returncode
        if code == 0:
            seconds = min(seconds, time.monotonic() - began)
        assert code in (0, -signal.SIGKILL), told
        assert check_whole(tmp_path) >= whole - {"kept", "state"}
    assert killed >= 20


# one file by two names


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_two_outputs_that_are_one_file_by_a_link_are_refused(tmp_path: Path, link: Any) -> None:
    (tmp_path / "a.csv").write_text("old")
    link(tmp_path / "a.csv", tmp_path / "b.csv")
    for name in ("known.txt", "novel.txt"):
        (tmp_path / name).write_text("a match\n" * 5)
    given = ("describe", "--known", "known.txt", "--novel", "novel.txt", "--force")
    ended = newfound(*given, "--output", "a.csv", "--report", "b.csv", cwd=tmp_path)
    assert ended.returncode == 2 and "are the same" in ended.stderr
    ended = newfound(*given, "--output", "a.csv", "--output", "b.csv", cwd=tmp_path)
    assert ended.returncode == 2 and "same file twice" in ended.stderr
    assert (tmp_path / "a.csv").read_text() == "old"


def test_an_output_does_not_replace_a_document_of_a_folder(tmp_path: Path) -> None:
    for name in ("known", "novel"):
        (tmp_path / name).mkdir()
        for number in range(4):
            (tmp_path / name / f"{number}.json").write_text("a match")
    ended = newfound(
        "describe", "--known", "known", "--novel", "novel", "--force",
        "--output", "known/1.json", cwd=tmp_path,
    )  # fmt: skip
    assert ended.returncode == 2 and "one of the documents" in " ".join(ended.stderr.split())
    assert (tmp_path / "known" / "1.json").read_text() == "a match"


# threads


def test_threads_that_teach_one_detector_lose_no_document() -> None:
    detector = small_detector()
    before = sum(detector.n_documents_.values())
    texts = [f"the match number {number} was won" for number in range(6)]

    def teach(first: int) -> None:
        for number in range(first, first + 2):
            detector.partial_fit([texts[number]], [str(detector.classes_[0])])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        threads = [threading.Thread(target=teach, args=(first,)) for first in (0, 2, 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sum(detector.n_documents_.values()) == before + len(texts)


def test_threads_that_begin_one_detector_lose_no_document() -> None:
    texts = [f"a match of {word} players" for word in ["one", "two", "three", "four", "five"]] * 12
    detector = NoveltyDetector(alpha=0.2, random_state=1, epochs=2, n_clauses=10)

    def teach() -> None:
        detector.partial_fit(texts)

    threads = [threading.Thread(target=teach) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(detector.n_documents_.values()) == 3 * len(texts)


# model files


def values_of(state: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the places of all values of a state; of lists, of the first and the last entry."""
    found = [place] if place else []
    if isinstance(state, dict):
        for name, value in state.items():
            found += values_of(value, (*place, name))
    elif isinstance(state, list) and state:
        for number in sorted({0, len(state) - 1}):
            found += values_of(state[number], (*place, number))
    return found


HOSTILE: list[Any] = [
    None, True, -1, 0, 2, 2**32, 2**53, 10**39, 0.5, 1e308, -1e308, 5e-324, "", "5", "\ud800",
    "a" * 5000, [], [[]], {}, ["a"], [1, 2],
]  # fmt: skip


@pytest.fixture(scope="module")
def detector_file(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    path = tmp_path_factory.mktemp("detector") / "model"
    small_detector().save(path)
    return take_apart(path.read_bytes())


@pytest.mark.parametrize("seed", range(4))
def test_a_detector_with_a_forged_value_is_refused_in_a_line_or_sound_and_quick(
    detector_file: tuple[Any, Any], tmp_path: Path, seed: int
) -> None:
    document, arrays = detector_file
    draw = random.Random(seed)
    places = values_of(document["state"])
    for _ in range(40):
        place, value = draw.choice(places), draw.choice(HOSTILE)
        forged = copy.deepcopy(document)
        owner = forged["state"]
        for name in place[:-1]:
            owner = owner[name]
        owner[place[-1]] = value
        check_forged(tmp_path, forged, arrays, f"{place}={value!r:.40}")


@pytest.mark.parametrize("value", [1e308, -1e308, 1e61])
def test_numbers_so_large_that_scores_are_not_finite_are_refused(
    detector_file: tuple[Any, Any], tmp_path: Path, value: float
) -> None:
    document, arrays = detector_file
    for name, array in arrays.items():
        if array.dtype == np.float64:
            forged = array.copy()
            forged.flat[array.size // 2] = value
            with pytest.raises(ModelFileError, match="finite numbers"):
                check_forged(tmp_path, document, {**arrays, name: forged}, name, refused=True)
    forged = copy.deepcopy(document)
    forged["state"]["subwords"]["unseen_rarity"] = value
    with pytest.raises(ModelFileError, match=r"subwords\.unseen_rarity, expected a finite number"):
        check_forged(tmp_path, forged, arrays, "unseen_rarity", refused=True)


def check_forged(
    folder: Path, document: Any, arrays: Any, what: str, *, refused: bool = False
) -> None:
    try:
        (folder / "model").write_bytes(assemble(document, arrays, folder))
    except UnicodeEncodeError:
        return  # JSON of half a surrogate pair cannot be written as UTF-8
    start = time.process_time()
    try:
        detector = NoveltyDetector.load(folder / "model")
    except ModelFileError as error:
        if refused:
            raise
        message = str(error)
        assert len(message) <= 300 and "\n" not in message, what
        inner = ("Error(", "object has no", "not supported between", "unhashable", "subscript")
        assert not any(word in message for word in inner), f"{what}: {message}"
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = answers(detector)
        assert np.isfinite(found["novelty"]).all(), what
    assert time.process_time() - start < 20, what  # hundredths of a second
