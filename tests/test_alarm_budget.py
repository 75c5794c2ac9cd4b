"""The false alarms of the whole suite stay below 1e-6, however many processes run it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

STATISTICAL = """
import pytest

@pytest.fixture
def threshold(alarm):
    return alarm

@pytest.mark.parametrize("number", range({tests}))
def test_it(number, threshold):
    assert threshold == 1e-9
"""


@pytest.mark.parametrize(
    ("tests", "workers", "said"),
    [
        (1_000, 0, "1000 passed"),
        (1_001, 2, "1,001 tests draw a false-alarm probability of 1e-09 each"),
    ],
)
def test_the_budget_is_one_for_all_workers(tests, workers, said, tmp_path):
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_many.py").write_text(STATISTICAL.format(tests=tests))
    options = ["-q", "-p", "no:cacheprovider", "-n", str(workers), "--rootdir", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--tb=line", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert said in ran.stdout
    assert (ran.returncode == 0) == (tests <= 1_000)


def test_the_fixture_is_a_share_of_the_budget(alarm):
    assert alarm == 1e-9
