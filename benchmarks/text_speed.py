"""Tokens a second of the text processing on one core.

    NEWFOUND_DATA=folder python benchmarks/text_speed.py [--corpus 20newsgroups] [--repeat 3]

The corpus is NEWFOUND_DATA/<corpus>/<corpus>.jsonl.gz. Tokens are all words of the texts, with
stop words. Seconds are processor time, which depends little on the load of the machine; the best of
the repetitions is printed. "known word types": the same vectorizer has seen the words before. The
other figures include the analysis of each distinct word, the first fit also its lemma.
"""

from __future__ import annotations

import argparse
import copy
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from sklearn.feature_extraction.text import (  # type: ignore[import-untyped,unused-ignore]
    CountVectorizer,
)

from newfound.text.documents import DocumentError, read_documents
from newfound.text.tokens import tokenize
from newfound.text.vectorizer import TextVectorizer


def seconds(action: Callable[[], object], repeat: int) -> float:
    """Return the least processor time of several runs."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def measurements(texts: tuple[str, ...]) -> dict[str, Callable[[], object]]:
    """Return the measurements by name, in the order in which they must run."""
    words = TextVectorizer().fit(texts)
    pairs = TextVectorizer(ngram_range=(1, 2), min_df=2).fit(texts)
    words.transform(texts)
    pairs.transform(texts)
    counter = CountVectorizer(binary=True).fit(texts)

    return {
        "fit_transform": lambda: TextVectorizer().fit_transform(texts),
        "transform, new cache": lambda: copy.copy(words).transform(texts),
        "transform, known word types": lambda: words.transform(texts),
        "fit_transform with pairs": lambda: TextVectorizer(
            ngram_range=(1, 2), min_df=2
        ).fit_transform(texts),
        "transform with pairs, known word types": lambda: pairs.transform(texts),
        "scikit-learn CountVectorizer.transform, for comparison": lambda: counter.transform(texts),
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Tokens a second on one core.")
    parser.add_argument("--corpus", default="20newsgroups")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    folder = os.environ.get("NEWFOUND_DATA")
    if not folder:
        print("Set NEWFOUND_DATA to the folder with the corpora.", file=sys.stderr)
        return 1
    try:
        path = Path(folder) / arguments.corpus / f"{arguments.corpus}.jsonl.gz"
        documents = read_documents(path, text_column="text")
    except DocumentError as error:
        print(error, file=sys.stderr)
        return 1
    n_tokens = sum(len(tokenize(text)) for text in documents)
    print(f"{arguments.corpus}: {len(documents):,} documents, {n_tokens:,} tokens")
    taken = {"first fit": seconds(lambda: TextVectorizer().fit(documents), 1)}
    for name, action in measurements(documents.texts).items():
        taken[name] = seconds(action, arguments.repeat)
    for name, time_taken in taken.items():
        print(f"{n_tokens / time_taken / 1e6:6.2f} million tokens/s  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
