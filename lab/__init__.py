"""The lab: reproduction of the paper, quality suites and public data sets. It is in no wheel.

``python -m lab`` in the root of the repository runs it, with newfound installed.
"""

from lab.datasets import (
    DatasetError,
    LabelledDocuments,
    load_20newsgroups,
    load_abcnews,
    load_bbcsport,
    load_clinc150,
)

__all__ = [
    "DatasetError",
    "LabelledDocuments",
    "load_20newsgroups",
    "load_abcnews",
    "load_bbcsport",
    "load_clinc150",
]
