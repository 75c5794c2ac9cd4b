"""Attacks on plans with dummies: they reach what is proved, exceed nothing, and know no more."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb

import numpy as np
import pytest

from croupier.accounting.dummies import DummyCurve, DummyFloor
from croupier.accounting.exposure import Exposure
from croupier.auditing.attacks.attacks import Suite, attack
from croupier.auditing.attacks.dummy_epsilon import DummyEpsilonGame
from croupier.auditing.attacks.dummy_games import (
    DummyCoinGame,
    DummyInformedGame,
    DummyLinkGame,
)
from croupier.auditing.attacks.dummy_law import PairLaw, Unknown
from croupier.auditing.attacks.dummy_scene import DummyScene
from croupier.leakage.dummies import guess_among_dummies
from croupier.model.randomizer import Randomizer
from croupier.model.rung import Rung
from croupier.numerics.keystream import Keystream
from croupier.plan.plan import Plan
from croupier.randomizers.k_rr import KaryRandomizedResponse
from croupier.randomizers.plain import Plain
from croupier.shufflers.dummies import DummyTable

SURE = 1 - 1e-9
GEOMETRIC = {"epsilon": 1.0, "delta": 1e-8}
PLAIN = {"mechanism": "plain", "k": 10}
NOISY = {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 3.0}
VALUES = ["guess_uninformed", "guess_informed"]


def plan_of(randomizer, shufflers, **tables):
    document = {
        "schema": 2,
        "randomizer": randomizer,
        "population": {"enrolled": 2000, "corrupt_fraction": 0.1},
        "protections": {"minimum_batch": 500},
        "guarantee": {"delta": 1e-8},
        "shufflers": [
            each | {"operator": name} for each, name in zip(shufflers, "AB", strict=False)
        ],
    }
    return Plan.model_validate(document | tables)


def two(randomizer=PLAIN, **tables):
    return plan_of(randomizer, [{"dummies": GEOMETRIC}] * 2, **tables)


def one(randomizer=PLAIN, **tables):
    return plan_of(randomizer, [{"dummies": GEOMETRIC}], **tables)


def names(plan):
    return [(str(game.scene.rung), game.name) for game in Suite.of(plan).attacks]


def holds(game, exact, *, games=100_000, seed=1):
    seen = game.evidence(game.play(games, np.random.default_rng(seed)), confidence=SURE)
    return seen.lower <= exact <= seen.upper


def test_each_adversary_is_played_in_its_own_row():
    found = names(two())
    assert list(dict.fromkeys(rung for rung, _ in found)) == [
        *("batch", "shuffler_1", "shuffler_2", "clients", "all_but_one", "everybody")
    ]
    assert [name for rung, name in found if rung == "all_but_one"] == [
        *("reidentification", "guess_of_two", *VALUES, "epsilon")
    ]
    assert ("shuffler_1", "reidentification") not in found
    assert {rung for rung, _ in names(one())} == {"batch", "shuffler", "clients", "collusion"}
    assert not [rung for rung, _ in names(one(analyzer={"publication": "none"})) if "sh" in rung]
    sorted_rows = names(one(analyzer={"publication": "sorted"}))
    assert {("estimate", "reidentification"), ("shuffler", "reidentification")} <= {*sorted_rows}


@cache
def played(made, mechanism):
    """A hundred thousand games of each attack."""
    randomizer = {"plain": PLAIN, "k-rr": NOISY}[mechanism]
    return attack(made(randomizer), games=100_000, insecure_seed=7)


@pytest.mark.parametrize("made", [one, two], ids=["one", "two"])
@pytest.mark.parametrize("mechanism", ["plain", "k-rr"])
def test_a_hundred_thousand_games_stay_inside_what_is_proved(made, mechanism):
    found = played(made, mechanism)
    assert not [(each.rung, each.name) for each in found if each.refuted]
    assert all(each.evidence.games == 100_000 for each in found)


def test_one_shuffler_and_the_analyzer_reach_what_is_proved():
    """They drop everybody else; what the other shuffler adds is all that protects."""
    found = played(two, "plain")
    ratios = {each.name: each.ratio for each in found if each.rung == "all_but_one"}
    assert all(0.98 < ratio < 1.02 for ratio in ratios.values()), ratios
    assert ratios["epsilon"] == pytest.approx(1, abs=1e-3)
    assert found["all_but_one", "guess_of_two"].gap == 1 - ratios["guess_of_two"]


def test_the_only_shuffler_subtracts_its_own_dummies_and_wins_always():
    found = played(one, "plain")
    assert found["shuffler", "guess_of_two"].evidence.measured == 1
    assert found["shuffler", "epsilon"].evidence.lower == np.inf
    assert found["batch", "guess_of_two"].evidence.upper < 0.65
    both = played(two, "plain")
    assert both["shuffler_1", "guess_of_two"].evidence.upper < 0.65
    assert both["everybody", "guess_of_two"].evidence.measured == 1


def test_a_claim_that_is_too_small_is_refuted():
    claims = {"all_but_one.guess_of_two": 0.605, "all_but_one.epsilon": 0.97}
    held = played(two, "plain").held(claims)
    assert [each.refuted for each in held] == [True, True]
    right = {"all_but_one.guess_of_two": 0.6225, "all_but_one.epsilon": 1.0}
    again = played(two, "plain").held(right)
    assert [each.refuted for each in again] == [False, False]


def test_a_shuffler_with_too_narrow_a_table_is_refuted():
    """The games can fail: what is proved for one table does not hold for another."""
    suite = Suite.of(two())
    games = [
        replace(game, scene=replace(game.scene, unknown=(Unknown(NARROW),)))
        for game in suite.attacks
        if game.scene.rung is Rung.ALL_BUT_ONE
    ]
    found = replace(suite, attacks=tuple(games)).play(games=50_000, insecure_seed=7)
    refuted = {each.name for each in found if each.refuted}
    assert refuted >= {"guess_of_two", "guess_informed", "epsilon"}


NARROW = DummyTable.two_sided_geometric(epsilon=2.0, delta=1e-8)


def alone(randomizer, *tables, **facts):
    return DummyScene(
        rung=Rung.ALL_BUT_ONE,
        randomizer=randomizer,
        people=1,
        delta=facts.pop("delta", 1e-3),
        unknown=tuple(map(Unknown, tables)),
        **facts,
    )


TABLES = [
    DummyTable.two_sided_geometric(epsilon=0.7, delta=1e-4),
    DummyTable((1, 2, 5, 2)),
    DummyTable((3, 0, 4, 1, 0, 2)),
]


@pytest.mark.parametrize("table", TABLES, ids=["geometric", "short", "gaps"])
@pytest.mark.parametrize(
    "randomizer",
    [Plain(k=4), KaryRandomizedResponse(k=4, max_epsilon_local=2.0), Plain(k=2)],
    ids=["plain", "k-rr", "two values"],
)
def test_games_measure_the_exact_law(table, randomizer):
    scene = alone(randomizer, table)
    own, other = randomizer.answer_chances
    floor = DummyFloor(table, own, other)
    assert holds(DummyCoinGame(scene=scene), 0.5 + floor.delta(0.0) / 2)
    assert holds(DummyLinkGame(scene=scene), float(own * table.alone))
    if isinstance(randomizer, Plain):
        exact = float(guess_among_dummies(table, values=randomizer.k))
        assert holds(DummyInformedGame(scene=scene), exact)
    narrow = replace(scene, delta=0.2)
    exact = DummyFloor(table, own, other).epsilon(0.2)
    assert holds(DummyEpsilonGame(scene=narrow), exact)


def test_a_report_that_may_be_left_out_is_found_less_often():
    table = TABLES[0]
    scene = alone(Plain(k=4), table, kept=0.5)
    floor = DummyFloor(table, Fraction(1, 2), Fraction(0))
    assert holds(DummyCoinGame(scene=scene), 0.5 + floor.delta(0.0) / 2)
    assert holds(DummyLinkGame(scene=scene), float(table.alone) / 2)


def test_rounds_add_up_to_what_composition_allows():
    table = DummyTable.two_sided_geometric(epsilon=0.5, delta=1e-10)
    scene = alone(Plain(k=4), table, delta=1e-8, rounds=3)
    curve = Exposure(DummyCurve(table), None, 3, "", ())
    coin, epsilon = DummyCoinGame(scene=scene), DummyEpsilonGame(scene=scene)
    seen = coin.evidence(coin.play(100_000, np.random.default_rng(1)), confidence=SURE)
    assert seen.lower <= 0.5 + curve.deltas((0.0,), at=1e-8)[0] / 2
    assert seen.lower > 0.5 + DummyFloor(table).delta(0.0) / 2
    outcomes = epsilon.play(50_000, np.random.default_rng(1))
    found = epsilon.sure_evidence(outcomes, confidence=SURE)
    assert 1.49 < found.lower <= curve.epsilon(1e-8)


def test_the_joint_law_of_two_counts_is_that_of_all_cases():
    """Three people, each in the first count, the second or none, and dummies of two tables."""
    chances, tables = (0.2, 0.3), (DummyTable((1, 2)), DummyTable((2, 1, 1)))
    law = PairLaw.of(3, chances, tuple(map(Unknown, tables)))
    assert law.exact
    assert law.joint is not None
    laws = [[Fraction(w, t.total) for w in t.weights] for t in tables]
    expected = {}
    for first, second in product(range(4), repeat=2):
        if first + second > 3:
            continue
        ways = comb(3, first) * comb(3 - first, second)
        people = ways * 0.2**first * 0.3**second * 0.5 ** (3 - first - second)
        for a, b, c, d in product(range(2), range(2), range(3), range(3)):
            cell = first + a + c, second + b + d
            chance = people * float(laws[0][a] * laws[0][b] * laws[1][c] * laws[1][d])
            expected[cell] = expected.get(cell, 0) + chance
    for (u, v), chance in expected.items():
        assert law.chance(np.array([u]), np.array([v]))[0] == pytest.approx(chance, rel=1e-12)
    assert law.chance(np.array([-1, 99]), np.array([0, 0])).tolist() == [0, 0]


def test_dummies_are_drawn_as_the_shuffler_draws_them():
    table = TABLES[0]
    drawn = Unknown(table).draw(1000, np.random.default_rng(5))
    secret = np.random.default_rng(5).bytes(32)
    assert np.array_equal(drawn, table.draw(1000, Keystream(secret=secret)))
    thinned = Unknown(table, 0.5)
    assert thinned.law @ np.arange(len(thinned.law)) == pytest.approx(float(table.mean) / 2)
    assert (thinned.draw(1000, np.random.default_rng(5)) <= drawn).all()


def test_the_adversary_turns_to_the_shuffler_that_protects_less():
    weak = {"dummies": {"epsilon": 2.0, "delta": 1e-8}}
    found = attack(plan_of(PLAIN, [{"dummies": GEOMETRIC}, weak]), games=50_000, insecure_seed=7)
    last = found["all_but_one", "guess_of_two"]
    assert last.evidence.lower > 0.7
    assert not last.refuted
    none = attack(plan_of(PLAIN, [{"dummies": GEOMETRIC}, {}]), games=1000, insecure_seed=7)
    assert none["all_but_one", "guess_of_two"].evidence.measured == 1


def test_other_mechanisms_are_not_played_and_said(monkeypatch):
    monkeypatch.setattr(Randomizer, "alphabet_size", 2)
    suite = Suite.of(two({"mechanism": "matrix", "matrix": [[0.75, 0.25], [0.25, 0.75]]}))
    assert {game.scene.rung for game in suite.attacks} == {"everybody"}
    assert "k-rr and plain only" in suite.left_out[0]


def test_too_many_people_for_an_exact_law_are_said():
    many = {"population": {"enrolled": 10**9}, "protections": {"minimum_batch": 10**8}}
    suite = Suite.of(two(NOISY, **many))
    epsilons = {game.scene.rung for game in suite.attacks if game.name == "epsilon"}
    assert epsilons == {"all_but_one", "everybody"}
    assert any(reason.startswith("batch: epsilon") for reason in suite.left_out)


def test_the_same_seed_plays_the_same_games(tmp_path, monkeypatch):
    first, again = (attack(two(), games=400, insecure_seed=5) for _ in range(2))
    assert first == again
    assert first != attack(two(), games=400, insecure_seed=6)
    monkeypatch.setattr("croupier.auditing.attacks.attacks._CHUNK", 100)
    whole = attack(two(), games=400, insecure_seed=5)
    suite, stops = Suite.of(two()), iter([False] * 9 + [True])

    def stop(games):
        if games and next(stops, False):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        suite.play(games=400, insecure_seed=5, resume=tmp_path / "kept.npz", advance=stop)
    resumed = suite.play(games=400, insecure_seed=5, resume=tmp_path / "kept.npz")
    assert resumed == whole
