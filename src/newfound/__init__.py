"""newfound tells which documents are new, which words make them so, and in what context."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from newfound.clauses import Clause, ClauseTable
    from newfound.context import Context, ContextMatrix
    from newfound.datasets import (
        LabelledDocuments,
        load_20newsgroups,
        load_bbcsport,
        load_clinc150,
        load_sample,
    )
    from newfound.describer import NoveltyDescriber, describe
    from newfound.detection import Detection
    from newfound.detector import NoveltyDetector
    from newfound.documents import DocumentError, Documents, as_documents, read_documents
    from newfound.explanation import Explanation
    from newfound.learned import Clauses, EpochInfo
    from newfound.machine import TsetlinMachineClassifier
    from newfound.persistence import ModelFileError, load, save
    from newfound.plots import plot_context, plot_curves, plot_words
    from newfound.scoring import context_scores, word_scores
    from newfound.text import TextVectorizer
    from newfound.verdict import Verdict
    from newfound.words import WordTable

__version__ = version("newfound")

# Imported when first asked for: scikit-learn takes a second, and the command line's help need not.
_HOMES = {
    "Clause": "clauses",
    "ClauseTable": "clauses",
    "Clauses": "learned",
    "Context": "context",
    "ContextMatrix": "context",
    "Detection": "detection",
    "DocumentError": "documents",
    "Documents": "documents",
    "EpochInfo": "learned",
    "Explanation": "explanation",
    "LabelledDocuments": "datasets",
    "ModelFileError": "persistence",
    "NoveltyDescriber": "describer",
    "NoveltyDetector": "detector",
    "TextVectorizer": "text",
    "TsetlinMachineClassifier": "machine",
    "Verdict": "verdict",
    "WordTable": "words",
    "as_documents": "documents",
    "context_scores": "scoring",
    "describe": "describer",
    "load": "persistence",
    "load_20newsgroups": "datasets",
    "load_bbcsport": "datasets",
    "load_clinc150": "datasets",
    "load_sample": "datasets",
    "plot_context": "plots",
    "plot_curves": "plots",
    "plot_words": "plots",
    "read_documents": "documents",
    "save": "persistence",
    "word_scores": "scoring",
}

__all__ = [
    "Clause",
    "ClauseTable",
    "Clauses",
    "Context",
    "ContextMatrix",
    "Detection",
    "DocumentError",
    "Documents",
    "EpochInfo",
    "Explanation",
    "LabelledDocuments",
    "ModelFileError",
    "NoveltyDescriber",
    "NoveltyDetector",
    "TextVectorizer",
    "TsetlinMachineClassifier",
    "Verdict",
    "WordTable",
    "__version__",
    "as_documents",
    "context_scores",
    "describe",
    "load",
    "load_20newsgroups",
    "load_bbcsport",
    "load_clinc150",
    "load_sample",
    "plot_context",
    "plot_curves",
    "plot_words",
    "read_documents",
    "save",
    "word_scores",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'newfound' has no attribute {name!r}")
    value = getattr(import_module(f"newfound.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
