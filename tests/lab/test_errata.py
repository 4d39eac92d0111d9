"""Every computation on the page of errata is right, and the page says what was computed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.reproduce.published import CASE_STUDY, EXPERIMENTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "errata.md"
M = 20_000
DECODED = {
    "bbcsport": (236, 201, 161, 1282, 300),
    "20newsgroups": (255, 240, 234, 447, 294),
}


@pytest.fixture(scope="module")
def page() -> str:
    return " ".join(PAGE.read_text(encoding="utf-8").replace("−", "-").split())


def test_printed_scores_are_quotients_of_cut_off_fractions(page: str) -> None:
    quotients = {
        "England": (0.076, 0.071), "won": (0.154, 0.071), "cricket": (0.076, 0.28),
        "hit": (0.076, 0.142), "rugby": (0.307, 0.066), "despite": (0.076, 0.066),
        "old": (0.153, 0.066),
    }  # fmt: skip
    printed = {row.word: row.score for row in CASE_STUDY}
    for word, (above, below) in quotients.items():
        digits = len(printed[word].partition(".")[2])
        # Some are cut off, some rounded.
        assert abs(above / below - float(printed[word])) < 10**-digits
        assert f"{above:g} / {below:g}" in page
    assert float(printed["rugby"]) / (56 / 13) == pytest.approx(1.08, abs=0.001)


@pytest.mark.parametrize(
    ("name", "least", "most", "text"),
    [("bbcsport", 314, 325, "314 to 325"), ("20newsgroups", 183.4, 187, "at least 183.4")],
)
def test_standard_deviations_of_the_parts_bound_that_of_the_whole(
    page: str, name: str, least: float, most: float, text: str
) -> None:
    shared, words = EXPERIMENTS[name].shared.values(), EXPERIMENTS[name].words["shared"]
    n = sum(row.number for row in shared)
    mean = sum(row.number * row.mean for row in shared) / n
    between = sum(row.number * (row.mean - mean) ** 2 for row in shared)
    possible = [
        ((sum((row.number - d) * row.sd**2 for row in shared) + between) / (total - d)) ** 0.5
        for d in (0, 1)
        for total in (n, words.number)
    ]
    assert round(min(possible), 1 if name == "20newsgroups" else 0) == least
    assert max(possible) <= most
    assert (min(possible) <= words.sd <= max(possible)) == (name == "bbcsport")
    assert text in page and f"{words.sd:g}" in page


def test_what_the_tables_say_of_shared_and_common_words(page: str) -> None:
    bbc = EXPERIMENTS["bbcsport"]
    numbers = {role: row.number for role, row in bbc.shared.items()}
    assert numbers["known"] + numbers["novel"] == 27 and sum(numbers.values()) == 3078
    share = 100 * (numbers["known"] + numbers["novel"]) / sum(numbers.values())
    assert f"27 of 3,078 are, {share:.1f} %" in page
    common, known = bbc.shared["common"].mean, bbc.words["known"].mean
    assert common > known and f"their mean is {common}, that of known words {known}" in page
    assert f"0.307 / 0.071 = {0.307 / 0.071:.2f}" in page


@pytest.mark.parametrize(
    ("name", "total", "missing", "parts", "whole", "mean", "slack"),
    [
        ("bbcsport", 3078, 57, "36,142.84", "35,425.50", -12.6, 0.6),
        ("20newsgroups", 5739, 47, "27,469.68", "17,589.44", -210.2, 1.3),
    ],
)
def test_the_composition_of_shared_words_does_not_add_up(
    page: str,
    name: str,
    total: int,
    missing: int,
    parts: str,
    whole: str,
    mean: float,
    slack: float,
) -> None:
    shared, words = EXPERIMENTS[name].shared, EXPERIMENTS[name].words["shared"]
    assert sum(row.number for row in shared.values()) == total
    assert words.number - total == missing
    of_parts = sum(row.number * row.mean for row in shared.values())
    of_whole = words.number * words.mean
    assert (f"{of_parts:,.2f}", f"{of_whole:,.2f}") == (parts, whole)
    left = (of_whole - of_parts) / missing
    assert left == pytest.approx(mean, abs=0.05)
    # Each mean may be off by half a unit of its last digit.
    rounding = 0.005 * (total + words.number) / missing
    assert rounding < slack and left + rounding < 0
    for text in (f"= {total:,}", f"not {words.number:,}", parts, whole, f"= {mean}"):
        assert text in page
    assert f"{of_whole - of_parts:,.2f} / {missing} = {mean}" in page


@pytest.mark.parametrize("name", DECODED)
def test_context_tables_are_lifts_over_20_000_clauses(page: str, name: str) -> None:
    lift, counts = EXPERIMENTS[name].lift, DECODED[name]
    for i in range(5):
        assert 2 * (M / counts[i]) ** 2 == pytest.approx(lift[i][i], abs=0.01)
        assert f"{counts[i]:,}" in page
        for j in range(5):
            assert lift[i][j] == lift[j][i]
            if i != j:
                together = round(lift[i][j] * counts[i] * counts[j] / M)
                half = round(M / 2 * together / (counts[i] * counts[j]), 3)
                assert 2 * half == pytest.approx(lift[i][j], abs=1e-9)


def test_the_figures_of_rugby_and_of_the_vocabulary_contradict_each_other(page: str) -> None:
    bbc = EXPERIMENTS["bbcsport"]
    assert bbc.probe is not None
    manchester, *_, rugby, fly_half = DECODED["bbcsport"]
    for text in (
        f"{sum(bbc.probe[1:])} in all",
        f"{sum(row.number for row in bbc.words.values()):,} words",
        f"= {M * 76 / (rugby * fly_half):.3f}",
        f"= {M / manchester:.1f}",
        f"= {2 * (M / manchester) ** 2:,.2f}",
    ):
        assert text in page


def test_the_newsgroups_are_not_of_equal_size(page: str) -> None:
    from lab.datasets.corpora import NEWSGROUPS

    sizes = [sum(numbers) for numbers in NEWSGROUPS.values()]
    assert f"{min(sizes)} to {max(sizes)} documents" in page


def test_what_does_not_hold_is_what_the_results_say(page: str) -> None:
    results = json.loads((PAGE.parent.parent / "experiments/results/results.json").read_text())
    tallies = []
    for name in ("bbcsport", "20newsgroups"):
        verdicts = [row["holds"] for row in results[name]["claims"]]
        tallies.append([verdicts.count(one) for one in ("yes", "different", "no")])
        assert results[name]["claims"] and len(results[name]["seeds"]) == 5
    (yes, different, no), (*others,) = tallies
    assert f"{yes} of {sum(tallies[0])} hold, {different} with another figure" in page
    assert f"{no} do not; 20 Newsgroups {others[0]}, {others[1]} and {others[2]} of " in page
    for task in ("words_auroc", "documents_auroc"):
        for scorer in ("score", "tfidf_difference", "frequency_ratio"):
            for name in ("bbcsport", "20newsgroups"):
                (row,) = [row for row in results[name]["held_out"] if row["scorer"] == scorer]
                assert f"{row[task]:.3f}" in page, (task, scorer, name)
