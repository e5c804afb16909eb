"""Anything the schema lets through: no server error, and nothing that the service did not foresee."""

from __future__ import annotations

from pathlib import Path

import schemathesis
from hypothesis import HealthCheck, Phase, settings

from tests.support.client import Client

schema = schemathesis.graphql.from_path(str(Path(__file__).parents[2] / "schema.graphql"))


@schema.parametrize()
@settings(
    max_examples=2,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_no_operation_of_the_schema_breaks_the_service(service: Client, case: schemathesis.Case) -> None:
    response = case.call(base_url=f"{service.url}/graphql")

    assert response.status_code < 500
    codes = [error["extensions"]["code"] for error in response.json().get("errors", ())]
    assert "INTERNAL_ERROR" not in codes
    assert response.status_code == 200 or codes
