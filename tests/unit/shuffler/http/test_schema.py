"""Requests made from the published interface, answered as it says."""

import json

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from croupier.shuffler.http.openapi import description

schema = schemathesis.openapi.from_dict(json.loads(description()))


@pytest.mark.slow
@schema.parametrize()
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_every_answer_is_described(case, serving):
    case.call_and_validate(base_url=f"http://127.0.0.1:{serving.port}")
