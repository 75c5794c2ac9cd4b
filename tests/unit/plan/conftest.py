from typing import get_args

import pytest

from croupier.plan.plan import Plan


def _keys(model, prefix=""):
    for name, field in model.model_fields.items():
        path = prefix + (field.alias or name)
        types = (field.annotation, *get_args(field.annotation))
        inner = next((kind for kind in types if hasattr(kind, "model_fields")), None)
        table = "policy.RUNG" if path == "policy" else path
        if inner is None or path == "questions":
            yield path, field
        if inner is not None:
            yield from _keys(inner, f"{table}.")


@pytest.fixture(scope="session")
def plan_keys():
    """Every key that a file may have, from the model itself."""
    keys = dict(_keys(Plan))
    del keys["questions.randomizer"]  # of the model: in a file, its parameters stand in the table
    return keys
