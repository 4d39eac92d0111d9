"""A description is one value: it does not change, and its describer only holds it."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

import newfound
from newfound.sides import Names

WHO, WHEN = ("Ann", "Bob", "Cy"), ("first", "third", "sixth", "ninth", "late", "last")
KNOWN = [f"{who} took a wicket in the {when} over" for who in WHO for when in WHEN]
NOVEL = [f"{who} scored a try after the {when} scrum" for who in WHO for when in WHEN]


@pytest.fixture(scope="module")
def describer() -> newfound.NoveltyDescriber:
    return newfound.describe(KNOWN, NOVEL, n_clauses=20, T=5, random_state=1)


def test_it_does_not_change(describer: newfound.NoveltyDescriber) -> None:
    with pytest.raises(FrozenInstanceError):
        describer.description_.n_machines = 3  # type: ignore[misc]


def test_what_a_describer_has_is_what_its_description_has(
    describer: newfound.NoveltyDescriber,
) -> None:
    description = describer.description_
    for name in ("words", "clauses", "phrases", "corpus", "evidence", "calibration", "copies"):
        assert getattr(describer, f"{name}_") is getattr(description, name)
    assert describer.n_documents_ == description.n_documents == {"known": 18, "novel": 18}
    assert describer.explain(NOVEL[0]).to_dict() == description.explain(NOVEL[0]).to_dict()


def test_another_name_makes_another_value_with_the_same_themes(
    describer: newfound.NoveltyDescriber,
) -> None:
    before = describer.description_
    named = replace(before, names=Names("cricket", "rugby"))
    assert named.explain(NOVEL[0]).names == Names("cricket", "rugby")
    assert before.explain(NOVEL[0]).names == Names() == describer.names_
    assert named.all_themes is before.all_themes


def test_names_that_are_set_are_those_of_the_next_explanation() -> None:
    describer = newfound.describe(KNOWN, NOVEL, n_clauses=20, T=5, random_state=1)
    describer.names_ = Names("cricket", "rugby")
    assert describer.description_.names == describer.explain(NOVEL[0]).names


def test_a_describer_that_was_not_fitted_has_none_of_it() -> None:
    describer = newfound.NoveltyDescriber()
    assert not hasattr(describer, "words_") and not hasattr(describer, "description_")
    with pytest.raises(ValueError, match="not fitted"):
        describer.context("try")


def test_a_saved_description_is_loaded_as_a_describer(
    describer: newfound.NoveltyDescriber, tmp_path: object
) -> None:
    path = f"{tmp_path}/rugby.newfound"
    newfound.save(describer.description_, path)
    loaded = newfound.load(path).description_
    assert loaded.words == describer.words_ and loaded.corpus is None
    assert [theme.name for theme in loaded.themes] == [theme.name for theme in describer.themes_]
