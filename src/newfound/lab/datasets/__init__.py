"""Data sets: the sample that comes with the package, and loaders for three well-known corpora.

The corpora are not part of the package; mind the terms of each, in the docstring of its loader. A
loader takes the first of these that there is: the path that it is given, the folder named by the
environment variable ``NEWFOUND_DATA``, an earlier download, and, only when asked, a new one.
"""

from newfound.lab.datasets.corpora import load_20newsgroups, load_bbcsport, load_clinc150
from newfound.lab.datasets.corpus import DatasetError, LabelledDocuments
from newfound.text.sample import load_sample

__all__ = [
    "DatasetError",
    "LabelledDocuments",
    "load_20newsgroups",
    "load_bbcsport",
    "load_clinc150",
    "load_sample",
]
