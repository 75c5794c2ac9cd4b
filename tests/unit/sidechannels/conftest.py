import json
from pathlib import Path

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "sidechannels.json").read_text())


def pytest_generate_tests(metafunc):
    """A test that takes `golden_NAME` runs once for every golden value of that name."""
    for fixture in metafunc.fixturenames:
        if fixture.startswith("golden_"):
            values = GOLDEN[fixture.removeprefix("golden_")]
            metafunc.parametrize(fixture, values, ids=[str(i) for i in range(len(values))])
