"""A Tsetlin Machine for Boolean bags of words, as a scikit-learn classifier."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from newfound.checks import check_whole_number
from newfound.machine.clauses import Clauses
from newfound.machine.native import (
    HISTORY_COLUMNS,
    EpochInfo,
    MachineParameters,
    NativeMachine,
    TrainedState,
)
from newfound.machine.validation import (
    NEGATIVE_SAMPLING,
    boolean_csr,
    check_machine_parameters,
    encode_known_labels,
    encode_labels,
    reject_keywords,
    thread_count,
)

__all__ = ["HISTORY_COLUMNS", "Clauses", "EpochInfo", "TsetlinMachineClassifier"]


class TsetlinMachineClassifier(ClassifierMixin, BaseEstimator):
    """Tsetlin Machine classifier over Boolean features.

    The machine learns clauses: ANDs of features and negated features. Each class has clauses that
    vote for it and as many that vote against it. Training follows the law of the vanilla Tsetlin
    Machine exactly, with 128 states for each action; an empty clause matches during training only.
    The same ``random_state`` gives the same machine on any number of threads and any processor.

    Parameters
    ----------
    n_clauses : int, default=400
        Number of clauses for each class, half of each polarity. Must be even.
    T : int, default=20
        Voting target: a document whose votes have reached T gives no more feedback.
    s : float, default=5.0
        Specificity, from 1 to 8000: an automaton is lowered with probability 1/s, so a larger s
        gives longer clauses.
    epochs : int, default=30
        Number of passes over the documents. Training ends early when every vote has reached T.
    boost_true_positive : bool, default=False
        Raise the true literals of a matching clause with probability 1 instead of (s - 1)/s.
    max_literals : int or None, default=None
        Literal budget: a matching clause with more literals than this gets Type Ib instead of
        Type Ia feedback. It keeps rules short and readable.
    negative_sampling : {"uniform", "focused"}, default="uniform"
        How the other class is drawn that a document is a negative example of. "uniform", the
        vanilla law: every other class alike. "focused": in proportion to the fourth power of the
        class's update probability, (T + votes) / 2T, so that the classes which a document is
        confused with learn from it. It makes a difference with many classes only.
    weighted : bool, default=False
        Whether clauses have whole numbers as weights and vote with them. A weight starts at 1,
        rises by one with each Type Ia event and falls by one, to 1 at least, with each Type II
        event.
    negations : bool, default=True
        Whether clauses may include negated literals.
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all cores. At most one for every 256 clauses of a class
        is used: with less to do, threads mostly wait for each other.
    random_state : int, RandomState or None, default=None
        Seed of the machine.
    verbose : int, default=0
        1 prints a line for each epoch on standard error.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    n_features_in_ : int
        The number of features.
    clauses_ : Clauses
        The clauses. ``matches`` and ``agrees`` count documents of the last call to `fit` or
        `partial_fit`.
    history_ : dict of str to ndarray
        For each epoch the number of ``type_ia``, ``type_ib`` and ``type_ii`` events and of
        ``documents_at_target``, whose votes had all reached T.
    n_epochs_ : int
        Number of epochs done, over all calls.
    stop_reason_ : str
        Why training ended: ``"epochs"`` (all done), ``"converged"`` (every vote has reached T, so
        no clause can change), ``"callback"`` or ``"interrupted"``.

    Examples
    --------
    >>> import numpy as np
    >>> from newfound import TsetlinMachineClassifier
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 50, dtype=bool)
    >>> y = X[:, 0] ^ X[:, 1]
    >>> machine = TsetlinMachineClassifier(n_clauses=20, T=4, s=3.0, random_state=1).fit(X, y)
    >>> machine.predict(X[:4])
    array([False,  True,  True, False])
    >>> machine.stop_reason_
    'converged'
    """

    # Asked several times a second during a fit: signals reach the main thread only.
    _cancelled: Callable[[], bool] | None = None
    _machine: NativeMachine

    def __init__(
        self,
        n_clauses: int = 400,
        T: int = 20,
        s: float = 5.0,
        epochs: int = 30,
        *,
        boost_true_positive: bool = False,
        max_literals: int | None = None,
        negative_sampling: Literal["uniform", "focused"] = "uniform",
        weighted: bool = False,
        negations: bool = True,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clauses = n_clauses
        self.T = T
        self.s = s
        self.epochs = epochs
        self.boost_true_positive = boost_true_positive
        self.max_literals = max_literals
        self.negative_sampling = negative_sampling
        self.weighted = weighted
        self.negations = negations
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: ArrayLike | sp.spmatrix | sp.sparray,
        y: ArrayLike,
        *,
        callback: Callable[[EpochInfo], bool | None] | None = None,
        **unsupported: Any,
    ) -> Self:
        """Train a new machine.

        Parameters
        ----------
        X : (n_documents, n_features) array or sparse matrix
            Boolean or 0/1.
        y : (n_documents,) array
            Class labels, at least two different ones.
        callback : callable, optional
            Called with an `EpochInfo` after each epoch; a true result ends training. It may read
            the machine, with `predict`, `score`, `clauses_` or `states_`: it is then the one that
            a fit of so many epochs gives. It may not train it. With three or more classes, single
            automata may differ after an epoch in which all documents had T votes: a fit that
            ends there draws some of their pending steps while it looks for convergence, after
            the callback.
        **unsupported
            Raises an error: no other keyword is accepted, ``sample_weight`` included.

        Returns
        -------
        self
        """
        reject_keywords(unsupported)
        if hasattr(self, "_machine"):
            self._machine.refuse_in_callback()
        self.check_parameters()
        indptr, indices = boolean_csr(self, X, y=y, reset=True)
        classes, codes = encode_labels(y, len(indptr) - 1)
        self._start(classes)
        return self._learn(indptr, indices, codes, self.epochs, callback)

    def partial_fit(
        self,
        X: ArrayLike | sp.spmatrix | sp.sparray,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        *,
        epochs: int = 1,
        callback: Callable[[EpochInfo], bool | None] | None = None,
        **unsupported: Any,
    ) -> Self:
        """Continue training; the first call starts a new machine.

        A call costs at least a pass over all automata, so pass many documents at a time. The
        machine keeps the parameters that it was started with.

        Parameters
        ----------
        X, y
            As in `fit`.
        classes : array, optional
            All classes that may occur in later calls. Default: those in the y of the first call.
        epochs : int, default=1
            Number of passes over these documents.
        callback : callable, optional
            As in `fit`.
        **unsupported
            As in `fit`.

        Returns
        -------
        self
        """
        reject_keywords(unsupported)
        if hasattr(self, "_machine"):
            self._machine.refuse_in_callback()
        self.check_parameters()
        check_whole_number("epochs", epochs, 1)
        first = not hasattr(self, "_machine")
        indptr, indices = boolean_csr(self, X, y=y, reset=first)
        if not first:
            known = self.classes_
            if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), known):
                raise ValueError(
                    f"classes={np.asarray(classes)!r} is not the same as on the first call to "
                    f"partial_fit, {known!r}; pass the same classes or none."
                )
        else:
            labels = y if classes is None else classes
            known, _ = encode_labels(labels, len(np.asarray(labels)))
        codes = encode_known_labels(y, len(indptr) - 1, known)
        if first:
            self._start(known)
        return self._learn(indptr, indices, codes, epochs, callback)

    def class_sums(self, X: ArrayLike | sp.spmatrix | sp.sparray) -> NDArray[np.int32]:
        """Return the votes for each class: matching positive minus matching negative clauses.

        Parameters
        ----------
        X : (n_documents, n_features) array or sparse matrix
            Documents.

        Returns
        -------
        (n_documents, n_classes) array
        """
        check_is_fitted(self, "_machine")
        return self.class_sums_csr(*boolean_csr(self, X, reset=False))

    def class_sums_csr(
        self, indptr: NDArray[np.int64], indices: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        """Return `class_sums` of documents that are already rows of a CSR matrix.

        For callers that score many small batches: nothing is converted, and the core checks the
        arrays.

        Parameters
        ----------
        indptr : (n_documents + 1,) array of int64
            ``indices[indptr[i]:indptr[i + 1]]`` are the features of document i.
        indices : array of int32
            Feature numbers, ascending within each document.

        Returns
        -------
        (n_documents, n_classes) array

        Examples
        --------
        >>> import numpy as np
        >>> from newfound import TsetlinMachineClassifier
        >>> X = np.array([[0, 1], [1, 0]] * 50, dtype=bool)
        >>> machine = TsetlinMachineClassifier(n_clauses=4, T=2, random_state=1).fit(X, X[:, 0])
        >>> one_document = np.array([0, 1]), np.array([0], dtype=np.int32)
        >>> machine.class_sums_csr(*one_document).tolist() == machine.class_sums(X[1:2]).tolist()
        True
        """
        check_is_fitted(self, "_machine")
        return self._machine.class_sums((indptr, indices), thread_count(self.n_jobs))

    def decision_function(self, X: ArrayLike | sp.spmatrix | sp.sparray) -> NDArray[np.float64]:
        """Return the class sums; for two classes, the second one's minus the first one's.

        They are votes, not probabilities; `sklearn.calibration.CalibratedClassifierCV` makes
        probabilities of them.

        Parameters
        ----------
        X : (n_documents, n_features) array or sparse matrix
            Documents.

        Returns
        -------
        (n_documents, n_classes) array, or (n_documents,) for two classes
        """
        sums = self.class_sums(X).astype(np.float64)
        return sums[:, 1] - sums[:, 0] if len(self.classes_) == 2 else sums

    def predict(self, X: ArrayLike | sp.spmatrix | sp.sparray) -> NDArray[Any]:
        """Return the class with the most votes, the first of several with as many.

        Parameters
        ----------
        X : (n_documents, n_features) array or sparse matrix
            Documents.

        Returns
        -------
        (n_documents,) array of labels
        """
        sums = self.class_sums(X)
        labels: NDArray[Any] = self.classes_[np.argmax(sums, axis=1)]
        return labels

    def matching_clauses(self, X: ArrayLike | sp.spmatrix | sp.sparray) -> sp.csr_array:
        """Return which clauses match each document. Empty clauses match none.

        Parameters
        ----------
        X : (n_documents, n_features) array or sparse matrix
            Documents.

        Returns
        -------
        Boolean (n_documents, n_classes * n_clauses) CSR array, its columns as in ``clauses_``
        """
        check_is_fitted(self, "_machine")
        documents = boolean_csr(self, X, reset=False)
        indptr, clauses = self._machine.matching(documents, thread_count(self.n_jobs))
        n_clauses = self._machine.n_classes * self._machine.parameters.n_clauses
        return sp.csr_array(
            (np.ones(len(clauses), bool), clauses, indptr), shape=(len(indptr) - 1, n_clauses)
        )

    def support(
        self, X: ArrayLike | sp.spmatrix | sp.sparray, y: ArrayLike
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count for each clause the documents it matches, and those on its side among them.

        Parameters
        ----------
        X : (n_documents, n_features) array or sparse matrix
            Documents; they need not be those of the training.
        y : (n_documents,) array
            Their classes.

        Returns
        -------
        matches, agrees : (n_classes * n_clauses,) array
            As in `Clauses`.
        """
        check_is_fitted(self, "_machine")
        documents = boolean_csr(self, X, reset=False)
        codes = encode_known_labels(y, len(documents[0]) - 1, self.classes_)
        return self._machine.support(documents, codes, thread_count(self.n_jobs))

    @property
    def clauses_(self) -> Clauses:
        """The clauses, read from the automata at the first access."""
        check_is_fitted(self, "_machine")
        return self._machine.clauses(thread_count(self.n_jobs))

    def rules(self, feature_names: Sequence[str] | None = None) -> Any:
        """Return the clauses as rules that a person can read.

        Parameters
        ----------
        feature_names : sequence of str, optional
            The name of each feature. By default ``feature_names_in_``, the columns of the data
            frame that it was fitted on, or else ``x0``, ``x1``, ...

        Returns
        -------
        newfound.rules.rule.Rules
            A sequence of `newfound.rules.Rule`, those with the highest support first, each once.
            Printed, it shows a rule a line; `to_pandas`, `to_polars` and `to_csv` export it. Its
            ``votes`` say what a match of each rule adds: the weights of its clauses, added up.

        Examples
        --------
        >>> import numpy as np
        >>> from newfound import TsetlinMachineClassifier
        >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 50, dtype=bool)
        >>> machine = TsetlinMachineClassifier(n_clauses=20, T=4, s=3.0, random_state=1)
        >>> rules = machine.fit(X, X[:, 0] & X[:, 1]).rules(["rain", "wind"])
        >>> "rain AND wind → True" in map(str, rules)
        True
        """
        check_is_fitted(self, "_machine")
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", None)
        from newfound.rules.rule import rules_of

        return rules_of(self.clauses_, self.classes_, feature_names)

    @property
    def states_(self) -> NDArray[np.uint8]:
        """The states of the automata, as a copy of shape (n_classes, n_clauses, 2, n_features).

        ``[..., 0, :]`` are plain features, ``[..., 1, :]`` negated ones. A literal is included
        from state 128 on.
        """
        check_is_fitted(self, "_machine")
        return self._machine.states()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_machine")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @contextmanager
    def cancellable(self, cancelled: Callable[[], bool]) -> Iterator[None]:
        """Let another thread end the fits within the context: when `cancelled` returns true.

        A cancelled fit may stop in the middle of an epoch.
        """
        self._cancelled = cancelled
        try:
            yield
        finally:
            del self._cancelled

    def trained_state(self) -> TrainedState:
        """Return what the machine needs to continue training, for storage; see `restore`."""
        check_is_fitted(self, "_machine")
        return self._machine.trained_state()

    def restore(self, state: TrainedState, classes: NDArray[Any], clauses: Clauses) -> Self:
        """Make this the trained machine that `trained_state` was called on.

        The parameters of both are the same; the clauses have their counts of matching documents.
        """
        self.check_parameters()
        self.classes_, self.n_features_in_ = classes, clauses.n_features
        self._machine = NativeMachine.restore(self._parameters(), len(classes), clauses, state)
        self._publish_history()
        return self

    def check_parameters(self) -> None:
        """Raise a ValueError that names the first parameter with an impossible value."""
        check_machine_parameters(**self.get_params(deep=False))

    def _start(self, classes: NDArray[Any]) -> None:
        if isinstance(self.random_state, Integral):
            seed = int(self.random_state) & (2**64 - 1)
        else:
            draw = check_random_state(self.random_state).randint(0, 2**32, 2, dtype=np.uint64)
            seed = int(draw[0]) << 32 | int(draw[1])
        self.classes_ = classes
        self._machine = NativeMachine(self._parameters(), len(classes), self.n_features_in_, seed)
        self._publish_history()

    def _parameters(self) -> MachineParameters:
        return MachineParameters(
            n_clauses=int(self.n_clauses),
            T=int(self.T),
            s=float(self.s),
            boost_true_positive=bool(self.boost_true_positive),
            max_literals=int(self.max_literals or 0),
            focus=NEGATIVE_SAMPLING[self.negative_sampling],
            weighted=bool(self.weighted),
            negations=bool(self.negations),
        )

    def _publish_history(self) -> None:
        history = self._machine.history
        self.history_ = dict(zip(HISTORY_COLUMNS, history.T, strict=True))
        self.n_epochs_, self.stop_reason_ = len(history), self._machine.stop_reason

    def _learn(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        codes: NDArray[np.int32],
        epochs: int,
        callback: Callable[[EpochInfo], bool | None] | None,
    ) -> Self:
        done = self.n_epochs_

        def after_epoch(epoch: int, row: NDArray[np.int64]) -> bool:
            ia, ib, ii, at_target = row[0].tolist()
            info = EpochInfo(epoch + 1, epochs, ia, ib, ii, at_target, len(codes))
            if self.verbose:
                print(
                    f"epoch {done + info.epoch}: {info.documents_at_target} of {info.documents} "
                    f"documents at T; events Ia {info.type_ia}, Ib {info.type_ib}, "
                    f"II {info.type_ii}",
                    file=sys.stderr,
                )
            return bool(callback(info)) if callback is not None else False

        after = after_epoch if callback is not None or self.verbose else None
        cut, raised = self._machine.fit(
            (indptr, indices), codes, epochs, thread_count(self.n_jobs), after, self._cancelled
        )
        self._publish_history()
        # Who cancels a fit discards the machine, and needs no warning.
        if cut and self._cancelled is None:
            warnings.warn(
                f"Interrupted in epoch {self.n_epochs_ + 1}, which was too long to finish; the "
                "machine holds what was learned in that part of the epoch.",
                stacklevel=3,
            )
        if raised is not None:
            raise raised
        return self
