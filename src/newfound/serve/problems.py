"""Errors as RFC 9457 says: JSON with type, title, status and detail."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

__all__ = ["MEDIA_TYPE", "Problem", "invalid", "problem_data", "problem_response"]

MEDIA_TYPE = "application/problem+json"
_SHOWN = 20  # defects of a request


class Problem(HTTPException):
    """An error that is reported to the caller.

    Parameters
    ----------
    status : int
        The status of the answer.
    detail : str
        What is wrong, and what to do.
    headers : mapping, optional
        More headers of the answer.
    errors : list, optional
        The defects of a request, each with its place.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        headers: Mapping[str, str] | None = None,
        errors: list[dict[str, str]] | None = None,
    ) -> None:
        super().__init__(status, detail, None if headers is None else dict(headers))
        self.errors = errors


def invalid(error: ValidationError, schema: Mapping[str, Any]) -> Problem:
    """Return the problem of a body that is not what its JSON Schema says."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    defects = [
        {
            "place": "/" + "/".join(map(str, defect["loc"])),
            "detail": _unknown(defect["loc"], schema)
            if defect["type"] == "extra_forbidden"
            else defect["msg"],
        }
        for defect in found[:_SHOWN]
    ]
    malformed = any(defect["type"] == "json_invalid" for defect in found)
    first = f"{defects[0]['place']}: {defects[0]['detail']}" if defects[0]["place"] != "/" else ""
    detail = "The body is not JSON" if malformed else "The body is not what the schema says"
    return Problem(
        400 if malformed else 422, f"{detail}; {first or defects[0]['detail']}.", errors=defects
    )


def _unknown(place: tuple[int | str, ...], schema: Mapping[str, Any]) -> str:
    """Return that there is no field at a place of a body, and which ones there are."""
    definitions, here = schema.get("$defs", {}), schema
    for part in place[:-1]:
        inner = here.get("properties", {}).get(part) if isinstance(part, str) else here.get("items")
        here = _definition(inner or {}, definitions)
    names = ", ".join(here.get("properties", {}))
    return f"There is no such field; there are {names}" if names else "There is no such field"


def _definition(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema without its reference, and without null where that is the other choice."""
    choices = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    found = choices[0] if choices else schema
    name = str(found.get("$ref", "")).rpartition("/")[2]
    return definitions.get(name, found)  # type: ignore[no-any-return]


def problem_data(status: int, detail: str, errors: Any = None) -> dict[str, Any]:
    """Return the plain data of a problem.

    Examples
    --------
    >>> problem_data(404, "There is no model x.")["title"]
    'Not Found'
    """
    data = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    return data if errors is None else {**data, "errors": errors}


def problem_response(
    status: int, detail: str, headers: Mapping[str, str] | None = None, errors: Any = None
) -> Response:
    """Return a problem as an answer."""
    content = json.dumps(problem_data(status, detail, errors)).encode()
    return Response(content, status, dict(headers or {}), MEDIA_TYPE)
