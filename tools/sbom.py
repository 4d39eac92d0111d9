"""Write the SBOM that wheels carry (PEP 770, CycloneDX): ``python tools/sbom.py``.

It lists what is inside of a wheel and not ours: vendored JavaScript, the sample of CLINC150, and
nanobind, which is compiled into the extension module.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "packaging/newfound.cdx.json"
COMPILED_IN = (
    ("nanobind", "BSD-3-Clause", "pkg:pypi/nanobind"),
    ("robin-map", "MIT", "pkg:github/Tessil/robin-map"),
)


def project() -> dict[str, Any]:
    """Return the table of the project in pyproject.toml."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def file_component(path: str) -> dict[str, Any]:
    """Return a file with its checksum."""
    digest = hashlib.sha256((ROOT / path).read_bytes()).hexdigest()
    name = path.removeprefix("src/")
    return {"type": "file", "name": name, "hashes": [{"alg": "SHA-256", "content": digest}]}


def vendored() -> list[dict[str, Any]]:
    """Return the JavaScript packages that are part of the package, not those of tests."""
    found = []
    for package in json.loads((ROOT / "tools/vendor.json").read_text("utf-8")):
        shipped = [path for path in package["files"].values() if path.startswith("src/")]
        if shipped:
            name, version = package["package"], package["version"]
            found.append(
                {
                    "type": "library",
                    "name": name,
                    "version": version,
                    "purl": f"pkg:npm/{quote(name)}@{version}",
                    "licenses": [{"license": {"id": package["licence"]}}],
                    "components": [file_component(path) for path in shipped],
                }
            )
    return found


def sbom() -> dict[str, Any]:
    """Return the SBOM."""
    about = project()
    sample = [f"src/newfound/data/sample/{name}.jsonl.gz" for name in ("banking", "travel")]
    compiled = [
        {"type": "library", "name": name, "purl": purl, "licenses": [{"license": {"id": licence}}]}
        for name, licence, purl in COMPILED_IN
    ]
    data = {
        "type": "data",
        "name": "CLINC150, banking and travel",
        "licenses": [{"license": {"id": "CC-BY-3.0"}}],
        "components": [file_component(path) for path in sample],
    }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "name": about["name"],
                "version": about["version"],
                "purl": f"pkg:pypi/{about['name']}@{about['version']}",
                "licenses": [{"license": {"id": about["license"]}}],
            }
        },
        "components": [*vendored(), *compiled, data],
    }


def text() -> str:
    """Return the SBOM as it is written."""
    return json.dumps(sbom(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
