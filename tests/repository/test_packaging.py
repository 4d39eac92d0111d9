"""What a release says of itself: one version, an SBOM of what is inside, locked dependencies."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tools_of_repository import load_tool

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "packaging").exists():
    pytest.skip("the repository is not beside the tests", allow_module_level=True)
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT: dict[str, Any] = PYPROJECT["project"]


def pinned(name: str) -> dict[str, str]:
    text = (ROOT / "requirements" / name).read_text("utf-8")
    return dict(re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==([\w.+!-]+)", text, re.MULTILINE))


def bounds(requirements: list[str]) -> dict[str, str]:
    return dict(re.findall(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", "\n".join(requirements)))


def test_every_line_of_the_changelog_is_under_a_heading() -> None:
    releases = (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n## ")[1:]
    for release in releases:
        before, *sections = release.split("\n### ")
        assert "\n- " not in before
        assert sections and all("\n- " in section for section in sections)


def test_the_version_is_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [PROJECT["version"]]
    assert f"## {PROJECT['version']} " in (ROOT / "CHANGELOG.md").read_text("utf-8")
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text("utf-8")
    assert re.findall(r'^  version: "(.*)"$', recipe, re.MULTILINE) == [PROJECT["version"]]


def test_the_sbom_is_that_of_the_files() -> None:
    kept = (ROOT / "packaging/newfound.cdx.json").read_text("utf-8")
    assert kept == load_tool("sbom").text(), "run python tools/sbom.py"
    vendored = {path.name for path in (ROOT / "src").rglob("vendor/*.js")}
    assert vendored and all(name in kept for name in vendored)


def test_every_licence_that_is_named_is_there() -> None:
    for pattern in PROJECT["license-files"]:
        assert list(ROOT.glob(pattern)), pattern


def test_locked_versions_are_allowed_and_complete() -> None:
    for name, extras in (("run.txt", ()), ("dev.txt", ("test", "lint", "docs"))):
        wanted = bounds(PROJECT["dependencies"])
        for extra in extras:
            wanted |= bounds(PROJECT["optional-dependencies"][extra])
        locked = pinned(name)
        assert set(wanted) - {"newfound"} <= set(locked), name
        text = (ROOT / "requirements" / name).read_text("utf-8")
        assert text.count("--hash=sha256:") >= len(locked)


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    oldest = pinned("oldest.txt")
    behind = []
    for name, bound in bounds(PROJECT["dependencies"]).items():
        version = oldest[name].split(".")
        if version[: len(bound.split("."))] != bound.split("."):
            behind.append((name, bound, oldest[name]))
    # Another dependency needs a newer one.
    assert [name for name, *_ in behind] in ([], ["rich"]), behind


def test_the_conda_recipe_has_the_same_dependencies() -> None:
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text("utf-8")
    for name, bound in bounds(PROJECT["dependencies"]).items():
        assert f"- {name} >={bound}\n" in recipe, name


def test_the_conda_recipe_has_the_same_licences() -> None:
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text("utf-8")
    for pattern in PROJECT["license-files"]:
        for path in ROOT.glob(pattern):
            assert f"    - {path.relative_to(ROOT).as_posix()}\n" in recipe


def test_every_action_of_a_workflow_has_one_version() -> None:
    used: dict[str, set[str]] = {}
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        for name, version in re.findall(r"uses: (\S+)@(\S+)", path.read_text("utf-8")):
            used.setdefault(name, set()).add(version)
    assert len(used) >= 6 and all(len(versions) == 1 for versions in used.values()), used


def test_results_and_fixtures_stay_out_of_the_sdist() -> None:
    excluded = PYPROJECT["tool"]["scikit-build"]["sdist"]["exclude"]
    assert {"benchmarks/results", "experiments/results", "tests/golden"} <= set(excluded)


def test_a_small_fit_gives_what_every_wheel_is_held_to() -> None:
    check = load_tool("check_wheel")
    assert check.fit() == check.EXPECTED
