"""Check an installed wheel: ``python tools/check_wheel.py``, outside of the repository.

It has the compiled core, its data, its licences and its SBOM; and a small fit gives what it gives
everywhere.
"""

from __future__ import annotations

import hashlib
import sys
from importlib.metadata import files, version

import numpy as np

import newfound

EXPECTED = "416ab219f9c61a613a7bc56cf5d8c2b6e72311f29dab3bf408d11ff5eb8c32f7"


def fit() -> str:
    """Return a checksum of the states of a small machine."""
    random = np.random.default_rng(0)
    documents = random.random((60, 100)) < 0.2
    machine = newfound.TsetlinMachineClassifier(
        n_clauses=20, T=10, s=5.0, epochs=5, random_state=1, n_jobs=2
    )
    machine.fit(documents, documents[:, 0] | documents[:, 1])
    return hashlib.sha256(np.ascontiguousarray(machine.states_).tobytes()).hexdigest()


def main() -> None:
    """Print what is wrong; the exit status is 1 if anything is."""
    names = {str(path).replace("\\", "/") for path in files("newfound") or ()}
    info = f"newfound-{version('newfound')}.dist-info"
    wanted = [
        f"{info}/sboms/newfound.cdx.json",
        f"{info}/licenses/LICENSE",
        f"{info}/licenses/packaging/licences/nanobind.LICENSE.txt",
        f"{info}/licenses/src/newfound/data/sample/ATTRIBUTION.txt",
        "newfound/py.typed",
        "newfound/_core.pyi",
        "newfound/show/static/vendor/d3.min.js",
    ]
    problems = [f"the wheel has no {name}" for name in wanted if name not in names]
    if (
        len([name for name in names if name.startswith("newfound/_core.") and "pyi" not in name])
        != 1
    ):
        problems.append("the wheel has not exactly one compiled core")
    if any("_core_test" in name for name in names):
        problems.append("the wheel has the extension module for tests")
    if fit() != EXPECTED:
        problems.append(f"a small fit gives {fit()}, elsewhere {EXPECTED}")
    print("\n".join(problems) or f"newfound {version('newfound')}: all there, same bits")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
