"""Results as plain data, as the schema in ``data/schema/output.json`` says.

The command line prints them with ``--json``, and the service answers with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Protocol

from newfound.show.sentences import description_sentence, passage
from newfound.sides import SIDES, Names

if TYPE_CHECKING:
    from newfound.description.describe import Periods
    from newfound.description.describer import NoveltyDescriber
    from newfound.description.description import Description
    from newfound.description.timeline import Curve
    from newfound.detection.calibration import ShareOfNew
    from newfound.detection.detection import Detection
    from newfound.detection.detector import NoveltyDetector
    from newfound.stories.clusters import Group
    from newfound.stories.themes import Theme
    from newfound.table import Table
    from newfound.text.documents import Documents

__all__ = [
    "Found",
    "Pile",
    "described_data",
    "description_data",
    "detection_data",
    "found_in",
    "named_groups",
    "periods_data",
    "theme_documents",
    "top_phrases",
    "top_words",
    "word_curves",
]


class Pile(Protocol):
    """How many documents there are, where they come from, and what was left out."""

    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def found(self) -> Mapping[str, int]: ...  # noqa: D102
    def __len__(self) -> int: ...


_DOCUMENT = ("theme", "kind", "may_be_chance", "parts", "side", "id", "date", "text")
_OTHER = "their "  # before the name of a column that is called like one of these
_PASSAGE = 300  # characters of a document
_NEUTRAL = {"novelty": 0, "times": 1, "score": 1}  # of a word that says nothing


def top_words(
    description: Description, top: int, by: str = "novelty", *, ascending: bool = False
) -> list[dict[str, Any]]:
    """Return the rows of the most novel words, or of the most known ones, by a column."""
    sign, neutral = (-1 if ascending else 1), _NEUTRAL[by]
    rows = description.words.top(top, by, ascending=ascending)
    return [row for row in rows if sign * (row[by] - neutral) > 0]


def top_phrases(description: Description, top: int) -> list[dict[str, Any]]:
    """Return the rows of the strongest phrases: of the novel side, then half as many known ones."""
    return [
        row
        for side, n in (("novel", top), ("known", -(-top // 2)))
        for row in description.phrases.take(description.phrases["side"] == side).take(slice(n))
    ]


def word_curves(description: Description, rows: list[dict[str, Any]]) -> list[Curve]:
    """Return the curve of each word; none without dates."""
    if description.timeline is None:
        return []
    return [description.curve(row["word"]) for row in rows]


def described_data(description: Description, top: int, by: str = "novelty") -> dict[str, Any]:
    """Return themes and words, ranked by a column, with their curves."""
    from newfound.table import jsonable

    new, old = top_words(description, top, by), top_words(description, top, by, ascending=True)
    themes = [_theme_data(description, theme) for theme in description.themes]
    if description.timeline is not None:
        for rows in (new, old):
            for row, curve in zip(rows, word_curves(description, rows), strict=True):
                row["curve"] = curve.to_dict()
    timeline = description.timeline
    return {
        "themes": themes,
        "gone": [_theme_data(description, theme) for theme in description.gone],
        "unexplained": jsonable(description.unexplained),
        "in_no_theme": [
            {"word": word.word, "document": _text(description, word.document, word.word)}
            for word in description.loose
        ],
        "timeline": None if timeline is None else timeline.to_dict(),
        "novel_words": new,
        "known_words": old,
    }


def _theme_data(description: Description, theme: Theme) -> dict[str, Any]:
    """Return a theme and its parts, with a typical document and their curves."""
    name = theme.name.split(", ")[0]
    document = _text(description, theme.typical[0], name) if theme.typical else None
    data = {**theme.to_dict(), "document": document}
    data["parts"] = [_theme_data(description, part) for part in theme.parts]
    if description.timeline is not None:
        data["curve"] = description.curve(theme).to_dict()
    return data


def theme_documents(description: Description, known: Any, novel: Any) -> Table:
    """Return a table with a row for each document of each theme: where it is from, and its text.

    `known` and `novel` are the documents that were described, with their other columns. A theme is
    "new" or "gone", and a document may be in several parts of it.
    """
    from newfound.table import Table
    from newfound.text.documents import Documents

    if not isinstance(known, Documents) or not isinstance(novel, Documents):
        raise ValueError(
            "The documents of themes are not kept where documents are read batch by batch; "
            "describe documents that fit in memory."
        )
    others = [
        name
        for name in dict.fromkeys((*known.columns, *novel.columns))
        if not all(_is_shown(pile, name) for pile in (known, novel) if name in pile.columns)
    ]
    rows = []
    for theme in (*description.themes, *description.gone):
        inside: dict[int, list[str]] = {}
        for part in theme.parts:
            for row in (*part.known_documents.tolist(), *part.novel_documents.tolist()):
                inside.setdefault(row, []).append(part.name)
        for row in sorted((*theme.novel_documents.tolist(), *theme.known_documents.tolist())):
            side, pile, place = "known", known, row
            if row >= len(known):
                side, pile, place = "novel", novel, row - len(known)
            rows.append(
                {
                    "theme": theme.name,
                    "kind": "gone" if theme.gone else "new",
                    "may_be_chance": theme.may_be_chance,
                    "parts": "; ".join(inside.get(row, ())),
                    "side": side,
                    "id": pile.ids[place],
                    "date": None if pile.dates is None else _day(pile.dates[place]),
                    "text": pile.texts[place],
                    **{f"{_OTHER}{name}" if name in _DOCUMENT else name: pile.columns[name][place]
                       for name in others if name in pile.columns},
                }
            )  # fmt: skip
    names = [f"{_OTHER}{name}" if name in _DOCUMENT else name for name in others]
    return Table.from_records(rows, (*_DOCUMENT, *names))


def _is_shown(pile: Documents, name: str) -> bool:
    """Return whether a column of documents has their ids or their dates."""
    values = tuple("" if value is None else str(value) for value in pile.columns[name])
    days = tuple(_day(date) or "" for date in pile.dates or ())
    return values == pile.ids or (bool(days) and tuple(value[:10] for value in values) == days)


def _day(date: Any) -> str | None:
    return None if date is None else str(date)


def _text(description: Description, row: int, phrase: str) -> str | None:
    """Return a document from where it has a phrase; None without documents."""
    corpus = description.corpus
    if corpus is None or row >= len(corpus):
        return None
    return passage(corpus.texts[row], phrase, _PASSAGE)


def periods_data(found: Periods, *, top: int, by: str = "novelty") -> dict[str, Any]:
    """Return descriptions of periods, or of values; ``describe_by`` in the schema."""
    against = "other" if found.timeline is None else "earlier"
    return {
        "newfound": version("newfound"),
        "by": found.by,
        "against": "rest" if found.timeline is None else "before",
        "timeline": None if found.timeline is None else found.timeline.to_dict(),
        "periods": [
            {
                "period": period.name,
                "known": len(period.known),
                "novel": len(period.novel),
                "summary": description_sentence(
                    period.description, Names.of_part(period.name, against)
                ),
                **described_data(period.description, top, by),
            }
            for period in found.periods
        ],
    }


def description_data(
    description: Description,
    known: Pile,
    novel: Pile,
    names: Names,
    *,
    top: int,
    by: str = "novelty",
) -> dict[str, Any]:
    """Return a description, with half as many rules as words; ``describe`` in the schema."""
    from newfound.rules import LISTED_Q, readable_rules

    rules = readable_rules(description.clauses, -(-top // 2), max_q=LISTED_Q)
    return {
        "newfound": version("newfound"),
        "names": {side: names[side] for side in SIDES},
        "known": _input_data(known),
        "novel": _input_data(novel),
        "parameters": _parameters(description),
        "summary": description_sentence(description, names),
        **described_data(description, top, by),
        "phrases": top_phrases(description, top),
        "rules": [rule.to_dict() for rule in rules],
        "set_aside": description.set_aside,
        "copies": None if description.copies is None else description.copies.n_documents,
    }


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


def detection_data(found: Found, *, top: int) -> dict[str, Any]:
    """Return a detection; ``detect`` in the schema."""
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
        "false_alarms": dict(zip(("low", "high"), detector.calibration_.interval, strict=True)),
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
        "novel_words": [] if described is None else top_words(described.description_, top),
    }
    return {**data, "stream": dict(found.stream)} if found.stream else data


def _parameters(description: Description) -> dict[str, Any]:
    """Return the parameters that were used, as the options of the command name them."""
    used = {**description.given, **description.parameters}
    return {**used, "max_literals": used["max_literals"] or 0}


def _input_data(documents: Pile) -> dict[str, Any]:
    return {
        "source": documents.source,
        "documents": len(documents),
        "found": dict(documents.found),
    }
