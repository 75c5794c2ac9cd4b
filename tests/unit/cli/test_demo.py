from types import SimpleNamespace

import numpy as np
import psycopg
import pytest

from croupier.demo.attacker import found, what_a_count_means
from croupier.demo.board import Scoreboard
from croupier.demo.database import temporary_database
from croupier.demo.show import Show
from croupier.demo.sights import posterior
from croupier.shufflers.dummies import DummyTable


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


@pytest.mark.slow
def test_the_demo_runs_with_two_shufflers(croupier):
    outcome = croupier("demo", "--people", "200", "--shufflers", "2", "--json")
    assert outcome.code == 0, outcome.err
    document = outcome.document
    assert document["tried"] == 200
    assert sum(row["share"] for row in document["estimates"]) == pytest.approx(1, abs=0.8)
    assert document["proved_upper"] == pytest.approx(200 / 36.7, rel=0.01)
    assert 0.622 < document["guess_of_two_upper"] < 0.6225
    assert [guess["honest"] for guess in document["guesses"]] == [1, 2]
    for guess in document["guesses"]:
        # One report, and ten numbers of dummies with a mean of 36 each.
        assert abs(sum(guess["left"]) - 361) < 120
        table = DummyTable.two_sided_geometric(epsilon=1.0, delta=1e-8)
        assert guess["chance"] == posterior(np.array(guess["left"]), table)[guess["guess"]]


def test_a_third_shuffler_is_refused(croupier):
    assert croupier("demo", "--shufflers", "3").code == 2


def test_a_temporary_database_is_gone_afterwards():
    with temporary_database() as own, psycopg.connect(own) as connection:
        ((name,),) = connection.execute("SELECT current_database()").fetchall()
    with temporary_database() as other, psycopg.connect(other) as connection:
        query = "SELECT count(*) FROM pg_database WHERE datname = %s"
        assert connection.execute(query, [name]).fetchone() == (0,)


def test_the_attacker_finds_everybody_where_nobody_hides():
    values = [3, 1, 2]
    assert found(np.array([1, 2, 3]), values, {0: 2, 1: 0, 2: 1}) == 3


@pytest.mark.parametrize("right", [8, 10, 40])
def test_a_count_above_the_bound_comes_with_its_chance(right):
    words = what_a_count_means(right, 7.389)
    assert "on average over many runs at most 7.39; by luck alone 1.00" in words
    printed = float(words.partition("or more in one run: chance at most ")[2].removesuffix(" %"))
    assert 7.389 / right <= printed / 100 <= 1.01 * 7.389 / right


def test_a_count_below_the_bound_needs_no_excuse():
    assert "in one run" not in what_a_count_means(7, 7.389)


def test_the_show_says_what_a_count_means(monkeypatch):
    """The last line of the demo and the page say the same."""
    board, lines = Scoreboard(people=4, minimum=4, guarantee=[]), []
    monkeypatch.setattr("croupier.demo.show.found", lambda *_: 10)
    cell = SimpleNamespace(upper=7.389 / 4)
    show = Show(
        collection=None,
        ladder={"batch": {"reidentification": cell}},
        board=board,
        say=lines.append,
        advance=lambda _: None,
    )
    attack = show._attack  # noqa: SLF001 - its last act alone
    outcome = attack(np.arange(4), np.arange(4), {})
    assert outcome["right"] == 10
    assert lines[-1].startswith(
        "attacker  10 right of 4 tries; proved on average over many runs at most 7.39"
    )
    assert lines[-1].endswith("10 or more in one run: chance at most 73.9 %")
    assert board.document()["attacker"]["words"] in lines[-1]
