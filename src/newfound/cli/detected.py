"""What ``newfound detect`` prints in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newfound.cli.console import show, words_table
from newfound.cli.described import spelled, sure_first, words_title
from newfound.marks import counted, visible
from newfound.output import top_words

if TYPE_CHECKING:
    from newfound.output import Found

__all__ = ["show_found"]


def show_found(found: Found, top: int) -> None:
    """Print what was found, with so many documents and words."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from newfound.stories.clusters import without_group

    share, alpha, n = found.share, found.alpha, found.n
    lines = Text(
        f"{found.n_novel:,} of {n:,} incoming documents are called novel at alpha = {alpha:g}; "
        f"an estimated {_percent(share.share)} of all are new ({_percent(share.low)} to "
        f"{_percent(share.high)}), if the known ones among them are like those learned from.\n"
    )
    if found.n_novel:
        lines.append(
            f"Of those called novel, about {found.expected_false:.0%} can be expected to be "
            "known.\n"
            if share.share
            else "As none is estimated to be new, all of those called novel may be false alarms.\n"
        )
    table = Table(
        title="The most novel documents", title_justify="left", title_style="bold", box=SIMPLE_HEAD
    )
    table.add_column("p", justify="right", no_wrap=True)
    table.add_column("novelty", justify="right", no_wrap=True)
    table.add_column("text", max_width=60)
    several = len(found.detector.classes_) > 1  # of one class, the nearest is always the same
    if several:
        table.add_column("nearest", max_width=24)
    table.add_column("why")
    for row in found.most_novel[:top]:
        text = " ".join(row["text"][:400].split())
        table.add_row(
            f"{row['p_value']:.4f}",
            f"{row['novelty']:.1f}",
            visible(text if len(text) <= 120 else text[:119] + "…"),
            *([visible(str(row["nearest"]))] if several else []),
            visible(row.get("why", "")),
        )
    shown: list[Any] = [lines, table] if found.n_novel else [lines]
    n_grouped = found.stream["sampled"] if found.stream else found.n_novel
    if n_grouped < found.n_novel:
        shown.append(
            Text(
                f"Groups and words are those of {n_grouped:,} of the novel documents, drawn at "
                "random; sizes of groups are in this sample:"
            )
        )
    for number, (group, _) in enumerate(found.groups, 1):
        words = ", ".join(group.words["word"][:10].tolist())
        what = f"Group {number}, {counted(group.size, 'document')}: "
        if n_grouped < found.n_novel:
            what = f"Group {number}, {group.size / n_grouped:.0%} of the sample ({group.size:,}): "
        if group.size == n_grouped:
            what = "They do not divide into groups; their most characteristic words: "
        shown.append(Text(what + visible(words)))
    if n_grouped > 1 and (sentence := without_group(n_grouped, [g for g, _ in found.groups])):
        shown.append(Text(sentence))
    if found.description is not None:
        described = found.description.description_
        rows, n_sure = sure_first(described, top_words(described, top))
        title = words_title(described, "novel")
        rows = spelled(described, rows)
        shown += [Text(), words_table(rows, "novel", title, n_sure=n_sure)]
    show(*shown)


def _percent(share: float) -> str:
    """Return a share in percent; one that is small, but not 0, does not read as 0%."""
    return f"{share:.0%}" if share == 0 or share >= 0.01 else f"{share * 100:.1g}%"
