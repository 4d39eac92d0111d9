"""The charts of the report for notebooks, on matplotlib axes.

They need matplotlib: ``pip install 'newfound[paper]'``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from newfound.checks import check_count
from newfound.marks import INK
from newfound.show.collect import choose, gather
from newfound.show.documents import document_curves, score_curves, tfidf_curves, tfidf_held_out

if TYPE_CHECKING:
    from newfound.description.describer import NoveltyDescriber

__all__ = ["plot_context", "plot_curves", "plot_words"]

_MOST_WORDS = 1000
_MARKERS = {"novel": "^", "known": "s", "neither": "o"}
_LINES = {
    "novel": "-",
    "known": "--",
    "shared": ":",
    "shared, in known": ":",
    "shared, in novel": "-.",
}
_KINDS = ("roc", "precision-recall", "scores", "tfidf")
_MAP = {"novel": "Oranges", "known": "Blues", "both": "Greys"}


def plot_words(describer: NoveltyDescriber, *, n_labels: int = 40, ax: Any = None) -> Any:
    """Draw a scatter plot of the frequency and the novelty of words.

    Of more than 1,000 words, the most important are drawn, as in the report.

    Parameters
    ----------
    describer : NoveltyDescriber
        Fitted.
    n_labels : int, default=40
        The maximum number of labels.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    check_count("n_labels", n_labels, "labels", 0)
    ax = _axes(ax)
    table = describer.words_
    novelty = table["novelty"]
    documents = table["documents_known"] + table["documents_novel"]
    rows = choose(novelty, documents, _MOST_WORDS)
    sides = table.sides[rows]
    x, y = documents[rows], novelty[rows]
    for side, marker in _MARKERS.items():
        own = sides == side
        hollow = {"facecolors": "none", "edgecolors": INK[side]}
        ax.scatter(
            x[own], y[own], s=16, marker=marker, alpha=0.8,
            label="unsure" if side == "neither" else f"indicates {side}",
            **(hollow if side == "neither" else {"color": INK[side], "linewidths": 0}),
        )  # fmt: skip
    ax.axhline(0, color=INK["neither"], linewidth=0.8)
    if len(rows):
        ax.set_xscale("log")
    ax.set_xlabel("documents with the word")
    ax.set_ylabel("novelty (standard deviations)")
    ax.legend(frameon=False)
    order = np.argsort(-np.abs(y), kind="stable")
    _label(ax, [(x[i], y[i], table["word"][rows[i]], sides[i]) for i in order], n_labels)
    return ax


def plot_context(
    describer: NoveltyDescriber,
    words: Sequence[str] | None = None,
    *,
    side: str = "novel",
    ax: Any = None,
) -> Any:
    """Draw the lift of pairs of words in rules.

    Parameters
    ----------
    describer : NoveltyDescriber
        Fitted.
    words : sequence of str, optional
        At least two; by default the 15 most novel ones.
    side : {"novel", "known", "both"}, default="novel"
        The rules to use.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    if words is None:
        words = describer.words_.top(15)["word"].tolist()
    matrix = describer.context_matrix(words)
    scores = matrix[side]
    ax = _axes(ax)
    with np.errstate(divide="ignore"):
        shown = np.clip(np.nan_to_num(scores.pmi, nan=0.0, neginf=0.0), 0, None)
    ax.imshow(shown, cmap=_MAP[side], vmin=0, vmax=max(2 * float(shown.max()), 1.0))
    for i, row in enumerate(scores.lift):
        for j, lift in enumerate(row):
            if i != j:
                text = f"×{lift:.2g}" if scores.F_ij[i, j] else "·"
                ax.text(j, i, text, ha="center", va="center", fontsize=7)
    ax.set_xticks(range(len(words)), matrix.words, rotation=90)
    ax.set_yticks(range(len(words)), matrix.words)
    ax.set_title(f"lift of pairs of words in rules for {'either' if side == 'both' else side}")
    return ax


def plot_curves(
    describer: NoveltyDescriber,
    kind: str = "roc",
    *,
    known: object = None,
    novel: object = None,
    ax: Any = None,
) -> Any:
    """Draw a curve that shows how reliable the description is.

    Parameters
    ----------
    describer : NoveltyDescriber
        Fitted.
    kind : {"roc", "precision-recall", "scores", "tfidf"}, default="roc"
        ROC or precision-recall on held-out documents, beside TF-IDF; the cumulative curves of the
        words' scores, or of their TF-IDF.
    known, novel : iterable of str, series, frame or Documents, optional
        The documents, if the describer was loaded from a file. All kinds but "scores" need them.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    if kind not in _KINDS:
        raise ValueError(f"kind={kind!r}: expected one of {', '.join(_KINDS)}.")
    corpus = gather(describer.description_, known, novel)
    if corpus is None and kind != "scores":
        raise ValueError(
            f"kind={kind!r} needs the documents, which a saved model does not hold; pass known and "
            "novel."
        )
    ax = _axes(ax)
    words = describer.words_
    if kind == "scores":
        _cumulative(ax, score_curves(words["score"], words["group"]))
        ax.set_xscale("log")
        ax.set_xlabel("score")
        return ax
    assert corpus is not None
    if kind == "tfidf":
        _cumulative(ax, tfidf_curves(words, describer.vectorizer_.vocabulary_, corpus))
        ax.set_xlabel("TF-IDF")
        return ax
    which, value, x, y = {
        "roc": ("roc", "auroc", "false positive rate", "true positive rate"),
        "precision-recall": ("pr", "average_precision", "recall", "precision"),
    }[kind]
    scores = {
        "newfound": (corpus.held_out, INK["novel"], "-"),
        "TF-IDF": (tfidf_held_out(corpus.matrix, corpus.novel), INK["neither"], "--"),
    }
    for name, (held_out, colour, style) in scores.items():
        curves = None if held_out is None else document_curves(held_out, corpus.novel)
        if curves is not None:
            label = f"{name} {curves[value]:.3f}"
            ax.plot(curves[which]["x"], curves[which]["y"], style, color=colour, label=label)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(-0.01, 1.01)
    ax.legend(frameon=False)
    return ax


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install 'newfound[paper]'") from error
    return pyplot.subplots(figsize=(8, 5.5), layout="constrained")[1]


def _cumulative(ax: Any, curves: dict[str, Any]) -> None:
    for name, curve in curves.items():
        if curve["n"]:
            label = f"{name} ({curve['n']:,} words)"
            colour = INK[name.rpartition(" ")[2]]
            style = _LINES[name]
            ax.step(curve["x"], curve["share"], style, where="post", color=colour, label=label)
    ax.set_ylabel("share of words")
    ax.legend(frameon=False)


def _label(ax: Any, points: Sequence[tuple[Any, Any, str, str]], most: int) -> None:
    """Write labels beside points, the first ones first, where they overlap nothing."""
    if not points or not most:
        return
    ax.figure.canvas.figure.draw_without_rendering()  # positions are known only after the layout
    places = ax.transData.transform([(x, y) for x, y, _, _ in points])
    taken: list[Any] = []
    for x, y, word, side in points:
        if len(taken) >= most:
            break
        text = ax.annotate(
            # A dollar sign would start a formula.
            word.replace("$", r"\$"), (x, y), (5, 0), textcoords="offset points", va="center",
            fontsize=8, color=INK[side],
        )  # fmt: skip
        box = text.get_window_extent()
        inside = ((places > (box.x0, box.y0)) & (places < (box.x1, box.y1))).all(axis=1)
        if inside.any() or any(box.overlaps(other) for other in taken):
            text.remove()
        else:
            taken.append(box)
