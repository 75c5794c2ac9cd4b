"""An organisation's policy: a file with limits, apart from any plan."""

import pytest

from croupier.errors import ParameterError
from croupier.plan.file import PlanError
from croupier.plan.policy import Policy

TEXT = """schema = 1
owner = "Privacy office"

[policy]
batch = {max_epsilon = 0.1}

[assumptions]
max_delta = 1e-8
"""


def test_it_is_read_and_has_one_spelling():
    policy = Policy.from_toml(TEXT)
    assert Policy.from_document(policy.document()) == policy
    spaced = Policy.from_toml(TEXT.replace("0.1}", "1e-1 }  # a comment"))
    assert spaced.digest == policy.digest
    assert Policy.from_toml(TEXT.replace("0.1", "0.2")).digest != policy.digest
    assert Policy.from_toml(TEXT.replace("1e-8", "1e-9")).digest != policy.digest


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("schema = 1", "schema = 2", "policy.toml:1: schema must be 1"),
        ("schema = 1\n", "", "schema must be given"),
        ("owner", "ownr", "policy.toml:2: ownr is not a key of a policy. Did you mean owner?"),
        ("batch", "btch", "policy.toml:5: btch is not a rung"),
        ("max_epsilon", "max_eps", "policy.toml:5: max_eps is not a key of policy.batch"),
        ("0.1", "-1", "policy.toml:5: max_epsilon must be at least 0"),
        ("1e-8", "1.5", "policy.toml:8: max_delta must be in (0, 1)"),
        ("Privacy office", "", "policy.toml:2: owner must be a text"),
        ("[policy]", "[policy", "policy.toml:4: not TOML"),
    ],
)
def test_errors_name_the_line(old, new, problem):
    with pytest.raises(PlanError) as caught:
        Policy.from_toml(TEXT.replace(old, new, 1))
    assert problem in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ParameterError, match="must be a file"):
        Policy.load(tmp_path / "policy.toml")
