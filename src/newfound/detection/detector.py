"""Known documents in; out come which texts are new, how sure that is, and why."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from newfound.detection.calibration import Calibration, check_alpha
from newfound.detection.rulebank import RuleBank, learn_rules
from newfound.detection.scoring import Evidence
from newfound.detection.split import (
    NOVEL,
    check_given,
    hold_back,
    known_texts,
    made_classes,
    sample_for_scales,
    size_aside,
    warn_of_single,
)
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.text.bags import BagReader, Bags
from newfound.text.vectorizer import TextVectorizer

if TYPE_CHECKING:
    from newfound.detection.detection import Detection
    from newfound.detection.verdict import Verdict

__all__ = ["NOVEL", "WEIGHTS", "NoveltyDetector"]

# How much each part counts, in units of its spread over known documents; docs/detect.md says what
# they were chosen on.
WEIGHTS = {"margin": 1.0, "surprise": 1.0, "neighbours": 1.0, "pairs": 1.0, "rules": 0.5}

_SHORT = 20  # documents with a median of fewer words keep their function words
_BATCH = 20_000


class NoveltyDetector(BaseEstimator):
    """Tell which texts are new, learning from known documents only.

    Each text is held against its nearest known class. Its novelty is the sum of five parts: how
    little the rules of that class vote for it, how far it is from the class by a linear rule, how
    surprising its words are there, how little it shares with the nearest documents, and how many
    of its pairs of neighbouring words were never seen. Each part is a sum over words, so novelty
    splits into contributions of words. Known documents that were held back turn novelty into a
    p-value, so that false alarms come at the rate `alpha`; see `newfound.detection.calibration`.

    Parameters
    ----------
    alpha : float, default=0.05
        The rate of false alarms: which share of known documents may be called novel.
    held_back : float, default=0.2
        Which share of the known documents is held back for p-values, or more where `alpha` needs
        more.
    classwise : bool, default=True
        Let a class that is nearest to many held-back documents (5/alpha) have its own threshold;
        the others share one.
    n_groups : int, default=1
        Without classes: how many groups of similar documents to make, each a class; 1 makes all
        one class, "known", which has no rules.
    n_clauses, T, s, epochs, max_literals : default=40, 20, 5.0, 10, 8
        Those of `TsetlinMachineClassifier`, which learns the rules of the classes.
    language, lemmatize : default="en", True
        Those of `TextVectorizer`.
    stop_words : "auto", "default", None or iterable of str, default="auto"
        Words to leave out. "auto" leaves out function words where documents are long, with a
        median of 20 words or more; in short messages *how*, *what* and *do* tell much.
    max_features : int, default=300000
        Keep so many words and pairs at most, the most frequent ones.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores. The result is the same on any number.
    random_state : int, RandomState or None, default=None
        The seed: the same one gives the same detector.

    Attributes
    ----------
    classes_ : ndarray
        The known classes; without labels "known", or the groups made, named by their words.
    n_documents_ : dict of str to int
        How many known documents it "learned" from, how many are "held_back".
    calibration_ : Calibration
        The held-back scores.

    Examples
    --------
    >>> known = [f"{verb} my {thing}" for verb in ("pay", "check", "close", "open", "show")
    ...          for thing in ("bill", "account", "card", "loan", "savings account", "credit card")]
    >>> detector = NoveltyDetector(alpha=0.2, random_state=1).fit(known)
    >>> detector.predict(["how tall is the eiffel tower"]).tolist()
    ['novel']
    """

    classes_: NDArray[Any]
    n_documents_: dict[str, int]
    calibration_: Calibration
    vectorizer_: TextVectorizer
    evidence_: Evidence
    banks_: list[RuleBank]
    _held_back: list[str]  # texts, as the scores of held-back documents change with what is learned
    _centre: NDArray[np.float64]
    _scale: NDArray[np.float64]
    _reader: BagReader
    _terms: list[str]
    _seed: int

    def __init__(
        self,
        alpha: float = 0.05,
        *,
        held_back: float = 0.2,
        classwise: bool = True,
        n_groups: int = 1,
        n_clauses: int = 40,
        T: int = 20,
        s: float = 5.0,
        epochs: int = 10,
        max_literals: int | None = 8,
        language: str = "en",
        stop_words: str | Iterable[str] | None = "auto",
        lemmatize: bool = True,
        max_features: int | None = 300_000,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.alpha = alpha
        self.held_back = held_back
        self.classwise = classwise
        self.n_groups = n_groups
        self.n_clauses = n_clauses
        self.T = T
        self.s = s
        self.epochs = epochs
        self.max_literals = max_literals
        self.language = language
        self.stop_words = stop_words
        self.lemmatize = lemmatize
        self.max_features = max_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Iterable[str],
        y: ArrayLike | None = None,
        *,
        held_back: Iterable[str] | None = None,
    ) -> Self:
        """Learn from known documents.

        Parameters
        ----------
        X : iterable of str
            The known documents; a missing or blank one is left out.
        y : array, optional
            The class of each. Without it all are of one class, "known", or of `n_groups` groups
            (k-means on TF-IDF, after a singular value decomposition).
        held_back : iterable of str, optional
            Known documents to hold back for p-values, instead of a share of `X`.

        Returns
        -------
        self
        """
        made = copy.copy(self)  # a fit that is refused or broken off leaves this one as it was
        made._fit(X, y, held_back)
        self.__dict__.update(made.__dict__)
        return self

    def _fit(self, X: Iterable[str], y: ArrayLike | None, held_back: Iterable[str] | None) -> None:
        alpha = check_alpha(self.alpha)
        self._new_machine().check_parameters()
        self._seed = self._draw_seed()
        texts, labels = known_texts(X, y)
        given = None if held_back is None else known_texts(held_back, None)[0]
        if given is None:
            size_aside(len(texts), alpha, self.held_back)
        else:
            check_given(given, alpha)
        if labels is not None:
            warn_of_single(labels)
        else:
            labels = made_classes(texts, self.n_groups, self._new_vectorizer(texts), self._seed)
        self.classes_, every = np.unique(labels, return_inverse=True)
        codes = every.astype(np.int64)
        if given is None:
            train, aside = hold_back(codes, alpha, self.held_back, self._seed)
            given = [texts[i] for i in aside.tolist()]
            texts, codes = [texts[i] for i in train.tolist()], codes[train]
        self._held_back = given
        self._set_scales(texts, codes)
        self._start(texts, codes)
        self._calibrate()

    def partial_fit(self, X: Iterable[str], y: ArrayLike | None = None, *, epochs: int = 1) -> Self:
        """Take in more known documents, of known classes or new ones; the first call is a `fit`.

        New words are added, the rules of known classes go on learning, a new class gets rules of
        its own, and the linear rule is solved again. A share of the documents is held back, too,
        and all held-back documents are scored anew.

        Parameters
        ----------
        X : iterable of str
            Known documents.
        y : array, optional
            The class of each; without it each gets its nearest known class.
        epochs : int, default=1
            Passes of the rules over these documents.

        Returns
        -------
        self
        """
        from newfound.detection.growing import grow

        if not hasattr(self, "calibration_"):
            return self.fit(X, y)
        return grow(self, X, y, epochs)

    def novelty(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """Give the novelty of texts: 0 is a middling known document, more is newer.

        Parameters
        ----------
        texts : iterable of str
            Any texts.

        Returns
        -------
        ndarray of float
        """
        return self._scored(texts)[0]

    def p_values(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """Give the p-value of each text: how rare so high a novelty is among known documents.

        A text without words gives no evidence: its p-value is 1.
        """
        novelty, nearest, bags = self._scored(texts)
        return self._p_values(novelty, nearest, bags)

    def predict(self, texts: Iterable[str]) -> NDArray[np.object_]:
        """Give the known class of each text, or "novel"; None for a text without words."""
        novelty, nearest, bags = self._scored(texts)
        found = np.empty(len(bags), dtype=object)
        found[:] = self.classes_[nearest].tolist()
        found[self._is_novel(self._p_values(novelty, nearest, bags))] = NOVEL
        found[bags.n_words == 0] = None
        return found

    def nearest(self, texts: Iterable[str]) -> NDArray[Any]:
        """Give the nearest known class of each text, be it novel or not."""
        labels: NDArray[Any] = self.classes_[self._scored(texts)[1]]
        return labels

    def rule_votes(self, texts: Iterable[str]) -> NDArray[np.int64]:
        """Give the votes of the rules alone, a column for each class."""
        check_is_fitted(self, "calibration_")
        return self._votes(self._reader.read(texts).matrix)

    def explain(self, text: str) -> Verdict:
        """Say why a text is known or novel.

        Parameters
        ----------
        text : str
            Any text, as it is.

        Returns
        -------
        Verdict
            With the nearest class and its rules, the words that speak for new and for known, and
            the smallest set of words without which the text would be known.
        """
        from newfound.detection.explaining import explain

        check_is_fitted(self, "calibration_")
        return explain(self, text)

    def detect(self, texts: Any, **options: Any) -> Detection:
        """Find the novel texts, describe them against the known ones, and group them.

        The options are those of `newfound.detection.detection.detect`.
        """
        from newfound.detection.detection import detect

        check_is_fitted(self, "calibration_")
        return detect(self, texts, **options)

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the detector to a file; the options are those of `newfound.storage.model_file.save`."""
        from newfound.storage.model_file import save

        check_is_fitted(self, "calibration_")
        save(self, path, **options)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a detector from a file."""
        from newfound.storage.model_file import load

        loaded = load(path)
        if not isinstance(loaded, cls):
            raise ValueError(f"{path} holds a {type(loaded).__name__}, not a {cls.__name__}.")
        return loaded

    def _start(self, texts: list[str], codes: NDArray[np.int64]) -> None:
        """Learn from texts: words, the linear rule, and the rules of the machine."""
        self.vectorizer_ = self._new_vectorizer(texts)
        matrix = self.vectorizer_.fit_transform(texts)
        self._learn(matrix, codes)
        bank = learn_rules(self._new_machine(), matrix, codes, self._usable())
        self.banks_ = [] if bank is None else [bank]

    def _learn(self, matrix: Any, codes: NDArray[np.int64]) -> None:
        """Take in bags of known documents: all that is not rules of the machine."""
        self._terms = list(self.vectorizer_.vocabulary_)
        is_pair = np.fromiter((" " in term for term in self._terms), bool, len(self._terms))
        self.evidence_ = Evidence(matrix, codes, len(self.classes_), is_pair, seed=self._seed)
        self._reader = BagReader(self.vectorizer_)

    def _set_scales(self, texts: list[str], codes: NDArray[np.int64]) -> None:
        """Measure how the parts vary over documents that were not learned from.

        A sample is left out, the others are learned from, and then forgotten: the scales have to
        be fixed before held-back documents are looked at, or p-values would not be exact.
        """
        sample = sample_for_scales(codes, self._seed)
        rest = np.setdiff1d(np.arange(len(texts)), sample)
        self._start([texts[i] for i in rest.tolist()], codes[rest])
        parts, _ = self._parts(self._reader.read([texts[i] for i in sample.tolist()]))
        spread, weights = parts.std(axis=0), np.array(list(WEIGHTS.values()))
        self._centre = parts.mean(axis=0)
        self._scale = weights / np.where(spread > 1e-9, spread, 1.0)

    def _calibrate(self) -> None:
        """Score the held-back documents."""
        self.n_documents_ = {
            "learned": self.evidence_.n_documents,
            "held_back": len(self._held_back),
        }
        novelty, nearest, _ = self._scored(self._held_back, fitted=True)
        self.calibration_ = Calibration(
            novelty, nearest, float(self.alpha), classwise=self.classwise
        )

    def _scored(
        self, texts: Iterable[str], *, fitted: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], Bags]:
        """Give novelty, nearest class and bag of each text."""
        if not fitted:
            check_is_fitted(self, "calibration_")
        bags = self._reader.read(texts)
        novelty, nearest = np.zeros(len(bags)), np.zeros(len(bags), np.int64)
        for start in range(0, len(bags), _BATCH):
            rows = slice(start, start + _BATCH)
            parts, near = self._parts(bags.take(np.arange(len(bags))[rows]))
            # Not a product of matrices, which rounds one row by itself unlike one among many.
            novelty[rows] = self._weighted(parts).sum(axis=1)
            nearest[rows] = near
        return novelty, nearest, bags

    def _parts(self, bags: Bags) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Give the five parts of each text, and its nearest class."""
        scores = self.evidence_.class_scores(bags)
        nearest = scores.argmax(axis=1).astype(np.int64)
        votes = self._votes(bags.matrix)[np.arange(len(bags)), nearest]
        return np.column_stack((self.evidence_.parts(bags, nearest), -votes)), nearest

    def _weighted(self, parts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give what each part adds to the novelty."""
        weighted: NDArray[np.float64] = (parts - self._centre) * self._scale
        return weighted

    def _votes(self, matrix: Any) -> NDArray[np.int64]:
        votes = np.zeros((matrix.shape[0], len(self.classes_)), np.int64)
        for bank in self.banks_:
            own = bank.classes >= 0
            votes[:, bank.classes[own]] = bank.class_sums(matrix)[:, own]
        return votes

    def _p_values(
        self, novelty: NDArray[np.float64], nearest: NDArray[np.int64], bags: Bags
    ) -> NDArray[np.float64]:
        p = self.calibration_.p_values(novelty, nearest)
        p[bags.n_words == 0] = 1.0
        return p

    def _is_novel(self, p_values: NDArray[np.float64]) -> NDArray[np.bool_]:
        novel: NDArray[np.bool_] = p_values <= self.calibration_.alpha * (1 + 1e-12)
        return novel

    def _usable(self) -> NDArray[np.bool_]:
        """Which terms rules may use: words of at least two documents."""
        usable: NDArray[np.bool_] = (self.evidence_.frequencies >= 2) & ~self.evidence_.is_pair
        return usable

    def _draw_seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state) % 2**31
        return int(check_random_state(self.random_state).randint(2**31))

    def _new_machine(self) -> TsetlinMachineClassifier:
        return TsetlinMachineClassifier(
            self.n_clauses,
            self.T,
            self.s,
            self.epochs,
            boost_true_positive=True,
            max_literals=self.max_literals,
            n_jobs=self.n_jobs,
            random_state=getattr(self, "_seed", 0),
        )

    def _new_vectorizer(self, texts: Sequence[str]) -> TextVectorizer:
        stop_words = self.stop_words
        if isinstance(stop_words, str) and stop_words == "auto":
            lengths = [text.count(" ") + 1 for text in texts[:1000]]
            stop_words = None if np.median(lengths or [0]) < _SHORT else "default"
        return TextVectorizer(
            language=self.language,
            stop_words=stop_words,
            lemmatize=self.lemmatize,
            max_features=self.max_features,
            ngram_range=(1, 2),
        )

    def _state(self, *, with_automata: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
        from newfound.detection.state import detector_state

        return detector_state(self, with_automata=with_automata)

    @classmethod
    def _from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        from newfound.detection.state import detector_from_state

        # How many threads to start is not for a file to say.
        self = cls(**{**meta["parameters"], "n_jobs": None})
        detector_from_state(self, meta, arrays)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "calibration_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags
