"""The list of licences is that of the libraries that an installation brings."""

from __future__ import annotations

import pytest

from tools_of_repository import load_tool

licences = load_tool("licences")


def listed() -> dict[str, str]:
    page = licences.PAGE.read_text("utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if "pypi.org" in line]
    return {label[1 : label.index("]")]: value for label, value in rows}


def test_every_library_has_its_licence_on_the_page() -> None:
    assert list(listed()) == licences.needed()


def test_no_library_is_under_a_licence_that_asks_for_more_than_its_notice() -> None:
    free = {"MIT", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "Zlib", "CC0-1.0", "ISC", "PSF-2.0"}
    assert {one for value in listed().values() for one in value.split(" AND ")} <= free


def test_a_library_that_is_not_there_has_no_licence() -> None:
    with pytest.raises(KeyError):
        licences.licence("no-such-library")
