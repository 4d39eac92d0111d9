"""Plots draw what the report shows, on any axes, and say what they need."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import newfound
from newfound import plot_context, plot_curves, plot_words

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

KNOWN = ["The batsman hit six.", "A cricket match in England.", "Six wickets in the match."] * 8
NOVEL = ["The scrum won the ball.", "A rugby match in England.", "Old rugby try, no wicket."] * 8


@pytest.fixture(scope="module")
def described() -> newfound.NoveltyDescriber:
    return newfound.describe(
        KNOWN, NOVEL, n_clauses=60, epochs=10, min_df=1, fold_copies=False, random_state=1
    )


@pytest.fixture
def ax() -> Iterator[Any]:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    yield axes
    pyplot.close(figure)


def test_words_are_drawn_where_the_table_says(described: Any, ax: Any) -> None:
    assert plot_words(described, ax=ax) is ax
    drawn = np.concatenate([dots.get_offsets().data for dots in ax.collections])
    words = described.words_
    ranked = ~np.isnan(words["score"])
    documents = words["documents_known"] + words["documents_novel"]
    assert len(drawn) == ranked.sum()
    assert sorted(drawn[:, 0]) == sorted(documents[ranked])
    labels = {text.get_text() for text in ax.texts}
    assert labels
    assert labels <= set(words["word"])


def test_labels_do_not_overlap(described: Any, ax: Any) -> None:
    plot_words(described, ax=ax)
    boxes = [text.get_window_extent() for text in ax.texts]
    pairs = ((a, b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert not any(a.overlaps(b) for a, b in pairs)
    plot_words(described, n_labels=0, ax=ax)
    assert len(ax.texts) == len(boxes)


@pytest.mark.parametrize("side", ["known", "novel", "both"])
def test_context_shows_the_lifts(described: Any, ax: Any, side: str) -> None:
    words = ["rugby", "scrum", "wicket"]
    plot_context(described, words, side=side, ax=ax)
    assert [label.get_text() for label in ax.get_xticklabels()] == words
    lift = described.context_matrix(words)[side].lift
    shown = {text.get_position(): text.get_text() for text in ax.texts}
    assert len(shown) == 6
    assert all(
        text in ("·", f"×{lift[y, x]:.2g}") for (x, y), text in shown.items()
    )  # fmt: skip


def test_context_takes_the_most_novel_words_by_itself(described: Any, ax: Any) -> None:
    plot_context(described, ax=ax)
    assert len(ax.get_xticklabels()) == min(15, len(described.words_))


@pytest.mark.parametrize("kind", ["roc", "precision-recall", "scores", "tfidf"])
def test_curves_are_drawn_with_their_names(described: Any, ax: Any, kind: str) -> None:
    plot_curves(described, kind, known=KNOWN, novel=NOVEL, ax=ax)
    names = [line.get_label().split()[0] for line in ax.lines]
    assert names
    assert set(names) <= {"newfound", "TF-IDF", "known", "novel", "shared", "shared,"}
    for line in ax.lines:
        assert np.isfinite(line.get_xydata()).all()


def test_wrong_requests_are_refused(described: Any, ax: Any, tmp_path: Any) -> None:
    with pytest.raises(ValueError, match="roc, precision-recall"):
        plot_curves(described, "auc", ax=ax)
    with pytest.raises(ValueError, match="n_labels=-1"):
        plot_words(described, n_labels=-1, ax=ax)
    with pytest.raises(KeyError, match="'known', 'novel' or 'both'"):
        plot_context(described, ["rugby", "scrum"], side="new", ax=ax)
    described.save(tmp_path / "model")
    with pytest.raises(ValueError, match="pass known and novel"):
        plot_curves(newfound.load(tmp_path / "model"), ax=ax)


def test_without_matplotlib_the_extra_is_named(
    described: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'newfound\[paper\]'"):
        plot_words(described)


def test_a_figure_is_made_where_none_is_passed(described: Any) -> None:
    from matplotlib import pyplot

    axes = plot_words(described)
    assert axes.figure in map(pyplot.figure, pyplot.get_fignums())
    pyplot.close(axes.figure)
