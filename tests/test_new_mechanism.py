"""Adding a mechanism takes one file, one line and one test: CONTRIBUTING's example, in a copy."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINE = '    "ordinal": "ordinal.OrdinalResponse",\n'
PLAN = """
schema = 2
randomizer = {mechanism = "ordinal", k = 5, max_epsilon_local = 2.0}
population.enrolled = 100_000
protections.minimum_batch = 10_000
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs Python in a copy that has the mechanism; what it printed."""
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "src" / "croupier", copy / "croupier")
    text = (ROOT / "CONTRIBUTING.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    folder = copy / "croupier" / "randomizers"
    (folder / "ordinal.py").write_text(code)
    registry = folder / "registry.py"
    before = '    "k-rr": '
    registry.write_text(registry.read_text().replace(before, LINE + before, 1))
    (copy / "plan.toml").write_text(PLAN)

    def python(*arguments):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return python


COMMAND = "from croupier.cli import main; main()"


def test_the_line_is_the_documented_one():
    assert LINE.strip() in (ROOT / "CONTRIBUTING.md").read_text()


def test_it_keeps_the_contract(run):
    run(
        "-c",
        "from croupier.randomizers import randomizer;"
        "from croupier.testing import check_randomizer;"
        "made = randomizer('ordinal', k=3, max_epsilon_local=2.0, denominator=64);"
        "assert 'every draw' in check_randomizer(made)",
    )


def test_its_doctest_holds(run):
    run("-m", "doctest", "croupier/randomizers/ordinal.py")


def test_it_is_listed_with_its_error(run):
    listed = json.loads(run("-c", COMMAND, "mechanisms", "--json"))["mechanisms"]
    (own,) = [row for row in listed if row["mechanism"] == "ordinal"]
    assert own["rms_error"] > 0
    assert {entry["name"] for entry in own["parameters"]} >= {"max_epsilon_local", "k", "labels"}


def test_a_plan_with_it_is_assessed(run):
    ladder = json.loads(run("-c", COMMAND, "assess", "plan.toml", "--json"))
    assert ladder["n_proved"] == 10_000


def test_it_is_in_the_published_schema(run):
    schema = json.loads(run("-m", "croupier.plan.schema"))
    branches = schema["$defs"]["Question"]["allOf"]
    names = [one["if"]["properties"]["mechanism"]["const"] for one in branches]
    assert "ordinal" in names


def test_it_is_an_option(run):
    run(
        *("-c", COMMAND, "amplify", "--mechanism", "ordinal", "--k", "5"),
        *("--max-epsilon-local", "2", "--n", "1e4", "--delta", "1e-6"),
    )
