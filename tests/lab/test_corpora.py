"""The corpora are read from every layout and by download, and their contents are checked."""

from __future__ import annotations

import gzip
import hashlib
import io
import itertools
import json
import os
import tarfile
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from lab.datasets import (
    DatasetError,
    LabelledDocuments,
    corpora,
    layouts,
    load_20newsgroups,
    load_abcnews,
    load_bbcsport,
    load_clinc150,
)
from lab.datasets.corpora import strip_post
from lab.datasets.corpus import Post, content_hash
from lab.datasets.download import Source, cache_folder, fetch

DATA = os.environ.get("NEWFOUND_DATA")
needs_data = pytest.mark.skipif(
    not DATA, reason="NEWFOUND_DATA does not name the folder with the corpora"
)


@pytest.fixture(autouse=True)
def nowhere_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let no loader see the machine's own data or downloads."""
    monkeypatch.delenv("NEWFOUND_DATA", raising=False)
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


# A made-up corpus with BBC Sport's layout and numbers.
FILES = {
    f"bbcsport/{label}/{number:03}.txt": f"{label} number {number}\n\nA text.\n".encode()
    for label, n in corpora._BBC.items()
    for number in range(1, n + 1)
}
FILES["bbcsport/football/105.txt"] = b"A pound: \xa3\n"
OTHERS = {"bbcsport/README.TXT": b"read me", "__MACOSX/bbcsport/rugby/._001.txt": b"\0\1"}


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the made-up corpus for BBC Sport."""
    posts = [
        corpora.bbc_post(match, raw)[0]
        for name, raw in FILES.items()
        if (match := corpora.BBCSPORT.member.search(f"/{name}"))  # type: ignore[union-attr]
    ]
    dataset = replace(corpora.BBCSPORT, content=content_hash(posts))
    monkeypatch.setattr(corpora, "BBCSPORT", dataset)


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in files.items():
            archive.writestr(name, raw)
    return stream.getvalue()


def tarred(files: dict[str, bytes], *links: str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, raw in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(raw)
            archive.addfile(member, io.BytesIO(raw))
        for name in links:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(member)
    return stream.getvalue()


def unpacked(files: dict[str, bytes], folder: Path) -> Path:
    for name, raw in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)
    return folder


class TestLayouts:
    def test_folder_zip_and_tar_hold_the_same(self, made_up: None, tmp_path: Path) -> None:
        unpacked({**FILES, **OTHERS}, tmp_path / "tree")
        (tmp_path / "a.zip").write_bytes(zipped({**FILES, **OTHERS}))
        (tmp_path / "a.tar.gz").write_bytes(tarred({**FILES, **OTHERS}))
        paths = ("tree", "tree/bbcsport", "a.zip", "a.tar.gz")
        first, *others = (load_bbcsport(tmp_path / name) for name in paths)
        assert len(first) == 737 and Counter(first.labels) == corpora._BBC
        assert first.ids[0] == "athletics/001" and first.splits is None
        assert first.texts[first.ids.index("football/105")] == "A pound: £\n"
        assert first.found == {"recoded": 1}
        for other in others:
            assert (other.texts, other.ids, other.labels) == (
                first.texts, first.ids, first.labels,
            )  # fmt: skip

    def test_json_lines_are_read_packed_or_not(self, made_up: None, tmp_path: Path) -> None:
        posts = load_bbcsport(unpacked(FILES, tmp_path / "tree"))
        rows = zip(posts.ids, posts.texts, posts.labels or (), strict=True)
        lines = "".join(
            json.dumps({"id": i, "text": text, "label": label}) + "\n" for i, text, label in rows
        ).encode()
        (tmp_path / "bbcsport").mkdir()
        (tmp_path / "bbcsport" / "bbcsport.jsonl.gz").write_bytes(gzip.compress(lines))
        (tmp_path / "plain.jsonl").write_bytes(lines)
        for path in (tmp_path, tmp_path / "bbcsport", tmp_path / "plain.jsonl"):
            assert load_bbcsport(path).texts == posts.texts

    def test_the_environment_names_a_folder(
        self, made_up: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "bbcsport-fulltext.zip").write_bytes(zipped(FILES))
        monkeypatch.setenv("NEWFOUND_DATA", str(tmp_path))
        assert len(load_bbcsport()) == 737

    def test_a_set_that_is_not_there_is_one_sentence_that_says_what_to_do(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(DatasetError, match=r"^BBC Sport is not here; name a copy .--data"):
            load_bbcsport()
        with pytest.raises(DatasetError, match=r"There is no 20 Newsgroups at .*; .*qwone") as e:
            load_20newsgroups(tmp_path)
        hint = "(python -m lab reproduce 20newsgroups --download, in Python lab.load_20"
        assert hint in str(e)
        with pytest.raises(DatasetError, match=r"at .*nowhere, which does not exist; name a copy"):
            load_20newsgroups(tmp_path / "nowhere")
        monkeypatch.setenv("NEWFOUND_DATA", str(tmp_path))
        with pytest.raises(DatasetError, match="CLINC150 is not in NEWFOUND_DATA") as e:
            load_clinc150()
        assert "(in Python lab.load_clinc150(download=True))" in str(e)  # no command does so

    def test_missing_documents_and_other_texts_are_refused_unless_asked(
        self, made_up: None, tmp_path: Path
    ) -> None:
        files = dict(FILES)
        del files["bbcsport/rugby/007.txt"]
        short = unpacked(files, tmp_path / "short")
        with pytest.raises(DatasetError, match=r"736 documents .*\(rugby 146 instead of 147\)"):
            load_bbcsport(short)
        assert len(load_bbcsport(short, verify=False)) == 736
        (tmp_path / "a.zip").write_bytes(zipped({**FILES, "bbcsport/rugby/007.txt": b"other"}))
        with pytest.raises(DatasetError, match="as many documents as BBC Sport, but other texts"):
            load_bbcsport(tmp_path / "a.zip")

    @pytest.mark.parametrize(
        ("name", "raw", "said"),
        [
            ("a.zip", b"PK\3\4 no archive", "damaged or cut off"),
            ("a.zip", zipped(FILES)[:-3000], "damaged or cut off"),
            ("a.tar.gz", tarred(FILES)[:2000], "damaged or cut off"),
            ("a.tar.gz", tarred(FILES, "bbcsport/rugby/999.txt"), "has the link"),
            ("a.zip", zipped({"../bbcsport/rugby/001.txt": b"a"}), "leads out of it"),
            ("a.tar.gz", tarred({"/bbcsport/rugby/001.txt": b"a"}), "leads out of it"),
            ("a.jsonl", b'{"id": 1}\n', r"a\.jsonl, line 1, is not a JSON object with id"),
            ("a.jsonl", b"[" * 100_000, "line 1, is not a JSON object"),
            ("a.jsonl", b'{"id": 1, "text": "", "label": ""}', "not a string"),
            ("a.jsonl.gz", b"no gzip", "damaged or cut off"),
            ("a.pdf", b"%PDF", "none of the known layouts"),
        ],
        # Archives carry the time at which they were made: each process would have other names.
        ids=[
            "no zip", "cut zip", "cut tar", "link", "zip leads out", "tar leads out",
            "no text", "deep JSON", "number as id", "no gzip", "PDF",
        ],
    )  # fmt: skip
    def test_hostile_and_damaged_files_are_refused(
        self, tmp_path: Path, name: str, raw: bytes, said: str
    ) -> None:
        (tmp_path / name).write_bytes(raw)
        with pytest.raises(DatasetError, match=said):
            load_bbcsport(tmp_path / name)
        assert os.listdir(tmp_path) == [name]

    @pytest.mark.parametrize("pack", [zipped, tarred])
    def test_a_bomb_is_not_unpacked(
        self, pack: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        suffix = "zip" if pack is zipped else "tar.gz"
        path = tmp_path / f"a.{suffix}"
        path.write_bytes(pack(FILES))
        monkeypatch.setattr(layouts, "MAX_BYTES", 1000)
        with pytest.raises(DatasetError, match=r"goes beyond 1,000 bytes"):
            load_bbcsport(path)
        monkeypatch.setattr(layouts, "MAX_FILES", 3)
        with pytest.raises(DatasetError, match="more than 3 files"):
            load_bbcsport(path)
        monkeypatch.setattr(layouts, "MAX_FILE_BYTES", 5)
        with pytest.raises(DatasetError, match="goes beyond 5 bytes"):
            load_bbcsport(path)


class TestNewsgroups:
    POST = (
        "From: a@b\nSubject: s\n\nIn article <1> B writes:\n> quoted\nMy words.\n\n-- \nA. Name\n"
    )

    @pytest.mark.parametrize(
        "remove", [(), ("headers",), ("footers",), ("quotes",), ("headers", "footers", "quotes")]
    )
    def test_parts_are_removed_as_scikit_learn_does(self, remove: tuple[str, ...]) -> None:
        texts = [self.POST, "no blank line", "", "\n\n", "a\n\n--\n", "-\nb", "x\n\n| y\nz"]
        if DATA:
            with gzip.open(Path(DATA, "20newsgroups", "20newsgroups.jsonl.gz"), "rt") as lines:
                texts += [json.loads(line)["text"] for line in itertools.islice(lines, 400)]
        from sklearn.datasets import _twenty_newsgroups as theirs

        for text in texts:
            expected = text
            if "headers" in remove:
                expected = theirs.strip_newsgroup_header(expected)
            if "footers" in remove:
                expected = theirs.strip_newsgroup_footer(expected)
            if "quotes" in remove:
                expected = theirs.strip_newsgroup_quoting(expected)
            assert strip_post(text, remove) == expected

    def test_folders_of_train_and_test_are_splits(self, tmp_path: Path) -> None:
        files = {
            "20news-bydate-train/sci.med/7": self.POST.encode(),
            "20news-bydate-test/rec.autos/12": b"From: c\n\nCars\xe9",
            "20news-bydate-test/rec.autos/13": b"From: c\n\n",
        }
        (tmp_path / "20news-bydate.tar.gz").write_bytes(tarred(files))
        for path in (tmp_path, unpacked(files, tmp_path / "tree")):
            corpus = load_20newsgroups(path, verify=False)
            rows = zip(corpus.ids, corpus.labels or (), corpus.splits or (), strict=True)
            assert sorted(rows) == [
                ("rec.autos/12", "rec.autos", "test"),
                ("sci.med/7", "sci.med", "train"),
            ]
            assert corpus.only("rec.autos").texts == ("Carsé",)
            assert corpus.only(split="train").ids == ("sci.med/7",)
            assert corpus.found == {"empty": 1}
        whole = load_20newsgroups(path, remove=(), verify=False)
        assert len(whole) == 3 and self.POST in whole.texts

    def test_an_unknown_part_label_or_split_is_refused(self) -> None:
        with pytest.raises(ValueError, match="remove has 'body'"):
            load_20newsgroups(remove=("body",))
        corpus = LabelledDocuments(("a",), ("1",), ("rugby",), "here")
        with pytest.raises(ValueError, match="no label 'cricket' in here"):
            corpus.only("cricket")
        with pytest.raises(ValueError, match="no split 'dev' in here"):
            corpus.only(split="dev")


class TestClinc:
    def test_the_original_file_gives_intents_splits_and_domains(self, tmp_path: Path) -> None:
        whole = {"oos_train": [["who is jim", "oos"]], "train": [["pay my bill", "pay_bill"]]}
        (tmp_path / "data_full.json").write_text(json.dumps(whole))
        assert load_clinc150(tmp_path, verify=False).domains is None
        (tmp_path / "domains.json").write_text(json.dumps({"banking": ["pay_bill"]}))
        corpus = load_clinc150(tmp_path / "data_full.json", verify=False)
        assert corpus.ids == ("oos_train/00000", "train/00000")
        assert corpus.labels == ("oos", "pay_bill") and corpus.splits == ("train", "train")
        assert corpus.domains == ("oos", "banking")
        with pytest.raises(DatasetError, match=r"2 documents where CLINC150 has 23,700"):
            load_clinc150(tmp_path)

    @pytest.mark.parametrize("text", ["[1, 2]", '{"train": [1]}', "{", '{"train": [["a"]]}'])
    def test_other_json_is_refused(self, text: str, tmp_path: Path) -> None:
        (tmp_path / "data_full.json").write_text(text)
        with pytest.raises(DatasetError, match=r"not laid out as CLINC150|not JSON"):
            load_clinc150(tmp_path, verify=False)


class TestAbcNews:
    ROWS = (
        {"id": "1", "text": "war in iraq begins", "date": "2003-03-20"},
        {"id": "2", "text": "sars fills april", "date": "2003-04-02"},
        {"id": "3", "text": "", "date": "2003-04-03"},
    )

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        lines = "".join(json.dumps(row) + "\n" for row in self.ROWS).encode()
        (tmp_path / "abcnews.jsonl.gz").write_bytes(gzip.compress(lines))
        return tmp_path

    def test_headlines_have_dates_and_no_labels(self, path: Path) -> None:
        corpus = load_abcnews(path, verify=False)
        assert corpus.texts == ("war in iraq begins", "sars fills april")
        assert corpus.dates == (date(2003, 3, 20), date(2003, 4, 2))
        assert corpus.labels is None and corpus.splits is None and corpus.found == {"empty": 1}
        with pytest.raises(DatasetError, match="3 documents where ABC News has 74,399"):
            load_abcnews(path)

    def test_documents_of_a_period_are_chosen_by_date(self, path: Path) -> None:
        corpus = load_abcnews(path, verify=False)
        assert corpus.only(since="2003-03-21").ids == ("2",)
        assert corpus.only(until="2003-03-20").dates == (date(2003, 3, 20),)
        assert len(corpus.only(since="2003-03-20", until="2003-04-02")) == 2
        with pytest.raises(ValueError, match="here have no dates"):
            LabelledDocuments(("a",), ("1",), ("rugby",), "here").only(since="2003-03-20")

    def test_a_missing_date_or_copy_is_an_error(self, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").write_text('{"id": "1", "text": "a"}\n')
        with pytest.raises(DatasetError, match="not a JSON object with id, text and date"):
            load_abcnews(tmp_path / "a.jsonl", verify=False)
        with pytest.raises(DatasetError, match=r"^ABC News is not here; name a copy \(--data") as e:
            load_abcnews()
        assert "download" not in str(e.value)


@needs_data
class TestRealCopies:
    """The copies in NEWFOUND_DATA have the expected counts and texts."""

    def test_abc_news(self) -> None:
        corpus = load_abcnews(DATA)
        assert len(corpus) == 74_399 and corpus.dates == tuple(sorted(corpus.dates or ()))
        assert (corpus.dates[0], corpus.dates[-1]) == (date(2003, 2, 19), date(2004, 2, 24))

    def test_bbc_sport_in_both_layouts(self) -> None:
        folder = Path(DATA or "", "bbcsport")
        lines, raw = load_bbcsport(folder), load_bbcsport(folder / "bbcsport-raw.tar.gz")
        assert lines.texts == raw.texts and lines.ids == raw.ids and lines.labels == raw.labels
        assert raw.found == {"duplicate": 12, "recoded": 1}

    @pytest.mark.slow
    def test_20_newsgroups_and_what_is_left_without_headers_footers_and_quotes(self) -> None:
        corpus = load_20newsgroups(DATA, remove=("headers", "footers", "quotes"))
        # 515 posts are empty then, by the rules of scikit-learn.
        assert len(corpus) == 18_846 - 515
        assert corpus.found["empty"] + corpus.found["blank"] == 515
        assert Counter(corpus.splits).keys() == {"train", "test"}

    def test_clinc150(self) -> None:
        corpus = load_clinc150(DATA)
        assert len(corpus) == 23_700 and len(set(corpus.labels or ())) == 151
        assert len(set(corpus.domains or ())) == 11


class Server:
    """A real HTTP server on this machine; `files` maps a path to a body and a declared length."""

    def __init__(self) -> None:
        files: dict[str, tuple[bytes, int]] = {}
        asked: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                if self.path not in files:
                    self.send_error(404)
                    return
                body, length = files[self.path]
                self.send_response(200)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.files, self.asked = files, asked
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def put(self, path: str, body: bytes, missing: int = 0) -> str:
        self.files[path] = (body, len(body) + missing)
        return self.url(path)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server.server_port}{path}"


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.server.shutdown()
    running.server.server_close()
    running.thread.join()


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


class TestDownload:
    @pytest.fixture(autouse=True)
    def address(self, made_up: None, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        """Send the loader of BBC Sport to the server."""
        source = Source("bbcsport-fulltext.zip", (server.url("/bbc.zip"),))
        dataset = replace(corpora.BBCSPORT, sources=(source,))
        monkeypatch.setattr(corpora, "BBCSPORT", dataset)

    def test_a_good_file_is_kept_and_not_fetched_again(self, server: Server) -> None:
        server.put("/bbc.zip", zipped(FILES))
        assert len(load_bbcsport(download=True)) == 737
        assert files_in(cache_folder()) == ["bbcsport", "bbcsport/bbcsport-fulltext.zip"]
        assert len(load_bbcsport()) == len(load_bbcsport(download=True)) == 737
        assert server.asked == ["/bbc.zip"]

    def test_nothing_is_fetched_unless_asked(self, server: Server) -> None:
        server.put("/bbc.zip", zipped(FILES))
        with pytest.raises(DatasetError, match="--download"):
            load_bbcsport()
        assert server.asked == [] and not cache_folder().exists()

    @pytest.mark.parametrize(
        ("case", "said"),
        [
            ("404", r"Cannot download bbcsport-fulltext\.zip from http.*: the server answers 404"),
            ("cut off", "cut off"),
            ("cut off, length right", "damaged or cut off"),
            ("other texts", "but other texts"),
            ("too few", "736 documents where BBC Sport has 737"),
            ("no archive", "damaged or cut off"),
            ("wrong checksum", "the checksum is wrong"),
            ("no server", "no connection"),
        ],
    )
    def test_a_bad_file_is_refused_and_no_part_of_it_stays(
        self, case: str, said: str, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = zipped(FILES)
        less = {name: raw for name, raw in FILES.items() if "rugby/007" not in name}
        if case == "cut off":
            server.put("/bbc.zip", whole[:9000], missing=len(whole) - 9000)
        elif case == "cut off, length right":
            server.put("/bbc.zip", whole[:9000])
        elif case == "other texts":
            server.put("/bbc.zip", zipped({**FILES, "bbcsport/rugby/007.txt": b"other"}))
        elif case == "too few":
            server.put("/bbc.zip", zipped(less))
        elif case == "no archive":
            server.put("/bbc.zip", b"<html>Sign in to the network</html>")
        elif case in ("wrong checksum", "no server"):
            url = server.put("/bbc.zip", whole)
            if case == "no server":
                url = "http://127.0.0.1:9/bbc.zip"
            digest = hashlib.sha256(b"another file").hexdigest()
            source = Source("bbcsport-fulltext.zip", (url,), digest)
            dataset = replace(corpora.BBCSPORT, sources=(source,))
            monkeypatch.setattr(corpora, "BBCSPORT", dataset)
        with pytest.raises(DatasetError, match=said) as caught:
            load_bbcsport(download=True)
        assert "\n" not in str(caught.value)
        assert files_in(cache_folder()) == []

    def test_a_checksum_that_is_right_and_a_second_address(self, server: Server) -> None:
        archive = zipped(FILES)  # once: an archive contains the time
        url = server.put("/mirror", archive)
        digest = hashlib.sha256(archive).hexdigest()
        source = Source("a.zip", (server.url("/gone"), url), digest)
        seen: list[list[str]] = []
        fetch([source], cache_folder(), lambda folder: seen.append(files_in(folder)))
        assert server.asked == ["/gone", "/mirror"] and seen == [["a.zip"]]
        assert files_in(cache_folder()) == ["a.zip"]

    def test_of_two_files_none_stays_if_one_is_missing(self, server: Server) -> None:
        sources = [
            Source("a", (server.put("/a", b"a"),)),
            Source("b", (server.url("/b"),)),
        ]
        with pytest.raises(DatasetError, match="Cannot download b"):
            fetch(sources, cache_folder(), lambda _: None)
        assert files_in(cache_folder()) == []

    def test_without_pooch_the_command_to_install_it_is_said(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(__import__("sys").modules, "pooch", None)
        with pytest.raises(ImportError, match=r"pip install 'newfound\[datasets\]'"):
            load_bbcsport(download=True)


def test_downloads_go_to_the_systems_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEWFOUND_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder() == Path("/somewhere/newfound")


def test_the_content_hash_minds_labels_and_words_but_not_order_or_spacing() -> None:
    a, b = Post("1", "Über  all!", "x"), Post("2", "two", "y", "test")
    same = content_hash([b._replace(id="9"), a._replace(text="uber all")])
    assert content_hash([a, b]) == same
    dated = a._replace(date="2003-02-19")
    assert content_hash([dated, b]) == same
    assert content_hash([dated, b], dated=True) != content_hash([a, b], dated=True)
    for other in (a._replace(label="y"), a._replace(text="Über"), a._replace(split="test")):
        assert content_hash([other, b]) != same
