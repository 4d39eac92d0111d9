"""The public names, and that importing them costs nothing before they are used."""

import subprocess
import sys

import newfound


def test_every_public_name_is_there_and_named_once() -> None:
    assert set(newfound.__all__) == set(newfound._HOMES) | {"__version__"}
    for name in newfound.__all__:
        assert getattr(newfound, name) is not None
    assert set(dir(newfound)) == set(newfound.__all__)


def test_importing_the_package_does_not_import_scikit_learn() -> None:
    code = "import newfound, sys; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(newfound, "nothing_of_the_kind")
