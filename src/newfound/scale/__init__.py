"""Documents that do not fit in memory: Arrow batches, and the engines that distribute them.

`score_batch` and `count_batch` are pure functions on Arrow record batches. All else hands batches
to them: `score` from files, `newfound.scale.dask` and `newfound.scale.spark` from data frames of
these engines. What comes out does not depend on how the documents are cut into batches.
"""

from newfound.scale.counting import count_batch
from newfound.scale.describing import describe
from newfound.scale.scoring import score, score_batch
from newfound.scale.sources import Source

__all__ = ["Source", "count_batch", "describe", "score", "score_batch"]
