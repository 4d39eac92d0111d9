"""Parameter sets of a describer."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from newfound.checks import check_switch, check_verbose, check_whole_number
from newfound.description.scores import SHARED_HIGH, SHARED_LOW, check_cut_offs
from newfound.machine.committee import check_machines
from newfound.text.vectorizer import TextVectorizer

__all__ = ["PRESETS", "VECTORIZER", "check_parameters", "resolve"]

# The parameters that a describer passes on to its vectorizer.
VECTORIZER = (
    "language", "stop_words", "lemmatize", "min_df", "max_df", "max_features", "ngram_range",
    "ignore",
)  # fmt: skip

_TEXT: Mapping[str, Any] = {
    "language": "en",
    "stop_words": "default",
    "lemmatize": True,
    "max_df": 1.0,
    "max_features": None,
    "ngram_range": (1, 1),
    "ignore": None,
    "shared_low": SHARED_LOW,
    "shared_high": SHARED_HIGH,
}
PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "default": MappingProxyType(
            {
                "n_machines": 10,
                "n_clauses": 500,
                "T": 100,
                "s": 10.0,
                "epochs": 10,
                "boost_true_positive": True,
                "max_literals": 16,
                "max_documents": 1_000,
                "min_df": 2,
                "rule_min_df": 0,
                "calendar": False,
                "fold_copies": True,
                **_TEXT,
            }
        ),
        "paper": MappingProxyType(
            {
                "n_machines": 1,
                "n_clauses": 10_000,
                "T": 50,
                "s": 25.0,
                "epochs": 100,
                "boost_true_positive": False,
                "max_literals": 0,
                "max_documents": 0,
                "min_df": 1,
                "rule_min_df": 1,
                "calendar": True,
                "fold_copies": False,
                **_TEXT,
            }
        ),
    }
)


def resolve(preset: str | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a preset, replaced by those that are given and not None.

    Examples
    --------
    >>> resolve("paper", {"T": 20, "s": None})["T"], resolve("paper", {"T": 20, "s": None})["s"]
    (20, 25.0)
    """
    name = "default" if preset is None else preset
    if not isinstance(name, str) or name not in PRESETS:
        raise ValueError(f"preset={name!r}: expected one of {', '.join(PRESETS)}.")
    return {
        key: value if given.get(key) is None else given[key] for key, value in PRESETS[name].items()
    }


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise a ValueError that names the first parameter with an impossible value.

    Parameters
    ----------
    parameters : mapping
        What `resolve` returns, and other parameters of a describer.
    """
    for name in ("rule_min_df", "max_documents"):
        check_whole_number(name, parameters[name], 0)
    for name in ("calendar", "fold_copies", "redact"):
        check_switch(name, parameters.get(name, False))
    check_verbose(parameters.get("verbose", 0))
    check_cut_offs(parameters["shared_low"], parameters["shared_high"], of="shared_")
    check_machines(parameters)
    TextVectorizer(**{name: parameters[name] for name in VECTORIZER}).check_parameters()
