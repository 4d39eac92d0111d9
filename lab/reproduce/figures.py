"""The figures of the paper, drawn from an outcome with matplotlib (the extra ``paper``).

Each is written as a PNG file with a palette, which takes a third of the size of one without. The
same outcome gives the same bytes with the same matplotlib.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from lab.reproduce.measure import GRID, GROUPS, OURS, QUANTILES
from lab.reproduce.outcome import Outcome, number, spread
from newfound.storage.files import replacing

__all__ = ["CAPTIONS", "NAMES", "check_matplotlib", "draw"]

NAMES = {
    OURS: "the paper's score (log)",
    "novelty": "newfound's novelty",
    "votes": "the machine's votes",
    "tfidf": "the paper's TF-IDF",
    "tfidf_difference": "TF-IDF, novel minus known",
    "log_odds": "log-odds",
    "document_frequency_z": "document-frequency z",
    "chi_squared": "chi²",
    "g_squared": "G²",
    "frequency_ratio": "frequency ratio",
    "logistic_regression": "logistic regression",
}
CAPTIONS = {
    "cumulative": "Cumulative frequency of the word scores: the share of the words that score "
    "below a value, for words of known documents only, of novel documents only, and of both. One "
    "line for each seed. Scores outside the frame are not shown.",
    "cumulative_tfidf": "The same for TF-IDF, by the paper's equation.",
    "roc": "ROC on held-out documents: words, documents by the sum of their words' scores, and "
    "documents by a logistic regression on their words' scores. Mean of all seeds and folds. The "
    "frequency ratio is the paper's formula applied to the words of the documents, without a "
    "machine.",
    "precision_recall": "Precision and recall on the same held-out documents.",
    "context": "Lift of five words in the same rules; 1 means no association. The paper's diagonal "
    "is an artefact and is left out.",
}

_DPI, _N_COLOURS = 150, 128
_INK, _PALE, _GRID = "#22272e", "#6b7480", "#e4e7eb"
_COLOURS = {"known": "#2b6cb0", "novel": "#c53030", "shared": "#6b46c1"}
# Okabe and Ito's colours, which colour-blind readers can distinguish; ours is dark red.
_LINES = {
    OURS: ("#c53030", "-", 2.4),
    "novelty": ("#22272e", "-", 2.0),
    "votes": ("#c53030", ":", 1.6),
    "tfidf": ("#0072b2", "-", 1.6),
    "tfidf_difference": ("#0072b2", "--", 1.3),
    "log_odds": ("#009e73", "-", 1.3),
    "document_frequency_z": ("#e69f00", "-", 1.3),
    "chi_squared": ("#cc79a7", "-", 1.3),
    "g_squared": ("#cc79a7", "--", 1.3),
    "frequency_ratio": ("#56b4e9", "-", 1.3),
    "logistic_regression": ("#8a94a0", "-", 1.3),
}
_STYLE = {
    "axes.edgecolor": _PALE,
    "axes.grid": True,
    "axes.labelcolor": _INK,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "figure.titlesize": 11,
    "figure.titleweight": "bold",
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": _GRID,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "text.color": _INK,
    "xtick.color": _PALE,
    "ytick.color": _PALE,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


def check_matplotlib() -> None:
    """Raise an error if the figures cannot be drawn, before anything is computed."""
    try:
        import_module("matplotlib.figure")
    except ImportError as error:
        raise ImportError("The figures need matplotlib: pip install 'newfound[paper]'") from error


def draw(outcome: Outcome, folder: Path) -> list[str]:
    """Draw all figures of an outcome into a folder.

    Parameters
    ----------
    outcome : Outcome
        All seeds of an experiment.
    folder : Path
        The folder for ``<name>.png``. Existing files are replaced.

    Returns
    -------
    list of str
        The names of the figures.
    """
    drawings: dict[str, Callable[[Any, Outcome], None]] = {
        "cumulative": _cumulative,
        "cumulative_tfidf": _cumulative_tfidf,
        "roc": _roc,
        "precision_recall": _precision_recall,
    }
    if outcome.lift() is not None:
        drawings["context"] = _context
    check_matplotlib()
    matplotlib, module = import_module("matplotlib"), import_module("matplotlib.figure")
    with matplotlib.rc_context(_STYLE):
        for name, drawing in drawings.items():
            figure = module.Figure(layout="constrained")
            drawing(figure, outcome)
            with replacing(folder / f"{name}.png", force=True) as aside:
                aside.write_bytes(_png(figure))
    return list(drawings)


def _png(figure: Any) -> bytes:
    """Return a figure as PNG with a palette; Pillow comes with matplotlib."""
    image = import_module("PIL.Image")
    full, small = io.BytesIO(), io.BytesIO()
    figure.savefig(full, format="png", dpi=_DPI)
    image.open(full).convert("RGB").quantize(_N_COLOURS).save(small, "png", optimize=True)
    return small.getvalue()


def _cumulative(figure: Any, outcome: Outcome) -> None:
    figure.set_size_inches(10, 3.3)
    experiment = outcome.experiment
    all_axes = figure.subplots(1, 3, sharex=True, sharey=True)
    for axes, group in zip(all_axes, GROUPS, strict=True):
        words = [seed["all"]["words"][group] for seed in outcome.seeds]
        for one in words:
            axes.plot(one["quantiles"], 100 * QUANTILES, color=_COLOURS[group], lw=1.1, alpha=0.65)
        axes.axvline(experiment.cut, color=_PALE, lw=0.8, ls=":")
        axes.set_xscale("log")
        axes.set_title(f"{group} words")
        axes.set_xlabel("score")
        share = spread([one["below_cut"] for one in words]).mean
        note = f"ours: {share:.0%} below {experiment.cut:g}"
        if group in experiment.below:
            paper = experiment.below[group]
            axes.plot([experiment.cut], [100 * paper], "D", color=_INK, ms=5, zorder=5)
            note += f"\n◆ the paper: {paper:.0%}"
        # A cumulative curve leaves the lower right free.
        axes.text(0.97, 0.06, note, transform=axes.transAxes, ha="right", fontsize=8)
        axes.set_xlim(0.08, 30)
        _plain_log(axes.xaxis)
    all_axes[0].set_ylabel("% of the words below")
    all_axes[0].set_ylim(0, 100)
    figure.suptitle(f"{experiment.title}: cumulative frequency of word scores", ha="left", x=0.01)


def _cumulative_tfidf(figure: Any, outcome: Outcome) -> None:
    figure.set_size_inches(10, 3.3)
    panels = {
        "known": ("known words", "known"),
        "novel": ("novel words", "novel"),
        "shared_by_known": ("shared, by known TF-IDF", "shared"),
        "shared_by_novel": ("shared, by novel TF-IDF", "shared"),
    }
    curves = {name: np.array(outcome.corpus["tfidf"][name]) for name in panels}
    highest = max(float(values[-2]) for values in curves.values())
    lowest = min(float(values[values > 0].min()) for values in curves.values())
    all_axes = figure.subplots(1, 4, sharey=True, sharex=True)
    for axes, (name, (title, group)) in zip(all_axes, panels.items(), strict=True):
        axes.plot(curves[name], 100 * QUANTILES, color=_COLOURS[group], lw=1.6)
        axes.set_title(title)
        axes.set_xlabel("TF-IDF")
        axes.set_xscale("log")
        axes.set_xlim(lowest / 1.5, highest * 1.5)
    all_axes[0].set_ylabel("% of the words below")
    all_axes[0].set_ylim(0, 100)
    title = f"{outcome.experiment.title}: cumulative frequency of TF-IDF"
    figure.suptitle(title, ha="left", x=0.01)


def _roc(figure: Any, outcome: Outcome) -> None:
    all_axes = _held_out(figure, outcome, "roc", "auroc")
    for axes in all_axes:
        axes.plot([0, 1], [0, 1], color=_PALE, lw=0.8, ls=":")
        axes.set_xlabel("false-positive rate")
    all_axes[0].set_ylabel("true-positive rate")
    figure.suptitle(f"{outcome.experiment.title}: ROC, held out", ha="left", x=0.01)


def _precision_recall(figure: Any, outcome: Outcome) -> None:
    all_axes = _held_out(figure, outcome, "precision", "average_precision")
    for axes in all_axes:
        axes.set_xlabel("recall")
    all_axes[0].set_ylabel("precision")
    title = f"{outcome.experiment.title}: precision and recall, held out"
    figure.suptitle(title, ha="left", x=0.01)


def _held_out(figure: Any, outcome: Outcome, curve: str, area: str) -> Any:
    figure.set_size_inches(10, 5.0)
    titles = {
        "words": "words",
        "documents": "documents, by sum",
        "regression": "documents, by regression",
    }
    all_axes = figure.subplots(1, 3, sharex=True, sharey=True)
    short = "AUROC" if area == "auroc" else "average precision"
    for axes, (task, title) in zip(all_axes, titles.items(), strict=True):
        found = []
        for scorer in _LINES:
            values = outcome.curve(scorer, task, curve)
            if values is not None:
                found.append((spread(outcome.held_out(scorer, task, area)).mean, scorer, values))
        for mean, scorer, values in sorted(found, key=lambda one: -one[0]):
            colour, style, width = _LINES[scorer]
            label = f"{mean:.3f}  {NAMES[scorer]}"
            place = 4 if scorer == OURS else 3
            axes.plot(GRID, values, style, color=colour, lw=width, label=label, zorder=place)
        axes.set_title(title)
        axes.set_xlim(-0.01, 1.01)
        axes.set_ylim(-0.01, 1.01)
        axes.set_box_aspect(1)
        axes.legend(
            title=short,
            title_fontsize=7.5,
            alignment="left",
            loc="upper left",
            bbox_to_anchor=(0, -0.2),
            borderaxespad=0,
        )
    return all_axes


def _context(figure: Any, outcome: Outcome) -> None:
    figure.set_size_inches(9, 4.2)
    experiment = outcome.experiment
    ours = outcome.lift()
    assert ours is not None
    printed = np.array(experiment.lift)
    colormap = import_module("matplotlib").colormaps["RdBu_r"].with_extremes(bad="#f0f2f4")
    all_axes = figure.subplots(1, 2)
    matrices = (("the paper", experiment.printed_words, printed), ("ours, mean of seeds",
        experiment.context_words, ours))  # fmt: skip
    for axes, (title, words, lifts) in zip(all_axes, matrices, strict=True):
        values = np.where(np.eye(5, dtype=bool), np.nan, lifts)
        shades = np.clip(np.log2(np.maximum(values, 1e-9)), -3, 3)
        axes.imshow(shades, cmap=colormap, vmin=-4, vmax=4)
        for i in range(5):
            for j in range(5):
                if i != j:
                    light = abs(shades[i, j]) > 2.4
                    text = number(float(values[i, j]))
                    colour = "white" if light else _INK
                    axes.text(j, i, text, ha="center", va="center", fontsize=8, color=colour)
        axes.set_xticks(range(5), words, rotation=30, ha="right")
        axes.set_yticks(range(5), words)
        axes.tick_params(length=0, labelcolor=_INK)
        axes.grid(False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_title(title)
    figure.suptitle(f"{experiment.title}: lift of words in rules", ha="left", x=0.01)


def _plain_log(axis: Any) -> None:
    """Write 0.1, 1, 10 instead of powers."""
    ticker = import_module("matplotlib.ticker")
    axis.set_major_locator(ticker.LogLocator(subs=(1, 3)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())
