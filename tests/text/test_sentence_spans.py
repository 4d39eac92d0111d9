"""The sentences of a text that are judged one by one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.text.sentences import sentence_spans

TEXTS = st.one_of(st.text(), st.text(".!? \n-*1JDr'\")aé。…", max_size=300))


def sentences(text: str) -> list[str]:
    return [text[begin:end] for begin, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained. Nobody came!", ["It rained.", "Nobody came!"]),
        ("Dr. Smith met J. R. Doe. Why?", ["Dr. Smith met J. R. Doe.", "Why?"]),
        ("See e.g. fig. 3 of vol. 2. And then?", ["See e.g. fig. 3 of vol. 2.", "And then?"]),
        ("In the U.S. Army etc. and so on.", ["In the U.S. Army etc. and so on."]),
        (
            "It ends at 5 p.m. We left. No. Never.",
            ["It ends at 5 p.m.", "We left.", "No.", "Never."],
        ),
        ("And so did I. Then we left.", ["And so did I.", "Then we left."]),
        ("Buy:\n- milk\n- tea\n1. go\n2) come", ["Buy:", "- milk", "- tea", "1. go", "2) come"]),
        ("wrapped\nlines are one. two", ["wrapped\nlines are one.", "two"]),
        ("Mr.\n\nSmith", ["Mr.", "Smith"]),
        ("两个梨！？一个苹果。 End", ["两个梨！？", "一个苹果。", "End"]),
        (" \n ", []),
        ("Mr.", ["Mr."]),
    ],
)
def test_sentences_are_found(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(TEXTS)
def test_sentences_have_all_of_a_text_but_white_space(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
    assert all(begin < end for begin, end in spans)
    assert all(last <= begin for (_, last), (begin, _) in pairwise(spans))
