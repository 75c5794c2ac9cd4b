"""Two-way tables on the screen and as JSON."""

import pyarrow.parquet as pq
import pytest

SLEEP = {"name": "sleep", "mechanism": "k-rr", "labels": ["well", "badly", "not"]}
COFFEE = {"name": "coffee", "mechanism": "optimized-unary", "labels": ["no", "yes"]}
HOURS = {"name": "hours", "mechanism": "one-bit-mean", "grid": {"low": 0, "high": 24, "step": 1}}
QUESTIONS = [own | {"max_epsilon_local": 3.0} for own in (SLEEP, HOURS, COFFEE)]


@pytest.fixture
def site(make_released):
    own = {"randomizer": None, "questions": QUESTIONS, "participation": {"model": "together"}}
    return make_released(**own)


def people(n):
    """Coffee goes with bad sleep."""
    rows = [["well", 8, "no"]] * 5 + [["badly", 6, "yes"]] * 4 + [["not", 0, "yes"]]
    return [rows[place % 10] for place in range(n)]


def test_the_command(site, croupier, memory_engine, monkeypatch, tmp_path):
    monkeypatch.setattr("croupier.engines.base.engine", lambda _name, **_settings: memory_engine)
    path = site.collect(people(2000))
    given = ("analyze", path, "--plan", site.file, "--keys", site.keys.path)
    done = croupier(*given, "--cross", "sleep,coffee")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    start = lines.index("sleep by coffee: % of all people, with 95 % intervals (each)")
    assert lines[start + 1].split() == ["sleep", "no", "yes"]
    assert [line.split()[0] for line in lines[start + 2 : start + 5]] == ["well", "badly", "not"]
    target = tmp_path / "estimates.parquet"
    document = croupier(*given, "--cross", "coffee,sleep", "--json", "-o", target).document
    [table] = document["crossed"]
    assert table["questions"] == ["coffee", "sleep"]
    assert len(table["cells"]) == 6
    assert pq.read_table(target).num_rows == 6  # of the questions, as without --cross
    for wrong in ("sleep", "sleep,hours", "sleep,tea", "sleep,sleep"):
        refused = croupier(*given, "--cross", wrong)
        assert refused.code == 2
        assert "sleep, coffee" in refused.err
