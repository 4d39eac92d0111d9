"""Each document takes one way through: it is read once, tokenised once, collected once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from scipy.sparse import csr_array, csr_matrix
from typer.testing import CliRunner

import newfound
import newfound.cli.options
import newfound.runs
import newfound.show.page
import newfound.storage.files
import newfound.text.documents
from newfound.cli import app
from newfound.description.describer import NoveltyDescriber
from newfound.text.encoding import Encoder
from newfound.text.vectorizer import TextVectorizer
from report_pages import read

KNOWN = [f"The batsman hit {n} sixes over the boundary" for n in range(12)]
NOVEL = [f"The scrum won {n} balls, a rugby try" for n in range(12)]
SMALL: dict[str, Any] = {"n_machines": 3, "n_clauses": 10, "epochs": 2, "random_state": 1}

Calls = Counter[str]


@pytest.fixture
def tokenised(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Count how often each text is tokenised."""
    counts: Calls = Counter()
    encode, tokens = Encoder.encode, TextVectorizer.tokens_of

    def counted(texts: Iterable[str]) -> Iterable[str]:
        for text in texts:
            counts[text] += 1
            yield text

    def counting_encode(self: Encoder, texts: Iterable[str], **options: Any) -> Any:
        return encode(self, counted(texts), **options)

    def counting_tokens(self: TextVectorizer, text: str, words: Any) -> Any:
        counts[text] += 1
        return tokens(self, text, words)

    monkeypatch.setattr(Encoder, "encode", counting_encode)
    monkeypatch.setattr(TextVectorizer, "tokens_of", counting_tokens)
    return counts


@pytest.fixture
def columns_sliced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Record the shapes of the matrices of which columns are sliced."""
    shapes: list[tuple[int, ...]] = []
    for kind in (csr_matrix, csr_array):
        getitem = kind.__getitem__

        def slicing(self: Any, key: Any, getitem: Callable[..., Any] = getitem) -> Any:
            if isinstance(key, tuple) and len(key) == 2 and key[0] == slice(None):
                shapes.append(self.shape)
            return getitem(self, key)

        monkeypatch.setattr(kind, "__getitem__", slicing)
    return shapes


def counting(
    monkeypatch: pytest.MonkeyPatch, name: str, places: Iterable[Any], counts: Calls
) -> None:
    """Count the calls of a function in all modules that import it, by its first argument."""
    for place in places:
        function = getattr(place, name)

        def call(first: Any, *rest: Any, f: Any = function, **options: Any) -> Any:
            counts[f"{name} {first}" if isinstance(first, str | Path) else name] += 1
            return f(first, *rest, **options)

        monkeypatch.setattr(place, name, call)


def test_describe_tokenises_each_document_once(tokenised: Calls) -> None:
    newfound.describe(KNOWN, NOVEL, **SMALL, fold_copies=False)
    assert tokenised == dict.fromkeys([*KNOWN, *NOVEL], 1)


def test_finding_copies_reads_each_document_once_more_in_the_order_of_its_words(
    tokenised: Calls,
) -> None:
    newfound.describe(KNOWN, NOVEL, **SMALL)
    assert tokenised == dict.fromkeys([*KNOWN, *NOVEL], 2)


def test_describe_slices_the_matrix_once(columns_sliced: list[tuple[int, ...]]) -> None:
    describer = newfound.describe(KNOWN, NOVEL, rule_min_df=5, **SMALL)
    whole = (24, len(describer.words_))
    assert columns_sliced.count(whole) == 1


def test_the_matrix_of_further_documents_is_sliced_once_too(
    columns_sliced: list[tuple[int, ...]], tokenised: Calls
) -> None:
    describer = newfound.describe(KNOWN, NOVEL, **SMALL, fold_copies=False)
    columns_sliced.clear()
    tokenised.clear()
    describer.partial_fit([*KNOWN, *NOVEL], ["known"] * 12 + ["novel"] * 12)
    assert columns_sliced.count((24, len(describer.words_))) == 1
    assert tokenised == dict.fromkeys([*KNOWN, *NOVEL], 1)


def test_explain_tokenises_a_text_once(tokenised: Calls) -> None:
    describer = newfound.describe(KNOWN, NOVEL, **SMALL)
    tokenised.clear()
    describer.explain("A rugby scrum").to_terminal()
    assert tokenised == {"A rugby scrum": 1}


class TestCommand:
    @pytest.fixture
    def arguments(self, tmp_path: Path) -> list[str]:
        made = ["describe", "--machines", "3", "--n-clauses", "10", "--epochs", "2"]
        for side, texts in (("known", KNOWN), ("novel", NOVEL)):
            (tmp_path / f"{side}.txt").write_text("\n".join(texts))
            made += [f"--{side}", str(tmp_path / f"{side}.txt")]
        for option, name in (("output", "x.csv"), ("save", "x.nf"), ("report", "x.html")):
            made += [f"--{option}", str(tmp_path / name)]
        return made

    def test_each_step_is_done_once(
        self, tmp_path: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        counts: Calls = Counter()
        files = newfound.storage.files
        counting(monkeypatch, "check_writable", (files, newfound.show.page), counts)
        counting(monkeypatch, "Reader", (newfound.runs,), counts)
        counting(monkeypatch, "collect", (newfound.show.page,), counts)
        counting(monkeypatch, "fit", (NoveltyDescriber,), counts)
        counting(monkeypatch, "fit_transform", (TextVectorizer,), counts)
        counting(monkeypatch, "transform", (TextVectorizer,), counts)
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
        expected = {f"check_writable {tmp_path / name}": 1 for name in ("x.csv", "x.nf", "x.html")}
        expected |= {f"Reader {tmp_path / side}.txt": 1 for side in ("known", "novel")}
        assert counts == {**expected, "collect": 1, "fit": 1, "fit_transform": 1}

    def test_the_time_of_learning_is_that_of_the_describer(
        self, tmp_path: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fit = NoveltyDescriber.fit

        def slow(self: NoveltyDescriber, *given: Any, **options: Any) -> NoveltyDescriber:
            fit(self, *given, **options)
            self.seconds_ = {"learning": 12.34}
            return self

        monkeypatch.setattr(NoveltyDescriber, "fit", slow)
        assert CliRunner().invoke(app, arguments).exit_code == 0
        seconds = read(tmp_path / "x.html")["made"]["seconds"]
        assert seconds["learning"] == 12.34
        assert seconds.keys() == {"reading", "learning", "making this page"}
