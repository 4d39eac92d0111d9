"""The novelty detector: learns from known documents, and tells which texts are new and why."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from newfound.detection.calibration import Calibration, check_alpha
from newfound.detection.detection import Detection, detect
from newfound.detection.explanation import explain, feature_names, judge, word_features
from newfound.detection.learning import Knowledge, check_parameters, learn
from newfound.detection.meaning import TextEncoder, check_encoder
from newfound.detection.scoring import Scorer, Scores
from newfound.detection.split import NOVEL, check_given, check_share, known_texts
from newfound.detection.state import detector_from_state, detector_state
from newfound.detection.verdict import Verdict
from newfound.machine.native import EpochInfo
from newfound.storage.fields import Fields
from newfound.storage.model_file import load_model, save_model
from newfound.text.redaction import redact_all
from newfound.text.vectorizer import TextVectorizer

__all__ = ["NOVEL", "NoveltyDetector"]

Callback = Callable[[EpochInfo], bool | None]


# Beside the detectors, because a lock can be neither copied nor pickled.
_locks: WeakKeyDictionary[NoveltyDetector, threading.RLock] = WeakKeyDictionary()
_guard = threading.Lock()


def _growth_lock(detector: NoveltyDetector) -> threading.RLock:
    with _guard:
        return _locks.setdefault(detector, threading.RLock())


class NoveltyDetector(TransformerMixin, ClassifierMixin, BaseEstimator):
    """Tell which texts are new, learning from known documents only.

    Each text is compared with its nearest known class, which rules name where they name classes
    about as well as a linear classifier does. Its novelty is the sum of five parts: how little the
    rules of that class say for it, how far it is from all classes according to a linear
    classifier of words and their character n-grams, how surprising its words are in the class, how
    little it shares with the nearest documents of the class (with those of all classes, if
    documents are long), and how many of its pairs of neighbouring words were never seen. Each part
    is a sum over words, so novelty splits into contributions of words. Known documents that are
    held back turn novelty into a p-value, which controls the false-alarm rate `alpha`; see
    `newfound.detection.calibration`.

    To scikit-learn the detector is a classifier, so that `cross_val_score` and `GridSearchCV` use
    stratified folds if labels are given. `score_samples` and `decision_function` have the signs of
    scikit-learn's outlier detectors: higher is more like the known documents, and a negative
    `decision_function` is novel.

    Parameters
    ----------
    alpha : float, default=0.05
        The false-alarm rate: the share of known documents that may be called novel. It can be
        changed after `fit`, as far as there are enough held-back documents (1/alpha - 1).
    held_back : float, default=0.2
        The share of the known documents that is held back for p-values, or more if `alpha` needs
        more.
    classwise : bool, default=True
        Whether a class that is nearest to 100 held-back documents or more has its own threshold;
        the others share one.
    n_groups : int, default=1
        Without labels: the number of groups of similar documents to form, each used as a class. 1
        puts all documents into one class, "known"; explanations then have rules of groups that the
        detector finds itself, which do not change the score.
    n_clauses, T, s, epochs : default=40, 20, 10.0, 10
        Parameters of `RuleClassifier`, which learns the rules of the classes.
    max_literals : int or None, default=4
        The most words of a rule; None is 16.
    language, lemmatize : default="en", True
        Parameters of `TextVectorizer`.
    stop_words : "auto", "default", None or iterable of str, default="auto"
        Words to leave out. "auto" leaves out function words if documents have a median of 20 words
        or more; in short messages *how*, *what* and *do* are informative.
    ignore : str or None, default=None
        A regular expression; words that it matches are left out, as in `TextVectorizer`.
    correct_typos : bool, default=True
        Whether a word of three letters or more (five in long documents) that neither a known
        document nor the dictionary has is read as the known word that is one letter away. Turn it
        off if new names differ from known ones by a letter.
    redact : bool, default=False
        Whether numbers, e-mail addresses and URLs are replaced in all texts that it learns from,
        scores, explains or keeps; see `newfound.redact`.
    max_features : int, default=300000
        The maximum number of words and pairs; the most frequent ones are kept.
    encoder : object with a method ``encode``, or None, default=None
        What turns texts into vectors, such as `newfound.load_encoder`, or a model of
        sentence-transformers or model2vec. The novelty then has two parts more: how unlike a text
        is to the most similar known documents, and to the nearest class. Known documents decide how
        much they count. Without it only words count.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        The seed: the same one gives the same detector.

    Attributes
    ----------
    knowledge_ : Knowledge
        What was learned, as one value that does not change; the other attributes are parts of it.
    classes_ : ndarray
        The known classes; without labels "known", or the groups, named by their words.
    n_documents_ : dict of str to int
        The number of known documents that were "learned", that were "held_back", and that were
        left out as "copies": of a group of copies one is held back, or all are learned from.
    scorer_ : Scorer
        Reads and scores texts: the words, the statistics and the rules of the known classes.
    calibration_ : Calibration
        The scores of the held-back documents; turns scores into p-values, with the present
        `alpha` and `classwise`.
    held_back_texts_ : list of str
        The held-back documents. They are scored again when more documents are learned.
    seed_ : int
        The seed in use.

    Examples
    --------
    >>> known = [f"{verb} my {thing}" for verb in ("pay", "check", "close", "open", "show")
    ...          for thing in ("bill", "account", "card", "loan", "savings account", "credit card")]
    >>> detector = NoveltyDetector(alpha=0.2, random_state=1).fit(known)
    >>> detector.predict(["how tall is the eiffel tower"]).tolist()
    ['novel']
    """

    knowledge_: Knowledge
    _calibration: Calibration | None = None  # with another alpha than that of the knowledge

    def __init__(
        self,
        alpha: float = 0.05,
        *,
        held_back: float = 0.2,
        classwise: bool = True,
        n_groups: int = 1,
        n_clauses: int = 40,
        T: int = 20,
        s: float = 10.0,
        epochs: int = 10,
        max_literals: int | None = 4,
        language: str = "en",
        stop_words: str | Iterable[str] | None = "auto",
        lemmatize: bool = True,
        ignore: str | None = None,
        correct_typos: bool = True,
        redact: bool = False,
        max_features: int | None = 300_000,
        encoder: TextEncoder | None = None,
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
        self.ignore = ignore
        self.correct_typos = correct_typos
        self.redact = redact
        self.max_features = max_features
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Iterable[str],
        y: ArrayLike | None = None,
        *,
        held_back: Iterable[str] | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Learn from known documents.

        If it fails or is interrupted, the detector stays as it was.

        Parameters
        ----------
        X : iterable of str
            The known documents; missing and blank ones are left out.
        y : array, optional
            The class of each. Without it all are in one class, "known", or in `n_groups` groups
            (k-means on TF-IDF after a singular value decomposition).
        held_back : iterable of str, optional
            Known documents to hold back for p-values, instead of a share of `X`. Copies of those in
            `X`, and of one another, are left out.
        callback : callable, optional
            Called with an `EpochInfo` after each epoch of a machine. Two machines are trained: one
            to measure how the parts of the score vary, and then the one that is kept.

        Returns
        -------
        self
        """
        parameters = self.get_params(deep=False)
        check_parameters(parameters)
        seed = self._draw_seed()
        texts, labels = known_texts(X, y)
        texts = self.redacted(texts)
        given = None
        if held_back is not None:
            given = self.redacted(known_texts(held_back, None)[0])
        self.knowledge_ = learn(texts, labels, given, parameters, seed, callback)
        return self

    def partial_fit(
        self,
        X: Iterable[str],
        y: ArrayLike | None = None,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Learn more known documents, of known classes or new ones; the first call is a `fit`.

        New words are added, and the rules and the linear classifier are learned again from all
        known documents. A share of the documents is held back, too, and all held-back documents are
        scored again. If it fails or is interrupted, the detector stays as it was. Calls of several
        threads take turns.

        Parameters
        ----------
        X : iterable of str
            Known documents.
        y : array, optional
            The class of each; without it each gets its nearest known class.
        classes : array, optional
            Ignored: a class may be new in any call. scikit-learn passes it.

        Returns
        -------
        self
        """
        with _growth_lock(self):
            if not self.__sklearn_is_fitted__():
                return self.fit(X, y)
            self.require_held_back_texts("learn more")
            texts, labels = known_texts(X, y)
            if not texts:
                raise ValueError(
                    "There is no known document with text to learn from; pass at least 1."
                )
            texts = self.redacted(texts)
            if labels is None:
                labels = self.nearest(texts)
            check_share(self.held_back)
            self.knowledge_ = self.knowledge_.grown(texts, labels, self.get_params(deep=False))
            return self

    @property
    def scorer_(self) -> Scorer:
        """Reads and scores texts."""
        return self.knowledge_.scorer

    @property
    def calibration_(self) -> Calibration:
        """Turns scores into p-values, with the present `alpha` and `classwise`."""
        learned, made = self.knowledge_.calibration, self._calibration
        if (learned.alpha, learned.classwise) == (self.alpha, self.classwise):
            return learned
        if (
            made is None
            or made.scores is not learned.scores
            or (made.alpha, made.classwise) != (self.alpha, self.classwise)
        ):
            alpha = check_alpha(self.alpha)
            check_given(len(learned), alpha)
            made = Calibration(learned.scores, learned.nearest, alpha, classwise=self.classwise)
            self._calibration = made
        return made

    @property
    def classes_(self) -> NDArray[Any]:
        """The known classes."""
        return self.knowledge_.scorer.classes

    @property
    def n_documents_(self) -> dict[str, int]:
        """How many known documents were "learned", "held_back", and left out as "copies"."""
        return self.knowledge_.n_documents

    @property
    def held_back_texts_(self) -> list[str]:
        """The held-back documents."""
        return list(self.knowledge_.held_back)

    @property
    def seed_(self) -> int:
        """The seed in use."""
        return self.knowledge_.seed

    @property
    def vectorizer_(self) -> TextVectorizer:
        """Turns texts into words and pairs of words."""
        return self.knowledge_.scorer.vectorizer

    def score_samples(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """Return how normal each text is: minus its `novelty`, so that lower is more novel."""
        return -self.score_texts(texts).novelty

    def decision_function(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """Return how far each text is from being novel: negative for novel texts.

        It is the threshold of the nearest class minus the novelty. A text without words cannot be
        judged; its value is at least 0.
        """
        scores = self.score_texts(texts)
        distance = self.calibration_.thresholds(scores.nearest) - scores.novelty
        return np.where(scores.has_words, distance, np.maximum(distance, 0.0))

    def score(
        self, X: Iterable[str], y: ArrayLike | None = None, sample_weight: Any = None
    ) -> float:
        """Return the accuracy of `predict`; a known document that is called novel is an error.

        Parameters
        ----------
        X : iterable of str
            Any texts.
        y : array, optional
            The class of each text, or "novel". Without it all texts count as known, and the result
            is the share of them that is not called novel.
        sample_weight : array, optional
            The weight of each text.

        Returns
        -------
        float
        """
        predicted = self.predict(X).tolist()
        if y is None:
            right = [label != NOVEL for label in predicted]
        else:
            labels = np.asarray(y, dtype=object).tolist()
            if len(labels) != len(predicted):
                raise ValueError(
                    f"y has {len(labels):,} labels for {len(predicted):,} texts; pass one for each."
                )
            right = [a == b for a, b in zip(predicted, labels, strict=True)]
        return float(np.average(right, weights=sample_weight))

    def novelty(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """Return the novelty of texts: 0 is an average known document, higher is more novel."""
        return self.score_texts(texts).novelty

    def p_values(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """Return the p-value of each text: how rare so high a novelty is among known documents.

        A text without words has the p-value 1.
        """
        return self.score_texts(texts).judged(self.calibration_).p_values

    def predict(self, texts: Iterable[str]) -> NDArray[np.object_]:
        """Return the known class of each text, or "novel"; None for a text without words."""
        return self.score_texts(texts).judged(self.calibration_).labels()

    def nearest(self, texts: Iterable[str]) -> NDArray[Any]:
        """Return the nearest known class of each text, whether it is novel or not."""
        labels: NDArray[Any] = self.classes_[self.score_texts(texts).nearest]
        return labels

    def rule_votes(self, texts: Iterable[str]) -> NDArray[np.int64]:
        """Return the weights of the rules that match, added up, a column for each class."""
        self._check_fitted()
        return self.scorer_.votes(self.scorer_.read(self.redacted(texts)))

    def explain(self, text: str) -> Verdict:
        """Explain why a text is known or novel.

        Parameters
        ----------
        text : str
            Any text.

        Returns
        -------
        Verdict
            With the nearest class and its rules, what each word adds to the novelty, and the
            smallest set of words found without which the text would be known.
        """
        self._check_fitted()
        (text,) = self.redacted([text])
        known = self.knowledge_.held_back_sentences
        return explain(self.scorer_, self.calibration_, text, known)

    def explain_texts(self, texts: Iterable[str]) -> Iterator[Verdict]:
        """Explain texts, which are read and scored together; that takes less time than one by one.

        Parameters
        ----------
        texts : iterable of str
            Any texts.

        Returns
        -------
        iterator of Verdict
            In the order of the texts; see `explain`.
        """
        self._check_fitted()
        judged = judge(
            self.scorer_,
            self.calibration_,
            self.redacted(texts),
            held_back=self.knowledge_.held_back_sentences,
        )
        return map(judged.explain, range(len(judged.texts)))

    def transform(self, texts: Iterable[str]) -> Any:
        """Return what each word adds to the novelty of each text, as features for other models.

        Parameters
        ----------
        texts : iterable of str
            Any texts.

        Returns
        -------
        CSR matrix of float64
            A row for each text, a column for each known word, one for all words never seen and one
            for what no word adds; see `get_feature_names_out`. A row adds up to the novelty.

        Examples
        --------
        >>> known = [f"{verb} my {thing}" for verb in ("pay", "check", "close", "open")
        ...          for thing in ("bill", "account", "card", "loan", "debt")]
        >>> detector = NoveltyDetector(alpha=0.2, random_state=1).fit(known)
        >>> found = detector.transform(["pay my rent"])
        >>> bool(np.isclose(found.sum(), detector.novelty(["pay my rent"])[0]))
        True
        >>> detector.get_feature_names_out()[found.toarray()[0].argmax()]
        '(unseen words)'
        """
        self._check_fitted()
        return word_features(judge(self.scorer_, self.calibration_, self.redacted(texts)))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the columns of `transform`."""
        self._check_fitted()
        return np.array(feature_names(self.scorer_), dtype=object)

    def detect(self, texts: Any, **options: Any) -> Detection:
        """Find the novel texts, describe them against the known ones, and group them.

        The options are those of `newfound.detection.detection.detect`.
        """
        self._check_fitted()
        return detect(self, texts, **options)

    def forget_texts(self) -> Self:
        """Forget the texts of the held-back documents; their scores stay.

        Verdicts, p-values and explanations stay as they are. The detector can no longer learn more
        (`partial_fit`), and a `Monitor` cannot begin with it: both read these texts. The words of
        the other known documents stay, too; see `docs/model-file.md`.

        Returns
        -------
        self

        Examples
        --------
        >>> texts = [f"pay the {word} bill" for word in "abcdefghijklmnopqrst"]
        >>> detector = NoveltyDetector(0.25, random_state=1).fit(texts)
        >>> before = detector.p_values(["book a flight"])
        >>> detector.forget_texts().held_back_texts_, detector.n_documents_["held_back"] > 0
        ([], True)
        >>> bool(detector.p_values(["book a flight"]) == before)
        True
        """
        self._check_fitted()
        learned, scorer = self.knowledge_, self.scorer_
        if scorer.meaning is not None:
            scorer = scorer.with_meaning(scorer.meaning.with_examples((), None))
        self.knowledge_ = replace(
            learned, scorer=scorer, held_back=(), kept_sentences=learned.sentences
        )
        return self

    def use_encoder(self, encoder: TextEncoder) -> Self:
        """Use an encoder, in a detector that was read from a file and learned with it.

        One that `newfound.load_encoder` finds by its name need not be given. A ValueError if it
        gives other vectors than the one that the detector learned with.

        Returns
        -------
        self
        """
        self._check_fitted()
        check_encoder(encoder)
        scorer = self.scorer_
        if scorer.meaning is None:
            raise ValueError("This detector has learned words only; fit it again with an encoder.")
        made = scorer.with_meaning(scorer.meaning.with_encoder(encoder))
        self.knowledge_ = replace(self.knowledge_, scorer=made)
        self.encoder = encoder
        return self

    def require_encoder(self) -> None:
        """Raise a ValueError if the encoder that it learned with is missing."""
        if self.scorer_.meaning is not None:
            _ = self.scorer_.meaning.reader

    def require_held_back_texts(self, purpose: str) -> None:
        """Raise a ValueError that names the purpose if the held-back texts were forgotten."""
        if not self.knowledge_.held_back:
            raise ValueError(
                f"This detector cannot {purpose}: it was saved without its held-back texts; fit it "
                "again and keep them."
            )

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        with_automata: bool = False,
        force: bool = False,
    ) -> None:
        """Write the detector to a file; the options are those of `newfound.save`.

        A detector has no automata to keep: it learns its rules again when it learns more.
        """
        self._check_fitted()
        save_model(path, "detector", self.to_state, force=force)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a detector from a file."""
        return load_model(path, {"detector": cls.from_state})

    def score_texts(self, texts: Iterable[str]) -> Scores:
        """Return the scores of texts: novelty, its parts, and the nearest class."""
        self._check_fitted()
        return self.scorer_.score_texts(self.redacted(texts) if self.redact else texts)

    def redacted(self, texts: Iterable[str]) -> list[str]:
        """Return texts as the detector reads them: redacted, if it has `redact`."""
        return redact_all(texts) if self.redact else list(texts)

    def _draw_seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state) % 2**31
        return int(check_random_state(self.random_state).randint(2**31))

    def to_state(self) -> dict[str, Any]:
        """Return what a model file keeps: nested plain values and arrays."""
        self._check_fitted()
        self.calibration_  # noqa: B018, it checks that there are enough held-back documents
        parameters = self.get_params(deep=False)
        del parameters["encoder"]  # `use_encoder` gives it back
        return detector_state(parameters, self.knowledge_)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return the detector of a state that `to_state` made; a ValueError says what is wrong."""
        names = set(cls().get_params(deep=False)) - {"encoder"}
        parameters, knowledge = detector_from_state(Fields(state), names)
        detector = cls(**parameters)
        detector.knowledge_ = knowledge
        return detector

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():  # asked first, because scikit-learn takes longer
            check_is_fitted(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "knowledge_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.target_tags.required = False
        return tags
