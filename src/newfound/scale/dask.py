"""Documents in a Dask data frame: one task for each partition.

```python
import dask.dataframe as dd
from newfound.scale import dask as scale

scored = scale.score(dd.read_parquet("data/"), "d.nf", text="message")
scored.to_parquet("scored/")
```
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from newfound.detection.detector import NoveltyDetector
from newfound.scale.arrow import check_text_column, pyarrow
from newfound.scale.scoring import Model, load_detector, score_batch, scored_schema
from newfound.scale.sources import BATCH

__all__ = ["score"]


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
        adds. A partition that is lost with its worker is scored again, with the same result.
    """
    detector, meta = load_detector(model), dataframe._meta
    check_text_column(pyarrow().Schema.from_pandas(meta), text, "The data frame")
    work = partial(_score_partition, text=text, reasons=reasons)
    sent = _dask().delayed(detector, pure=True)  # one key of the graph, not a copy in each task
    return dataframe.map_partitions(work, sent, meta=work(meta, detector))


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
