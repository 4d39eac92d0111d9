"""Time and memory of documents that do not fit in memory, on one machine and on a local Spark.

    NEWFOUND_DATA=folder python benchmarks/scale.py [--messages N ...] [--headlines N ...] ...

Documents are made from NEWFOUND_DATA/abcnews and NEWFOUND_DATA/clinc150: the headlines, or
messages, again and again; in every repetition but the first, a tenth of the words are replaced by
words drawn from all of them. Every figure is of a process of its own, with those that it starts;
memory is the peak of their proportional shares (PSS), read four times a second. Processor seconds
depend less on the load of the machine than seconds of the clock. Libraries that hold all documents
in memory are not run with 2,000,000 of 200 words. scattertext writes its page of
words, all documents in it, with its own whitespace tokens; it is measured with the Python of
--scattertext-python, in which you have installed it: pip install scattertext six pyarrow. BERTopic
(--bertopic-python; pip install bertopic pyarrow) finds topics and their words on each side; it gets
vectors of 100 dimensions, TF-IDF reduced by a singular value decomposition, whose making counts, in
place of those of a language model, which would take longer.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from scale_plots import scale_svg

ROOT = Path(__file__).resolve().parents[1]
CHANGED = 0.1  # of the words, in every repetition but the first
LONG = 29  # headlines that make a document of about 200 words
LONG_NAME = "documents of 200 words"
LONG_IN_MEMORY = 100_000  # documents of 200 words that other libraries hold in memory
PER_FILE = 250_000
PLOTS = (("processor", "processor", "processor seconds"), ("memory", "peak_gb", "peak memory, GB"))
COMMAND = [sys.executable, "-c", "from newfound.cli import main; main()"]

# What the processes of scikit-learn run: the words that tell two piles apart, and class scores.
SKLEARN_DESCRIBE = """
import sys, pyarrow.parquet as pq, numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
piles = [pq.read_table(path)["text"].to_pylist() for path in sys.argv[1:3]]
counter = CountVectorizer(binary=True, min_df=2, stop_words="english")
X = counter.fit_transform(piles[0] + piles[1])
y = np.repeat([0, 1], [len(pile) for pile in piles])
judge = LogisticRegression(max_iter=200).fit(X, y)
print(counter.get_feature_names_out()[np.argsort(-judge.coef_[0])[:20]].tolist())
"""
SCATTERTEXT = """
import sys, pandas as pd, pyarrow.parquet as pq, scattertext as st
known, novel = (pq.read_table(path)["text"].to_pylist() for path in sys.argv[1:3])
sides = ["known"] * len(known) + ["novel"] * len(novel)
frame = pd.DataFrame({"text": known + novel, "side": sides})
corpus = st.CorpusFromPandas(
    frame, category_col="side", text_col="text", nlp=st.whitespace_nlp_with_sentences
).build().get_unigram_corpus()
page = st.produce_scattertext_explorer(
    corpus, category="novel", category_name="novel", not_category_name="known",
    minimum_term_frequency=5, metadata=frame["side"],
)
print(len(page))
"""
BERTOPIC = """
import sys, pyarrow.parquet as pq
from bertopic import BERTopic
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
known, novel = (pq.read_table(path)["text"].to_pylist() for path in sys.argv[1:3])
texts, sides = known + novel, ["known"] * len(known) + ["novel"] * len(novel)
weighted = TfidfVectorizer(stop_words="english", min_df=2).fit_transform(texts)
vectors = TruncatedSVD(100, random_state=0).fit_transform(weighted)
model = BERTopic(vectorizer_model=CountVectorizer(stop_words="english"))
model.fit_transform(texts, vectors)
print(len(model.topics_per_class(texts, classes=sides)))
"""
SKLEARN_SCORE = """
import sys, json, gzip, pyarrow.parquet as pq
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
rows = [json.loads(line) for line in gzip.open(sys.argv[1], "rt", encoding="utf-8")]
rows = [row for row in rows if row["split"] == "train"]
judge = make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=200))
judge.fit([row["text"] for row in rows], [row["label"] for row in rows])
n = 0
for batch in pq.ParquetDataset(sys.argv[2]).read(columns=["text"]).to_batches(10_000):
    n += int((judge.predict_proba(batch["text"].to_pylist()).max(axis=1) < 0.1).sum())
print(n)
"""
SCORE_IN_MEMORY = """
import sys, pyarrow.parquet as pq
from newfound import NoveltyDetector
texts = pq.ParquetDataset(sys.argv[2]).read(columns=["text"])["text"].to_pylist()
print(int((NoveltyDetector.load(sys.argv[1]).p_values(texts) <= 0.05).sum()))
"""
SPARK_DESCRIBE = """
import json, sys, os
from pyspark.sql import SparkSession
os.environ["PYSPARK_PYTHON"] = sys.executable
session = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
           .config("spark.sql.shuffle.partitions", "4").getOrCreate())
session.sparkContext.setLogLevel("ERROR")
from pyspark.sql.functions import lit
from newfound.scale import spark
known, novel = (session.read.parquet(path) for path in sys.argv[1:3])
frame = known.withColumn("side", lit("known")).unionAll(novel.withColumn("side", lit("novel")))
described = spark.describe(frame, random_state=0)
store = session.sparkContext._jsc.sc().statusStore()
jvm = session.sparkContext._jvm
nothing = jvm.java.util.ArrayList()
doubles = session.sparkContext._gateway.new_array(jvm.double, 0)
stages = store.stageList(nothing, False, False, doubles, nothing)
written = sum(stages.apply(i).shuffleWriteBytes() for i in range(stages.size()))
print(json.dumps({"shuffled": written, "documents": sum(described.n_documents_.values()),
                  "words": described.words_["word"][:10].tolist()}))
"""


def rows_of(data: Path, corpus: str) -> list[dict[str, Any]]:
    """Return the documents of a corpus."""
    with gzip.open(data / corpus / f"{corpus}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def repeated(texts: list[str], n: int) -> Iterator[str]:
    """Yield n texts: the given ones again and again, later with some of their words changed."""
    draw = random.Random(0)
    vocabulary = [word for text in texts for word in text.split()]
    for i in range(n):
        words = texts[i % len(texts)].split()
        if i >= len(texts):
            words = [draw.choice(vocabulary) if draw.random() < CHANGED else w for w in words]
        yield " ".join(words)


def write(folder: Path, texts: Iterator[str]) -> Path:
    """Write texts to a folder of Parquet files, unless it is there."""
    if folder.exists():
        return folder
    aside = folder.with_name(folder.name + ".new")
    aside.mkdir(parents=True, exist_ok=True)
    part, number = [], 0
    for text in texts:
        part.append(text)
        if len(part) == PER_FILE:
            pq.write_table(pa.table({"text": part}), aside / f"part-{number:04d}.parquet")
            part, number = [], number + 1
    if part:
        pq.write_table(pa.table({"text": part}), aside / f"part-{number:04d}.parquet")
    aside.rename(folder)
    return folder


def piles(cache: Path, data: Path, n: int, *, long: bool = False) -> list[Path]:
    """Return folders with known and novel headlines, n in all; the later half is novel."""
    headlines = [row["text"] for row in rows_of(data, "abcnews")]
    half = len(headlines) // 2
    found = []
    for side, texts in (("known", headlines[:half]), ("novel", headlines[half:])):
        if long:
            shuffled = random.Random(1).sample(texts, len(texts))
            texts = [" ".join(shuffled[i : i + LONG]) for i in range(0, len(texts), LONG)]
        name = f"{'long-' if long else ''}{n}-{side}"
        found.append(write(cache / name, repeated(texts, n // 2)))
    return found


def measured(name: str, n: int, command: list[str], **more: Any) -> dict[str, Any]:
    """Run a command; return its seconds, processor seconds, peak memory and output."""
    load, began = os.getloadavg()[0], time.perf_counter()
    before = os.times()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    peak = _Peak(process.pid)
    out, err = process.communicate()
    seconds, after = time.perf_counter() - began, os.times()
    processor = sum(after[2:4]) - sum(before[2:4])
    if process.returncode:
        raise RuntimeError(f"{name}: {err[-2000:]}")
    figure = {"name": name, "documents": n, "seconds": seconds, "processor": processor,
              "peak_gb": peak.end() / 2**30, "load_before": load, **more}  # fmt: skip
    print(json.dumps(figure), flush=True)
    return {**figure, "output": out}


class _Peak(threading.Thread):
    """The greatest memory of a process and of those that it starts."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.process, self.most, self.stop = psutil.Process(pid), 0, threading.Event()
        self.start()

    def run(self) -> None:
        """Look four times a second."""
        while not self.stop.wait(0.25):
            total = 0
            try:
                for each in [self.process, *self.process.children(recursive=True)]:
                    total += each.memory_full_info().pss
            except psutil.Error:
                continue
            self.most = max(self.most, total)

    def end(self) -> int:
        """Return the peak in bytes."""
        self.stop.set()
        self.join()
        return self.most


def figures(arguments: argparse.Namespace, cache: Path, data: Path) -> Iterator[dict[str, Any]]:
    """Yield all figures."""
    detector = cache / "clinc150.nf"
    messages = [row["text"] for row in rows_of(data, "clinc150")]
    if not detector.exists():
        from newfound.detection.detector import NoveltyDetector

        train = [row for row in rows_of(data, "clinc150") if row["split"] == "train"]
        learned = NoveltyDetector(random_state=0, n_jobs=-1)
        learned.fit([row["text"] for row in train], [row["label"] for row in train]).save(detector)
    for n in arguments.messages:
        folder = write(cache / f"messages-{n}", repeated(messages, n))
        score = ["detect", "--model", detector, "--incoming", folder, "--no-reasons"]
        score += ["--no-description", "-q", "--force", "-o", cache / "rows.parquet"]
        yield measured("detect, scores only", n, [*COMMAND, *map(str, score)])
        beside = [sys.executable, "-c", SCORE_IN_MEMORY, str(detector), str(folder)]
        yield measured("NoveltyDetector.p_values, all messages in memory", n, beside)
        clinc = str(data / "clinc150" / "clinc150.jsonl.gz")
        yield measured("scikit-learn: TF-IDF, logistic regression, class probabilities", n,
                       [sys.executable, "-c", SKLEARN_SCORE, clinc, str(folder)])  # fmt: skip
    for n in arguments.headlines:
        known, novel = piles(cache, data, n)
        yield _described("describe headlines", n, known, novel)
        beside = [sys.executable, "-c", SKLEARN_DESCRIBE, str(known), str(novel)]
        yield measured("scikit-learn: counts, logistic regression of all words", n, beside)
    for n in arguments.long:
        known, novel = piles(cache, data, n, long=True)
        yield _described("describe documents of 200 words", n, known, novel)
        if n > LONG_IN_MEMORY:
            continue
        beside = [sys.executable, "-c", SKLEARN_DESCRIBE, str(known), str(novel)]
        yield measured(f"scikit-learn, {LONG_NAME}", n, beside)
    for n in arguments.scattertext if arguments.scattertext_python else ():
        for long in (False, True):
            known, novel = piles(cache, data, n, long=long)
            beside = [arguments.scattertext_python, "-c", SCATTERTEXT, str(known), str(novel)]
            yield measured(f"scattertext, {LONG_NAME if long else 'headlines'}", n, beside)
    for n in arguments.bertopic if arguments.bertopic_python else ():
        for long in (False, True):
            known, novel = piles(cache, data, n, long=long)
            beside = [arguments.bertopic_python, "-c", BERTOPIC, str(known), str(novel)]
            yield measured(f"BERTopic, {LONG_NAME if long else 'headlines'}", n, beside)
    for n in arguments.spark:
        known, novel = piles(cache, data, n)
        command = [sys.executable, "-c", SPARK_DESCRIBE, str(known), str(novel)]
        found = measured("describe headlines on Spark, local[2]", n, command)
        told = json.loads(found["output"].splitlines()[-1])
        del found["processor"]  # what Java starts is not counted
        yield {**found, "shuffled_mb_a_million": told["shuffled"] / n}


def _described(name: str, n: int, known: Path, novel: Path) -> dict[str, Any]:
    asked = ["describe", "--known", known, "--novel", novel, "--json", "-q"]
    return measured(name, n, [*COMMAND, *map(str, asked)])


def page(about: dict[str, Any], found: list[dict[str, Any]]) -> str:
    """Return the figures as Markdown."""
    lines = [
        "# Documents that do not fit in memory",
        f"`python benchmarks/scale.py`, {about['cores']} cores, a machine that others use too: the "
        f"date of each run and the load before it are given. The last run was "
        f"`{about['command']}`; the rows of earlier ones are kept.",
        "",
        (__doc__ or "").split("\n\n")[-1].replace("\n", " ").strip(),
        "",
        "| | documents | seconds | documents a second | processor µs a document | peak memory, GB "
        "| load before | date |",
        "|---|--:|--:|--:|--:|--:|--:|---|",
    ]
    for row in sorted(found, key=lambda row: ("describe" in row["name"], row["documents"])):
        n, seconds = row["documents"], row["seconds"]
        processor = f"{1e6 * row['processor'] / n:,.1f}" if "processor" in row else "–"
        lines.append(
            f"| {row['name']} | {n:,} | {seconds:,.1f} | {n / seconds:,.0f} | {processor} | "
            f"{row['peak_gb']:.2f} | {row['load_before']:.1f} | {row['date']} |"
        )
    shuffled = [row for row in found if "shuffled_mb_a_million" in row]
    for row in shuffled:
        lines += ["", f"Spark wrote {row['shuffled_mb_a_million']:,.1f} MB to shuffles for each "
                  f"million documents, in the three passes over {row['documents']:,}."]  # fmt: skip
    lines += ["", "![Processor seconds by documents](scale-processor.svg)", "",
              "![Peak memory by documents](scale-memory.svg)"]  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=int, nargs="*", default=[100_000, 2_000_000])
    parser.add_argument("--headlines", type=int, nargs="*", default=[100_000, 2_000_000])
    parser.add_argument("--long", type=int, nargs="*", default=[20_000, 100_000, 2_000_000])
    parser.add_argument("--spark", type=int, nargs="*", default=[100_000])
    parser.add_argument("--scattertext", type=int, nargs="*", default=[10_000, 20_000])
    parser.add_argument("--scattertext-python", metavar="PATH")
    parser.add_argument("--bertopic", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--bertopic-python", metavar="PATH")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "results")
    arguments = parser.parse_args()
    if not os.environ.get("NEWFOUND_DATA"):
        print("Set NEWFOUND_DATA to the folder with the corpora.", file=sys.stderr)
        return 1
    cache = ROOT / ".cache" / "scale"
    cache.mkdir(parents=True, exist_ok=True)
    about = {
        "command": " ".join(["python benchmarks/scale.py", *sys.argv[1:]]),
        "date": datetime.date.today().isoformat(),
        "cores": len(os.sched_getaffinity(0)),
    }
    kept = arguments.output / "scale.json"
    found = json.loads(kept.read_text(encoding="utf-8"))["figures"] if kept.exists() else []
    for row in figures(arguments, cache, Path(os.environ["NEWFOUND_DATA"])):
        row.pop("output")
        # It replaces the figure of an earlier run; after each, because the next one may take long.
        same = [(old["name"], old["documents"]) == (row["name"], row["documents"]) for old in found]
        found = [old for old, is_same in zip(found, same, strict=True) if not is_same]
        found = sorted([*found, {**row, "date": about["date"]}], key=lambda r: r["documents"])
        text = json.dumps({**about, "figures": found}, indent=1) + "\n"
        kept.write_text(text, encoding="utf-8")
        (arguments.output / "scale.md").write_text(page(about, found), encoding="utf-8")
        for name, key, title in PLOTS:
            plot = scale_svg(found, key, title)
            (arguments.output / f"scale-{name}.svg").write_text(plot, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
