"""newfound tells which documents are new, which words make them so, and in what context."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from newfound.description.context import Context, ContextMatrix
    from newfound.description.describe import (
        Period,
        Periods,
        describe,
        describe_periods,
        describe_values,
        split_by_date,
    )
    from newfound.description.describer import NoveltyDescriber
    from newfound.description.description import Description
    from newfound.description.scores import context_scores, word_scores
    from newfound.description.timeline import Curve, Timeline
    from newfound.description.words import WordTable
    from newfound.detection.detection import Detection
    from newfound.detection.detector import NoveltyDetector
    from newfound.detection.encoder_shelf import load_encoder
    from newfound.detection.verdict import Verdict
    from newfound.explanation import Explanation
    from newfound.machine.classifier import TsetlinMachineClassifier
    from newfound.machine.clauses import Clauses
    from newfound.machine.native import EpochInfo
    from newfound.models import ModelFileError, load, save
    from newfound.monitor.monitor import Monitor
    from newfound.rules import Clause, ClauseTable
    from newfound.rules.classifier import RuleClassifier
    from newfound.rules.weighted import WeightedRule
    from newfound.show.plots import plot_context, plot_curves, plot_words
    from newfound.stories.themes import Theme
    from newfound.text.documents import DocumentError, Documents, as_documents, read_documents
    from newfound.text.redaction import redact
    from newfound.text.sample import load_sample
    from newfound.text.vectorizer import TextVectorizer

__version__ = version("newfound")

# Imported when first asked for: scikit-learn takes a second, and the command line's help need not.
_HOMES = {
    "Clause": "rules",
    "ClauseTable": "rules",
    "Clauses": "machine.clauses",
    "Context": "description.context",
    "ContextMatrix": "description.context",
    "Curve": "description.timeline",
    "Description": "description.description",
    "Detection": "detection.detection",
    "DocumentError": "text.documents",
    "Documents": "text.documents",
    "EpochInfo": "machine.native",
    "Explanation": "explanation",
    "ModelFileError": "storage.files",
    "Monitor": "monitor.monitor",
    "NoveltyDescriber": "description.describer",
    "NoveltyDetector": "detection.detector",
    "Period": "description.describe",
    "Periods": "description.describe",
    "RuleClassifier": "rules.classifier",
    "TextVectorizer": "text.vectorizer",
    "Theme": "stories.themes",
    "Timeline": "description.timeline",
    "TsetlinMachineClassifier": "machine.classifier",
    "Verdict": "detection.verdict",
    "WeightedRule": "rules.weighted",
    "WordTable": "description.words",
    "as_documents": "text.documents",
    "context_scores": "description.scores",
    "describe": "description.describe",
    "describe_periods": "description.describe",
    "describe_values": "description.describe",
    "load": "models",
    "load_encoder": "detection.encoder_shelf",
    "load_sample": "text.sample",
    "plot_context": "show.plots",
    "plot_curves": "show.plots",
    "plot_words": "show.plots",
    "read_documents": "text.documents",
    "redact": "text.redaction",
    "save": "models",
    "split_by_date": "description.describe",
    "word_scores": "description.scores",
}

__all__ = [
    "Clause",
    "ClauseTable",
    "Clauses",
    "Context",
    "ContextMatrix",
    "Curve",
    "Description",
    "Detection",
    "DocumentError",
    "Documents",
    "EpochInfo",
    "Explanation",
    "ModelFileError",
    "Monitor",
    "NoveltyDescriber",
    "NoveltyDetector",
    "Period",
    "Periods",
    "RuleClassifier",
    "TextVectorizer",
    "Theme",
    "Timeline",
    "TsetlinMachineClassifier",
    "Verdict",
    "WeightedRule",
    "WordTable",
    "__version__",
    "as_documents",
    "context_scores",
    "describe",
    "describe_periods",
    "describe_values",
    "load",
    "load_encoder",
    "load_sample",
    "plot_context",
    "plot_curves",
    "plot_words",
    "read_documents",
    "redact",
    "save",
    "split_by_date",
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
