"""How good a ranking of words or documents is, measured on documents that were held out."""

from newfound.metrics import (
    HeldOutWords,
    PrecisionRecallCurve,
    RocCurve,
    auroc,
    average_precision,
    document_scores,
    folds,
    held_out_documents,
    held_out_words,
    near_duplicates,
    precision_recall_curve,
    roc_curve,
)

__all__ = [
    "HeldOutWords",
    "PrecisionRecallCurve",
    "RocCurve",
    "auroc",
    "average_precision",
    "document_scores",
    "folds",
    "held_out_documents",
    "held_out_words",
    "near_duplicates",
    "precision_recall_curve",
    "roc_curve",
]
