"""The bundled sample is whole, labelled and attributed."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from lab.datasets import load_sample
from newfound.text.documents import Documents


@pytest.mark.parametrize("side", [0, 1])
def test_each_side_has_fifteen_intents_of_a_hundred_requests(side: int) -> None:
    documents: Documents = load_sample()[side]
    assert documents.labels is not None
    assert sorted(Counter(documents.labels).values()) == [100] * 15
    assert len(set(documents.ids)) == len(documents) == 1500
    assert documents.found == {}


def test_sides_are_banking_and_travel() -> None:
    known, novel = load_sample()
    assert {"routing", "pay_bill"} <= set(known.labels or ())
    assert {"flight_status", "lost_luggage"} <= set(novel.labels or ())
    assert not set(known) & set(novel)
    assert known.summary() == "1,500 documents from the bundled sample, banking of CLINC150"


def test_attribution_lies_beside_the_sample() -> None:
    text = (files("newfound") / "data" / "sample" / "ATTRIBUTION.txt").read_text(encoding="utf-8")
    for needed in ("Larson", "2019", "creativecommons.org/licenses/by/3.0", "Changes made"):
        assert needed in text


def test_texts_are_those_of_the_source() -> None:
    data = os.environ.get("NEWFOUND_DATA")
    if not data:
        pytest.skip("NEWFOUND_DATA does not name the folder with the corpora")
    with gzip.open(Path(data) / "clinc150" / "clinc150.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["split"] == "train"]
    for domain, documents in zip(("banking", "travel"), load_sample(), strict=True):
        source = [(r["id"], r["text"], r["label"]) for r in rows if r["domain"] == domain]
        labels = documents.labels or ()
        assert list(zip(documents.ids, documents.texts, labels, strict=True)) == source
