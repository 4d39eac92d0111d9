"""A description of more documents than fit in memory: three passes, and a sample in between.

1. Words and capitals are counted, which gives the vocabulary, and a random sample of each side is
   drawn.
2. A `NoveltyDescriber` learns from the sample: rules, phrases, themes, and what words say together.
3. All documents are counted by word, by length, by rule and by theme, which gives the evidence for
   each word and theme, the support of each rule, and typical documents.

Every pass is a sum of whole numbers. The result depends on the documents alone, not on their order,
on how they are cut, or on the engine.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.description.describer import NoveltyDescriber
from newfound.description.description import Description
from newfound.description.learning import VECTORIZER, sure_columns, with_tables
from newfound.description.novelty import OtherWords, WordSums, evidence_from_sums, not_contradicted
from newfound.rules import ClauseTable
from newfound.scale.arrow import redact_batch
from newfound.scale.counting import (
    count_batch,
    count_days,
    counts_schema,
    day_counts,
    draw_sample,
    sample_sizes,
    word_counts,
)
from newfound.scale.engines import Batches, Engine, Work
from newfound.scale.statistics import (
    KEYS,
    UNIT,
    Plan,
    Statistics,
    statistics_batch,
    statistics_schema,
)
from newfound.scale.themes import ThemeSearch, counted_phrases, measured_themes
from newfound.stories.evidence import Piles, document_weights
from newfound.stories.themes import Themes, completed, rule_rows
from newfound.text.corpus import Corpus
from newfound.text.encoding import TokenizedTexts
from newfound.text.filters import calendar_terms
from newfound.text.spelling import Capitals
from newfound.text.validation import NoWordsWarning
from newfound.text.vectorizer import TextVectorizer

__all__ = [
    "SAMPLE",
    "combined",
    "describe",
    "describe_with",
]

SAMPLE = 20_000  # documents of each side

Progress = Callable[[str, int, int], None]


def describe(
    batches: Any,
    *,
    text: str = "text",
    side: str = "side",
    date: str | None = None,
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
    date : str, optional
        The column with the dates, for `NoveltyDescriber.curve`; a missing one is null.
    sample : int, default=20000
        The most documents of each side that rules, phrases and themes are learned from; fewer of
        documents that have more than 50 different words on average.
    n_jobs : int or None, default=None
        Number of processes; None is 1, -1 one for each core. The result does not depend on it.
    **parameters
        Those of `NoveltyDescriber`; pairs of words (``ngram_range``) are not supported.

    Returns
    -------
    NoveltyDescriber
        The same as one that is fitted on all documents in the order of their places (see
        `newfound.scale.counting`), if the sample has all of them. Otherwise words, rules, phrases
        and themes are measured on all documents, and what they are is learned from the sample;
        ``docs/scale.md`` says what that means. ``corpus_`` has the sample, then the typical
        documents of themes that are not in it.

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
    return describe_with(
        engine, text=text, side=side, date=date, sample=sample, n_jobs=n_jobs, **parameters
    )


def describe_with(
    engine: Engine,
    *,
    text: str,
    side: str,
    date: str | None = None,
    sample: int = SAMPLE,
    step: Callable[[str], None] | None = None,
    sampled: Callable[[int], None] | None = None,
    **parameters: Any,
) -> NoveltyDescriber:
    """Describe the documents of an engine; see `describe`.

    `step` is called with the name of each step before it begins, `sampled` with the number of
    documents that were drawn.
    """
    begin = step or (lambda name: None)
    describer = NoveltyDescriber(**parameters)
    chosen = describer.resolve_parameters()
    if tuple(chosen["ngram_range"]) != (1, 1):
        raise ValueError("ngram_range: pairs of words are not counted batch by batch; use (1, 1).")
    if sample < 2:
        raise ValueError(f"sample={sample!r}: expected at least 2 documents of each side.")

    redact = describer.redact

    def sums(work: Work, schema: Any, keys: Sequence[str]) -> Any:
        if redact:
            work = partial(_on_redacted, work, text)
        return engine.sums(work, schema, keys)

    begin("Counting words")
    count = partial(count_batch, text=text, side=side)
    if date is not None:
        count = partial(count_days, text=text, side=side, date=date)
    counts = sums(count, counts_schema(), ["kind", "word"])
    words, sizes, n_words = word_counts(counts)
    most = sample_sizes(sizes, n_words, sample)
    begin("Drawing a sample")
    drawn = draw_sample(sums, sizes, most, text=text, side=side, date=date)
    texts, labels = drawn.texts, drawn.novel.astype(int).tolist()
    if sampled is not None:
        sampled(len(texts))
    begin("Learning from the sample")
    if all(size <= asked for size, asked in zip(sizes, most, strict=True)):
        return describer.fit_with(engine.train, texts, labels, dates=drawn.dates)
    vectorizer = TextVectorizer(**{name: chosen[name] for name in VECTORIZER})
    vectorizer.fit_counts(words["word"], sum(sizes), Capitals.of(words["capital"], words["noun"]))
    words.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoWordsWarning)
        tokenized = TokenizedTexts.of(texts).with_lemmas(vectorizer.lemmas_)
        describer.fit_with(engine.train, tokenized, labels)
    # Nothing is trained any more; the workers of the last pass need the memory.
    learned, corpus = describer.description_, describer.description_.corpus
    del tokenized, describer
    assert corpus is not None
    corpus = replace(corpus, texts=texts)
    plan = _plan(learned, vectorizer, corpus, text, side)
    plan = replace(plan, date=date, days=day_counts(counts))
    begin("Counting documents of words, rules and themes")
    work = partial(statistics_batch, plan=plan)
    schema = statistics_schema(dated=plan.days is not None)
    found = Statistics.of(sums(work, schema, KEYS), plan)
    whole = combined(learned, plan, found, corpus, sizes, drawn.stands_for)
    return NoveltyDescriber.from_description(whole)


def _on_redacted(work: Work, text: str, batch: Any) -> Any:
    """Do the work of a pass on a redacted batch; a function of the module, to be pickled."""
    return work(redact_batch(batch, text))


def _plan(
    sample: Description, vectorizer: TextVectorizer, corpus: Corpus, text: str, side: str
) -> Plan:
    """Return what the last pass needs, with the words of all documents."""
    aside = sample.set_aside
    if not sample.parameters["calendar"]:
        terms = list(vectorizer.vocabulary_)
        kinds = calendar_terms(terms, vectorizer.language)
        kept = [i for i, term in enumerate(terms) if not kinds[i] and term not in aside]
        vectorizer.keep(np.array(kept, np.intp))
    _add_terms(vectorizer, sample.vectorizer)
    columns = np.array([vectorizer.vocabulary_[t] for t in sample.vectorizer.vocabulary_])
    counted = corpus.matrix if sample.copies is None else sample.copies.first  # as in the evidence
    bags = sparse.csr_array(counted, dtype=np.float64)
    bags.sort_indices()
    lengths = np.diff(bags.indptr)
    search = ThemeSearch.of(
        sample.all_themes.groups,
        sample.phrases["words"],
        vectorizer.vocabulary_,
        vectorizer.transform(corpus.texts),
        corpus.texts,
        corpus.novel,
    )
    return Plan(
        vectorizer=vectorizer,
        columns=columns,
        typical=float(np.median(lengths[lengths > 0])),
        others=OtherWords.learn(bags, document_weights(bags, corpus.novel)),
        rules=sample.all_clauses.arrays.widened(columns, len(vectorizer.vocabulary_)),
        themes=search,
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


def combined(
    sample: Description,
    plan: Plan,
    found: Statistics,
    corpus: Corpus,
    sizes: tuple[int, int],
    stands_for: NDArray[np.float64],
) -> Description:
    """Return the description of all documents, from that of a sample and the sums of all.

    Each document of the sample stands for so many, as a copy of it.
    """
    vectorizer, documents = plan.vectorizer, found.words[0]
    counted, lengths = _without_copies(found, sample, plan, corpus, stands_for)
    evidence = not_contradicted(
        evidence_from_sums(counted, counted.weights, *lengths), documents, sizes
    )
    not_copied = _not_copied(sample, plan, found, corpus, stands_for)
    kept = _kept(sample, plan, documents.sum(axis=0), sum(sizes))
    vectorizer.document_frequencies_ = documents.sum(axis=0)
    vectorizer.keep(kept)
    places = np.full(documents.shape[1], -1)
    places[kept] = np.arange(len(kept))
    columns = places[plan.columns]
    whole, rows = _with_typical(corpus, columns, plan, _typical(plan, found))
    not_copied = _not_copied(sample, plan, found, corpus, stands_for)
    themes, numbers = measured_themes(sample.all_themes, found.themes, sizes, not_copied, rows)
    calibration = sample.calibration
    description = with_tables(
        _clauses(sample, found, columns, list(vectorizer.vocabulary_), sizes),
        sample.n_machines,
        documents[:, kept],
        type(evidence)(*(values[kept] for values in evidence)),
        vectorizer,
        sample.parameters,
        given=sample.given,
        phrases=counted_phrases(sample.phrases, found.themes),
        timeline=found.timeline(plan, places, numbers, len(kept)),
        calibration=calibration and calibration.widened(columns, len(kept), len(corpus)),
        set_aside=sample.set_aside,
        names=sample.names,
        corpus=whole,
        grouped=Themes(),
    )
    # What themes leave out is told by the sample.
    own = Corpus.without_votes(
        whole.texts[: len(corpus)], corpus.novel, whole.matrix[: len(corpus)]
    )
    terms, sure = list(vectorizer.vocabulary_), sure_columns(description)
    return replace(description, grouped=completed(themes, own.matrix, own.novel, terms, sure))


def _clauses(
    sample: Description,
    found: Statistics,
    columns: NDArray[np.intp],
    vocabulary: list[str],
    sizes: tuple[int, int],
) -> ClauseTable:
    """Return the clauses of the machines with the words and the support of all documents."""
    table = sample.all_clauses
    novel_first = table.arrays.class_index == 1
    for_novel = novel_first == (table.arrays.polarity > 0)
    arrays = replace(
        table.arrays.widened(columns, len(vocabulary)),
        matches=found.rules.sum(axis=0),
        agrees=np.where(for_novel, found.rules[1], found.rules[0]),
    )
    return ClauseTable(arrays, vocabulary, n_documents=sizes, held_out=table.held_out)


def _typical(plan: Plan, found: Statistics) -> list[list[tuple[str, bool]]]:
    """Return the typical texts of each group, with their side, among those of the batches."""
    texts = sorted({(text, novel) for _, novel, text in found.themes.typical})
    matrix = plan.vectorizer.transform([text for text, _ in texts])
    members = plan.themes.members(plan.themes.matches(matrix))
    novel = np.array([side for _, side in texts], bool)
    chosen = plan.themes.typical(matrix, members, novel, [text for text, _ in texts])
    return [
        [(text, not gone) for number, _, text in chosen if number == group]
        for group, gone in enumerate(plan.themes.gone.tolist())
    ]


def _with_typical(
    corpus: Corpus, columns: NDArray[np.intp], plan: Plan, typical: list[list[tuple[str, bool]]]
) -> tuple[Corpus, list[tuple[int, ...]]]:
    """Return the sample with the typical documents that it lacks, and the rows of these."""
    sides = corpus.novel.tolist()
    rows = {(corpus.texts[row], sides[row]): row for row in range(len(corpus) - 1, -1, -1)}
    more = [one for one in dict.fromkeys(chain.from_iterable(typical)) if one not in rows]
    rows.update((one, len(corpus) + number) for number, one in enumerate(more))
    width = len(plan.vectorizer.vocabulary_)
    widened = sparse.csr_matrix(
        (corpus.matrix.data, columns[corpus.matrix.indices], corpus.matrix.indptr),
        shape=(len(corpus), width),
    )
    matrix, texts = widened, [text for text, _ in more]
    if more:
        matrix = sparse.vstack((widened, plan.vectorizer.transform(texts)), format="csr")
    whole = Corpus(
        texts=[*corpus.texts, *texts],
        novel=np.append(corpus.novel, np.array([novel for _, novel in more], bool)),
        matrix=matrix,
        held_out=np.append(corpus.held_out, np.full(len(more), np.nan)),
    )
    return whole, [tuple(rows[one] for one in own) for own in typical]


def _not_copied(
    sample: Description,
    plan: Plan,
    found: Statistics,
    corpus: Corpus,
    stands_for: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the share of the documents of each group and side that is no copied text."""
    groups = sample.all_themes.groups
    shares = np.ones((len(groups), 2))
    if sample.copies is None:
        return shares
    matrix = plan.vectorizer.transform(corpus.texts)
    members = plan.themes.members(plan.themes.matches(matrix))
    first = Piles(sample.copies.first, corpus.novel)
    for number, group in enumerate(groups):
        inside = members[:, [number]].toarray().ravel()
        by_rule = rule_rows(group, first, sample.vectorizer.vocabulary_)
        not_copied = first.sides(np.unique(np.concatenate(by_rule)))
        for novel in (0, 1):
            rows = inside & (corpus.novel == novel)
            total = found.themes.groups[novel, number]
            left_out = (stands_for[rows] - 1).sum()
            shares[number, novel] = _share(total, left_out, rows.sum(), not_copied[novel])
    return shares


def _share(documents: Any, left_out: Any, whole: Any, first: Any) -> NDArray[np.float64]:
    """Return the share of documents that are no copies; 1 where the sample has none of them.

    Of all documents, copies of those in the sample were left out of it; `whole` are those of the
    sample, `first` those of them that are no copies.
    """
    rest = 1 - left_out / np.maximum(documents, 1)
    return np.where(whole > 0, rest * first / np.maximum(whole, 1), 1.0)


def _without_copies(
    found: Statistics,
    sample: Description,
    plan: Plan,
    corpus: Corpus,
    stands_for: NDArray[np.float64],
) -> tuple[WordSums, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the sums of words, and the documents by length, less the share that is copied text.

    Of all documents, copies cannot be found batch by batch. What is copied often is copied in the
    sample, too, and how often a text of the sample occurs in all documents is known.
    """
    share, of_documents = np.ones(found.words.shape[1:]), np.ones((2, 1))
    for number, rows in enumerate((~corpus.novel, corpus.novel)):
        if sample.copies is None:
            break
        whole, first = corpus.matrix[rows], sample.copies.first[rows]
        n, more = whole.shape[1], stands_for[rows] - 1
        left_out = np.bincount(whole.indices, np.repeat(more, np.diff(whole.indptr)), n)
        counts = [np.bincount(each.indices, minlength=n) for each in (whole, first)]
        documents = found.words[0, number, plan.columns]
        share[number, plan.columns] = _share(documents, left_out, *counts)
        sizes = [(np.diff(each.indptr) > 0).sum() for each in (whole, first)]
        of_documents[number] = _share(found.lengths[number, 1:].sum(), more.sum(), *sizes)
    documents = np.rint(found.words[0] * share).astype(np.int64)
    weight, *rest = found.words[1:] / UNIT * share
    sums = WordSums(documents, weight.sum(axis=0), weight[1], *(one.sum(axis=0) for one in rest))
    by_side = np.rint(found.lengths * of_documents).astype(np.int64)
    lengths = np.flatnonzero(by_side.any(axis=0))
    return sums, (lengths, by_side[:, lengths])


def _kept(
    sample: Description, plan: Plan, frequencies: NDArray[np.int64], n: int
) -> NDArray[np.intp]:
    """Return the columns of words with as many documents as asked for, and those of the sample."""
    least, most = (
        df * n if isinstance(df, float) else df
        for df in (sample.parameters["min_df"], sample.parameters["max_df"])
    )
    kept = (frequencies >= least) & (frequencies <= most)
    kept[plan.columns] = True
    found: NDArray[np.intp] = np.flatnonzero(kept)
    return found
