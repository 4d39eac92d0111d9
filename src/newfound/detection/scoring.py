"""The score of a text: five parts of words, compared with known classes, and two of meaning.

The nearest class is the one that the rules name, if they name classes about as well as the linear
classifier does (see `newfound.detection.learning`), and the one of the linear classifier otherwise,
and where no rule matches. Four parts are those of `newfound.detection.class_statistics`; the fifth
is minus the strength of the rules of the class. Of each, what is expected of a known document of
that length is subtracted; then it is divided by its spread over known documents and weighted.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound import _core
from newfound.detection.calibration import PARTS, Calibration, Scales
from newfound.detection.class_statistics import ELSEWHERE, NEAREST, PRIOR, ClassStatistics
from newfound.detection.meaning import MEANING_PARTS, Meaning
from newfound.detection.split import KNOWN, NOVEL, has_classes
from newfound.rules.weighted import WeightedRules
from newfound.sides import UNCLEAR
from newfound.stories.clusters import KnownGroups
from newfound.text.bags import BagReader, Bags
from newfound.text.courtesies import is_small_talk, without_courtesies
from newfound.text.encoding import TokenizedTexts
from newfound.text.spelling import Spelling
from newfound.text.tokens import has_letter
from newfound.text.validation import check_texts
from newfound.text.vectorizer import TextVectorizer

__all__ = ["CANDIDATES", "Judgement", "Scorer", "Scores", "WordSequence"]

CANDIDATES = 24  # words whose removal is tried in each step
_BATCH = 20_000  # texts that are scored at a time,
_MAX_SCORES = 20_000_000  # and at most so many scores of classes
_FEW = 3  # words of a text that may be small talk
_MIN_UNLIKE, _UNLIKE = 4, 0.6  # from so many words on, and such a share of them unseen
_MAX_WORDS = 1 << 16  # word forms that are remembered
_CACHES = {"_reader", "_native", "_few_words", "by_words"}


@dataclass(frozen=True)
class Scores:
    """Texts that were read and scored.

    `parts` has what each part adds to the novelty, in the order of `Scorer.part_names`, `nearest`
    the index of the nearest class, and `by_rules` whether rules named it; otherwise the linear
    classifier did. `short` says which texts are too short to be of a class; see `Scorer.is_short`.
    """

    bags: Bags
    parts: NDArray[np.float64]
    nearest: NDArray[np.int64]
    by_rules: NDArray[np.bool_]
    classes: NDArray[Any]
    short: NDArray[np.bool_]

    @cached_property
    def novelty(self) -> NDArray[np.float64]:
        """The sum of the parts: 0 is an average known document of its length."""
        # Not a product of matrices, which rounds a single row differently from one among many.
        total: NDArray[np.float64] = self.parts.sum(axis=1)
        return total

    @property
    def has_words(self) -> NDArray[np.bool_]:
        """Which texts have any words; the others cannot be judged."""
        has: NDArray[np.bool_] = self.bags.n_words > 0
        return has

    @cached_property
    def status(self) -> NDArray[np.object_]:
        """What asks for care: "short", "unlike" or "no words"; "ok" if nothing does.

        "unlike" is a text of which most words were never seen.
        """
        bags = self.bags
        status = np.full(len(self), "ok", dtype=object)
        status[(bags.n_words >= _MIN_UNLIKE) & (bags.unseen_words >= _UNLIKE * bags.n_words)] = (
            "unlike"
        )
        status[self.short] = "short"
        status[~self.has_words] = "no words"
        return status

    def __len__(self) -> int:
        return len(self.nearest)

    def judged(self, calibration: Calibration) -> Judgement:
        """Return what the held-back documents say of these scores."""
        return Judgement(self, calibration)


@dataclass(frozen=True)
class Judgement:
    """What held-back known documents say of the scores of texts."""

    scores: Scores
    calibration: Calibration

    @cached_property
    def p_values(self) -> NDArray[np.float64]:
        """How rare so high a novelty is among known documents; 1 for a text without words."""
        scores = self.scores
        return self.calibration.p_values(scores.novelty, scores.nearest, scores.has_words)

    @cached_property
    def novel(self) -> NDArray[np.bool_]:
        """Which texts are novel."""
        return self.calibration.is_novel(self.p_values)

    @cached_property
    def classes(self) -> NDArray[np.object_]:
        """The nearest known class; None where there are no labels, and for a text that has none.

        That is one without words, and a short one.
        """
        known = self.scores.classes.astype(object)
        names: NDArray[np.object_] = known[self.scores.nearest]
        names[~self.scores.has_words | self.scores.short] = None
        return names if has_classes(self.scores.classes) else np.full(len(names), None)

    def verdict(self, i: int) -> str:
        """Return "novel" or "known", or `UNCLEAR` for a text without words."""
        return NOVEL if self.novel[i] else KNOWN if self.scores.has_words[i] else UNCLEAR

    def labels(self) -> NDArray[np.object_]:
        """Return the known class of each text, or "novel"; None for one without words or short."""
        known = self.scores.classes.astype(object)
        labels: NDArray[np.object_] = known[self.scores.nearest]
        if has_classes(known):
            labels[self.scores.short] = None
        labels[self.novel] = NOVEL
        labels[~self.scores.has_words] = None
        return labels


@dataclass(frozen=True)
class WordSequence:
    """The words of a text in their order.

    `columns` has the column of each distinct word, -1 for one never seen; `places` which of these
    words each place of the text has, -1 where neighbours are no pair.
    """

    columns: Mapping[str, int]
    places: Sequence[int]


class Scorer:
    """Reads and scores texts; knows the words, the statistics and the rules of known classes.

    A scorer is not changed once it is made; `newfound.detection.learning` makes them.

    There are no rules where there is one class; then rules of groups of known documents explain
    texts.
    """

    def __init__(
        self,
        classes: NDArray[Any],
        vectorizer: TextVectorizer,
        statistics: ClassStatistics,
        rules: WeightedRules | None,
        scales: Scales | None = None,
        *,
        correct_typos: bool = True,
        by_rules: bool = True,
        groups: KnownGroups | None = None,
        meaning: Meaning | None = None,
    ) -> None:
        self.classes, self.vectorizer, self.statistics = classes, vectorizer, statistics
        self.rules, self.by_rules = rules, by_rules
        self.scales = scales or Scales.none()
        self.groups, self.meaning = groups, meaning
        self.terms = list(vectorizer.vocabulary_)
        self.spelling = Spelling.of(vectorizer, long=statistics.is_long) if correct_typos else None
        self._words: dict[str, tuple[str, str | None]] = {}
        self.held_back_terms: Mapping[str, int] = {}

    @cached_property
    def _reader(self) -> BagReader:
        return BagReader(self.vectorizer, self.spelling, all_words=self.statistics.is_long)

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind the caches and the core's part, which cannot be pickled."""
        state = {k: v for k, v in self.__dict__.items() if k not in _CACHES}
        return {**state, "_words": {}}

    def read(self, texts: Iterable[str]) -> Bags:
        """Read texts to bags of words and pairs, without courtesies; see `essential`."""
        if isinstance(texts, TokenizedTexts):
            return self.with_vectors(self._reader.read(texts), texts.texts)
        kept = list(check_texts(texts))
        return self.with_vectors(self._reader.read(map(self.essential, kept)), kept)

    def with_vectors(self, bags: Bags, texts: Sequence[str]) -> Bags:
        """Return the bags of texts with their vectors, if there is an encoder."""
        if self.meaning is None:
            return bags
        return replace(bags, vectors=self.meaning.encoded(self.meant(texts)))

    def meant(self, texts: Iterable[str]) -> list[str]:
        """Return texts as an encoder reads them: without courtesies and odd spaces."""
        return [" ".join(self.essential(text).split()) for text in texts]

    @cached_property
    def by_words(self) -> Scorer:
        """The same scorer without its encoder: for parts of texts, which would take long."""
        return self if self.meaning is None else self.with_meaning(None)

    def with_meaning(self, meaning: Meaning | None) -> Scorer:
        """Return the same scorer with another meaning, or with none."""
        other = copy.copy(self)
        other.__dict__.pop("by_words", None)
        other.meaning = meaning
        return other

    @property
    def part_names(self) -> tuple[str, ...]:
        """The names of the parts of the novelty."""
        return PARTS if self.meaning is None else PARTS + MEANING_PARTS

    def essential(self, text: str) -> str:
        """Return a text of the same length, with spaces in place of greetings and signature.

        They weigh little in long texts, which are read as they are.
        """
        if self.statistics.is_long:
            return text
        return without_courtesies(text, self.vectorizer.language)

    def corrected(self, form: str) -> str:
        """Return a word form as it is read: the known spelling of a typing error."""
        return form if self.spelling is None else self.spelling.corrected(form)

    def read_word(self, form: str) -> tuple[str, str | None]:
        """Return a word form as it is read, and its term; None for a word that is left out."""
        found = self._words.get(form)
        if found is None:
            known = self.corrected(form)
            if len(self._words) >= _MAX_WORDS:
                self._words.clear()
            term = self.vectorizer.term(known)
            seen = self.statistics.is_long or term in self.vectorizer.vocabulary_
            if not seen and not has_letter(term or ""):
                term = None
            found = self._words[form] = known, term
        return found

    def score(self, bags: Bags, progress: Callable[[int], None] | None = None) -> Scores:
        """Score texts that were read.

        `progress` is called after each batch with the number of texts scored so far.
        """
        n, step = len(bags), min(_BATCH, max(_MAX_SCORES // self.statistics.n_classes, 1))
        parts, nearest = np.zeros((n, len(self.part_names))), np.zeros(n, np.int64)
        by_rules = np.zeros(n, bool)
        for start in range(0, n, step):
            rows = slice(start, start + step)
            some = bags if n <= step else bags.part(start, min(start + step, n))
            raw, nearest[rows], by_rules[rows] = self._parts(some, by_rules=self.by_rules)
            parts[rows, : len(PARTS)] = (
                raw - self.scales.centres(some.n_words)
            ) * self.scales.scale
            if self.meaning is not None:
                assert some.vectors is not None, "the texts were read without the encoder"
                parts[rows, len(PARTS) :] = self.meaning.parts(some.vectors)
            if progress is not None:
                progress(min(start + step, n))
        short = self.is_short(bags, nearest)
        return Scores(bags, parts, nearest, by_rules, self.classes, short)

    def is_short(self, bags: Bags, nearest: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which texts are too short to be of their nearest class.

        These are texts of one word, and courtesies of up to three words, unless known documents
        have the same words, and all of these are of that class.
        """
        short: NDArray[np.bool_] = bags.n_words == 1
        few = np.flatnonzero((bags.n_words > 0) & (bags.n_words <= _FEW))
        begins = np.searchsorted(bags.unseen_rows, few).tolist()
        for i, begin in zip(few.tolist(), begins, strict=True):
            columns = bags.indices[bags.indptr[i] : bags.indptr[i + 1]].tolist()
            words = frozenset(j for j in columns if not self.statistics.is_pair[j])
            places = bags.unseen_places[begin : begin + int(bags.unseen_words[i])].tolist()
            names = [*(self.terms[j] for j in words), *(bags.unseen_terms[j] for j in places)]
            if not short[i] and not is_small_talk(names, self.vectorizer.language):
                continue
            classes = () if places else self._few_words.get(words, ())
            short[i] = tuple(classes) != (int(nearest[i]),)
        return short

    @cached_property
    def _few_words(self) -> dict[frozenset[int], set[int]]:
        """The classes of the known documents of few words, by their words."""
        known, found = self.statistics, dict[frozenset[int], set[int]]()
        single = known.matrix[:, ~known.is_pair]
        columns = np.flatnonzero(~known.is_pair)
        sizes = np.diff(single.indptr)
        for i in np.flatnonzero((sizes > 0) & (sizes <= _FEW)).tolist():
            words = columns[single.indices[single.indptr[i] : single.indptr[i + 1]]]
            found.setdefault(frozenset(words.tolist()), set()).add(int(known.codes[i]))
        return found

    def score_texts(self, texts: Iterable[str]) -> Scores:
        """Read and score texts."""
        return self.score(self.read(texts))

    @cached_property
    def _native(self) -> _core.TextScorer:
        """What is known of the classes, in the core."""
        known = self.statistics
        near = known.neighbours
        return _core.TextScorer(
            rarity=known.rarity,
            is_pair=known.is_pair,
            rate=known.rate,
            counts=known.counts,
            weights=known.weights_by_term,
            intercepts=np.ascontiguousarray(known.weights[:, -1]),
            sizes=known.class_sizes,
            unseen_rarity=known.unseen_rarity,
            unseen_surprise=known.unseen_surprise,
            evidence=known.evidence,
            likeness=known.likeness,
            unseen_evidence=known.unseen_evidence,
            unseen_likeness=known.unseen_likeness,
            prior=PRIOR,
            elsewhere=ELSEWHERE,
            near_sizes=near.sizes,
            class_begin=near.class_begin,
            classes=near.classes,
            document_begin=near.document_begin,
            places=near.places,
            values=near.values,
            n_nearest=NEAREST,
            rules=None if self.rules is None else self.rules.weighted,
            alone=None if self.rules is None else self._squares,
        )

    def _parts(
        self, bags: Bags, *, by_rules: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
        """Return the five parts of each text as they are, its nearest class, and who named it."""
        rows = self.statistics.unseen(bags.unseen_terms) if bags.unseen_terms else None
        bounds = np.searchsorted(bags.unseen_rows, np.arange(len(bags) + 1))
        parts, nearest, named = self._native.parts(
            bags.indptr.astype(np.int64),
            bags.indices,
            bounds,
            bags.unseen_places.astype(np.int32),
            bags.unseen_pairs,
            bags.n_pairs,
            None if rows is None else rows.weights,
            None if rows is None else rows.squares,
            by_rules,
        )
        return parts, nearest, named.view(bool)

    def with_held_back(self, bags: Bags) -> Scorer:
        """Return the same scorer, which knows the other words of held-back documents."""
        counts = np.bincount(bags.unseen_places, minlength=len(bags.unseen_terms)).tolist()
        other = copy.copy(self)
        other.__dict__.pop("by_words", None)
        other.held_back_terms = dict(zip(bags.unseen_terms, counts, strict=True))
        return other

    def home_of(self, word: str) -> Any:
        """Return the class of most documents with a word, if most of them are of it; else None."""
        column = self.vectorizer.vocabulary_.get(word)
        if column is None:
            return None
        counts = self.statistics.counts[:, column]
        home = int(counts.argmax())
        return self.classes[home] if 2 * counts[home] >= counts.sum() else None

    def naming(self, *, by_rules: bool) -> Scorer:
        """Return a scorer whose nearest class is named by rules, or by the linear classifier."""
        other = copy.copy(self)
        other.by_rules = by_rules
        return other

    @cached_property
    def _squares(self) -> NDArray[np.float64]:
        """The squared rarity of each word that is no rule, 0 for the others."""
        assert self.rules is not None
        alone = self.rules.without_rule & ~self.statistics.is_pair
        return np.where(alone, self.statistics.rarity**2, 0.0)

    def square_without_rule(self, columns: NDArray[np.int32], n_unseen: int) -> float:
        """Return the squared rarity of the words of a text that no rule has."""
        unseen: float = n_unseen * self.statistics.unseen_rarity * self.statistics.unseen_rarity
        return float(self._squares[columns].sum()) + unseen

    def votes(self, bags: Bags) -> NDArray[np.int64]:
        """Return the weights of the rules that match, added up, a column for each class."""
        if self.rules is None:
            return np.zeros((len(bags), self.statistics.n_classes), np.int64)
        return self.rules.votes(bags)[0]

    def contributions(
        self,
        columns: NDArray[np.int64],
        unseen_words: Sequence[str],
        unseen_pairs: int,
        nearest: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Attribute the parts of the novelty of one text to its terms, rules left out.

        Returned is what each term of the vocabulary brings to each part, each word that is not in
        it, and, to the last of these parts, each pair that is not.
        """
        rows = self.statistics.unseen(unseen_words) if unseen_words else None
        by_term, by_unseen, by_pair = self._native.shares(
            columns.astype(np.int32),
            np.arange(len(unseen_words), dtype=np.int32),
            unseen_pairs,
            None if rows is None else rows.weights,
            None if rows is None else rows.squares,
            nearest,
        )
        scale = self.scales.scale[: by_term.shape[1]]
        return by_term * scale, by_unseen * scale, float(by_pair * scale[-1])

    def smallest_removal(
        self,
        text: WordSequence,
        tried: Sequence[str],
        most: int,
        calibration: Calibration,
    ) -> tuple[str, ...] | None:
        """Find a small set of words without which a text is known; see `detection.verdict`.

        The words to try first are in front. At most `most` are removed, and `CANDIDATES` tried in
        each step.
        """
        places = {word: i for i, word in enumerate(text.columns)}
        unseen = sorted(word for word, column in text.columns.items() if column < 0)
        ranks = {word: i for i, word in enumerate(unseen)}
        rows = self.statistics.unseen(unseen) if unseen else None
        index = self._reader.index
        found = self._native.smallest_removal(
            words=np.array(text.places, np.int32),
            columns=np.fromiter(text.columns.values(), np.int32),
            numbers=np.array([index.numbers.get(word, -1) for word in text.columns], np.int64),
            unseen_place=np.array([ranks.get(word, -1) for word in text.columns], np.int32),
            weights=None if rows is None else rows.weights,
            squares=None if rows is None else rows.squares,
            pair_keys=index.pair_keys,
            pair_columns=index.columns_of_pairs,
            centre=self.scales.centre,
            scale=self.scales.scale,
            low=self.scales.low,
            high=self.scales.high,
            threshold=calibration.thresholds_of(self.statistics.n_classes),
            by_rules=self.by_rules,
            tried=np.array([places[word] for word in tried], np.int32),
            most=max(most, 0),
            candidates=CANDIDATES,
        )
        if found is None:
            return None
        names = list(text.columns)
        return tuple(names[i] for i in found)

    def measure(
        self, bags: Bags, codes: NDArray[np.int64], *, worse: float, labelled: bool = True
    ) -> tuple[bool, Scales]:
        """Return whether rules name classes well, and the scales of the parts.

        The bags are those of known documents that this scorer has not learned from, and `codes`
        their classes. Rules name classes well if at most a share `worse` fewer are right than by
        the linear classifier. The scales are those of parts for the class that is named that way.
        """
        found = {by_rules: self._parts(bags, by_rules=by_rules) for by_rules in (True, False)}
        right = {by_rules: float((of[1] == codes).mean()) for by_rules, of in found.items()}
        chosen = self.rules is not None and right[True] >= right[False] - worse
        return chosen, Scales.of_known(
            found[chosen][0], bags.n_words, self.statistics.n_classes, labelled=labelled
        )
