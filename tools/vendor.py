"""Fetch the JavaScript of the report, the service and their tests: checked, with licences.

``python tools/vendor.py`` reads ``vendor.json`` beside it, packs each package with npm, compares
the archive with its checksum and copies the files named there.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def main() -> None:
    """Fetch all packages."""
    for package in json.loads((HERE / "vendor.json").read_text(encoding="utf-8")):
        fetch(package)


def fetch(package: dict[str, Any]) -> None:
    """Copy the files of one package to their places."""
    name = f"{package['package']}@{package['version']}"
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", "--pack-destination", folder, name]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (archive,) = Path(folder).glob("*.tgz")
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if f"sha512-{digest}" != package["integrity"]:
            sys.exit(f"{name} is not what vendor.json says: its checksum is sha512-{digest}.")
        with tarfile.open(archive) as members:
            for inside, target in package["files"].items():
                file = members.extractfile(inside)
                if file is None:
                    sys.exit(f"{name} has no {inside}.")
                path = ROOT / target
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.read())
                print(f"{name}: {target}")


if __name__ == "__main__":
    main()
