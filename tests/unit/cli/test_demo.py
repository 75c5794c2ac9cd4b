import numpy as np
import psycopg
import pytest

from croupier.demo.attacker import found
from croupier.demo.database import temporary_database


@pytest.mark.slow
def test_the_demo_collects_estimates_and_is_attacked_in_vain(croupier):
    outcome = croupier("demo", "--people", "200", "--json")
    assert outcome.code == 0, outcome.err
    document = outcome.document
    assert document["people"] == document["tried"] == 200
    assert len(document["estimates"]) == 10
    assert sum(row["share"] for row in document["estimates"]) == pytest.approx(1)
    assert 7 < document["proved_upper"] < 8
    assert document["right"] < 60, "whoever finds so many has more than the batch"


def test_a_temporary_database_is_gone_afterwards():
    with temporary_database() as own, psycopg.connect(own) as connection:
        ((name,),) = connection.execute("SELECT current_database()").fetchall()
    with temporary_database() as other, psycopg.connect(other) as connection:
        query = "SELECT count(*) FROM pg_database WHERE datname = %s"
        assert connection.execute(query, [name]).fetchone() == (0,)


def test_the_attacker_finds_everybody_where_nobody_hides():
    values = [3, 1, 2]
    assert found(np.array([1, 2, 3]), values, {0: 2, 1: 0, 2: 1}) == 3
