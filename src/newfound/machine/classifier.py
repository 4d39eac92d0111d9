"""A Tsetlin Machine for Boolean bags of words, as a scikit-learn classifier."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from newfound import _core
from newfound.machine.clauses import Clauses, EpochInfo, TrainedState
from newfound.machine.validation import boolean_csr, encode, refuse, whole

__all__ = ["HISTORY_COLUMNS", "Clauses", "EpochInfo", "TsetlinMachineClassifier"]

HISTORY_COLUMNS = _core.HISTORY_COLUMNS


class TsetlinMachineClassifier(ClassifierMixin, BaseEstimator):
    """Tsetlin Machine classifier over Boolean features.

    It learns AND-rules (clauses) of plain and negated features; each class has clauses that vote
    for it and as many that vote against it. Exact: the law of the vanilla machine, with 128 states
    for each action and an empty clause matching in training only. Reproducible: the same
    ``random_state`` gives the same machine on any number of threads and any processor.

    Parameters
    ----------
    n_clauses : int, default=400
        Clauses for each class, half of each polarity; even.
    T : int, default=20
        The number of votes at which a document is learned well enough.
    s : float, default=5.0
        How specific clauses become: 1/s is the probability of forgetting. From 1 to 8000.
    epochs : int, default=30
        Passes over the documents. Training ends earlier when every vote has reached T.
    boost_true_positive : bool, default=False
        Strengthen true literals of a matching clause with probability 1 instead of (s - 1)/s.
    max_literals : int or None, default=None
        A budget: a matching clause with more literals than this is weakened instead of
        strengthened. Gives short, readable rules.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores.
    random_state : int, RandomState or None, default=None
        The seed.
    verbose : int, default=0
        1 prints a line for each epoch on standard error.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    n_features_in_ : int
        The number of features.
    clauses_ : Clauses
        What was learned. ``matches`` and ``agrees`` refer to the documents of the last call.
    history_ : dict of str to ndarray
        For each epoch the number of ``type_ia``, ``type_ib`` and ``type_ii`` events and of
        ``documents_at_target``.
    n_epochs_ : int
        Epochs done, over all calls.
    stop_reason_ : str
        Why training ended: ``"epochs"`` (all done), ``"converged"`` (every vote has reached T: no
        clause can change any more), ``"callback"`` or ``"interrupted"``.

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

    # Asked now and then by a fit outside the main thread, which no signal reaches.
    _cancelled: Callable[[], bool] | None = None
    _machine: _core.Machine
    _seed: int
    _clauses: Clauses | None
    _learned_from: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]] | None
    _fitted: dict[str, Any]  # the parameters that the machine was started with

    def __init__(
        self,
        n_clauses: int = 400,
        T: int = 20,
        s: float = 5.0,
        epochs: int = 30,
        *,
        boost_true_positive: bool = False,
        max_literals: int | None = None,
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
        """Learn from scratch.

        Parameters
        ----------
        X : (n_documents, n_features) array or sparse matrix
            Boolean or 0/1; CSR is read as it is.
        y : (n_documents,) array
            Class labels, at least two different ones.
        callback : callable, optional
            Called with an `EpochInfo` after each epoch; a true result ends training.
        **unsupported
            Nothing else is accepted; ``sample_weight`` is refused with an explanation.

        Returns
        -------
        self
        """
        refuse(unsupported)
        self.check_parameters()
        indptr, indices = self._read(X, y=y, reset=True)
        classes, codes = encode(y, len(indptr) - 1)
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
        """Go on from where the machine is; the first call starts it.

        A call costs at least a pass over all automata: give it many documents at a time. The
        parameters of a machine are those it was started with.

        Parameters
        ----------
        X, y
            As in `fit`.
        classes : array, optional
            All classes that will ever occur; without it, those of the first call.
        epochs : int, default=1
            Passes over these documents.
        callback : callable, optional
            As in `fit`.
        **unsupported
            As in `fit`.

        Returns
        -------
        self
        """
        refuse(unsupported)
        self.check_parameters()
        whole("epochs", epochs, 1)
        first = not hasattr(self, "_machine")
        indptr, indices = self._read(X, y=y, reset=first)
        if not first:
            known = self.classes_
            if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), known):
                raise ValueError(
                    f"classes={np.asarray(classes)!r} is not the same as on the first call to "
                    f"partial_fit, {known!r}; pass the same classes or none."
                )
        else:
            labels = y if classes is None else classes
            known, _ = encode(labels, len(np.asarray(labels)))
        codes = _codes(y, len(indptr) - 1, known)
        if first:
            self._start(known)
        return self._learn(indptr, indices, codes, epochs, callback)

    def class_sums(self, X: ArrayLike | sp.spmatrix | sp.sparray) -> NDArray[np.int32]:
        """Votes for each class: matching positive minus matching negative clauses.

        Parameters
        ----------
        X : (n_documents, n_features) array or sparse matrix
            Documents.

        Returns
        -------
        (n_documents, n_classes) array
        """
        check_is_fitted(self, "_machine")
        return self.class_sums_csr(*self._read(X, reset=False))

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
        return self._machine.votes(indptr, indices, self._threads())

    def decision_function(self, X: ArrayLike | sp.spmatrix | sp.sparray) -> NDArray[np.int32]:
        """Class sums; with two classes, the second one's minus the first one's.

        Parameters
        ----------
        X : (n_documents, n_features) array or sparse matrix
            Documents.

        Returns
        -------
        (n_documents, n_classes) array, or (n_documents,) for two classes
        """
        sums = self.class_sums(X)
        return sums[:, 1] - sums[:, 0] if len(self.classes_) == 2 else sums

    def predict(self, X: ArrayLike | sp.spmatrix | sp.sparray) -> NDArray[Any]:
        """Class with the most votes; the first of them if there are several.

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
        """Which clauses each document matches; empty clauses match nothing.

        Parameters
        ----------
        X : (n_documents, n_features) array or sparse matrix
            Documents.

        Returns
        -------
        Boolean (n_documents, n_classes * n_clauses) CSR array, its columns as in ``clauses_``
        """
        check_is_fitted(self, "_machine")
        indptr, clauses = self._machine.matching(*self._read(X, reset=False), self._threads())
        return sp.csr_array(
            (np.ones(len(clauses), bool), clauses, indptr),
            shape=(len(indptr) - 1, len(self.classes_) * self._fitted["n_clauses"]),
        )

    def support(
        self, X: ArrayLike | sp.spmatrix | sp.sparray, y: ArrayLike
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count for each clause the documents that it matches, and those of its side among them.

        Parameters
        ----------
        X : (n_documents, n_features) array or sparse matrix
            Documents, not necessarily those of the training.
        y : (n_documents,) array
            Their classes.

        Returns
        -------
        matches, agrees : (n_classes * n_clauses,) array
            As in `Clauses`.
        """
        check_is_fitted(self, "_machine")
        indptr, indices = self._read(X, reset=False)
        codes = _codes(y, len(indptr) - 1, self.classes_)
        return self._support(indptr, indices, codes)

    def _support(
        self, indptr: NDArray[np.int64], indices: NDArray[np.int32], codes: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        matches, own = self._machine.support(indptr, indices, codes, self._threads())
        return matches, np.where(self._polarity() > 0, own, matches - own)

    def _polarity(self) -> NDArray[np.int8]:
        half = self._fitted["n_clauses"] // 2
        return np.tile(np.repeat(np.array([1, -1], np.int8), half), len(self.classes_))

    @property
    def clauses_(self) -> Clauses:
        """What was learned, read from the automata when first asked for."""
        check_is_fitted(self, "_machine")
        learned_from = self._learned_from  # another thread may be faster and take it away
        if self._clauses is None:
            assert learned_from is not None
            threads, n, per_class = self._threads(), len(self.classes_), self._fitted["n_clauses"]
            indptr, literals = self._machine.clauses(threads)
            matches, agrees = self._support(*learned_from)
            self._clauses = Clauses(
                class_index=np.repeat(np.arange(n, dtype=np.int32), per_class),
                polarity=self._polarity(),
                indptr=indptr,
                literals=literals,
                matches=matches,
                agrees=agrees,
                n_features=self.n_features_in_,
            )
            self._learned_from = None
        return self._clauses

    @property
    def states_(self) -> NDArray[np.uint8]:
        """States of the automata, a copy: (n_classes, n_clauses, 2, n_features).

        Plain features, then negated ones; from 128 on, a literal is included.
        """
        check_is_fitted(self, "_machine")
        return self._machine.states()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_machine")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def trained_state(self) -> TrainedState:
        """Return what the machine needs to continue training, for storage; see `restore`."""
        check_is_fitted(self, "_machine")
        position, draws, epochs_drawn = self._machine.counters()
        return TrainedState(
            seed=self._seed,
            states=self._machine.states(),
            position=position,
            draws=draws,
            epochs_drawn=epochs_drawn,
            history=self._history,
            stop_reason=self.stop_reason_,
        )

    def restore(self, state: TrainedState, classes: NDArray[Any], clauses: Clauses) -> Self:
        """Make this the trained machine that `trained_state` was called on.

        Parameters
        ----------
        state : TrainedState
            Of a machine with the same parameters.
        classes : (n_classes,) array
            Its ``classes_``.
        clauses : Clauses
            Its ``clauses_``, with their counts of matching documents.

        Returns
        -------
        self
        """
        self.check_parameters()
        self.classes_, self.n_features_in_ = classes, clauses.n_features
        self._fitted = self._core_parameters()
        self._clauses, self._learned_from = clauses, None
        self._resume(state)
        return self

    def _resume(self, state: TrainedState) -> None:
        self._seed = state.seed
        self._machine = self._new_machine()
        self._machine.set_counters(state.position, state.draws, state.epochs_drawn)
        self._machine.set_states(state.states)
        self.n_epochs_, self.stop_reason_ = len(state.history), state.stop_reason
        self._keep_history(state.history)

    def __getstate__(self) -> dict[str, Any]:
        fitted = hasattr(self, "_machine")
        if fitted:
            _ = self.clauses_  # so that the documents need not be kept
        state: dict[str, Any] = dict(super().__getstate__())
        if fitted:
            del state["_machine"]
            state["_trained"] = self.trained_state()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        trained = state.pop("_trained", None)
        super().__setstate__(state)
        if trained is not None:
            self._resume(trained)

    def check_parameters(self) -> None:
        """Raise a ValueError that names the first parameter with an impossible value."""
        whole("n_clauses", self.n_clauses, 2)
        if self.n_clauses % 2:
            raise ValueError(
                f"n_clauses={self.n_clauses} must be even: half vote for a class, half against it."
            )
        whole("T", self.T, 1)
        whole("epochs", self.epochs, 1)
        if not isinstance(self.s, Real) or not 1.0 <= self.s <= 8000.0:
            raise ValueError(
                f"s={self.s!r} must be a number from 1 to 8000; beyond, 1/s would not be exact."
            )
        if self.max_literals is not None:
            whole("max_literals", self.max_literals, 1)
        jobs = self.n_jobs
        if jobs is not None and (not isinstance(jobs, Integral) or jobs == 0 or jobs > 1024):
            raise ValueError(
                f"n_jobs={jobs!r} must be None, a number of threads up to 1024, or -1 for all."
            )

    def _threads(self) -> int:
        if self.n_jobs is None:
            return 1
        cores = (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
        return int(self.n_jobs) if self.n_jobs > 0 else max(1, cores + 1 + int(self.n_jobs))

    def _start(self, classes: NDArray[Any]) -> None:
        if isinstance(self.random_state, Integral):
            self._seed = int(self.random_state) & (2**64 - 1)
        else:
            draw = check_random_state(self.random_state).randint(0, 2**32, 2, dtype=np.uint64)
            self._seed = int(draw[0]) << 32 | int(draw[1])
        self.classes_ = classes
        self._fitted = self._core_parameters()
        self._machine = self._new_machine()
        self.n_epochs_ = 0
        self.stop_reason_ = "epochs"
        self._keep_history(np.empty((0, len(HISTORY_COLUMNS)), np.int64))
        nothing = np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32)
        self._learned_from, self._clauses = nothing, None

    def _core_parameters(self) -> dict[str, Any]:
        return {
            "n_clauses": int(self.n_clauses),
            "T": int(self.T),
            "s": float(self.s),
            "boost_true_positive": bool(self.boost_true_positive),
            "max_literals": int(self.max_literals or 0),
        }

    def _new_machine(self) -> _core.Machine:
        n_classes, n_features = len(self.classes_), self.n_features_in_
        try:
            return _core.Machine(n_classes, n_features, seed=self._seed, **self._fitted)
        except MemoryError:
            automata = 2 * n_features * n_classes * self._fitted["n_clauses"]
            raise MemoryError(
                f"The machine needs {automata / 2**30:.1f} GiB for {automata:,} automata; use "
                "fewer clauses or features."
            ) from None

    def _keep_history(self, history: NDArray[np.int64]) -> None:
        self._history = history
        self.history_ = dict(zip(HISTORY_COLUMNS, history.T, strict=True))

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

        watch = after_epoch if callback is not None or self.verbose else None
        history, reason, cut, raised = self._machine.fit(
            indptr, indices, codes, epochs, self._threads(), watch, self._cancelled
        )
        self._keep_history(np.concatenate((self._history, history)))
        self.n_epochs_ = done + len(history)
        self.stop_reason_ = "interrupted" if isinstance(raised, KeyboardInterrupt) else reason
        # Copied, because the caller may change X before somebody asks for the clauses.
        self._learned_from, self._clauses = (indptr, indices.copy(), codes), None
        # A committee that is cancelled is given up as a whole, and nobody sees its machines.
        if cut and self._cancelled is None:
            warnings.warn(
                f"Interrupted in epoch {self.n_epochs_ + 1}, which was too long to finish; the "
                "machine holds what was learned in that part of the epoch.",
                stacklevel=3,
            )
        if raised is not None:
            raise raised
        return self

    def _read(
        self, X: Any, *, y: Any = "no_validation", reset: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        return boolean_csr(self, X, y=y, reset=reset)


def _codes(y: ArrayLike, n_documents: int, classes: NDArray[Any]) -> NDArray[np.int32]:
    labels, codes = encode(y, n_documents, at_least=1)
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise ValueError(
            f"y has the label {labels[unknown].tolist()[0]!r}, which is not among the classes "
            f"{classes.tolist()}; name all classes on the first call to partial_fit."
        )
    found: NDArray[np.int32] = np.searchsorted(classes, labels).astype(np.int32)[codes]
    return found
