"""``newfound explain``: why a text is known or novel, according to a saved model."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newfound.cli.console import outcome, print_json, say, show
from newfound.cli.options import Encoder, Json, Quiet

if TYPE_CHECKING:
    from newfound.explanation import Explanation

__all__ = ["explain"]


def explain(
    model: Annotated[
        Path, typer.Argument(help="File written by describe --save or detect --save.")
    ],
    texts: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT...",
            help="Texts, or - for the lines of standard input; with --sentences also text files.",
        ),
    ],
    top: Annotated[int, typer.Option(min=1, help="Number of rules of each text in the JSON.")] = 20,
    sentences: Annotated[
        bool,
        typer.Option("--sentences", help="Judge each sentence; a text that names a file is read."),
    ] = False,
    encoder: Encoder = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Explain why a text is known or novel: its words, the rules it matches, the verdict."""
    with outcome():
        from newfound.detection.detector import NoveltyDetector
        from newfound.detection.encoder_shelf import load_encoder
        from newfound.models import load

        explainer = load(model)
        if isinstance(explainer, NoveltyDetector):
            if encoder is not None:
                explainer.use_encoder(load_encoder(encoder))
            explainer.require_encoder()
        elif encoder is not None:
            raise ValueError("--encoder is for a detector; this model is a description.")
        for text in texts:
            if not quiet and not sentences and text != "-" and os.path.isfile(text):
                command = shlex.join(["newfound", "explain", str(model), "-"])
                say(
                    "explaining the text itself; to explain a file's lines use: "
                    f"{command} < {shlex.quote(text)}"
                )
        found = False
        for text in _whole(texts) if sentences else _lines(texts):
            found = True
            explained = explainer.explain(text)
            if json:
                more = explained.sentence_data() if sentences else {}
                print_json({**explained.to_dict(max_rules=top), **more}, indent=None)
            else:
                show(explained, *_sentence_lines(explained) if sentences else (), "")
        if not found:
            raise ValueError("There is no text to explain; standard input is empty.")


def _sentence_lines(explained: Explanation) -> Iterator[str]:
    """Return the sentences in their order; an asterisk is before the newest."""
    from newfound.marks import visible

    newest = explained.newest_sentence
    yield ""
    for sentence in explained.sentences:
        mark = "*" if sentence == newest else " "
        yield visible(f"{mark} {sentence.figures()}  {' '.join(sentence.text.split())}")


def _whole(texts: Iterable[str]) -> Iterable[str]:
    """Iterate over the texts; those that name a file are read, as - is."""
    from newfound.text.source import Reader

    for text in texts:
        if text == "-" or os.path.isfile(text):
            reader = Reader(text)
            with reader.errors():
                yield "\n".join(record.text or "" for record in reader.records("txt"))
        elif os.path.splitext(text)[1] and not any(map(str.isspace, text)):
            raise ValueError(
                f"There is no file {text!r}; to explain this text itself, leave out --sentences."
            )
        else:
            yield text


def _lines(texts: Iterable[str]) -> Iterable[str]:
    """Iterate over the texts; - stands for the lines of standard input that are not blank."""
    from newfound.text.source import Reader

    for text in texts:
        if text == "-":
            reader = Reader("-")
            with reader.errors():
                lines = (record.text or "" for record in reader.records("txt"))
                yield from (line for line in lines if line.strip())
        else:
            yield text
