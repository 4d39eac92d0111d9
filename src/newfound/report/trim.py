"""Make the data of a page smaller, so that the page fits its size limit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from newfound.report.documents import choose_documents
from newfound.report.limits import Limits
from newfound.report.timeline import with_fewer_bins
from newfound.report.words import choose
from newfound.sides import SIDES

__all__ = ["trim"]

_SPACE = re.compile(r"\s")
Data = dict[str, Any]


def trim(data: Mapping[str, Any], limits: Limits) -> Data:
    """Return the data of a page with no more of everything than some limits say.

    What is kept is what `newfound.report.collect` would have chosen with these limits; only the
    sentences of examples keep their length.

    Parameters
    ----------
    data : mapping
        What `newfound.report.collect`, `collect_detection` or `collect_periods` returned.
    limits : Limits
        The new limits, not larger than those that the data were collected with.

    Returns
    -------
    dict
    """
    kept: Data = dict(data)
    numbers: dict[int, int] = {}
    if data.get("words") is not None:
        kept["words"], numbers = _words(data["words"], limits)
        kept["cards"] = _cards(data, kept["words"], numbers, limits)
        kept["rules"] = _rules(data["rules"], kept["cards"].values(), limits)
        kept["examples"] = _examples(data["examples"], kept["cards"].values(), numbers)
        kept["summary"] = _summary(data["summary"], numbers)
        _parts(kept, numbers, limits)
    if data.get("themes") is not None:
        kept["themes"] = _themes(data["themes"], numbers, limits)
    if data.get("periods") is not None:
        kept["periods"] = _periods(data["periods"], limits)
    if data.get("documents") is not None:
        kept["documents"] = _documents(data["documents"], numbers, limits)
    return with_fewer_bins(kept, limits.bins)


def _themes(themes: Data, numbers: Mapping[int, int], limits: Limits) -> Data:
    """Return the first themes, each with the first of its words, rules and documents."""
    rows = []
    for theme in themes["rows"][: limits.themes]:
        documents = theme["documents"]
        if documents is not None:
            documents = [
                _renumbered(_shortened(document, limits.theme_document), numbers)
                for document in documents[: limits.theme_documents]
            ]
        rows.append(
            {
                **theme,
                "words": theme["words"][: limits.theme_words],
                "rules": theme["rules"][: limits.theme_rules],
                "joined": theme["joined"][: limits.joined],
                "documents": documents,
            }
        )
    return {**themes, "rows": rows}


def _periods(periods: Data, limits: Limits) -> Data:
    """Return the last periods, each with its first themes and words."""
    rows = [
        {
            **row,
            "themes": _themes(row["themes"], {}, limits),
            "words": row["words"][: limits.period_words],
        }
        for row in periods["rows"][-limits.periods :]
    ]
    return {**periods, "rows": rows}


def _words(words: Data, limits: Limits) -> tuple[Data, dict[int, int]]:
    """Return the words that are kept, and their new numbers by their old ones."""
    columns = words["columns"]
    rows = _choose(columns, limits.words)
    shown: Data = {name: [values[i] for i in rows] for name, values in columns.items()}
    shown["forms"] = [forms[: limits.forms] for forms in shown["forms"]]
    return {**words, "columns": shown}, {old: new for new, old in enumerate(rows)}


def _choose(columns: Mapping[str, Sequence[Any]], most: int) -> list[int]:
    novelty = np.array([np.nan if x is None else x for x in columns["novelty"]], np.float64)
    known, novel = (np.array(columns[f"documents_{side}"], np.int64) for side in SIDES)
    rows: list[int] = choose(novelty, known + novel, most).tolist()
    return rows


def _cards(
    data: Mapping[str, Any], words: Data, numbers: Mapping[int, int], limits: Limits
) -> Data:
    """Return the cards of the words that matter most, by their new numbers."""
    columns = words["columns"]
    new = [i for i, found in enumerate(columns["new"]) if found][: limits.cards // 2]
    matter = {*new, *_choose(columns, limits.cards - len(new))}
    names, sides = set(columns["word"]), [rule["side"] for rule in data["rules"]["rows"]]
    made = {}
    for old, new_number in numbers.items():
        card = data["cards"].get(str(old))
        if card is None or new_number not in matter:
            continue
        shown = dict(card)
        shown["company"] = {
            side: [partner for partner in card["company"][side] if partner[0] in names][
                : limits.company
            ]
            for side in SIDES
        }
        shown["rules"] = _first_of_sides(card["rules"], sides, limits.card_rules)
        if "examples" in card:
            shown["examples"] = {side: card["examples"][side][: limits.examples] for side in SIDES}
        made[str(new_number)] = shown
    return made


def _first_of_sides(numbers: Iterable[int], sides: Sequence[str], most: int) -> list[int]:
    """Return the first rules of each side, in their order."""
    left = dict.fromkeys(SIDES, most)
    chosen = []
    for number in numbers:
        if left[sides[number]] > 0:
            left[sides[number]] -= 1
            chosen.append(number)
    return chosen


def _rules(rules: Data, cards: Iterable[Data], limits: Limits) -> Data:
    """Keep the first rules and those of the cards; cards get the new numbers."""
    cards = list(cards)
    sides = [rule["side"] for rule in rules["rows"]]
    first = _first_of_sides(range(len(sides)), sides, -(-limits.rules // 2))
    rows = list(dict.fromkeys([*first, *(number for card in cards for number in card["rules"])]))
    places = {old: new for new, old in enumerate(rows)}
    for card in cards:
        card["rules"] = [places[number] for number in card["rules"]]
    return {**rules, "rows": [_rule(rules["rows"][number], limits.literals) for number in rows]}


def _rule(rule: Data, literals: int) -> Data:
    plain = rule["plain"][:literals]
    negated = rule["negated"][: max(literals - len(plain), 2)]
    cut = len(rule["plain"]) + len(rule["negated"]) - len(plain) - len(negated)
    return {**rule, "plain": plain, "negated": negated, "more": rule["more"] + cut}


def _examples(
    examples: list[Data] | None, cards: Iterable[Data], numbers: Mapping[int, int]
) -> list[Data] | None:
    """Keep the sentences of the cards; cards get the new numbers."""
    if examples is None:
        return None
    places: dict[int, int] = {}
    for card in cards:
        card["examples"] = {
            side: [places.setdefault(old, len(places)) for old in card["examples"][side]]
            for side in SIDES
        }
    return [_renumbered(examples[old], numbers) for old in places]


def _summary(summary: Data, numbers: Mapping[int, int]) -> Data:
    pairs = zip(summary["words"], summary["names"], strict=True)
    kept = [(numbers[word], name) for word, name in pairs if word in numbers]
    return {**summary, "words": [word for word, _ in kept], "names": [name for _, name in kept]}


def _parts(kept: Data, numbers: Mapping[int, int], limits: Limits) -> None:
    """Cut phrases, senses, the context matrix and the pairs to words that are kept."""
    names = set(kept["words"]["columns"]["word"])
    phrases = kept["phrases"]
    kept["phrases"] = {**phrases, "rows": phrases["rows"][: limits.phrases]}
    if kept["senses"] is not None:
        senses = [sense for sense in kept["senses"] if sense["word"] in names]
        kept["senses"] = [_sense(sense, numbers) for sense in senses[: limits.senses]]
    kept["context"] = _matrix(kept["context"], names, limits.matrix)
    pairs = [pair for pair in kept["pairs"] if pair["a"] in names and pair["b"] in names]
    kept["pairs"] = pairs[: limits.pairs]


def _sense(sense: Data, numbers: Mapping[int, int]) -> Data:
    def partner(row: Data) -> Data:
        example = row["example"]
        return {**row, "example": None if example is None else _renumbered(example, numbers)}

    return {**sense, **{side: [partner(row) for row in sense[side]] for side in SIDES}}


def _matrix(context: Data | None, names: set[str], most: int) -> Data | None:
    if context is None:
        return None
    rows = [i for i, word in enumerate(context["words"]) if word in names][:most]
    if len(rows) < 2:
        return None
    made: Data = {"words": [context["words"][i] for i in rows]}
    for side in (*SIDES, "both"):
        scores = context[side]
        made[side] = {
            "F_i": [scores["F_i"][i] for i in rows],
            **{
                name: [[scores[name][i][j] for j in rows] for i in rows]
                for name in ("F_ij", "lift")
            },
        }
    return made


def _documents(documents: Data, numbers: Mapping[int, int], limits: Limits) -> Data:
    rows = documents["rows"]
    novel = np.array([row["novel"] for row in rows], bool)
    chosen = choose_documents(np.arange(len(rows)), novel, limits.documents).tolist()
    shown = [_renumbered(_shortened(rows[i], limits.document), numbers) for i in chosen]
    return {**documents, "rows": shown}


def _shortened(excerpt: Data, most: int) -> Data:
    """Cut an excerpt at a space before `most` characters."""
    text = "".join(piece if isinstance(piece, str) else piece[0] for piece in excerpt["pieces"])
    if len(text) <= most:
        return excerpt
    spaces = [space.start() for space in _SPACE.finditer(text, most // 2, most)]
    left = spaces[-1] if spaces else most
    pieces: list[Any] = []
    for piece in excerpt["pieces"]:
        surface = piece if isinstance(piece, str) else piece[0]
        if len(surface) > left:
            pieces += [surface[:left]] if left else []
            break
        pieces.append(piece)
        left -= len(surface)
    return {**excerpt, "pieces": pieces, "after": True}


def _renumbered(excerpt: Data, numbers: Mapping[int, int]) -> Data:
    """Return marked words their new numbers; a word that is not kept becomes plain text."""
    pieces: list[Any] = []
    for piece in excerpt["pieces"]:
        if isinstance(piece, str):
            shown: Any = piece
        elif piece[1] in numbers:
            shown = [piece[0], numbers[piece[1]], *piece[2:]]
        else:  # a word with a weight of its own is marked without a number, too
            shown = [piece[0], -1, *piece[2:]] if len(piece) > 2 else piece[0]
        if isinstance(shown, str) and pieces and isinstance(pieces[-1], str):
            pieces[-1] += shown
        else:
            pieces.append(shown)
    return {**excerpt, "pieces": pieces}
