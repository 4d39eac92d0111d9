"""`newfound.scale` on real engines: processes of Dask and of Spark, one of them killed."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from typing import Any

import pandas as pd
import pytest

import newfound

pytestmark = pytest.mark.filterwarnings("default")  # engines warn of their own affairs

PARTITIONS = (1, 2, 5)
NUMBERS = ["novel", "novelty", "p_value", "nearest"]


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
        return (n, False, None, None, None, "no text", ())
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


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("n", PARTITIONS)
def test_dask_scores_are_those_of_one_machine(client, detector, frame, n):
    import dask.dataframe as dd

    from newfound.scale import dask as scale

    data = dd.from_pandas(frame, npartitions=n, sort=False)
    scored = scale.score(data, detector, text="message")
    assert scored.npartitions == n
    found = scored.compute()
    assert rows_of(found) == expected(detector, frame)
    assert found.index.tolist() == frame.index.tolist()
    assert dict(scored.dtypes.astype(str)) == dict(found.dtypes.astype(str))


def test_dask_scores_survive_a_killed_worker(client, detector, frame):
    import dask.dataframe as dd

    from newfound.scale import dask as scale

    many = pd.concat([frame] * 12, ignore_index=True)
    many["n"] = range(len(many))
    data = scale.score(dd.from_pandas(many, npartitions=12, sort=False), detector, text="message")
    before = client.run(os.getpid)
    data = data.persist()
    while "memory" not in client.who_has() and not any(client.who_has().values()):
        time.sleep(0.01)
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


@pytest.mark.parametrize("n", PARTITIONS)
def test_spark_scores_are_those_of_one_machine(session, detector, frame, n):
    from newfound.scale import spark as scale

    scored = scale.score(spark_frame(session, frame, n), detector, text="message")
    found = pd.DataFrame([row.asDict(recursive=True) for row in scored.collect()])
    assert rows_of(found) == expected(detector, frame)


def python_workers(session: Any) -> list[int]:
    """Return the processes that run Python for Spark."""
    import psutil

    java = session.sparkContext._gateway.proc.pid
    found = psutil.Process(java).children(recursive=True)
    daemons = [p for p in found if "pyspark.daemon" in " ".join(p.cmdline())]
    return [p.pid for p in daemons if p.parent() in daemons]


def test_spark_scores_survive_a_killed_worker(session, detector, frame):
    from concurrent.futures import ThreadPoolExecutor

    from newfound.scale import spark as scale

    many = pd.concat([frame] * 12, ignore_index=True)
    many["n"] = range(len(many))
    scored = scale.score(spark_frame(session, many, 6), detector, text="message")
    tracker = session.sparkContext.statusTracker()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(scored.collect)
        done = 0
        while not done and not waiting.done():
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            done = sum(stage.numCompletedTasks for stage in stages if stage and stage.numTasks == 6)
            time.sleep(0.01)
        victim = python_workers(session)[0]
        os.kill(victim, signal.SIGKILL)
        assert not waiting.done()
        rows = waiting.result()
    assert rows_of(pd.DataFrame([row.asDict(recursive=True) for row in rows])) == expected(
        detector, many
    )
    assert victim not in python_workers(session)
