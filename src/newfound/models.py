"""Save and load models of any kind."""

from __future__ import annotations

import os
from typing import Any

from newfound.description.describer import NoveltyDescriber
from newfound.description.description import Description
from newfound.detection.detector import NoveltyDetector
from newfound.storage.files import ModelFileError
from newfound.storage.model_file import load_model

__all__ = ["ModelFileError", "load", "save"]

Model = NoveltyDescriber | NoveltyDetector


def save(
    model: Model | Description,
    path: str | os.PathLike[str],
    *,
    with_automata: bool = False,
    force: bool = False,
) -> None:
    """Write a fitted model to one file, completely or not at all.

    Parameters
    ----------
    model : NoveltyDescriber, NoveltyDetector or Description
        The fitted model, or the description that is to be loaded as one.
    path : path
        The file; any name will do.
    with_automata : bool, default=False
        Save the automata of a describer as well, so that training can continue; the file is larger.
        A detector has none: it learns its rules again from the words of all known documents.
    force : bool, default=False
        Replace an existing file.

    Raises
    ------
    FileExistsError
        If the file exists and `force` is false.
    OSError
        If the file cannot be written. An existing file is then unchanged, and no partial file is
        left.

    Examples
    --------
    >>> import tempfile
    >>> known, novel = ["A wicket fell", "An over of spin"] * 5, ["A scrum", "A try"] * 5
    >>> from newfound import describe
    >>> describer = describe(known, novel, n_clauses=10, T=5, random_state=1)
    >>> path = os.path.join(tempfile.mkdtemp(), "rugby.newfound")
    >>> save(describer, path)
    >>> load(path).words_ == describer.words_
    True
    """
    if isinstance(model, Description):
        model = NoveltyDescriber.from_description(model)
    if not isinstance(model, Model):
        raise TypeError(
            f"Cannot save a {type(model).__name__}; expected a NoveltyDescriber or a "
            "NoveltyDetector. Other estimators can be pickled, or dumped with joblib."
        )
    model.save(path, with_automata=with_automata, force=force)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model from its file.

    Parameters
    ----------
    path : path
        A file that `save` wrote.

    Returns
    -------
    NoveltyDescriber or NoveltyDetector
        A model that gives the same results as the one that was saved.

    Raises
    ------
    ModelFileError
        If the file is truncated, altered, of a newer format, or not a model.
    OSError
        If it cannot be opened.
    """
    return load_model(
        path, {"describer": NoveltyDescriber.from_state, "detector": NoveltyDetector.from_state}
    )
