"""Is the sentence that does not belong in a document found? Sentences planted into documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.datasets import LabelledDocuments
from lab.evaluation.document_baselines import DocumentBaselines
from lab.evaluation.suites import Values, add_value
from newfound.detection.detector import NoveltyDetector
from newfound.text.sentences import sentence_spans

__all__ = ["Planted", "clinc150_planted", "measure_planted", "newsgroups_planted", "sentences_in"]

N_DOCUMENTS = 300
LEAST, MOST = 3, 60  # sentences of a document
WORDS = (8, 40)  # of a planted sentence of 20 Newsgroups
N_GROUPS = 5  # known ones, and as many that sentences are from
N_REQUESTS = 4  # in-scope requests around one that is out of scope
MOST_LEARNED = 10_000  # sentences that the baselines learn from
ALPHA = 0.05

BASELINES = {
    "logistic regression, max probability": DocumentBaselines.logistic,
    "5 nearest neighbours": DocumentBaselines.word_neighbours,
}


@dataclass(frozen=True)
class Planted:
    """Documents as lists of sentences, and for each a sentence of another kind and its place."""

    documents: list[list[str]]
    sentences: list[str]
    places: NDArray[np.int64]

    def texts(self, joined_by: str) -> tuple[list[str], list[str]]:
        """Return the documents without the planted sentence, and with it."""
        with_it = [
            [*document[:place], sentence, *document[place:]]
            for document, sentence, place in zip(
                self.documents, self.sentences, self.places.tolist(), strict=True
            )
        ]
        return [joined_by.join(d) for d in self.documents], [joined_by.join(d) for d in with_it]


def clinc150_planted(corpus: LabelledDocuments, seed: int) -> Planted:
    """Return four in-scope test requests each, and an out-of-scope one to put between them."""
    labels, splits = np.array(corpus.labels), np.array(corpus.splits)
    draw = np.random.RandomState(seed)
    known = draw.permutation(np.flatnonzero((splits == "test") & (labels != "oos")))
    novel = draw.permutation(np.flatnonzero((splits == "test") & (labels == "oos")))
    n = min(N_DOCUMENTS, len(novel), len(known) // N_REQUESTS)
    rows = known[: n * N_REQUESTS].reshape(n, N_REQUESTS).tolist()
    return Planted(
        [[corpus.texts[i] + "." for i in some] for some in rows],
        [corpus.texts[i] + "." for i in novel[:n].tolist()],
        draw.randint(1, N_REQUESTS, n).astype(np.int64),
    )


def newsgroups_planted(corpus: LabelledDocuments, seed: int) -> tuple[LabelledDocuments, Planted]:
    """Return the training posts of five groups, and test posts with sentences of five others."""
    draw = np.random.RandomState(seed)
    drawn = draw.permutation(sorted(set(corpus.labels or ())))[: 2 * N_GROUPS].tolist()
    known, others = drawn[:N_GROUPS], drawn[N_GROUPS:]
    pool = []
    for text in corpus.only(*others, split="test").texts:
        own = [s for s in sentences_in(text) if WORDS[0] <= len(s.split()) <= WORDS[1]]
        pool += [own[draw.randint(len(own))]] if own else []
    documents = [sentences_in(text) for text in corpus.only(*known, split="test").texts]
    documents = [d for d in documents if LEAST <= len(d) <= MOST]
    chosen = [documents[i] for i in draw.permutation(len(documents))[:N_DOCUMENTS].tolist()]
    sentences = [pool[i] for i in draw.randint(len(pool), size=len(chosen)).tolist()]
    places = np.array([draw.randint(len(d) + 1) for d in chosen], np.int64)
    return corpus.only(*known, split="train"), Planted(chosen, sentences, places)


def sentences_in(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [text[begin:end] for begin, end in sentence_spans(text)]


def measure_planted(
    values: Values,
    name: str,
    planted: Planted,
    detector: NoveltyDetector,
    baselines: DocumentBaselines | None,
    *,
    joined_by: str = " ",
) -> None:
    """Add what a detector and baselines find; see `lab.evaluation.documents.sentences`."""
    own = [s for document in planted.documents for s in document]
    owners = np.repeat(np.arange(len(planted.documents)), [len(d) for d in planted.documents])
    scorers: Mapping[str, Callable[[Sequence[str]], Any]] = {"newfound": detector.novelty}
    if baselines is not None:
        peers = {method: partial(score, baselines) for method, score in BASELINES.items()}
        scorers = {**scorers, **peers}
    for method, score in scorers.items():
        among, found = score(own), score(planted.sentences)
        add_value(values, f"{name}: {method}", "within documents", _within(among, owners, found))
        before = np.array([among[owners == i].max() for i in range(len(found))])
        after = np.maximum(before, found)
        add_value(values, f"{name}: {method}", "documents, newest sentence", _area(before, after))
        texts = planted.texts(joined_by)
        area = _area(*(score(some) for some in texts))
        add_value(values, f"{name}: {method}", "documents, as a whole", area)
    known = detector.knowledge_.sentences
    assert known is not None
    drawn = np.random.RandomState(0)
    first = [document[drawn.randint(len(document))] for document in planted.documents]
    for column, some in (("false alarms at 5 %", first), ("found at 5 %", planted.sentences)):
        p_values = known.p_values(detector.novelty(some))
        add_value(values, f"{name}: newfound", column, float((p_values <= ALPHA).mean()))


def _within(among: Any, owners: NDArray[np.int64], found: Any) -> float:
    """Return the share of the sentences of a document that the planted one is above, the mean."""
    shares = [
        float(((own < one) + 0.5 * (own == one)).mean())
        for own, one in ((among[owners == i], found[i]) for i in range(len(found)))
    ]
    return float(np.mean(shares))


def _area(known: Any, novel: Any) -> float:
    from sklearn.metrics import roc_auc_score

    labels = np.repeat([False, True], [len(known), len(novel)])
    return float(roc_auc_score(labels, np.concatenate((known, novel))))
