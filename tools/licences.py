"""List the licences of the libraries that newfound needs: ``python tools/licences.py``.

It reads the names in requirements/run.txt and the metadata of the installed libraries, and writes
docs/licences.md.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/licences.md"
ONLY_WINDOWS = {"colorama": "BSD-3-Clause"}  # is not installed elsewhere
# What texts and classifiers of metadata are called in SPDX.
SPDX = {
    "BSD License": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "MIT License": "MIT",
    "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "Python Software Foundation License": "PSF-2.0",
}


def needed() -> list[str]:
    """Return the names of all libraries that an installation brings, in order."""
    text = (ROOT / "requirements/run.txt").read_text("utf-8")
    return sorted(set(re.findall(r"^([A-Za-z0-9][\w.-]*)==", text, re.MULTILINE)))


def licence(name: str) -> str:
    """Return the licence of an installed library, as SPDX calls it where that is known."""
    try:
        about = metadata(name)
    except PackageNotFoundError:
        return ONLY_WINDOWS[name]
    if about["License-Expression"]:
        return str(about["License-Expression"])
    kinds = [one.rpartition(" :: ")[2] for one in about.get_all("Classifier") or ()
             if one.startswith("License :: ")]  # fmt: skip
    found = [SPDX.get(kind, kind) for kind in kinds if kind != "OSI Approved"]
    text = (about["License"] or "").strip().splitlines()
    found = found or [SPDX.get(line.strip(), line.strip()) for line in text[:1]]
    if not found:
        raise SystemExit(f"{name} does not say its licence.")
    return " AND ".join(dict.fromkeys(found))


def page() -> str:
    """Return the page."""
    rows = [
        f"| [{name}](https://pypi.org/project/{name}/) | {licence(name)} |" for name in needed()
    ]
    return (
        "# Licences\n"
        "newfound is under the MIT licence. These libraries come with it, by `pip install "
        "newfound`; their licences are those that they state themselves. The page is written by "
        "`python tools/licences.py`. What is vendored in the package has its licence beside it, "
        "in the wheel and in `packaging/licences/`.\n\n"
        "| library | licence |\n|---|---|\n" + "\n".join(rows) + "\n\n"
        "`make audit` looks the versions of `requirements/` up in the list of known "
        "vulnerabilities of PyPI (pip-audit). It needs the network.\n"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
