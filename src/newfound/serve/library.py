"""The models that the service offers: loaded when first asked for, the last used ones kept."""

from __future__ import annotations

import asyncio
import copy
import gc
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from newfound.description.describer import NoveltyDescriber
from newfound.detection.detector import NoveltyDetector
from newfound.models import Model, load
from newfound.serve.problems import Problem
from newfound.serve.scoring import warm_up

__all__ = ["Entry", "Library", "kind_of"]

_KEPT = 8  # models in memory


@dataclass(frozen=True)
class Entry:
    """A model file.

    Attributes
    ----------
    id : str
        The id to use in requests.
    name : str
        What people call it.
    kind : str
        "describer" or "detector".
    path : Path
        Its file.
    source : str
        "file" if it was named when the service was started, "import" if it was uploaded, "run" if
        a run made it.
    created : str or None
        When it was created here.
    """

    id: str
    name: str
    kind: str
    path: Path
    source: str
    created: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "source": self.source,
            "created": self.created,
        }


def kind_of(model: Model) -> str:
    """Return the kind of a model, "describer" or "detector"."""
    return "describer" if isinstance(model, NoveltyDescriber) else "detector"


class Library:
    """Finds models by id and keeps those that were used last in memory.

    Parameters
    ----------
    entries : callable
        Returns all models that there are, by id.
    """

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
