"""Words are shown with the capitals that texts give them."""

from __future__ import annotations

import json

import numpy as np
from typer.testing import CliRunner

import newfound
from newfound.cli import app
from newfound.show.collect import Limits, collect
from newfound.stories.names import named_as_read
from newfound.stories.themes import Theme, ThemeRule, Themes
from newfound.text.spelling import SpellingCounter, spelled_form
from newfound.text.tokens import Token
from newfound.text.vectorizer import TextVectorizer


def spellings(texts: list[str]) -> dict[str, str]:
    vectorizer = TextVectorizer(min_df=1).fit(texts)
    counter = SpellingCounter(vectorizer.vocabulary_)
    for text in texts:
        counter.read(text, vectorizer.tokens(text))
    return counter.spellings()


def test_names_acronyms_and_mixed_spellings_keep_their_capitals():
    found = spellings(["we saw Wales and the WA fires on GnuPG", "then Wales, WA and GnuPG lost"])
    assert found["wale"] == "Wale"  # too few texts to tell that it is a name
    assert found["wa"] == "WA"
    assert found["gnupg"] == "GnuPG"
    assert found["fire"] == "fire"


def test_a_capital_at_the_beginning_of_a_sentence_does_not_count():
    found = spellings(["Smoke rose. Smoke fell.\n\nSmoke: Smoke", "Smoke rose. “Smoke” fell"])
    assert found["smoke"] == "smoke"


def test_a_word_written_both_ways_stays_in_lower_case():
    assert spellings(["on the Bill", "on the bill", "on a Bill", "a Bill"])["bill"] == "bill"


def test_titles_say_nothing_about_names_but_keep_acronyms():
    found = spellings(["Man Charged Over SARS Scare", "Police Say Man Had SARS Fever"] * 3)
    assert found["man"] == "man"
    assert found["sars"] == "SARS"


def test_a_text_of_capitals_only_does_not_count():
    found = spellings(["THE WAR GOES ON AND ON", "and the war goes on", "and a war goes on"])
    assert found["war"] == "war"


def test_forms_have_the_capitals_of_their_word():
    assert spelled_form("americans", "american", "American") == "Americans"
    assert spelled_form("went", "go", "Go") == "Went"


def test_a_word_that_capitals_would_change_stays_as_it_is():
    counter = SpellingCounter(["straße"])
    for _ in range(3):
        counter.read("die STRASSE", [Token("straße", 4, 11, "STRASSE")])
    assert counter.spellings() == {"straße": "straße"}


def test_no_theme_has_the_name_of_an_earlier_one():
    rows, none = np.arange(3), np.arange(0)
    texts = ["jesus christ", "jesus world manifest", "jesus world manifest"]
    first, second = (
        Theme("", words, (ThemeRule(rule, 0, 3),), rows, none, 1.0, 0.0, 5.0, (), ())
        for words, rule in (
            ((("jesus", 9.0), ("christ", 8.0)), ("jesus",)),
            ((("jesus", 9.0), ("world", 8.0), ("manifest", 7.0)), ("world",)),
        )
    )
    tokens = TextVectorizer().fit(texts).tokens
    found = named_as_read(Themes((first, second)), texts, tokens)
    names = [theme.name for theme in found.themes]
    assert len(set(names)) == 2 and all(name in " ".join(texts) for name in names)


def test_names_of_themes_have_capitals_and_rules_and_words_do_not(tmp_path):
    known = [f"the river near {place} rose by a foot" for place in "abcdefghijklmnopqrst"] * 3
    novel = [f"in town {place} the mayor met Angela Merkel of the CDU" for place in "uvwxyz"] * 12
    described = newfound.describe(known, novel, random_state=1, fold_copies=False)
    name = described.themes_[0].name
    assert "Merkel" in name or "CDU" in name or "Angela" in name
    assert "merkel" in described.words_["word"].tolist()
    assert described.spellings(["merkel", "cdu", "mayor"]) == {
        "merkel": "Merkel",
        "cdu": "CDU",
        "mayor": "mayor",
    }
    described.save(tmp_path / "model.nf")
    assert newfound.load(tmp_path / "model.nf").themes_[0].name == name
    assert all(word.islower() for rule in described.themes_[0].rules for word in rule.words)


def test_a_word_at_the_beginning_of_a_line_does_not_count():
    assert spellings(["good\nBad\ngood\nBad news", "all\nBad\nnews"])["bad"] == "bad"


def two_piles() -> tuple[list[str], list[str]]:
    places = ["up", "down", "left", "right"]
    known = [f"we hear of rain and wind, {place}" for place in places] * 10
    return known, [f"we hear of Merkel and of rain, {place}" for place in places] * 10


def test_tables_of_words_have_capitals_and_json_has_none(tmp_path):
    options = ["--seed", "1", "--jobs", "1", "--keep-copies", "-q"]
    for name, texts in zip(("known", "novel"), two_piles(), strict=True):
        (tmp_path / name).write_text("\n".join(texts), "utf-8")
        options += [f"--{name}", str(tmp_path / name), "--format", "txt"]
    shown, made = (
        CliRunner().invoke(app, ["describe", *options, *more]) for more in ([], ["--json"])
    )
    assert shown.exit_code == made.exit_code == 0, shown.output
    before_rules = shown.stdout.split("→")[0].rsplit("\n", 1)[0]
    table = before_rules[before_rules.index("Words that are new") :]
    assert "Merkel" in table and "merkel" not in table
    assert "merkel" in made.stdout and json.loads(made.stdout)["themes"][0]["name"] == "Merkel"


def test_the_report_has_capitals():
    known, novel = two_piles()
    described = newfound.describe(known, novel, random_state=1, fold_copies=False)
    columns = collect(described.description_, described.corpus_, Limits())["words"]["columns"]
    assert columns["written"][columns["word"].index("merkel")] == "Merkel"
