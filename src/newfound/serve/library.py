"""The models that the service offers, and what they say about texts.

Models are loaded when first asked for; the last used ones are kept. Texts that wait are explained
together: a detector reads and scores many texts faster than one by one, so that while some are
explained the next ones are collected. A text that comes alone does not wait. Short texts take less
time than it takes to hand them to another thread and back, and are explained in the event loop;
others do not hold it up.
"""

from __future__ import annotations

import asyncio
import copy
import gc
import json
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from newfound.description.describer import NoveltyDescriber
from newfound.detection.detector import NoveltyDetector
from newfound.explanation import Explanation
from newfound.marks import unsteered
from newfound.models import Model, load
from newfound.serve.requests import Problem
from newfound.serve.workspace import Entry
from newfound.table import jsonable

__all__ = ["Explainer", "Library", "explain_texts", "is_quick", "score_texts", "warm_up"]

_KEPT = 8  # models in memory


class Library:
    """Finds models by id and keeps those that were used last in memory."""

    def __init__(self, entries: Callable[[], dict[str, Entry]]) -> None:
        self._entries = entries
        self._loaded: OrderedDict[str, tuple[Path, Model]] = OrderedDict()
        self._loading: dict[str, asyncio.Lock] = {}
        self._at_alpha: OrderedDict[tuple[str, float], tuple[Model, Model]] = OrderedDict()

    def entries(self) -> list[Entry]:
        """Return all models, in order."""
        return list(self._entries().values())

    def entry(self, id: str) -> Entry:
        """Return a model by id; without one, a 404."""
        found = self._entries().get(id)
        if found is None:
            raise Problem(404, f"There is no model {id[:80]!r}; GET /v1/models lists them.")
        return found

    async def model(self, id: str) -> Model:
        """Return a model, loaded."""
        kept = self._loaded.get(id)
        if kept is not None:
            self._loaded.move_to_end(id)
            return kept[1]
        entry = self.entry(id)
        async with self._loading.setdefault(id, asyncio.Lock()):
            if id not in self._loaded:
                try:
                    model = await asyncio.to_thread(_loaded, entry.path)
                except (OSError, ValueError) as error:
                    raise Problem(409, f"The model {id} cannot be read: {error}") from error
                self._loaded[id] = entry.path, model
        self._loading.pop(id, None)
        while len(self._loaded) > _KEPT:
            self._loaded.popitem(last=False)
        return self._loaded[id][1] if id in self._loaded else await self.model(id)

    def close(self) -> None:
        """Forget all models, and let the collector look at everything again."""
        self._loaded.clear()
        self._at_alpha.clear()
        gc.unfreeze()

    async def at_alpha(self, id: str, alpha: float | None) -> Model:
        """Return a model, loaded, with another false-alarm rate; others see no difference."""
        model = await self.model(id)
        if alpha is None:
            return model
        of, made = self._at_alpha.get((id, alpha), (None, None))
        if made is None or of is not model:
            made = _at_alpha(model, id, alpha)
            self._at_alpha[id, alpha] = model, made
            while len(self._at_alpha) > _KEPT:
                self._at_alpha.popitem(last=False)
        return made

    def forget(self, id: str) -> None:
        """Drop a model from memory."""
        self._loaded.pop(id, None)
        for key in [key for key in self._at_alpha if key[0] == id]:
            del self._at_alpha[key]


def _loaded(path: Path) -> Model:
    model: Model = load(path)
    if isinstance(model, NoveltyDetector):
        model.n_jobs = 1  # requests are answered side by side
    warm_up(model)
    # The collector would look at all objects of the model again and again. What an older model has
    # left behind is collected first.
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    return model


def _at_alpha(model: Model, id: str, alpha: float) -> Model:
    """Return a model that shares all but the calibration with another one."""
    if not isinstance(model, NoveltyDetector):
        raise Problem(422, f"The model {id} is a describer, which has no alpha; leave it out.")
    made = copy.copy(model)
    made.alpha = alpha
    try:
        made.calibration_  # noqa: B018, it checks that there are enough held-back documents
    except ValueError as error:
        raise Problem(422, str(error)) from error
    return made


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
        judged.scores.status.tolist(),
        strict=True,
    )
    names = ("verdict", "novelty", "p_value", "nearest", "status")
    return [dict(zip(names, row, strict=True)) for row in rows]


def is_quick(model: Model, texts: Iterable[str]) -> bool:
    """Return whether texts are read so soon that they do not hold up the event loop.

    An encoder takes milliseconds for a text.
    """
    encodes = isinstance(model, NoveltyDetector) and model.scorer_.meaning is not None
    return not encodes and sum(map(len, texts)) <= _SHORT


def warm_up(model: Model) -> None:
    """Make what a model makes at its first text; that takes longer than a text."""
    explain_texts(model, ["a"], [1])
    if isinstance(model, NoveltyDetector):
        explain_texts(model, ["a", "b"], [1, 1])
        score_texts(model, ["a"])


def explain_texts(model: Model, texts: Sequence[str], top: Sequence[int]) -> list[bytes]:
    """Return the explanation of each text as JSON: ``explanation`` or ``verdict`` in the schema."""
    if isinstance(model, NoveltyDetector) and len(texts) > 1:
        found: Iterator[Explanation] = model.explain_texts(texts)
    else:
        found = map(model.explain, texts)
    return [_json(one.to_dict(max_rules=most)) for one, most in zip(found, top, strict=True)]


def _json(data: dict[str, Any]) -> bytes:
    """Return plain data as JSON."""
    try:
        made = to_json(data, inf_nan_mode="null")
        if made.isascii() and b"\x7f" not in made:
            return made
        text = made.decode()
    except PydanticSerializationError:  # half of a character, as JSON can send it
        text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return unsteered(text).encode("utf-8", "replace")


@dataclass
class _Waiting:
    model: Model
    text: str
    top: int
    answer: asyncio.Future[bytes]


class Explainer:
    """Explains texts in a separate thread, all waiting texts together; too many are refused."""

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
                if is_quick(some[0].model, (one.text for one in some)):
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
