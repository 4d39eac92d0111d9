"""Words without which a novel text would be known: the search in the core, and its definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import newfound
from newfound.detection.verdict import CANDIDATES, Verdict, is_plain, smallest_removal

ODD = [
    "the 'zyxw' transfer of vuts 6-4 from savings",
    "zyxw\nvuts\ntransfer money",  # without vuts, a blank line parts zyxw and transfer
    "zyxw_transfer vuts--money",
    "naïve zyxw’s transfer … “vuts” money",
    "转账 zyxw 到储蓄 money",
]


@pytest.fixture(scope="module", params=[True, False], ids=["labels", "no labels"])
def detector(request: pytest.FixtureRequest) -> newfound.NoveltyDetector:
    known, _ = newfound.load_sample()
    made = newfound.NoveltyDetector(random_state=1, epochs=3)
    return made.fit(known.texts[::8], known.labels[::8] if request.param else None)


def by_definition(detector: newfound.NoveltyDetector, verdict: Verdict) -> tuple[str, ...] | None:
    """Return what the search finds if it scores the shorter texts themselves."""

    def margins(removals: Sequence[Sequence[str]]) -> Any:
        scores = detector.score_texts([verdict.without(words) for words in removals])
        above = scores.novelty - detector.calibration_.thresholds(scores.nearest)
        return np.where(scores.has_words, above, np.inf)

    most, novel = len(verdict.words) - 1, [w.word for w in verdict.words if w.contribution > 0]
    found = smallest_removal(novel, margins, min(most, len(novel)))
    if found is None and len(novel) < most:
        found = smallest_removal([w.word for w in verdict.words], margins, most)
    roles = {word.word: word.role for word in verdict.words}
    for preferred in ({"never"}, {"never", "elsewhere"}):  # among sets as small
        if found and not {roles[word] for word in found} <= preferred:
            new = [word for word in novel if roles[word] in preferred]
            other = smallest_removal(new, margins, len(found)) if len(new) >= len(found) else None
            found = found if other is None else other
            if other is not None:
                break
    return found


def test_the_core_finds_what_is_defined(detector: newfound.NoveltyDetector) -> None:
    known, novel = newfound.load_sample()
    texts = [*novel.texts[:300:5], *known.texts[1:200:5], *ODD]
    found = [detector.explain(text) for text in texts]
    of_novel = [verdict for verdict in found if verdict.verdict == "novel"]
    assert len(of_novel) > 15
    lengths = set()
    for verdict in of_novel:
        assert verdict.counterfactual == by_definition(detector, verdict), verdict.text
        lengths.add(None if verdict.counterfactual is None else len(verdict.counterfactual))
        if verdict.counterfactual:
            without = verdict.without(verdict.counterfactual)
            assert detector.predict([without])[0] != "novel", verdict.text
    assert len(lengths) > 2


def test_more_words_than_are_tried_at_a_time(detector: newfound.NoveltyDetector) -> None:
    _, novel = newfound.load_sample()
    verdict = detector.explain(" ".join(novel.texts[:400:20]))
    assert verdict.verdict == "novel"
    assert sum(word.contribution > 0 for word in verdict.words) > CANDIDATES
    assert verdict.counterfactual == by_definition(detector, verdict)


def test_texts_that_read_otherwise_without_a_word_are_not_plain() -> None:
    assert not any(is_plain(text) for text in (ODD[0], ODD[2], ODD[4]))
    assert is_plain(ODD[1])  # the new blank line is looked for afterwards
    assert is_plain("Don't pay – my “card” is lost, isn’t it?")
