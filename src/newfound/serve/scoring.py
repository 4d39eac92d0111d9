"""Score and explain texts; texts that wait are explained together.

A detector reads and scores many texts faster than one by one, so that while some are explained the
next ones are collected. A text that comes alone does not wait. Short texts take less time than it
takes to hand them to another thread and back, and are explained in the event loop; others do not
hold it up.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from newfound.description.describer import NoveltyDescriber
from newfound.detection.detector import NoveltyDetector
from newfound.explanation import Explanation
from newfound.models import Model
from newfound.serve.problems import Problem
from newfound.table import jsonable

__all__ = ["Explainer", "explain_texts", "is_short", "score_texts", "warm_up"]

_TOGETHER = 16  # texts
_CHARACTERS = 20_000  # of the texts that are explained together
_SHORT = 2_000  # characters of all texts that are scored or explained in the event loop


def score_texts(model: Model, texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return verdict and scores of each text as plain data; see the schema, ``score``."""
    if isinstance(model, NoveltyDescriber):
        found = (model.explain(text) for text in texts)
        return [{"verdict": one.verdict, "probability": jsonable(one.probability)} for one in found]
    judged = model.score_texts(texts).judged(model.calibration_)
    rows = zip(
        map(judged.verdict, range(len(texts))),
        judged.scores.novelty.tolist(),
        judged.p_values.tolist(),
        judged.classes.tolist(),
        strict=True,
    )
    return [
        dict(zip(("verdict", "novelty", "p_value", "nearest"), row, strict=True)) for row in rows
    ]


def is_short(texts: Iterable[str]) -> bool:
    """Return whether texts are so short that they do not hold up the event loop."""
    return sum(map(len, texts)) <= _SHORT


def warm_up(model: Model) -> None:
    """Make what a model makes at its first text; that takes longer than a text."""
    explain_texts(model, ["a"], [1])
    if isinstance(model, NoveltyDetector):
        explain_texts(model, ["a", "b"], [1, 1])
        score_texts(model, ["a"])


def explain_texts(model: Model, texts: Sequence[str], top: Sequence[int]) -> list[bytes]:
    """Return the explanation of each text as JSON; see the schema, ``explanation`` and ``verdict``.

    Parameters
    ----------
    model : NoveltyDescriber or NoveltyDetector
        The model.
    texts : sequence of str
        The texts.
    top : sequence of int
        The most rules of each.
    """
    if isinstance(model, NoveltyDetector) and len(texts) > 1:
        found: Iterator[Explanation] = model.explain_texts(texts)
    else:
        found = map(model.explain, texts)
    return [_json(one.to_dict(max_rules=most)) for one, most in zip(found, top, strict=True)]


def _json(data: dict[str, Any]) -> bytes:
    """Return plain data as JSON."""
    try:
        return to_json(data, inf_nan_mode="null")
    except PydanticSerializationError:  # half of a character, as JSON can send it
        return json.dumps(data, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


@dataclass
class _Waiting:
    model: Model
    text: str
    top: int
    answer: asyncio.Future[bytes]


class Explainer:
    """Explains texts in a separate thread, all waiting texts together.

    Parameters
    ----------
    waiting : int
        The most texts that may wait; more are refused.
    """

    def __init__(self, waiting: int) -> None:
        self.most = waiting
        self._waiting: deque[_Waiting] = deque()
        self._thread = ThreadPoolExecutor(1, "explain")
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """Return how many texts wait."""
        return len(self._waiting)

    async def explain(self, model: Model, text: str, top: int) -> bytes:
        """Return the explanation of a text as JSON."""
        if len(self._waiting) >= self.most:
            raise Problem(429, "Too many texts wait to be explained.", {"Retry-After": "1"})
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[bytes] = loop.create_future()
        self._waiting.append(_Waiting(model, text, top, answer))
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._work(loop))
        return await answer

    def close(self) -> None:
        """End the thread; texts that wait are not explained."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._waiting:
            await asyncio.sleep(0)  # requests that have come meanwhile are read first
            some = self._take()
            if not some:
                continue
            try:
                if is_short(one.text for one in some):
                    answers = _explain_together(some)
                else:
                    answers = await loop.run_in_executor(self._thread, _explain_together, some)
            except Exception as error:
                answers = [error] * len(some)
            for one, answer in zip(some, answers, strict=True):
                if one.answer.done():
                    continue
                if isinstance(answer, BaseException):
                    one.answer.set_exception(answer)
                else:
                    one.answer.set_result(answer)

    def _take(self) -> list[_Waiting]:
        """Return texts for one model that are explained together; callers may have left."""
        some: list[_Waiting] = []
        size = 0
        while self._waiting and len(some) < _TOGETHER:
            first = self._waiting[0]
            if first.answer.done():
                self._waiting.popleft()
                continue
            size += len(first.text)
            if some and (first.model is not some[0].model or size > _CHARACTERS):
                break
            some.append(self._waiting.popleft())
        return some


def _explain_together(some: Sequence[_Waiting]) -> Sequence[bytes | Exception]:
    """Explain texts together; if that fails, one by one, so that one does not spoil the others."""
    model, tops = some[0].model, [one.top for one in some]
    try:
        return explain_texts(model, [one.text for one in some], tops)
    except ValueError:
        answers: list[bytes | Exception] = []
        for one in some:
            try:
                answers += explain_texts(model, [one.text], [one.top])
            except ValueError as error:
                answers.append(Problem(422, str(error)))
        return answers
