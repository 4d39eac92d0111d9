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
from typing import Any

import numpy as np
from scipy import sparse

from newfound.description.describer import NoveltyDescriber
from newfound.description.description import Description
from newfound.description.other_words import OtherWords
from newfound.description.presets import VECTORIZER
from newfound.description.timeline import CountedTimeline
from newfound.scale.arrow import pyarrow, redact_batch
from newfound.scale.combining import combined
from newfound.scale.counting import count_batch, count_days, counts_schema
from newfound.scale.engines import Batches, Engine, Work
from newfound.scale.sampling import draw_sample, sample_sizes
from newfound.scale.statistics import KEYS, Plan, Statistics, statistics_batch, statistics_schema
from newfound.scale.themes import ThemeSearch
from newfound.sides import SIDES
from newfound.stories.evidence import document_weights
from newfound.text.corpus import Corpus
from newfound.text.encoding import TokenizedTexts
from newfound.text.filters import calendar_terms
from newfound.text.spelling import Capitals
from newfound.text.validation import NothingToLearnError, NoWordsWarning
from newfound.text.vectorizer import TextVectorizer

__all__ = ["SAMPLE", "describe", "describe_with"]

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
        `newfound.scale.sampling`), if the sample has all of them. Otherwise words, rules, phrases
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

    Parameters
    ----------
    engine : Engine
        Runs the passes.
    text, side, date, sample
        As in `describe`.
    step : callable, optional
        Called with the name of each step before it begins.
    sampled : callable, optional
        Called with the number of documents that were drawn.
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
    counts = sums(count, counts_schema(), _NAMED)
    words, sizes, n_words = _word_counts(counts)
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
    plan = replace(plan, date=date, days=_day_counts(counts))
    begin("Counting documents of words, rules and themes")
    work = partial(statistics_batch, plan=plan)
    schema = statistics_schema(dated=plan.days is not None)
    found = Statistics.of(sums(work, schema, KEYS), plan)
    whole = combined(learned, plan, found, corpus, sizes, drawn.stands_for)
    return NoveltyDescriber.from_description(whole)


def _on_redacted(work: Work, text: str, batch: Any) -> Any:
    """Do the work of a pass on a redacted batch; a function of the module, to be pickled."""
    return work(redact_batch(batch, text))


_NAMED = ("kind", "word")


def _word_counts(
    table: Any,
) -> tuple[dict[str, dict[str, int]], tuple[int, int], tuple[int, int]]:
    """Return the documents of each word by kind, and the documents and words of each side."""
    kinds, names, known, novel = (table.column(name).to_pylist() for name in table.column_names)
    found: dict[str, dict[str, int]] = {"word": {}, "capital": {}, "noun": {}, "day": {}}
    sizes, n_words = (0, 0), [0, 0]
    for kind, name, old, new in zip(kinds, names, known, novel, strict=True):
        if kind == "documents":
            sizes = (old, new)
        else:
            found[kind][name] = old + new
        if kind == "word":
            n_words[0] += old
            n_words[1] += new
    for name, size in zip(("known", "novel"), sizes, strict=True):
        if size < 2:
            raise NothingToLearnError(
                f"{name} has {size} document{'s' if size != 1 else ''} with text; pass at least 2 "
                "for each side."
            )
    return found, sizes, (n_words[0], n_words[1])


def _day_counts(counts: Any) -> CountedTimeline | None:
    """Return the number of documents of each day; None if no document has a date."""
    rows = counts.filter(pyarrow("compute").equal(counts.column("kind"), "day"))
    names = rows.column("word").to_pylist()
    sides = np.stack([rows.column(side).to_numpy() for side in SIDES])
    dated = np.array([bool(name) for name in names], bool)
    if not dated.any():
        return None
    days = np.array([name for name in names if name], "datetime64[D]")
    return CountedTimeline(days, sides[:, dated], int(sides[:, ~dated].sum()))


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
    bags = sparse.csr_array(_counted(sample, corpus), dtype=np.float64)
    bags.sort_indices()
    lengths = np.diff(bags.indptr)
    search = ThemeSearch.of(
        sample.themes,
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


def _counted(sample: Description, corpus: Corpus) -> Any:
    """Return the words of the sample, copied text left out as in the evidence."""
    return corpus.matrix if sample.copies is None else sample.copies.first
