"""Write docs/json.md from the JSON Schema of the package: ``python tools/json_docs.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "src/newfound/data/schema/output.json"
PAGE = ROOT / "docs/json.md"

OUTPUTS = (
    "describe", "describe_by", "detect", "document", "explanation", "verdict", "alert", "topic",
    "topic_shown", "models", "scores", "explanations", "job", "jobs", "upload", "checked", "found",
    "deleted", "monitor", "monitors", "alerts", "problem",
)  # fmt: skip
INTRODUCTION = """# JSON output

`newfound describe`, `demo`, `detect`, `explain` and `monitor` print JSON with `--json`. `explain`
prints a line for each text, `detect --json-lines` a line for each document, and `monitor` a line
for each alert. `newfound serve` answers with the same objects (`docs/serve.md`). Numbers that are
not defined are `null`. The same is in the package as a JSON Schema
(draft 2020-12), `newfound/data/schema/output.json`, with one definition for each table here. To
validate an output, refer to its definition, such as `#/$defs/describe`. The schema is that of this
version; a later one may have more fields.

This page is made by `python tools/json_docs.py`.
"""


def type_of(field: dict[str, Any]) -> str:
    """Return the type of a field, with links to other tables."""
    if "enum" in field:
        return ", ".join("null" if value is None else f"`{value}`" for value in field["enum"])
    for several in ("allOf", "anyOf"):
        if several in field:
            return " or ".join(type_of(one) for one in field[several])
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})"
    kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
    named = []
    for kind in kinds:
        if kind == "array":
            kind = f"array of {type_of(field['items'])}"
        elif kind == "object" and isinstance(field.get("additionalProperties"), dict):
            kind = f"object of {type_of(field['additionalProperties'])}"
        named.append(kind)
    return " or ".join(named)


def page(schema: dict[str, Any]) -> str:
    """Return the page that documents a schema."""
    definitions = schema["$defs"]
    parts = [INTRODUCTION]
    for name in (*OUTPUTS, *(name for name in definitions if name not in OUTPUTS)):
        definition = definitions[name]
        rows = [
            f"| `{field}` | {type_of(about)} | {about['description']} |"
            for field, about in definition["properties"].items()
        ]
        lines = [f"## {name}", definition["description"], "", "| field | type | |", "|---|---|---|"]
        parts.append("\n".join([*lines, *rows, ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(json.loads(SCHEMA.read_text("utf-8"))), encoding="utf-8")
