"""Words of scripts that are written without spaces, and emoji.

Chinese characters become overlapping pairs, as search engines index them: 日本代表 is 日本,
本代 and 代表. A run of katakana is one word, and so is a run of hiragana. Thai, Lao, Khmer and
Burmese are cut into clusters of a consonant with its vowels and marks, and these become
overlapping pairs. No dictionary is needed, and every word keeps its place in the text.
"""

from __future__ import annotations

import re

__all__ = [
    "EMOJI",
    "UNSPACED",
    "UNSPACED_LETTERS",
    "is_emoji",
    "plain_emoji",
    "unspaced_words",
]

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_SOUTH_EAST = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f"

UNSPACED_LETTERS = f"{_HAN}{_HIRAGANA}{_KATAKANA}{_SOUTH_EAST}"  # within a character class
UNSPACED = re.compile(f"[{UNSPACED_LETTERS}]")
_RUN = re.compile(
    rf"(?P<han>[{_HAN}]+)|(?P<kana>[{_HIRAGANA}]+|[{_KATAKANA}]+)|(?P<south_east>[{_SOUTH_EAST}]+)"
    rf"|[^{UNSPACED_LETTERS}]+"
)
# A vowel that is written before its consonant, the consonant, and the vowels and marks on it. A
# Khmer or Burmese sign that stacks consonants takes the next one along.
_CLUSTER = re.compile(
    r"[\u0e40-\u0e44\u0ec0-\u0ec4]?"
    r"[^\u0e30-\u0e3a\u0e40-\u0e4e\u0eb0-\u0ebc\u0ec0-\u0ece\u102b-\u103e\u17b4-\u17d3]"
    r"(?:[\u1039\u17d2].|[\u0e30-\u0e3a\u0e45\u0e47-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ece\u102b-\u1038"
    r"\u103a-\u103e\u17b4-\u17d1\u17d3])*|."
)

# Emoji by their default appearance, and characters that the variation selector makes emoji.
_PICTURE = (
    "[\U0001f004\U0001f0cf\U0001f18e\U0001f191-\U0001f19a\U0001f300-\U0001f3fa\U0001f400-\U0001faff"
    "\u231a\u231b\u23e9-\u23ec\u23f0\u23f3\u25fd\u25fe\u2614\u2615\u2639\u263a\u2648-\u2653\u2665\u267f\u2693\u26a1"
    "\u26aa\u26ab\u26bd\u26be\u26c4\u26c5\u26ce\u26d4\u26ea\u26f2\u26f3\u26f5\u26fa\u26fd\u2705\u270a\u270b"
    "\u2728\u274c\u274e\u2753-\u2755\u2757\u2764\u2795-\u2797\u27b0\u27bf\u2b1b\u2b1c\u2b50\u2b55]"
    "|[\u00a9\u00ae\u203c-\u3299](?=\ufe0f)"
)
_TONE = "[\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
EMOJI = rf"(?:[\U0001f1e6-\U0001f1ff]{{2}}|(?:{_PICTURE}){_TONE}*(?:\u200d(?:{_PICTURE}){_TONE}*)*)"
_EMOJI = re.compile(EMOJI)
_VARIANTS = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")


def is_emoji(text: str) -> bool:
    """Return whether a text is one emoji.

    Examples
    --------
    >>> [is_emoji(text) for text in ("👍🏽", "👩‍🚀", "🇳🇴", "a", "👍👍")]
    [True, True, True, False, False]
    """
    return _EMOJI.fullmatch(text) is not None


def plain_emoji(emoji: str) -> str:
    """Return an emoji without the tone of its skin and its variation.

    Examples
    --------
    >>> plain_emoji("👍🏽")
    '👍'
    """
    return _VARIANTS.sub("", emoji) or emoji


def unspaced_words(word: str) -> list[tuple[int, int]]:
    """Return start and end of the words in a run that has a script without spaces.

    Examples
    --------
    >>> text = "日本代表2024サッカーの試合"
    >>> [text[start:end] for start, end in unspaced_words(text)]
    ['日本', '本代', '代表', '2024', 'サッカー', 'の', '試合']
    """
    found: list[tuple[int, int]] = []
    for run in _RUN.finditer(word):
        start, end = run.span()
        if run["han"]:
            places = list(range(start, end + 1))
        elif run["south_east"]:
            places = [start + part.start() for part in _CLUSTER.finditer(run[0])] + [end]
        else:
            found.append((start, end))
            continue
        if len(places) == 2:
            found.append((start, end))
        else:
            found += zip(places, places[2:], strict=False)
    return found
