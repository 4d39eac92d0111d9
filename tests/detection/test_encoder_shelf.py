"""Encoders with a name: copied, downloaded from a server of the test, found by detectors."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from command_line import call
from encoder_files import KNOWN, NEW, TOKENS, write_static, write_topics
from newfound.detection import encoder_shelf
from newfound.detection.encoder_shelf import (
    ENDPOINT,
    SHELF,
    add_encoder,
    download_encoder,
    encoder_names,
    load_encoder,
    shelf,
)


@pytest.fixture(autouse=True)
def own_shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SHELF, str(tmp_path / "shelf"))
    monkeypatch.setattr(encoder_shelf, "entry_points", lambda group: ())  # of this environment


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("encoder") / "words"
    write_topics(made)
    return made


@contextmanager
def serving(handler: Any) -> Iterator[str]:
    """A server of the handler; yields its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None: ...


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Iterator[str]:
    """A server with the addresses of the Hugging Face Hub."""
    root = tmp_path_factory.mktemp("hub")
    for name in ("some/words", "plain"):
        files = root / name / "resolve" / "main"
        files.mkdir(parents=True)
        for file in ("tokenizer.json", "model.safetensors"):
            (files / file).write_bytes((folder / file).read_bytes())
    half = root / "some/half" / "resolve" / "main"
    half.mkdir(parents=True)
    (half / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    damaged = root / "some/damaged" / "resolve" / "v 1"
    damaged.mkdir(parents=True)
    (damaged / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    (damaged / "model.safetensors").write_bytes(b"no vectors")
    with serving(partial(_Quiet, directory=str(root))) as address:
        yield address


def nothing_left() -> bool:
    """Whether the shelf has no folder beside those of encoders."""
    there = {each.name for each in shelf().iterdir()} if shelf().exists() else set()
    return there == set(encoder_names())


def test_an_encoder_that_was_added_has_a_name(folder: Path) -> None:
    assert encoder_names() == []
    made = add_encoder(folder)
    assert encoder_names() == ["words"] and made == shelf() / "words" and nothing_left()
    found = load_encoder("words")
    assert found.name == "words"
    assert found.encode(NEW).tolist() == load_encoder(folder).encode(NEW).tolist()
    with pytest.raises(FileExistsError, match=r"words exists; use --force, or --name"):
        add_encoder(folder)
    add_encoder(folder, "other")
    add_encoder(folder, force=True)
    assert encoder_names() == ["other", "words"] and nothing_left()


def test_a_detector_finds_its_encoder_by_name(folder: Path, tmp_path: Path) -> None:
    detector = newfound.NoveltyDetector(0.1, encoder=load_encoder(folder), random_state=1)
    detector.fit(KNOWN).save(tmp_path / "d.nf")
    with pytest.raises(ValueError, match=r"encoder words, which is not in its file, and not in"):
        newfound.load(tmp_path / "d.nf").novelty(NEW)
    add_encoder(folder)
    assert newfound.load(tmp_path / "d.nf").novelty(NEW).tolist() == detector.novelty(NEW).tolist()
    again = newfound.load(tmp_path / "d.nf")
    again.partial_fit(NEW[:5])
    assert again.n_documents_["learned"] > detector.n_documents_["learned"]
    other = tmp_path / "other"
    write_static(other, TOKENS, np.random.default_rng(1).normal(size=(len(TOKENS), 16)))
    add_encoder(other, "words", force=True)
    with pytest.raises(ValueError, match="learned with the encoder words, and words gives other"):
        newfound.load(tmp_path / "d.nf").novelty(NEW)


@pytest.mark.parametrize("repository", ["some/words", "plain"])
def test_an_encoder_is_downloaded_when_asked(
    hub: str, repository: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENDPOINT, hub + "/")
    seen: list[tuple[str, int, int]] = []
    made = download_encoder(repository, progress=lambda *step: seen.append(step))
    assert made.name == repository.rpartition("/")[2] and nothing_left()
    assert (made / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
    assert repository in (made / "source.json").read_text("utf-8")
    size = (folder / "model.safetensors").stat().st_size
    assert seen[-1] == ("model.safetensors", size, size)
    assert load_encoder(made.name).encode(NEW).shape == (len(NEW), 16)


@pytest.mark.parametrize(
    ("repository", "revision", "message"),
    [
        ("some/none", "main", r"has no tokenizer\.json: there is no such repository"),
        ("some/words", "v9", r"has no tokenizer\.json: there is no such repository"),
        ("some/half", "main", r"has none of onnx/model\.onnx, model\.onnx, model\.safetensors"),
        ("some/damaged", "v 1", r"has no table of vectors"),
        ("../../etc", "main", r"is no name of a repository"),
        ("a/b/c", "main", r"is no name of a repository"),
        ("https://example.org/x", "main", r"is no name of a repository"),
    ],
)
def test_what_cannot_be_downloaded_leaves_nothing(
    hub: str, repository: str, revision: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENDPOINT, hub)
    with pytest.raises(ValueError, match=message):
        download_encoder(repository, revision=revision)
    assert encoder_names() == [] and nothing_left()


class _Broken(BaseHTTPRequestHandler):
    """Half of a file, or an error of the server."""

    def do_GET(self) -> None:
        if "error" in self.path:
            self.send_error(503)
            return
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"x" * 500)

    def log_message(self, *_: Any) -> None: ...


def test_a_download_that_breaks_off_leaves_what_was_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_encoder(folder)
    before = load_encoder("words").encode(NEW).tolist()
    with serving(_Broken) as address:
        monkeypatch.setenv(ENDPOINT, address)
        with pytest.raises(ValueError, match=r"tokenizer\.json: .*(500 of 1,000|broke off)"):
            download_encoder("some/words", force=True)
        with pytest.raises(ValueError, match="the server answers 503"):
            download_encoder("some/error")
    monkeypatch.setenv(ENDPOINT, "nonsense")
    with pytest.raises(ValueError, match="HF_ENDPOINT='nonsense' is no address"):
        download_encoder("some/words", force=True)
    monkeypatch.setenv(ENDPOINT, address)
    with pytest.raises(ValueError, match=r"Cannot download http.*refused"):
        download_encoder("some/words", force=True)
    assert nothing_left() and load_encoder("words").encode(NEW).tolist() == before


def test_the_command_line_lists_adds_and_gets(
    hub: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENDPOINT, hub)
    empty = call("encoder", "list")
    assert empty.returncode == 0 and empty.stdout == "" and "0 encoders, of" in empty.stderr
    added = call("encoder", "add", folder, "--name", "mine")
    assert added.returncode == 0 and "give it as --encoder mine" in added.stderr
    assert call("encoder", "get", "some/words").returncode == 0
    assert call("encoder", "list").stdout.split() == ["mine", "words"]
    for wrong, message in (
        (("add", folder, "--name", "mine"), "mine exists; use --force"),
        (("add", folder, "--name", "../mine"), "is no name of an encoder"),
        (("add", tmp_path / "nowhere"), "There is no folder"),
        (("get", "some/none"), "no such repository"),
    ):
        failed = call("encoder", *wrong)
        assert failed.returncode == 1 and message in failed.stderr
        assert failed.stderr.count("\n") == 1
    (tmp_path / "old.txt").write_text("\n".join(KNOWN), encoding="utf-8")
    learn = ("detect", "--known", tmp_path / "old.txt", "--save", tmp_path / "d.nf", "-q")
    assert call(*learn, "--alpha", "0.1", "--encoder", "mine").returncode == 0
    explained = call("explain", tmp_path / "d.nf", "invoice debt fee")
    assert explained.returncode == 0 and "most like:" in explained.stdout
    unknown = call(*learn, "--force", "--encoder", "yours")
    assert unknown.returncode == 1 and "there: mine, words" in unknown.stderr


def test_a_package_can_bring_an_encoder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        name = "words"

        def load(self) -> Any:
            return lambda: folder

    monkeypatch.setattr(encoder_shelf, "entry_points", lambda group: (Entry(),))
    assert encoder_names() == ["words"]
    assert load_encoder("words").encode(NEW).shape == (len(NEW), 16)


def test_a_link_to_an_encoder_has_the_name_of_the_link(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "mini"
    link.symlink_to(folder)
    assert load_encoder(link).name == "mini"


def test_a_replacement_that_fails_leaves_what_was_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_encoder(folder)
    replace, calls = os.replace, []

    def failing(source: Any, target: Any) -> None:
        calls.append(target)
        if len(calls) == 2:
            raise PermissionError(13, "denied")
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(PermissionError):
        add_encoder(folder, force=True)
    assert load_encoder("words").name == "words" and nothing_left()


def test_vectors_for_too_few_tokens_and_vectors_of_zeros_are_refused(tmp_path: Path) -> None:
    write_static(tmp_path / "few", TOKENS, np.ones((3, 4), np.float32))
    with pytest.raises(ValueError, match="has 3 vectors for the 41 tokens of its tokenizer"):
        add_encoder(tmp_path / "few")
    write_static(tmp_path / "zeros", TOKENS, np.zeros((len(TOKENS), 4), np.float32))
    with pytest.raises(ValueError, match="gives no vectors, or vectors of zeros"):
        add_encoder(tmp_path / "zeros")
    assert encoder_names() == [] and nothing_left()
