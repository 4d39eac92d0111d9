"""The description of the interface, from the schema that the command line's JSON has."""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from newfound.serve.guard import OPEN
from newfound.serve.requests import MEDIA_TYPE, Body, schema_of

__all__ = [
    "NDJSON",
    "answer",
    "body",
    "file_body",
    "ndjson_body",
    "openapi",
    "operations",
    "other_answer",
    "output_schema",
]

_COMPONENTS = "#/components/schemas/"
NDJSON = "application/x-ndjson"
_requests: dict[str, dict[str, Any]] = {}


def answer(*names: str, status: int = 200, ndjson: str | None = None) -> dict[int | str, Any]:
    """Return the answers of an operation: one by its definition in the schema, else problems.

    Parameters
    ----------
    *names : str
        The definition of the answer; one of several.
    status : int, default=200
        Its status.
    ndjson : str, optional
        The definition of a line, if the answer can be lines.
    """
    schemas = [_reference(name) for name in names]
    schema: dict[str, Any] = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    content = {"application/json": {"schema": schema}}
    if ndjson is not None:
        content[NDJSON] = {"schema": {"type": "string", "description": f"Lines of {ndjson}."}}
    return {
        status: {"description": "Done.", "content": content},
        "default": {
            "description": "What is wrong, as in RFC 9457.",
            "content": {MEDIA_TYPE: {"schema": _reference("problem")}},
        },
    }


def other_answer(media_type: str, *, schema: bool = True) -> dict[int | str, Any]:
    """Return the answers of an operation that gives a text or a file, else problems."""
    content = {media_type: {"schema": {"type": "string"}} if schema else {}}
    return {**answer("problem"), 200: {"description": "Done.", "content": content}}


def body(kind: type[Body]) -> dict[str, Any]:
    """Return the description of a body of JSON, for ``openapi_extra``."""
    schema = schema_of(kind)
    _requests.update(schema.pop("$defs", {}))
    _requests[kind.__name__] = schema
    content = {"application/json": {"schema": _reference(kind.__name__)}}
    return {"requestBody": {"required": True, "content": content}}


def ndjson_body(kind: type[Body]) -> dict[str, Any]:
    """Return the description of a body of JSON or of lines, with the model in the query."""
    made = body(kind)
    made["requestBody"]["content"][NDJSON] = {"schema": {"type": "string"}}
    made["parameters"] = [
        {
            "name": "model",
            "in": "query",
            "required": False,
            "schema": {"type": "string", "maxLength": 64},
            "description": "Id of the model, for a body of lines.",
        },
        {
            "name": "alpha",
            "in": "query",
            "required": False,
            "schema": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "description": "False-alarm rate, for a body of lines.",
        },
    ]
    return made


def file_body() -> dict[str, Any]:
    """Return the description of a body that is a file."""
    schema = {"type": "string", "contentMediaType": "application/octet-stream"}
    content = {"application/octet-stream": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


@cache
def output_schema() -> dict[str, Any]:
    """Return the schema that the command line's JSON and the service share."""
    text = (files("newfound") / "data" / "schema" / "output.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def openapi(app: FastAPI) -> dict[str, Any]:
    """Return the description of an application in OpenAPI 3.1."""
    if app.openapi_schema is None:
        made = get_openapi(
            title="newfound",
            version=version("newfound"),
            description="Which documents are new, which words make them so, and why. Every "
            "request needs the header Authorization: Bearer TOKEN, and every change a Content-Type "
            "of JSON.",
            routes=app.routes,
        )
        definitions = json.dumps(output_schema()["$defs"]).replace("#/$defs/", _COMPONENTS)
        components = made.setdefault("components", {})
        components["schemas"] = {
            **components.get("schemas", {}),
            **json.loads(definitions),
            **_requests,
        }
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"token": []}]
        for path in OPEN:
            for operation in made["paths"].get(path, {}).values():
                operation["security"] = []  # it needs no token
        app.openapi_schema = made
    return app.openapi_schema


def operations(description: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the operations of a description by tag, for a page."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path, methods in description["paths"].items():
        for method, one in methods.items():
            content = one.get("requestBody", {}).get("content", {})
            name = content.get("application/json", {}).get("schema", {}).get("$ref", "")
            schema = description["components"]["schemas"].get(name.rpartition("/")[2], {})
            answers = [
                reference.rpartition("/")[2]
                for status, answer in one["responses"].items()
                if status.startswith("2")
                for media in answer.get("content", {}).values()
                for reference in _references(media.get("schema", {}))
            ]
            found.setdefault(one["tags"][0], []).append(
                {
                    "method": method.upper(),
                    "path": path,
                    "summary": one["description"].partition("\n")[0],
                    "description": one["description"].partition("\n")[2].strip(),
                    "answer": " or ".join(dict.fromkeys(answers)) or "a file or text",
                    "fields": [
                        (field, _kind(about), about.get("description", ""))
                        for field, about in schema.get("properties", {}).items()
                    ],
                }
            )
    return found


def _references(schema: dict[str, Any]) -> list[str]:
    if "anyOf" in schema:
        return [name for one in schema["anyOf"] for name in _references(one)]
    return [schema["$ref"]] if "$ref" in schema else []


def _kind(about: dict[str, Any]) -> str:
    """Return the type of a field in words."""
    if "anyOf" in about:
        return " or ".join(dict.fromkeys(_kind(one) for one in about["anyOf"]))
    if "$ref" in about:
        return str(about["$ref"]).rpartition("/")[2]
    if "enum" in about:
        return ", ".join(map(str, about["enum"]))
    kind = str(about.get("type", "any"))
    return f"list of {_kind(about['items'])}" if kind == "array" and "items" in about else kind


def _reference(name: str) -> dict[str, str]:
    return {"$ref": _COMPONENTS + name}
