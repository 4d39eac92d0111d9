"""`newfound.scale` on real engines: processes of Dask and of Spark, one of them killed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import newfound
from newfound.scale import describe
from waiting import wait_for

pytestmark = pytest.mark.filterwarnings("ignore")  # engines warn of their own affairs

PARTITIONS = (1, 2, 5)
NUMBERS = ["novel", "novelty", "p_value", "nearest", "status"]


@pytest.fixture(scope="module")
def detector() -> newfound.NoveltyDetector:
    known, _ = newfound.load_sample()
    detector = newfound.NoveltyDetector(random_state=1, epochs=3)
    return detector.fit(known.texts[::3], known.labels[::3])


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    known, novel = newfound.load_sample()
    texts = [*known.texts[1:150:3], *novel.texts[:49], None]
    return pd.DataFrame({"n": range(len(texts)), "message": texts}).iloc[::-1]


def expected(detector: newfound.NoveltyDetector, frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows that one machine gives, in the order of n."""
    found = detector.detect(frame["message"].dropna().tolist(), describe=False, group=False)
    rows = dict(zip(frame["n"][frame["message"].notna()], found.to_records(), strict=True))
    return [_plain(n, rows.get(n)) for n in sorted(frame["n"])]


def _plain(n: int, row: dict[str, Any] | None) -> tuple[Any, ...]:
    if row is None:
        return (n, False, None, None, None, "no text", "no text", ())
    reasons = tuple(tuple(reason.values()) for reason in row["reasons"])
    return (n, *(row[name] for name in NUMBERS), row["why"], reasons)


def rows_of(found: pd.DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows of a scored frame in the same form."""
    rows = []
    for row in found.sort_values("n").to_dict("records"):
        values = [None if pd.isna(row[name]) else row[name] for name in NUMBERS]
        reasons = tuple(tuple(dict(reason).values()) for reason in row["reasons"])
        rows.append((row["n"], *values, row["why"], reasons))
    return rows


QUICK = {"n_machines": 2, "n_clauses": 20, "T": 5, "epochs": 2, "random_state": 1}


@pytest.fixture(scope="module")
def piles() -> pd.DataFrame:
    known, novel = newfound.load_sample()
    texts = [*known.texts[:150], *novel.texts[:100], None, known.texts[0]]
    sides = ["known"] * 150 + ["novel"] * 101 + ["known"]
    days = [f"2024-05-{1 + i % 28:02d}" if i % 9 else None for i in range(len(texts))]
    return pd.DataFrame({"message": texts, "pile": sides, "day": days})


COLUMNS = {"text": "message", "side": "pile", "date": "day"}
SCHEMA = "message string, pile string, day string"


@pytest.fixture(scope="module")
def description(piles: pd.DataFrame) -> list[Any]:
    """Return what one machine gives."""
    batch = pa.RecordBatch.from_pandas(piles, preserve_index=False)
    return parts_of(describe([batch], **COLUMNS, sample=60, **QUICK))


def parts_of(found: newfound.NoveltyDescriber) -> list[Any]:
    """Return a description as plain data, with all bits."""
    assert found.n_documents_ == {"known": 151, "novel": 100}
    tables = (found.words_, found.clauses_, found.phrases_, found.themes_)
    typical = [[found.corpus_.texts[row] for row in theme.typical] for theme in found.themes_]
    curves = [found.curve(what).to_dict() for what in (*found.words_["word"], *found.themes_)]
    return [*(table.to_records() for table in tables), typical, found.corpus_.texts, curves]


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")

    class Cluster(distributed.LocalCluster):
        """A cluster that may hear twice that a worker is gone: distributed's raises KeyError."""

        def _update_worker_status(self, op: str, message: Any) -> None:
            if op != "remove" or message in self.scheduler_info["workers"]:
                super()._update_worker_status(op, message)

    with (
        Cluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_dask_scores_are_those_of_one_machine(client, detector, frame):
    import dask.dataframe as dd

    from newfound.scale import dask as scale

    for n in PARTITIONS:
        data = dd.from_pandas(frame, npartitions=n, sort=False)
        scored = scale.score(data, detector, text="message")
        assert scored.npartitions == n
        found = scored.compute()
        assert rows_of(found) == expected(detector, frame)
        assert found.index.tolist() == frame.index.tolist()
        kinds, computed = (dict(each.dtypes.astype(str)) for each in (scored, found))
        assert (kinds.pop("reasons"), computed.pop("reasons")) == (
            "list<item: struct<word: string, contribution: double, seen: string>>[pyarrow]",
            "object",
        )
        assert kinds == computed


@pytest.mark.parametrize("reasons", [True, False])
def test_dask_writes_scores_to_parquet(client, detector, frame, tmp_path, reasons):
    import dask.dataframe as dd
    import pyarrow.parquet as pq

    from newfound.scale import dask as scale

    data = dd.from_pandas(frame, npartitions=3, sort=False)
    scale.score(data, detector, text="message", reasons=reasons).to_parquet(tmp_path / "scored")
    table = pq.read_table(tmp_path / "scored")
    read = pd.read_parquet(tmp_path / "scored")
    assert read.index.tolist() == frame.index.tolist()
    if not reasons:
        assert table.num_rows == len(frame) and "why" not in table.column_names
        return
    fields = [field.name for field in table.schema.field("reasons").type.value_type]
    assert fields == ["word", "contribution", "seen"]
    assert rows_of(read) == expected(detector, frame)


@pytest.fixture
def idle_driver(description, monkeypatch):
    """Let no machine learn in this process: each is a task of the engine."""

    def fit(*_: Any, **__: Any) -> None:
        raise AssertionError("a machine learns on the driver")

    monkeypatch.setattr(newfound.TsetlinMachineClassifier, "fit", fit)


def test_dask_descriptions_are_those_of_one_machine(client, piles, description, idle_driver):
    import dask.dataframe as dd

    from newfound.scale import dask as scale

    for n in PARTITIONS:
        data = dd.from_pandas(piles, npartitions=n)
        found = scale.describe(data, **COLUMNS, sample=60, **QUICK)
        assert parts_of(found) == description


@pytest.mark.slow
def test_the_number_of_dask_workers_does_not_matter(client, piles, description, idle_driver):
    import dask.dataframe as dd

    from newfound.scale import dask as scale

    try:
        for n in PARTITIONS:
            client.cluster.scale(n)
            client.wait_for_workers(n)
            wait_for(lambda n=n: len(client.scheduler_info()["workers"]) <= n)
            data = dd.from_pandas(piles, npartitions=3)
            found = scale.describe(data, **COLUMNS, sample=60, **QUICK)
            assert parts_of(found) == description
    finally:
        client.cluster.scale(2)
        client.wait_for_workers(2)


@pytest.mark.slow
def test_dask_scores_survive_a_killed_worker(client, detector, frame):
    import dask.dataframe as dd

    from newfound.scale import dask as scale

    many = pd.concat([frame] * 12, ignore_index=True)
    many["n"] = range(len(many))
    data = scale.score(dd.from_pandas(many, npartitions=12, sort=False), detector, text="message")
    before = client.run(os.getpid)
    data = data.persist()
    wait_for(lambda: any(client.who_has().values()))
    victim = next(iter(before.values()))
    os.kill(victim, signal.SIGKILL)
    assert rows_of(data.compute()) == expected(detector, many)
    assert victim not in client.run(os.getpid).values()


def test_a_dask_frame_without_text_is_told(detector, frame):
    dd = pytest.importorskip("dask.dataframe")
    from newfound.scale import dask as scale

    data = dd.from_pandas(frame, npartitions=1, sort=False)
    with pytest.raises(newfound.DocumentError, match="The data frame has no column 'text'"):
        scale.score(data, detector)
    with pytest.raises(newfound.DocumentError, match="holds int64, not text"):
        scale.score(data, detector, text="n")
    with pytest.raises(newfound.DocumentError, match="has no column 'side'; it has: n, message"):
        scale.describe(data, text="message")


def dying_once(path: Path) -> Callable[[Any], Any]:
    """Return a function that kills the process in which it is first called, and then no more.

    A function within another one is sent to workers as it is, not by the name of its module.
    """
    name = str(path)

    def work(given: Any) -> Any:
        try:
            with open(name, "x") as file:
                file.write(str(os.getpid()))
        except FileExistsError:
            return given
        os.kill(os.getpid(), signal.SIGKILL)

    return work


@pytest.mark.slow
def test_dask_descriptions_survive_a_killed_worker(client, piles, description, tmp_path):
    import dask.dataframe as dd

    from newfound.scale import dask as scale

    data = dd.from_pandas(piles, npartitions=5)
    client.run(os.getpid)
    dying = data.map_partitions(dying_once(tmp_path / "victim"), meta=data._meta)
    found = scale.describe(dying, **COLUMNS, sample=60, **QUICK)
    assert parts_of(found) == description
    victim = int((tmp_path / "victim").read_text())
    assert victim not in client.run(os.getpid).values()


@pytest.fixture(scope="module")
def session():
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Two threads, and four attempts of a task.
    builder = SparkSession.builder.master("local[2,4]").appName("newfound")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.python.worker.reuse": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "20",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def spark_frame(session: Any, frame: pd.DataFrame, n: int) -> Any:
    rows = [(int(i), None if pd.isna(text) else text) for i, text in frame.itertuples(index=False)]
    return session.createDataFrame(rows, "n long, message string").repartition(n)


def spark_rows(piles: pd.DataFrame) -> list[tuple[Any, ...]]:
    rows = piles.itertuples(index=False)
    return [tuple(None if pd.isna(value) else value for value in row) for row in rows]


@pytest.mark.slow
def test_spark_scores_are_those_of_one_machine(session, detector, frame):
    from newfound.scale import spark as scale

    for n in PARTITIONS:
        scored = scale.score(spark_frame(session, frame, n), detector, text="message")
        found = pd.DataFrame([row.asDict(recursive=True) for row in scored.collect()])
        assert rows_of(found) == expected(detector, frame)


@pytest.mark.slow
def test_spark_descriptions_are_those_of_one_machine(session, piles, description, idle_driver):
    from newfound.scale import spark as scale

    rows = spark_rows(piles)
    for n in PARTITIONS:
        data = session.createDataFrame(rows, "message string, pile string, day string").repartition(
            n
        )
        found = scale.describe(data, **COLUMNS, sample=60, **QUICK)
        assert parts_of(found) == description


@pytest.mark.slow
def test_the_spark_pages_run(session, detector, frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    detector.save("tickets.nf")
    detector.save("d.nf")
    days = ["2026-04-01", "2026-05-02"] * (len(frame) // 2)
    frame.assign(day=days).to_parquet("messages")
    frame.to_parquet("data")
    names = {"session": session}
    pages = Path(__file__).resolve().parents[2] / "docs"
    for page in ("scale.md", "howto/spark.md"):
        if not (pages / page).exists():
            pytest.skip("the pages are not beside the tests")
        text = (pages / page).read_text("utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        for code in blocks:
            if "spark" in code or page == "howto/spark.md":
                quick = ", ".join(f"{name}={value}" for name, value in QUICK.items())
                code = code.replace("sample=5000", f"sample=60, {quick}")
                # Java keeps the folder in which it was started.
                exec(code.replace('parquet("', f'parquet("{tmp_path}/'), names)
    assert names["novel"] > 0 and Path("may.html").exists() and Path("may.nf").exists()


@pytest.mark.slow
def test_spark_descriptions_survive_a_killed_worker(session, piles, description, tmp_path):
    from newfound.scale import spark as scale

    rows = spark_rows(piles)
    data = session.createDataFrame(rows, SCHEMA).repartition(5)
    die = dying_once(tmp_path / "victim")
    dying = data.mapInArrow(lambda batches: map(die, batches), data.schema)
    found = scale.describe(dying, **COLUMNS, sample=60, **QUICK)
    assert parts_of(found) == description
    assert int((tmp_path / "victim").read_text()) not in python_workers(session)


def python_workers(session: Any) -> list[int]:
    """Return the processes that run Python for Spark; each is a child of their daemon."""
    import psutil

    java = psutil.Process(session.sparkContext._gateway.proc.pid)
    living = [p for p in java.children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE]
    daemons = {p.pid for p in living if p.ppid() == java.pid and "python" in p.name()}
    return [p.pid for p in living if p.ppid() in daemons]


def collect_with_killed_workers(session, scored):
    """Return rows, and how many tasks failed because their workers were killed."""
    from concurrent.futures import ThreadPoolExecutor

    tracker = session.sparkContext.statusTracker()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(scored.collect)
        done, stage = 0, None
        while not done and not waiting.done():
            for number in tracker.getActiveStageIds():
                info = tracker.getStageInfo(number)
                if info is not None and info.numTasks == 6:
                    done, stage = info.numCompletedTasks, number
            time.sleep(0.01)
        for victim in python_workers(session):
            os.kill(victim, signal.SIGKILL)
        rows = waiting.result()
    info = None if stage is None else tracker.getStageInfo(stage)
    return rows, 0 if info is None else info.numFailedTasks


@pytest.mark.slow
def test_spark_scores_survive_a_killed_worker(session, detector, frame):
    from newfound.scale import spark as scale

    many = pd.concat([frame] * 24, ignore_index=True)
    many["n"] = range(len(many))
    scored = scale.score(spark_frame(session, many, 6), detector, text="message")
    wanted = expected(detector, many)
    failed = 0
    for _ in range(6):  # on a busy machine all tasks may be done before the kill
        rows, failed = collect_with_killed_workers(session, scored)
        assert rows_of(pd.DataFrame([row.asDict(recursive=True) for row in rows])) == wanted
        if failed:
            break
    assert failed >= 1  # and tried again
