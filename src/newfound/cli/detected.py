"""What ``newfound detect`` prints: tables, or JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from newfound.cli.console import show, words_table
from newfound.cli.described import top_words, words_title
from newfound.marks import visible

if TYPE_CHECKING:
    from newfound.description.describer import NoveltyDescriber
    from newfound.detection.calibration import ShareOfNew
    from newfound.detection.detection import Detection
    from newfound.detection.detector import NoveltyDetector
    from newfound.detection.groups import Group
    from newfound.text.documents import Documents

__all__ = ["Found", "as_data", "found_in", "show_found"]


@dataclass(frozen=True)
class Found:
    """What was found among incoming documents.

    Attributes
    ----------
    source : str
        Where they come from.
    n, n_novel : int
        The number of documents, and of novel ones.
    left_out : mapping of str to int
        What was left out, by reason.
    detector : NoveltyDetector
        The detector that was used.
    alpha, share, expected_false
        As in `newfound.Detection`.
    most_novel : sequence of dict
        Rows of novel documents, the most novel first.
    rows : sequence of dict
        The rows that are printed as JSON.
    groups : sequence of (Group, list of str)
        Groups of novel documents, with the names of their documents.
    description : NoveltyDescriber or None
        What is new in them.
    stream : mapping, optional
        Of a stream: the number of documents that were ``sampled``, and what could not be read.
    """

    source: str
    n: int
    n_novel: int
    left_out: Mapping[str, int]
    detector: NoveltyDetector
    alpha: float
    share: ShareOfNew
    expected_false: float
    most_novel: Sequence[Mapping[str, Any]]
    rows: Sequence[Mapping[str, Any]]
    groups: Sequence[tuple[Group, list[str]]]
    description: NoveltyDescriber | None
    stream: Mapping[str, Any] = field(default_factory=dict)


def found_in(detection: Detection, incoming: Documents) -> Found:
    """Return what was found, given all documents."""
    return Found(
        source=incoming.source,
        n=len(incoming),
        n_novel=detection.n_novel,
        left_out=incoming.found,
        detector=detection.detector,
        alpha=detection.alpha,
        share=detection.share,
        expected_false=detection.expected_false,
        most_novel=detection.novel().to_records(),
        rows=detection.to_records(),
        groups=named_groups(detection),
        description=detection.description,
    )


def named_groups(detection: Detection) -> list[tuple[Group, list[str]]]:
    """Return the groups of a detection, with the names of their documents."""
    names = detection["document"]
    return [(g, [str(names[i]) for i in g.documents.tolist()]) for g in detection.groups]


def as_data(found: Found, top: int) -> dict[str, Any]:
    """Return what was found as JSON has it, with so many words."""
    detector, share, described = found.detector, found.share, found.description
    data = {
        "newfound": version("newfound"),
        "incoming": {
            "source": found.source,
            "documents": found.n,
            "found": dict(found.left_out),
        },
        "alpha": found.alpha,
        "known": dict(detector.n_documents_),
        "classes": len(detector.classes_),
        "novel": found.n_novel,
        "expected_false": found.expected_false if found.n_novel else None,
        "share_new": {"share": share.share, "low": share.low, "high": share.high},
        "documents": list(found.rows),
        "groups": [
            {
                "name": group.name,
                "size": group.size,
                "documents": documents,
                "words": group.words.take(slice(top)).to_records(),
            }
            for group, documents in found.groups
        ],
        "novel_words": [] if described is None else top_words(described, top),
    }
    return {**data, "stream": dict(found.stream)} if found.stream else data


def show_found(found: Found, top: int) -> None:
    """Print what was found, with so many documents and words."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    share, alpha, n = found.share, found.alpha, found.n
    lines = Text(
        f"{found.n_novel:,} of {n:,} incoming documents are called novel at alpha = {alpha:g}; "
        f"an estimated {share.share:.0%} of all are new ({share.low:.0%} to {share.high:.0%}), if "
        "the known ones among them are like those learned from.\n"
    )
    if found.n_novel:
        lines.append(
            f"Of those called novel, about {found.expected_false:.0%} can be expected to be "
            "known.\n"
        )
    table = Table(
        title="The most novel documents", title_justify="left", title_style="bold", box=SIMPLE_HEAD
    )
    table.add_column("p", justify="right", no_wrap=True)
    table.add_column("novelty", justify="right", no_wrap=True)
    table.add_column("text", max_width=60)
    table.add_column("nearest", max_width=24)
    table.add_column("why")
    for row in found.most_novel[:top]:
        text = " ".join(row["text"][:400].split())
        table.add_row(
            f"{row['p_value']:.4f}",
            f"{row['novelty']:.1f}",
            visible(text if len(text) <= 120 else text[:119] + "…"),
            visible(str(row["nearest"])),
            visible(row.get("why", "")),
        )
    shown: list[Any] = [lines, table] if found.n_novel else [lines]
    if found.stream and found.stream["sampled"] < found.n_novel:
        shown.append(Text(f"Groups and words of {found.stream['sampled']:,} of them, at random:"))
    for number, (group, _) in enumerate(found.groups, 1):
        words = ", ".join(group.words["word"][:10].tolist())
        what = f"Group {number}, {_documents(group.size)}: "
        if len(found.groups) == 1:
            what = "They do not divide into groups; their most characteristic words: "
        shown.append(Text(what + visible(words)))
    if found.description is not None:
        rows = top_words(found.description, top)
        title = words_title(found.description, "novel")
        shown += [Text(), words_table(rows, "novel", title)]
    show(*shown)


def _documents(n: int) -> str:
    return f"{n:,} document{'' if n == 1 else 's'}"
