"""A description of more documents than fit in memory: three passes, and a sample in between.

1. Words and capitals are counted, which gives the vocabulary, and a random sample of each side is
   drawn.
2. A `NoveltyDescriber` learns from the sample: rules, phrases, themes, and what words say together.
3. All documents are counted by word, by length and by rule, which gives the evidence for each word
   and the support of each rule.

Every pass is a sum of whole numbers. The result depends on the documents alone, not on their order,
on how they are cut, or on the engine.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.blas import one_blas_thread
from newfound.description.calibration import VerdictCalibration
from newfound.description.describer import NoveltyDescriber
from newfound.description.novelty import (
    OtherWords,
    WordSums,
    document_weights,
    evidence_from_sums,
)
from newfound.description.presets import VECTORIZER
from newfound.description.state import DescriberParts
from newfound.description.themes import Themes
from newfound.machine.committee import rule_columns
from newfound.rules import ClauseTable
from newfound.scale.counting import count_batch, counts_schema
from newfound.scale.engines import Batches, Engine, Redacted
from newfound.scale.sampling import draw_sample
from newfound.scale.statistics import KEYS, Plan, Statistics, statistics_batch, statistics_schema
from newfound.text.calendar import calendar_terms
from newfound.text.corpus import Corpus
from newfound.text.lemmas import Capitals
from newfound.text.tokenized import TokenizedTexts
from newfound.text.validation import NothingToLearnError
from newfound.text.vectorizer import TextVectorizer

__all__ = ["SAMPLE", "describe", "describe_with"]

SAMPLE = 20_000  # documents of each side

Progress = Callable[[str, int, int], None]


def describe(
    batches: Any,
    *,
    text: str = "text",
    side: str = "side",
    sample: int = SAMPLE,
    n_jobs: int | None = None,
    **parameters: Any,
) -> NoveltyDescriber:
    """Describe what is new in novel documents that do not fit in memory.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        Known and novel documents; read from the start in each of three passes.
    text, side : str, default="text" and "side"
        The columns with the texts and with "known" or "novel", or 0 and 1 (novel).
    sample : int, default=20000
        The most documents of each side that rules, phrases and themes are learned from.
    n_jobs : int or None, default=None
        Number of processes; None is 1, -1 one for each core. The result does not depend on it.
    **parameters
        Those of `NoveltyDescriber`; pairs of words (``ngram_range``) are not supported.

    Returns
    -------
    NoveltyDescriber
        The same as one that is fitted on all documents in the order of their places (see
        `newfound.scale.sampling`), if the sample has all of them. Otherwise the numbers of
        documents of words and rules, and the evidence for words, come from all documents, all else
        from the sample; ``docs/scale.md`` says what that means.

    Examples
    --------
    >>> import pyarrow as pa
    >>> who, when = ("Ann", "Bob", "Cy"), ("first", "third", "sixth", "ninth", "last")
    >>> texts = [f"{name} took a wicket in the {n} over" for name in who for n in when]
    >>> texts += [f"{name} scored a try after the {n} scrum" for name in who for n in when]
    >>> batch = pa.record_batch({"text": texts, "side": ["known"] * 15 + ["novel"] * 15})
    >>> described = describe([batch.slice(0, 12), batch.slice(12)], n_clauses=20, T=5,
    ...                      random_state=1)
    >>> sorted(described.words_["word"][:3].tolist()), described.n_documents_
    (['scored', 'scrum', 'try'], {'known': 15, 'novel': 15})
    """
    engine = Batches(batches, n_jobs)
    return describe_with(engine, text=text, side=side, sample=sample, n_jobs=n_jobs, **parameters)


def describe_with(
    engine: Engine,
    *,
    text: str,
    side: str,
    sample: int = SAMPLE,
    step: Callable[[str], None] | None = None,
    **parameters: Any,
) -> NoveltyDescriber:
    """Describe the documents of an engine; see `describe`.

    Parameters
    ----------
    engine : Engine
        Runs the passes.
    text, side, sample
        As in `describe`.
    step : callable, optional
        Called with the name of each step before it begins.
    **parameters
        Those of `NoveltyDescriber`.

    Returns
    -------
    NoveltyDescriber
    """
    begin = step or (lambda name: None)
    describer = NoveltyDescriber(**parameters)
    chosen = describer.resolve_parameters()
    if tuple(chosen["ngram_range"]) != (1, 1):
        raise ValueError("ngram_range: pairs of words are not counted batch by batch; use (1, 1).")
    if describer.redact:
        engine = Redacted(engine, text)
    if sample < 2:
        raise ValueError(f"sample={sample!r}: expected at least 2 documents of each side.")
    begin("Counting words")
    counts = engine.sums(partial(count_batch, text=text, side=side), counts_schema(), _NAMED)
    words, sizes = _word_counts(counts)
    begin("Drawing a sample")
    texts, novel = draw_sample(engine, sizes, sample, text=text, side=side)
    labels = novel.astype(int).tolist()
    begin("Learning from the sample")
    if max(sizes) <= sample:
        return describer.fit(texts, labels)
    vectorizer = TextVectorizer(**{name: chosen[name] for name in VECTORIZER})
    vectorizer.fit_counts(words["word"], sum(sizes), Capitals.of(words["capital"], words["noun"]))
    tokenized = TokenizedTexts.of(texts).with_lemmas(vectorizer.lemmas_)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*have no words left")
        describer.fit(tokenized, labels)
    corpus = replace(_corpus(describer), texts=texts)
    with one_blas_thread():
        plan = _plan(describer, vectorizer, corpus, text, side)
        begin("Counting documents of words and rules")
        work = partial(statistics_batch, plan=plan)
        found = Statistics.of(engine.sums(work, statistics_schema(), KEYS), plan)
        return _whole(describer, plan, found, corpus, sizes)


_NAMED = ("kind", "word")


def _word_counts(table: Any) -> tuple[dict[str, dict[str, int]], tuple[int, int]]:
    """Return the number of documents of each word by kind, and that of each side."""
    kinds, names, known, novel = (table.column(name).to_pylist() for name in table.column_names)
    found: dict[str, dict[str, int]] = {"word": {}, "capital": {}, "noun": {}}
    sizes = (0, 0)
    for kind, name, old, new in zip(kinds, names, known, novel, strict=True):
        if kind == "documents":
            sizes = (old, new)
        else:
            found[kind][name] = old + new
    for name, size in zip(("known", "novel"), sizes, strict=True):
        if size < 2:
            raise NothingToLearnError(
                f"{name} has {size} document{'s' if size != 1 else ''} with text; pass at least 2 "
                "for each side."
            )
    return found, sizes


def _corpus(describer: NoveltyDescriber) -> Corpus:
    assert describer.corpus_ is not None
    return describer.corpus_


def _plan(
    describer: NoveltyDescriber, vectorizer: TextVectorizer, corpus: Corpus, text: str, side: str
) -> Plan:
    """Return what the last pass needs, with the words of all documents."""
    aside = describer.set_aside_
    if not describer.parameters_["calendar"]:
        terms = list(vectorizer.vocabulary_)
        kinds = calendar_terms(terms, vectorizer.language)
        kept = [i for i, term in enumerate(terms) if not kinds[i] and term not in aside]
        vectorizer.keep(np.array(kept, np.intp))
    _add_terms(vectorizer, describer.vectorizer_)
    columns = np.array([vectorizer.vocabulary_[t] for t in describer.vectorizer_.vocabulary_])
    bags = sparse.csr_array(_counted(describer, corpus), dtype=np.float64)
    bags.sort_indices()
    least = int(describer.parameters_["rule_min_df"])
    used = rule_columns(describer.vectorizer_.document_frequencies_, least)
    lengths = np.diff(bags.indptr)
    n = len(describer.all_clauses_) // describer.n_machines_
    arrays = describer.all_clauses_.arrays.narrowed(used)
    return Plan(
        vectorizer=vectorizer,
        columns=columns,
        typical=float(np.median(lengths[lengths > 0])),
        others=OtherWords.learn(bags, document_weights(bags, corpus.novel)),
        machines=[arrays.take(np.arange(k * n, (k + 1) * n)) for k in range(describer.n_machines_)],
        rule_columns=columns[used],
        text=text,
        side=side,
    )


def _add_terms(vectorizer: TextVectorizer, sample: TextVectorizer) -> None:
    """Add terms of the sample that were left out, as by a max_features of all documents."""
    more = [term for term in sample.vocabulary_ if term not in vectorizer.vocabulary_]
    if not more:
        return
    frequencies = dict(
        zip(vectorizer.vocabulary_, vectorizer.document_frequencies_.tolist(), strict=True)
    )
    frequencies.update((term, 0) for term in more)
    forms = {**vectorizer.forms_, **{term: sample.forms_[term] for term in more}}
    vectorizer.vocabulary_ = {term: i for i, term in enumerate(sorted(frequencies))}
    vectorizer.document_frequencies_ = np.array([frequencies[t] for t in vectorizer.vocabulary_])
    vectorizer.forms_ = {term: forms[term] for term in vectorizer.vocabulary_}


def _counted(describer: NoveltyDescriber, corpus: Corpus) -> Any:
    """Return the words of the sample, copied text left out as in the evidence."""
    return corpus.matrix if describer.copies_ is None else describer.copies_.first


def _whole(
    describer: NoveltyDescriber,
    plan: Plan,
    found: Statistics,
    corpus: Corpus,
    sizes: tuple[int, int],
) -> NoveltyDescriber:
    """Return the description of all documents, given that of the sample and the sums of all."""
    vectorizer, documents = plan.vectorizer, found.words.documents
    counted = _without_copies(found.words, describer, plan, corpus)
    evidence = evidence_from_sums(counted, found.lengths, sizes)
    kept = _kept(describer, plan, documents.sum(axis=0), sum(sizes))
    vectorizer.document_frequencies_ = documents.sum(axis=0)
    vectorizer.keep(kept)
    places = np.full(documents.shape[1], -1)
    places[kept] = np.arange(len(kept))
    columns = places[plan.columns]
    themes = Themes(tuple(describer.themes_), describer.unexplained_)
    table = describer.all_clauses_
    novel_first = table.arrays.class_index == 1
    for_novel = novel_first == (table.arrays.polarity > 0)
    arrays = replace(
        table.arrays.widened(columns, len(kept)),
        matches=found.rules.sum(axis=0),
        agrees=np.where(for_novel, found.rules[1], found.rules[0]),
    )
    parts = DescriberParts(
        parameters=describer.get_params(deep=False),
        chosen=describer.parameters_,
        vectorizer=vectorizer,
        n_documents=sizes,
        n_machines=describer.n_machines_,
        table=ClauseTable(
            arrays, list(vectorizer.vocabulary_), n_documents=sizes, held_out=table.held_out
        ),
        documents=documents[:, kept],
        evidence=type(evidence)(*(values[kept] for values in evidence)),
        phrases=describer.phrases_,
        themes=themes,
        calibration=widened_calibration(describer.calibration_, columns, len(kept), len(corpus)),
        set_aside=describer.set_aside_,
        names=describer.names_,
    )
    matrix = sparse.csr_matrix(
        (corpus.matrix.data, columns[corpus.matrix.indices], corpus.matrix.indptr),
        shape=(len(corpus), len(kept)),
    )
    return NoveltyDescriber.from_parts(parts, replace(corpus, matrix=matrix))


def _without_copies(
    sums: WordSums, describer: NoveltyDescriber, plan: Plan, corpus: Corpus
) -> WordSums:
    """Return the sums less the share of each word that is copied text in the sample.

    Of all documents, copies cannot be found batch by batch. What is copied often is copied in the
    sample, too.
    """
    if describer.copies_ is None:
        return sums
    share = np.ones(sums.documents.shape)
    for number, rows in enumerate((~corpus.novel, corpus.novel)):
        whole, first = (
            np.bincount(matrix[rows].indices, minlength=matrix.shape[1])
            for matrix in (corpus.matrix, describer.copies_.first)
        )
        share[number, plan.columns] = np.where(whole > 0, first / np.maximum(whole, 1), 1.0)
    documents = np.rint(sums.documents * share).astype(np.int64)
    return WordSums(documents, *(total * share for total in sums[1:]))


def _kept(
    describer: NoveltyDescriber, plan: Plan, frequencies: NDArray[np.int64], n: int
) -> NDArray[np.intp]:
    """Return the columns of words with as many documents as asked for, and those of the sample."""
    least, most = (
        df * n if isinstance(df, float) else df
        for df in (describer.parameters_["min_df"], describer.parameters_["max_df"])
    )
    kept = (frequencies >= least) & (frequencies <= most)
    kept[plan.columns] = True
    found: NDArray[np.intp] = np.flatnonzero(kept)
    return found


def widened_calibration(
    calibration: VerdictCalibration | None,
    columns: NDArray[np.intp],
    n_words: int,
    n_documents: int,
) -> VerdictCalibration | None:
    """Return a calibration for more words, which say nothing; stop words come after all words."""
    if calibration is None:
        return None
    whole = n_words + len(calibration.stop_words)
    places = np.concatenate((columns, np.arange(n_words, whole)))
    weights, idf = np.zeros(whole), np.full(whole, np.log(n_documents + 1) + 1)
    weights[places], idf[places] = calibration.weights, calibration.idf
    return replace(calibration, weights=weights, idf=idf)
