"""The sample of documents that comes with the package."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import as_file, files

from newfound.text.documents import Documents, read_documents

__all__ = ["load_sample"]


def load_sample() -> tuple[Documents, Documents]:
    """Load the bundled sample: requests to an assistant, about banking and about travel.

    A part of CLINC150 by S. Larson et al., 2019, under CC BY 3.0; see ``ATTRIBUTION.txt`` beside
    the files. Each side has 1,500 requests, labelled with one of 15 intents.

    Returns
    -------
    known, novel : Documents
        The requests about banking, and those about travel.

    Examples
    --------
    >>> known, novel = load_sample()
    >>> len(known), len(novel), novel.labels[0]
    (1500, 1500, 'translate')
    """
    return _sample("banking"), _sample("travel")


def _sample(name: str) -> Documents:
    with as_file(files("newfound") / "data" / "sample" / f"{name}.jsonl.gz") as path:
        documents = read_documents(path, label_column="label")
    return replace(documents, source=f"the bundled sample, {name} of CLINC150")
