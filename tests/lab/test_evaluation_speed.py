"""The speed of descriptions: seconds by step add up, and memory is that of a fresh process."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from lab.__main__ import app
from lab.evaluation.speed import STEPS, describe_in_a_process
from newfound.timing import recorded, step


@step("outer")
def outer() -> int:
    return inner()


@step("inner")
def inner() -> int:
    return 1


def test_a_step_within_a_step_counts_for_the_outer_one() -> None:
    assert outer() == 1
    with recorded() as seconds:
        outer()
        inner()
        inner()
    assert list(seconds) == ["outer", "inner"]
    before = dict(seconds)
    outer()
    assert seconds == before  # nothing is recorded outside the block


def test_a_step_that_fails_is_recorded_too() -> None:
    @step("failing")
    def fail() -> None:
        raise ValueError("on purpose")

    with recorded() as seconds:
        with pytest.raises(ValueError, match="on purpose"):
            fail()
        inner()
    assert list(seconds) == ["failing", "inner"]


@pytest.mark.quality
def test_the_steps_of_a_description_add_up_in_a_fresh_process() -> None:
    found = describe_in_a_process("sample", 1)
    assert all(found[name] > 0 for name in STEPS)
    parts = sum(found[name] for name in (*STEPS, "other", "start"))
    assert parts == pytest.approx(found["wall"])
    assert found["description"] < found["wall"]
    assert 0.05 < found["memory"] < 4  # in GB
    assert found["processor"] > 0
    assert found["documents"] > 100


def test_the_command_rejects_an_unknown_corpus() -> None:
    asked = CliRunner().invoke(app, ["evaluate", "speed", "nonsense"])
    assert asked.exit_code == 2
    assert "nonsense" in asked.output
