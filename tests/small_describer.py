"""Two small piles of documents and what describes them quickly, for tests of the describer."""

from __future__ import annotations

from typing import Any

from newfound.description.describer import NoveltyDescriber

KNOWN = [
    "The wicket fell in the second over.",
    "Two wickets for the spinner, and England won the match.",
    "A bat, a ball and an over of spin bowling.",
    "The batsman hit the ball for six in the last over.",
] * 8
NOVEL = [
    "A scrum near the line, and then a try!",
    "The rugby match had four tries.",
    "England lost the scrum and the rugby match.",
    "A try, a conversion, and rugby fans were happy.",
] * 8
SMALL: dict[str, Any] = {"n_clauses": 40, "T": 10, "random_state": 1, "fold_copies": False}


def restored(describer: NoveltyDescriber, **options: Any) -> NoveltyDescriber:
    return NoveltyDescriber.from_state(describer.to_state(**options))


def same(one: NoveltyDescriber, other: NoveltyDescriber) -> bool:
    text = "England hit a ball over the scrum; try rugby."
    return (
        one.words_ == other.words_
        and list(one.clauses_) == list(other.clauses_)
        and one.phrases_ == other.phrases_
        and one.n_machines_ == other.n_machines_
        and one.context("try").to_dict() == other.context("try").to_dict()
        and one.explain(text).to_dict() == other.explain(text).to_dict()
        and one.n_documents_ == other.n_documents_
    )
