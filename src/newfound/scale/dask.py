"""Documents in a Dask data frame: one task for each partition.

::

    import dask.dataframe as dd
    from newfound.scale import dask as scale

    scored = scale.score(dd.read_parquet("data/"), "d.nf", text="message")
    scored.to_parquet("scored/")
    described = scale.describe(dd.read_parquet("data/"), text="message", side="side")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from newfound.description.describer import NoveltyDescriber
from newfound.detection.detector import NoveltyDetector
from newfound.scale.arrow import pyarrow, reasons_type
from newfound.scale.describing import SAMPLE, describe_with
from newfound.scale.engines import FrameEngine, add_up, aggregation
from newfound.scale.scoring import Model, load_detector, score_batch, scored_schema
from newfound.scale.sources import BATCH
from newfound.text.formats import check_text_column

__all__ = ["describe", "score"]


def score(dataframe: Any, model: Model, *, text: str = "text", reasons: bool = True) -> Any:
    """Score the documents of a Dask data frame; nothing is computed yet.

    Parameters
    ----------
    dataframe : dask.dataframe.DataFrame
        A row for each document.
    model : NoveltyDetector or path
        A fitted detector, or its file, which is read here and sent to each worker once.
    text : str, default="text"
        The column with the texts.
    reasons : bool, default=True
        As in `newfound.scale.score_batch`.

    Returns
    -------
    dask.dataframe.DataFrame
        The same rows, index and partitions, with the columns that `newfound.scale.score_batch`
        adds. A partition that is lost with its worker is scored again, with the same result. Its
        ``dtypes`` have the Arrow type of the reasons, which ``to_parquet`` writes; a computed frame
        has them as objects.
    """
    detector, meta = load_detector(model), dataframe._meta
    check_text_column(pyarrow().Schema.from_pandas(meta), text, "The data frame")
    work = partial(_score_partition, text=text, reasons=reasons)
    sent = _dask().delayed(detector, pure=True)  # one key of the graph, not a copy in each task
    scored = work(meta, detector)
    if reasons:
        # Dask writes Parquet with this type. The column itself stays one of objects: pandas cannot
        # read the files in which it has kept an Arrow type of lists.
        kind = import_module("pandas").ArrowDtype(reasons_type())
        scored["reasons"] = scored["reasons"].astype(kind)
    return dataframe.map_partitions(work, sent, meta=scored)


def _dask() -> Any:
    try:
        import_module("dask.dataframe")
        return import_module("dask")
    except ImportError as error:
        raise ImportError("This needs Dask: pip install 'newfound[dask]'") from error


def _score_partition(frame: Any, detector: NoveltyDetector, *, text: str, reasons: bool) -> Any:
    """Return a pandas data frame with its documents scored."""
    pa = pyarrow()
    plain = pa.Table.from_pandas(frame[[text]], preserve_index=False)
    table = pa.table({text: plain.column(text)})  # without what pandas wrote beside it
    scored = scored_schema(table.schema, detector, reasons=reasons)
    scored_schema(pa.Schema.from_pandas(frame), detector, reasons=reasons)  # no column twice
    batches = [
        score_batch(batch, detector, text=text, reasons=reasons)
        for batch in table.to_batches(max_chunksize=BATCH)
    ]
    found = pa.Table.from_batches(batches, scored).drop_columns([text]).to_pandas()
    found["novel"] = found["novel"].astype(bool)
    found.index = frame.index
    return frame.assign(**{name: found[name] for name in found.columns})


def describe(
    dataframe: Any,
    *,
    text: str = "text",
    side: str = "side",
    date: str | None = None,
    sample: int = SAMPLE,
    **parameters: Any,
) -> NoveltyDescriber:
    """Describe what is new in the novel documents of a Dask data frame.

    Only sums, a sample of stated size and the machines of the committee come to this process. Each
    machine learns from the sample in a task of its own.

    Parameters
    ----------
    dataframe : dask.dataframe.DataFrame
        Known and novel documents; read in each of three passes.
    text, side, date, sample, **parameters
        As in `newfound.scale.describe`.

    Returns
    -------
    NoveltyDescriber
        The same bits as `newfound.scale.describe` returns, for any number of partitions.
    """
    schema = pyarrow().Schema.from_pandas(dataframe._meta, preserve_index=False)
    engine = _DaskFrame(dataframe, schema, text=text, side=side, date=date)
    return describe_with(engine, text=text, side=side, date=date, sample=sample, **parameters)


class _DaskFrame(FrameEngine):
    """Runs passes over a Dask data frame, and tasks beside it."""

    def map(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return what a function returns for each item."""
        dask = _dask()
        tasks = [dask.delayed(work, pure=False)(item) for item in items]
        return list(dask.compute(*tasks))

    def collect(self, work: Callable[[Any], Any], schema: Any, keys: list[str]) -> Any:
        """Return the sums of a pass."""
        sent = _dask().delayed(work, pure=False)
        meta = schema.empty_table().to_pandas()
        parts = self.dataframe.map_partitions(
            _sum_partition, sent, schema, tuple(keys), meta=meta, enforce_metadata=False
        )
        how = {name: aggregation(name) for name in schema.names if name not in keys}
        added = parts.groupby(keys, sort=False).agg(how).compute().reset_index()
        return pyarrow().Table.from_pandas(added, preserve_index=False)


def _sum_partition(frame: Any, work: Callable[[Any], Any], schema: Any, keys: Sequence[str]) -> Any:
    """Return the sums of a partition as a pandas data frame."""
    pa = pyarrow()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    found = [pa.Table.from_batches([work(b)]) for b in table.to_batches(max_chunksize=BATCH)]
    return add_up(found, schema, keys).to_pandas()
