"""Requests that a machine makes up from the description of the interface: no 5xx, no surprise.

Operations that start processes are left out here, to be quick; ``schemathesis run`` with the
address of a running service tries all of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from serve_client import HOST, TOKEN, client, make_models

PROCESSES = r"^/v1/(describe|detect|uploads|models$|jobs/\{id\}/(restart|events))"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    models = make_models()
    with client(tmp_path_factory.mktemp("workspace"), models=models) as made:
        yield made


@pytest.fixture(scope="module")
def interface(service: httpx.Client) -> Any:
    description = service.get("/openapi.json").json()
    # Half of the requests name a model or a monitor that is there.
    for name in ("ScoreRequest", "ExplainRequest"):
        field = description["components"]["schemas"][name]["properties"]["model"]
        description["components"]["schemas"][name]["properties"]["model"] = {
            "anyOf": [{"enum": ["detector", "describer"]}, field]
        }
    schemathesis = pytest.importorskip("schemathesis")  # takes long to load
    schema = schemathesis.openapi.from_dict(description)
    schema.config.update(base_url=str(service.base_url))
    return schema


def test_no_request_surprises_the_service(interface: Any) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": HOST}
    known = importlib.import_module("schemathesis.specs.openapi.checks")
    checks = [
        importlib.import_module("schemathesis.checks").not_a_server_error,
        known.status_code_conformance,
        known.content_type_conformance,
        known.response_schema_conformance,
    ]
    tried: set[str] = set()
    for found in interface.exclude(path_regex=PROCESSES).get_all_operations():
        operation = found.ok()

        @given(case=operation.as_strategy())
        @settings(
            max_examples=4,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def ask(case: Any) -> None:
            case.validate_response(case.call(headers=headers), checks=checks)

        ask()
        tried.add(operation.label)
    assert {"POST /v1/score", "POST /v1/explain", "GET /v1/jobs/{id}/documents"} <= tried
    assert len(tried) > 20
