"""The same documents and seed give the same bits, whatever the processor and the number of threads.

Libraries choose their kernels by processor: OpenBLAS, NumPy, the C library. Each can be told to use
those of another one. `answers.py` runs in processes of their own that are told so.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import newfound
from newfound import _core

ANSWERS = Path(__file__).resolve().parents[1] / "answers.py"
KERNELS = ("Haswell", "Zen", "SkylakeX", "Nehalem", "Prescott")
# glibc's functions without fused multiplications, as on processors before 2013.
WITHOUT_FMA = "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4,-AVX"


def numpy_features() -> str:
    """Return what NumPy has kernels for beyond its baseline and this processor can run."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    return " ".join(name for name in __cpu_dispatch__ if __cpu_features__.get(name))


def answers(n_jobs: int = 1, **environment: str) -> dict[str, Any]:
    """Run everything in a process of its own; return the kernels in use and the digests."""
    found = subprocess.run(
        [sys.executable, "-P", str(ANSWERS), str(n_jobs)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert not found.returncode, found.stderr
    made: dict[str, Any] = json.loads(found.stdout)
    return made


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return answers()


def compare(found: dict[str, Any], expected: dict[str, Any], library: str) -> None:
    """Check that answers are the same, and that what a library computes is not, or skip."""
    assert found["answers"].keys() == expected["answers"].keys()
    assert not [
        what for what, value in found["answers"].items() if expected["answers"][what] != value
    ]
    if found["kernels"][library] == expected["kernels"][library]:
        pytest.skip(f"{library} has no such other kernels here; the answers are the same")


def test_old_kernels_of_all_libraries_and_two_threads_change_nothing(expected) -> None:
    old = answers(
        2,
        OPENBLAS_CORETYPE="Prescott" if platform.machine() == "x86_64" else "ARMV8",
        NPY_DISABLE_CPU_FEATURES=numpy_features(),
        GLIBC_TUNABLES=WITHOUT_FMA,
        OMP_NUM_THREADS="2",
        OPENBLAS_NUM_THREADS="2",
    )
    compare(old, expected, "linear algebra")


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the kernels are those of x86-64")
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_of_linear_algebra_change_nothing(kernel: str, expected) -> None:
    compare(answers(OPENBLAS_CORETYPE=kernel), expected, "linear algebra")


@pytest.mark.slow
def test_kernels_of_numpy_change_nothing(expected) -> None:
    compare(answers(NPY_DISABLE_CPU_FEATURES=numpy_features()), expected, "NumPy")


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="not glibc")
def test_functions_of_the_c_library_change_nothing(expected) -> None:
    compare(answers(GLIBC_TUNABLES=WITHOUT_FMA), expected, "C library")


# A sample of documents would hardly meet the rare arguments for which two kernels differ; so the
# code calls none of these.
OF_THE_C_LIBRARY = re.compile(
    r"(a?(sin|cos|tan)h?|atan2|exp(2|m1)?|log(2|10|1p)?|pow|[lt]gamma|erfc?|cbrt|hypot|fma)[fl]?"
)


@pytest.mark.skipif(shutil.which("nm") is None, reason="nm is not installed")
def test_the_core_calls_no_function_of_numbers_of_the_c_library() -> None:
    listed = subprocess.run(
        ["nm", "-D", "--undefined-only", _core.__file__], capture_output=True, text=True, check=True
    )
    names = {line.split()[-1].partition("@")[0] for line in listed.stdout.splitlines()}
    assert "malloc" in names or "memcpy" in names
    assert not {name for name in names if OF_THE_C_LIBRARY.fullmatch(name)}


# What has other digits with other kernels, as the source calls it.
UNSTABLE = re.compile(
    r"""np\.(log|exp|power|sin|cos|tan|cbrt|hypot|geomspace|logspace|dot|inner|vdot|einsum|matmul)\w*\(
    |np\.(linalg|polynomial|polyfit)\b
    |math\.(log|exp|pow|sin|cos|tan|lgamma|gamma|erf|cbrt|hypot)\w*\(
    |special\.\w+\(|stats\.(?!false_discovery_control|rankdata)\w+
    |sklearn\.(linear_model|svm|cluster|decomposition|feature_extraction|preprocessing|neighbors)""",
    re.VERBOSE,
)
LEFT_OUT = ("baselines.py", "metrics.py")  # for comparison only


def test_nothing_that_decides_calls_libraries_whose_digits_differ() -> None:
    root = Path(newfound.__file__).parent
    found = []
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if name.startswith(LEFT_OUT):
            continue
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if UNSTABLE.search(line.partition("#")[0]) and ">>>" not in line:
                found.append(f"{name}:{number}: {line.strip()}")
    assert not found
