"""Documents in a Spark data frame, by `mapInArrow`: no row becomes a Python object on its way.

::

    from newfound.scale import spark as scale

    scored = scale.score(session.read.parquet("data/"), "d.nf", text="message")
    scored.write.parquet("scored/")
    described = scale.describe(session.read.parquet("data/"), text="message", side="side")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

from newfound.description.describer import NoveltyDescriber
from newfound.scale.arrow import pyarrow
from newfound.scale.describing import SAMPLE, describe_with
from newfound.scale.engines import FrameEngine, aggregation
from newfound.scale.scoring import Model, load_detector, score_batch, scored_schema
from newfound.text.formats import check_text_column

__all__ = ["describe", "score"]

MapBatches = Callable[[Iterable[Any]], Iterator[Any]]


def score(dataframe: Any, model: Model, *, text: str = "text", reasons: bool = True) -> Any:
    """Score the documents of a Spark data frame; nothing is computed yet.

    Parameters
    ----------
    dataframe : pyspark.sql.DataFrame
        A row for each document.
    model : NoveltyDetector or path
        A fitted detector, or its file, which is read here and broadcast.
    text : str, default="text"
        The column with the texts.
    reasons : bool, default=True
        As in `newfound.scale.score_batch`.

    Returns
    -------
    pyspark.sql.DataFrame
        The same rows and partitions, with the columns that `newfound.scale.score_batch` adds. A
        task that is lost is run again, with the same result.
    """
    types, detector = _types(), load_detector(model)
    schema = types.to_arrow_schema(dataframe.schema)
    check_text_column(schema, text, "The data frame")
    scored = types.from_arrow_schema(scored_schema(schema, detector, reasons=reasons))
    sent = dataframe.sparkSession.sparkContext.broadcast(detector)
    return dataframe.mapInArrow(_scorer(sent, text, reasons=reasons), scored)


def _types() -> Any:
    pyarrow()
    try:
        return import_module("pyspark.sql.pandas.types")
    except ImportError as error:
        raise ImportError("This needs PySpark: pip install 'newfound[spark]'") from error


def _scorer(sent: Any, text: str, *, reasons: bool) -> MapBatches:
    """Return the function that a task runs on the batches of its partition."""

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            yield score_batch(batch, sent.value, text=text, reasons=reasons)

    return work


def describe(
    dataframe: Any,
    *,
    text: str = "text",
    side: str = "side",
    date: str | None = None,
    sample: int = SAMPLE,
    **parameters: Any,
) -> NoveltyDescriber:
    """Describe what is new in the novel documents of a Spark data frame.

    Only sums, a sample of stated size and the machines of the committee come to the driver. Each
    machine learns from the sample in a task of its own.

    Parameters
    ----------
    dataframe : pyspark.sql.DataFrame
        Known and novel documents; read in each of three passes.
    text, side, date, sample, **parameters
        As in `newfound.scale.describe`.

    Returns
    -------
    NoveltyDescriber
        The same bits as `newfound.scale.describe` returns, for any number of partitions.
    """
    schema = _types().to_arrow_schema(dataframe.schema)
    engine = _SparkFrame(dataframe, schema, text=text, side=side, date=date)
    return describe_with(engine, text=text, side=side, date=date, sample=sample, **parameters)


class _SparkFrame(FrameEngine):
    """Runs passes over a Spark data frame, and tasks beside it."""

    def map(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return what a function returns for each item."""
        context = self.dataframe.sparkSession.sparkContext
        found: list[Any] = context.parallelize(items, len(items)).map(work).collect()
        return found

    def collect(self, work: Callable[[Any], Any], schema: Any, keys: list[str]) -> Any:
        """Return the sums of a pass; Spark adds up those of a task before it sends them."""
        sent = self.dataframe.sparkSession.sparkContext.broadcast(work)
        values = [name for name in schema.names if name not in keys]
        parts = self.dataframe.mapInArrow(_worker(sent), _types().from_arrow_schema(schema))
        functions = import_module("pyspark.sql.functions")
        how = [getattr(functions, aggregation(name))(name).alias(name) for name in values]
        return parts.groupBy(*keys).agg(*how).toArrow()


def _worker(sent: Any) -> MapBatches:
    """Return the function that a task runs on the batches of its partition."""

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        yield from map(sent.value, batches)

    return work
