"""How often rules alone name the class of a document."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import normalize

from lab.datasets import load_20newsgroups, load_bbcsport, load_clinc150
from lab.evaluation.suites import C_GRID, N_CV_FOLDS, SuiteSetting
from lab.tables import table_of
from newfound.baselines import one_blas_thread
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.rules.classifier import RuleClassifier
from newfound.table import Table
from newfound.text.vectorizer import TextVectorizer

__all__ = ["SUITES", "Setting", "Task", "compare"]

MAX_WORDS = (1, 2, 4, 12)
VOTES = (  # clauses a class, epochs, focused negatives, negations
    (40, 10, False, True),
    (40, 10, True, True),
    (40, 30, True, True),
    (40, 30, True, False),
    (100, 10, True, True),
)
BBC_SEEDS = 3


@dataclass(frozen=True)
class Setting(SuiteSetting):
    """The setting of the suites for rules."""


@dataclass(frozen=True)
class Task:
    """Bags of words with classes, to learn from and to be tested on."""

    train: Any
    train_labels: NDArray[Any]
    test: Any
    test_labels: NDArray[Any]

    @classmethod
    def read(
        cls, train: Sequence[str], labels: Any, test: Sequence[str], test_labels: Any, **words: Any
    ) -> Task:
        """Return the task of documents; `words` are parameters of the vectorizer."""
        vectorizer = TextVectorizer(min_df=2, **words)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some documents have no words
            return cls(
                vectorizer.fit_transform(train),
                np.asarray(labels),
                vectorizer.transform(test),
                np.asarray(test_labels),
            )


def clinc150(setting: Setting) -> Table:
    """CLINC150: the 150 intents, trained on the training split, tested on the test split.

    "at most n words": rules of that many words, with weights (`RuleClassifier`). The C of logistic
    regression, on the same words with TF-IDF, is chosen by 3-fold cross-validation on the training
    side. The settings of the rules were chosen on the validation split.
    """
    return table_of(compare(_clinc(setting, "test"), setting))


def newsgroups(setting: Setting) -> Table:
    """20 Newsgroups: the 20 groups, split by date, headers stripped; as clinc150."""
    corpus = load_20newsgroups(setting.data)
    train, test = (corpus.only(*sorted(set(corpus.labels or ())), split=s) for s in _SPLITS)
    task = Task.read(train.texts, train.labels, test.texts, test.labels)
    return table_of(compare(task, setting))


def bbcsport(setting: Setting) -> Table:
    """BBC Sport: the five sports, a third held out, the mean of 3 draws; as clinc150."""
    corpus = load_bbcsport(setting.data)
    labels = np.array(corpus.labels)
    rows: dict[str, list[dict[str, Any]]] = {}
    for seed in range(BBC_SEEDS):
        splits = StratifiedKFold(3, shuffle=True, random_state=seed)
        train, test = next(splits.split(np.zeros(len(labels)), labels))
        texts, held_out = ([corpus.texts[i] for i in part] for part in (train, test))
        task = Task.read(texts, labels[train], held_out, labels[test])
        for row in compare(task, setting):
            rows.setdefault(row["method"], []).append(row)
    return table_of(
        [
            {"method": name}
            | {
                column: float(np.mean([row[column] for row in found]))
                for column in found[0]
                if column != "method"
            }
            for name, found in rows.items()
        ]
    )


def votes(setting: Setting) -> Table:
    """CLINC150 validation split: the votes of a machine alone, without fitted weights.

    T = 10, s = 3, at most 8 literals, boosted true positives. "focused": the other class is drawn
    in proportion to the fourth power of its update probability.
    """
    task = _clinc(setting, "val")
    rows = []
    for n_clauses, epochs, focused, negations in VOTES:
        setting.say(f"votes: {n_clauses} clauses, {epochs} epochs, focused {focused}")
        machine = TsetlinMachineClassifier(
            n_clauses,
            10,
            3.0,
            epochs,
            boost_true_positive=True,
            max_literals=8,
            negative_sampling="focused" if focused else "uniform",
            negations=negations,
            n_jobs=setting.n_jobs,
            random_state=0,
        )
        seconds = _fit(machine, task)
        lengths = machine.clauses_.lengths
        rows.append(
            {
                "clauses a class": n_clauses,
                "epochs": epochs,
                "negatives": "focused" if focused else "uniform",
                "negated words": "yes" if negations else "no",
                "accuracy": float((machine.predict(task.test) == task.test_labels).mean()),
                "literals a clause": float(lengths.mean()),
                "fit, seconds": seconds,
            }
        )
    return table_of(rows)


def compare(task: Task, setting: Setting) -> list[dict[str, Any]]:
    """Return a row of figures for rules of each length, and for logistic regression."""
    return [*_rule_rows(task, setting), _baseline_row(task)]


def _rule_rows(task: Task, setting: Setting) -> Iterator[dict[str, Any]]:
    for max_words in MAX_WORDS:
        setting.say(f"rules of at most {max_words} word{'s' if max_words > 1 else ''}")
        model = RuleClassifier(max_words=max_words, n_jobs=setting.n_jobs, random_state=0)
        seconds = _fit(model, task)
        yield {
            "method": f"rules, at most {max_words} word{'s' if max_words > 1 else ''}",
            "accuracy": float((model.predict(task.test) == task.test_labels).mean()),
            "rules": len(model.rule_words_),
            "of several words": sum(len(words) > 1 for words in model.rule_words_),
            "weights": int(model.weights_.nnz),
            "fit, seconds": seconds,
        }


def _baseline_row(task: Task) -> dict[str, Any]:
    frequency = np.asarray(task.train.sum(axis=0), np.float64).ravel()
    rarity = np.log((1 + task.train.shape[0]) / (1 + frequency)) + 1
    train, test = (normalize(part.astype(np.float64).multiply(rarity)) for part in _parts(task))
    model = LogisticRegression(max_iter=1000)
    folds = StratifiedKFold(N_CV_FOLDS, shuffle=True, random_state=0)
    began = time.process_time()
    with one_blas_thread():
        search = GridSearchCV(model, {"C": list(C_GRID)}, cv=folds).fit(train, task.train_labels)
    return {
        "method": f"logistic regression, C = {search.best_params_['C']:g}",
        "accuracy": float(search.score(test, task.test_labels)),
        "fit, seconds": time.process_time() - began,
    }


def _parts(task: Task) -> tuple[Any, Any]:
    return task.train, task.test


def _fit(model: Any, task: Task) -> float:
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes")
        model.fit(task.train, task.train_labels)
    return time.process_time() - began


def _clinc(setting: Setting, split: str) -> Task:
    corpus = load_clinc150(setting.data)
    intents = sorted(set(corpus.labels or ()) - {"oos"})
    train, test = (corpus.only(*intents, split=part) for part in ("train", split))
    return Task.read(train.texts, train.labels, test.texts, test.labels, stop_words=None)


_SPLITS = ("train", "test")

SUITES: Mapping[str, Any] = MappingProxyType(
    {"clinc150": clinc150, "20newsgroups": newsgroups, "bbcsport": bbcsport, "votes": votes}
)
