"""Known documents by term and class."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from newfound.detection.neighbours import Neighbours

SIZES = (3, 5, 6, 17, 30, 0, 1)  # of classes


def test_every_weight_is_found_by_term_class_and_document() -> None:
    rng = np.random.RandomState(1)
    codes = rng.permutation(np.repeat(np.arange(len(SIZES)), SIZES))
    weights = (rng.rand(len(codes), 40) * (rng.rand(len(codes), 40) < 0.3)).astype(np.float32)
    weights[:, 7] = 0  # a term that no document has
    found = Neighbours.of(sparse.csr_matrix(weights), codes, len(SIZES))
    entries = {}
    for term in range(40):
        some = slice(found.class_begin[term], found.class_begin[term + 1])
        assert np.all(np.diff(found.classes[some]) > 0)
        for number in range(some.start, some.stop):
            documents = slice(found.document_begin[number], found.document_begin[number + 1])
            assert np.all(np.diff(found.places[documents]) > 0)
            own = np.flatnonzero(codes == found.classes[number])
            for place, value in zip(found.places[documents], found.values[documents], strict=True):
                entries[own[place], term] = value
    rows, columns = np.nonzero(weights)
    assert entries == {(i, j): weights[i, j] for i, j in zip(rows, columns, strict=True)}
