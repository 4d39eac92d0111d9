"""Data sets: the sample that comes with the package, and loaders for four public corpora.

The corpora are not part of the package; the docstring of each loader states its terms. A loader
reads the path that it is given; without one it looks in the folder named by the environment
variable ``NEWFOUND_DATA``, then among earlier downloads. It downloads only if asked to.
"""

from lab.datasets.corpora import (
    load_20newsgroups,
    load_abcnews,
    load_bbcsport,
    load_clinc150,
)
from lab.datasets.corpus import DatasetError, LabelledDocuments
from newfound.text.sample import load_sample

__all__ = [
    "DatasetError",
    "LabelledDocuments",
    "load_20newsgroups",
    "load_abcnews",
    "load_bbcsport",
    "load_clinc150",
    "load_sample",
]
