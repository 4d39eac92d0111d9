"""Rules of a list: worth reading, each once, in one order, measured honestly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from newfound import NoveltyDescriber, load_sample
from newfound.cli import app
from newfound.rules import LISTED_Q, Clause, ClauseTable, Rule, readable_rules
from report_pages import read

SMALL: dict[str, Any] = {"n_machines": 4, "n_clauses": 100, "epochs": 4, "random_state": 1}


def table(*clauses: Clause) -> ClauseTable:
    found = ClauseTable.from_clauses(clauses)
    found.n_documents = (100, 50)
    return found


class TestSelection:
    def test_variants_of_a_word_are_one_rule_that_counts_them(self) -> None:
        others = [Clause("novel", 1, ("flight",), (f"w{i}",), 1, 30 - i) for i in range(10)]
        pair = Clause("novel", 1, ("flight", "ticket"), (), 0, 9)
        other = Clause("novel", 1, ("visa",), (), 0, 5)
        found = readable_rules(table(*others, pair, other), 12)
        assert [(row.rule.plain, row.variants) for row in found] == [
            (("flight",), 10),
            (("visa",), 0),
        ]
        assert found[0].rule.negated == ("w0",)

    def test_rules_with_half_of_their_words_in_common_are_variants(self) -> None:
        first = Clause("novel", 1, ("a", "b", "c"), (), 0, 9)
        alike = Clause("novel", 1, ("a", "b", "d"), (), 0, 8)
        other = Clause("novel", 1, ("a", "e", "f"), (), 0, 7)
        found = readable_rules(table(first, alike, other), 12)
        assert [(row.rule.plain, row.variants) for row in found] == [
            (("a", "b", "c"), 1),
            (("a", "e", "f"), 0),
        ]

    def test_the_other_side_has_its_own_rules(self) -> None:
        novel = Clause("novel", 1, ("flight",), (), 0, 9)
        known = Clause("known", 1, ("flight", "card"), (), 30, 1)
        found = readable_rules(table(known, novel), 12)
        assert [row.rule.side for row in found] == ["novel", "known"]
        assert [row.base_rate for row in found] == pytest.approx([1 / 3, 2 / 3])

    def test_rules_of_negated_words_only_are_left_out_unless_asked_for(self) -> None:
        rules = table(Clause("known", 1, (), ("flight", "visa"), 90, 5))
        assert readable_rules(rules, 5) == []
        assert len(readable_rules(rules, 5, negated_only=True)) == 1

    def test_rules_no_better_than_the_base_rate_are_left_out(self) -> None:
        as_good = Clause("novel", 1, ("day",), (), 20, 10)
        better = Clause("novel", 1, ("trip",), (), 20, 11)
        found = readable_rules(table(as_good, better), 5)
        assert [row.rule.plain for row in found] == [("trip",)]

    def test_rules_better_by_chance_only_are_left_out_of_lists(self) -> None:
        lucky = Clause("novel", 1, ("trip",), (), 20, 13)
        better = Clause("novel", 1, ("visa",), (), 2, 12)
        rare = Clause("novel", 1, ("jet",), (), 0, 2)
        rules = table(lucky, better, rare)
        assert len(readable_rules(rules, 5)) == 3
        found = readable_rules(rules, 5, max_q=LISTED_Q)
        assert [row.rule.plain for row in found] == [("visa",)]

    @pytest.mark.parametrize(
        ("matches", "support", "listed"),
        [
            (17, 5, False),  # 29 %, and 33 % of all are novel
            (17, 8, False),  # better, but p = 0.16
            (17, 10, True),
            (2, 0, False),  # too few to tell chance apart
            (2, 1, True),
            (0, 0, True),
        ],
    )
    def test_a_listed_rule_is_better_on_held_out_documents(
        self, matches: int, support: int, listed: bool
    ) -> None:
        rule = Clause(
            "novel", 1, ("future",), (), 10 + matches - support, 60 + support,
            held_out_matches=matches, held_out_support=support,
        )  # fmt: skip
        assert len(readable_rules(table(rule), 5)) == 1
        assert len(readable_rules(table(rule), 5, max_q=LISTED_Q)) == listed

    @pytest.mark.parametrize("base_rate", [0.07, 1 / 3, 0.5, 0.75, 0.95])
    def test_another_right_document_never_drops_a_rule_and_a_wrong_one_never_saves_it(
        self, base_rate: float
    ) -> None:
        most = 40
        pairs = [(n, right) for n in range(most) for right in range(n + 1)]
        clauses = [
            Clause(
                "novel", 1, (f"w{n}_{right}",), (), n - right, 1300 + right,
                held_out_matches=n, held_out_support=right,
            )
            for n, right in pairs
        ]  # fmt: skip
        rules = ClauseTable.from_clauses(clauses)
        rules.n_documents = (round(20_000 * (1 - base_rate)), round(20_000 * base_rate))
        found = readable_rules(rules, len(pairs), max_q=LISTED_Q)
        listed = {(row.rule.held_out_matches, row.rule.held_out_support) for row in found}
        assert (0, 0) in listed and 0 < len(listed) < len(pairs)
        for n, right in pairs:
            if (n, right) in listed and n + 1 < most:
                assert (n + 1, right + 1) in listed
            elif n + 1 < most:
                assert (n + 1, right) not in listed

    def test_a_rule_that_does_not_hold_goes_with_its_variants(self) -> None:
        first = Clause("novel", 1, ("a",), ("x",), 22, 60, held_out_matches=17, held_out_support=5)
        alike = Clause("novel", 1, ("a",), ("y",), 12, 55, held_out_matches=9, held_out_support=9)
        other = Clause("novel", 1, ("b",), (), 10, 30, held_out_matches=9, held_out_support=9)
        found = readable_rules(table(first, alike, other), 1, max_q=LISTED_Q)
        assert [row.rule.plain for row in found] == [("b",)]

    def test_where_nothing_is_new_hardly_any_rule_is_listed(self) -> None:
        known, _ = load_sample()
        rng, listed = np.random.default_rng(5), []
        for seed in range(6):
            labels = np.array(["known", "novel"])[rng.permutation(len(known)) % 2]
            describer = NoveltyDescriber(**{**SMALL, "random_state": seed}).fit(known, labels)
            assert len(readable_rules(describer.clauses_, 5)) == 10
            listed.append(len(readable_rules(describer.clauses_, 5, max_q=LISTED_Q)))
        assert np.mean(listed) < 1

    def test_documents_that_were_held_out_take_no_part_in_the_choice(self) -> None:
        lucky = Clause("novel", 1, ("a",), (), 5, 9, held_out_matches=9, held_out_support=9)
        good = Clause("novel", 1, ("b",), (), 5, 9, held_out_matches=5, held_out_support=0)
        found = readable_rules(table(lucky, good), 5)
        assert [row.rule.plain for row in found] == [("b",)]

    @pytest.mark.slow
    def test_where_nothing_is_new_the_listed_rules_have_the_base_rate(self) -> None:
        """Split one pile at random: the listed rules are right by chance, 50 %."""
        known, _ = load_sample()
        rng, shares = np.random.default_rng(3), []
        for seed in range(24):
            labels = np.array(["known", "novel"])[rng.permutation(len(known)) % 2]
            describer = NoveltyDescriber(**{**SMALL, "random_state": seed}).fit(known, labels)
            rules = [row.rule for row in readable_rules(describer.clauses_, 5)]
            assert len(rules) == 10
            matches = sum(rule.held_out_matches for rule in rules)
            shares.append(sum(rule.held_out_support for rule in rules) / matches)
        error = np.std(shares, ddof=1) / np.sqrt(len(shares))
        assert error < 0.03
        assert abs(np.mean(shares) - 0.5) < 3 * error


class TestOneOrder:
    @pytest.fixture
    def sample(self, tmp_path: Path) -> list[str]:
        """Return a quick command that describes the sample."""
        arguments = ["describe", "--quiet", "--machines", "3", "--n-clauses", "200"]
        for side, documents in zip(("known", "novel"), load_sample(), strict=True):
            path = tmp_path / f"{side}.txt"
            path.write_text("\n".join(documents.texts), "utf-8")
            arguments += [f"--{side}", str(path)]
        return arguments

    def test_json_and_page_list_the_same_rules_in_the_same_order(
        self, tmp_path: Path, sample: list[str]
    ) -> None:
        path = tmp_path / "page.html"
        options = ["--json", "--top", "20", "--report", str(path)]
        rules = json.loads(CliRunner().invoke(app, [*sample, *options]).stdout)["rules"]
        assert {"base_rate", "variants", "held_out_precision"} <= rules[0].keys()
        assert [rule["side"] for rule in rules] == ["novel"] * 10 + ["known"] * 10
        assert all(rule["plain"] for rule in rules)
        listed = [row for row in read(path)["rules"]["rows"] if row["listed"]]
        for side in ("novel", "known"):
            shown = [row["plain"] for row in listed if row["side"] == side]
            assert shown[:10] == [rule["plain"] for rule in rules if rule["side"] == side]
            assert len(shown) == len({tuple(words) for words in shown})

    def test_the_terminal_shows_the_base_rate_and_cuts_long_rules(self, sample: list[str]) -> None:
        printed = CliRunner().invoke(app, [*sample, "--top", "6"]).stdout
        assert "base rate" in " ".join(printed.split())
        rules = printed.split("Rules that separate the two best")[1]
        assert rules.count("→") == 6


def test_a_long_rule_is_cut_by_whole_words() -> None:
    rule = Rule("novel", 1, ("alpha", "beta"), tuple(f"word{i}" for i in range(40)))
    for length in range(20, 400, 7):
        text = rule.shortened(length)
        assert len(text) <= length
        shown = text.split(" AND ")
        hidden = 0
        if shown[-1].endswith("others"):
            hidden = int(shown.pop().removeprefix("NOT ").split()[0])
        assert len(shown) + hidden == 42
    assert rule.shortened(10_000) == rule.conditions()
