"""Participation models against independently computed values, and how they relate."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest

from croupier.accounting.blanket import lower_curve
from croupier.accounting.clones import clone_curve, stronger_clone_curve
from croupier.accounting.composition import composed_epsilon
from croupier.accounting.solve import solve
from croupier.errors import ParameterError
from croupier.model.participation import (
    Bins,
    Divide,
    Multinomial,
    Parallel,
    SingleRound,
    Subsample,
    participation,
)
from croupier.randomizers import randomizer
from croupier.sidechannels.comparison import RandomCheckIn, ShuffleThenRandomize
from croupier.sidechannels.participation import Observed, remaining

MODELS = [
    SingleRound(),
    Divide(groups=4),
    Subsample(repeats=4, batch=250),
    Parallel(weights=(1, 2, 1)),
    Multinomial(weights=(1, 2, 1)),
    Bins(bins=((1, 1), (1, 2, 1))),
    Parallel(weights=(1, 2, 1), rectified=True),
    Multinomial(weights=(1, 2, 1), rectified=True),
    Bins(bins=((1, 1), (1, 2, 1)), rectified=True),
    ShuffleThenRandomize(people=1000),
    RandomCheckIn(slots=10),
]


def curve(case, *, n=None, corrupt=0, report_probability=1.0):
    people = {"n": n or case["n"], "corrupt": corrupt, "report_probability": report_probability}
    local = case["epsilon_local"]
    if case.get("bound") == "stronger":
        return stronger_clone_curve(randomizer("k-rr", k=2, max_epsilon_local=local), **people)
    return clone_curve(epsilon_local=local, **people)


def near(case):
    return pytest.approx(case["value"], abs=case["tolerance"] + 1e-6 * case["value"])


def test_amplified(golden_amplified):
    case = golden_amplified
    assert curve(case).epsilon(case["delta"]) == near(case)


def test_others_equal(golden_others_equal):
    case = golden_others_equal
    made = randomizer("k-rr", k=2, max_epsilon_local=case["epsilon_local"])
    assert lower_curve(made, n=case["n"]).epsilon(case["delta"]) == near(case)


def test_epsilon_local_for_a_target_is_not_the_printed_one(golden_local_for):
    case = golden_local_for
    if case["bound"] == "clones":
        found = solve(epsilon=case["epsilon"], n=case["n"], delta=case["delta"]).value
        assert found == pytest.approx(case["value"], abs=1e-4)
        return
    # The paper rounds 2.8055 up to 2.81, which exceeds the goal.
    at = curve(case | {"epsilon_local": case["value"] - 1e-4}).epsilon(case["delta"])
    above = curve(case | {"epsilon_local": 2.81}).epsilon(case["delta"])
    assert at <= case["epsilon"] < above


def test_flip_probability(golden_flip):
    case = golden_flip
    made = randomizer("k-rr", k=2, max_epsilon_local=case["epsilon_local"])
    assert float(made.levels[1]) == pytest.approx(case["value"], rel=1e-11)


def test_epochs(golden_epochs):
    # Table III: one report an epoch, fresh noise. Ours is rounded up on a grid.
    case = golden_epochs
    found = composed_epsilon(curve(case), rounds=case["rounds"], delta=case["delta"])
    assert case["value"] - case["tolerance"] <= found <= 1.01 * case["value"]


def test_subsampled_once(golden_subsample_once):
    case = golden_subsample_once
    inner = curve(case, n=case["batch"]).epsilon(case["delta"] * case["n"] / case["batch"])
    share = case["batch"] / case["n"]
    assert math.log1p(share * math.expm1(inner)) == near(case)
    if case["bound"] == "clones":
        found = remaining(
            Subsample(repeats=1, batch=case["batch"]),
            n=case["n"],
            delta=case["delta"],
            epsilon_local=case["epsilon_local"],
            observed=Observed.NOTHING,
        )
        assert found.epsilon_upper == pytest.approx(case["value"], rel=1e-3)
        assert found.epsilon_upper >= case["value"]


def test_printed_subsampling_uses_an_undeclared_delta(golden_subsample_printed):
    case = golden_subsample_printed
    facts = {"bound": "stronger", "epsilon_local": 2, "n": 1000}
    printed = curve(facts).epsilon(case["inner_delta"])
    assert math.log1p(math.expm1(printed) / 60) == near(case)
    declared = curve(facts).epsilon(60 * 1e-5)
    assert math.log1p(math.expm1(declared) / 60) < 0.0040


def test_printed_epochs_of_subsampling_are_no_guarantee(golden_subsample_epochs_printed):
    # They use one direction of the pair only; both directions give at least as much.
    case = golden_subsample_epochs_printed
    found = remaining(
        Subsample(repeats=case["rounds"], batch=1000),
        n=60_000,
        delta=case["delta"],
        epsilon_local=2.0,
        observed=Observed.NOTHING,
    )
    assert found.epsilon_upper > case["value"]


def test_thinning(golden_thinning):
    case = golden_thinning
    found = curve(case | {"bound": "stronger"}, report_probability=case["share"]).delta(
        case["epsilon"]
    )
    assert found == pytest.approx(case["value"], rel=case["tolerance"])


def test_rounds_seen(golden_rounds_seen):
    case = golden_rounds_seen
    if case["bound"] == "clones":
        found = remaining(
            Multinomial(weights=(1,) * case["rounds"]),
            n=case["n"],
            delta=case["delta"],
            epsilon_local=case["epsilon_local"],
            observed=Observed.IN_OUT,
        )
        assert found.epsilon_upper == near(case)
        assert found.worst_epsilon_upper == near(case)
    thinned = curve(case, report_probability=1 / case["rounds"])
    assert thinned.epsilon(case["delta"]) == near(case)


def test_lengths_seen(golden_lengths_seen):
    case = golden_lengths_seen
    if case["bound"] == "clones":
        found = remaining(
            SingleRound(),
            n=case["n"],
            delta=case["delta"],
            epsilon_local=case["epsilon_local"],
            observed=Observed.LENGTH,
            lengths=[Fraction(1, case["lengths"])] * case["lengths"],
        )
        assert found.epsilon_upper == near(case)
    assert curve(case, report_probability=1 / case["lengths"]).epsilon(case["delta"]) == near(case)


def test_sybils(golden_sybils):
    case = golden_sybils
    assert curve(case, corrupt=case["corrupt"]).epsilon(case["delta"]) == near(case)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.model)
def test_more_is_seen_less_is_left(model):
    facts = {"n": 1000, "delta": 1e-5, "epsilon_local": 1.0}
    found = [remaining(model, observed=observed, **facts) for observed in Observed]
    for before, after in pairwise(found):
        assert before.epsilon_upper <= after.epsilon_upper * (1 + 1e-5)
        assert before.population >= after.population
    for cell in found:
        assert cell.epsilon_upper <= cell.worst_epsilon_upper * (1 + 1e-5)
        assert model.rounds * 1.0001 >= cell.worst_epsilon_upper
    if model.padded:
        assert found[0].epsilon_upper == found[2].epsilon_upper


@pytest.mark.parametrize(
    "model",
    [
        Divide(groups=1),
        Subsample(repeats=1, batch=1000),
        Parallel(weights=(3,)),
        Multinomial(weights=(3,)),
        Bins(bins=((1,),)),
    ],
    ids=lambda model: model.model,
)
def test_one_round_is_one_round(model):
    facts = {"n": 1000, "delta": 1e-5, "epsilon_local": 1.0}
    for observed in Observed:
        single = remaining(SingleRound(), observed=observed, **facts)
        found = remaining(model, observed=observed, **facts)
        assert found.epsilon_upper == pytest.approx(single.epsilon_upper, rel=2e-3)
        assert found.epsilon_upper >= single.epsilon_upper * (1 - 1e-5)


def test_one_length_says_nothing():
    facts = {"n": 1000, "delta": 1e-5, "epsilon_local": 1.0, "lengths": [Fraction(1)]}
    for model in MODELS:
        seen = remaining(model, observed=Observed.LENGTH, **facts)
        unseen = remaining(model, observed=Observed.IN_OUT, **facts)
        assert seen.epsilon_upper == unseen.epsilon_upper


def test_groups_and_bins_are_no_coins():
    # A person in the smaller group, or in the bin of many rounds, is not averaged away.
    facts = {"delta": 0.01, "epsilon_local": 2.0}
    found = remaining(Divide(groups=2), n=3, observed=Observed.NOTHING, **facts)
    assert found.epsilon_upper == found.worst_epsilon_upper == pytest.approx(2.0, abs=0.1)
    uneven = Bins(bins=((1,),) * 99 + ((1,) * 1000,))
    crowded = remaining(uneven, n=100_000, observed=Observed.IN_OUT, **facts)
    alone = clone_curve(epsilon_local=2.0, n=1000, report_probability=0.001).epsilon(0.01)
    assert crowded.epsilon_upper == pytest.approx(alone, rel=1e-5)


def test_parallel_questions_may_differ_in_opposite_directions():
    made = randomizer("matrix", matrix=((597, 403), (601, 399)))
    facts = {"n": 4, "delta": 1e-4, "observed": Observed.NOTHING, "randomizer": made}
    one = remaining(SingleRound(), **facts).epsilon_upper
    two = remaining(Parallel(weights=(1, 1)), **facts).epsilon_upper
    assert one < 0.0062
    assert two > 0.0064


def test_what_is_seen_may_be_named():
    facts = {"n": 10_000, "delta": 1e-6, "epsilon_local": 1.0}
    rounds = Multinomial(weights=(1, 1))
    named = remaining(rounds, observed="in-out and length", **facts)
    assert named == remaining(rounds, observed=Observed.LENGTH, **facts)


def test_many_rounds_and_small_deltas():
    often = Subsample(repeats=2000, batch=10)
    facts = {"observed": Observed.IN_OUT, "epsilon_local": 1.0}
    found = remaining(often, n=20_000, delta=1e-6, **facts)
    assert 0 < found.epsilon_upper < found.worst_epsilon_upper <= 2000
    tiny = remaining(Subsample(repeats=10, batch=10), n=100, delta=1e-18, **facts)
    assert tiny.epsilon_upper <= tiny.worst_epsilon_upper <= 10 * (1 + 1e-9)


def test_lengths_are_normalised():
    facts = {"n": 100, "delta": 0.01, "epsilon_local": 1.0, "observed": Observed.LENGTH}
    short = remaining(SingleRound(), lengths=[0.5, 0.5 - 9e-10], **facts)
    whole = remaining(SingleRound(), lengths=[0.5, 0.5], **facts)
    assert short.epsilon_upper == pytest.approx(whole.epsilon_upper, rel=1e-6)


def test_rare_rounds_and_lengths_are_worst():
    facts = {"n": 10_000, "delta": 1e-5, "epsilon_local": 1.0}
    uneven = Multinomial(weights=(1, 99))
    found = remaining(uneven, observed=Observed.IN_OUT, **facts)
    alone = clone_curve(epsilon_local=1.0, n=10_000, report_probability=0.01).epsilon(1e-5)
    assert found.worst_epsilon_upper == pytest.approx(alone, rel=1e-6)
    assert found.epsilon_upper < found.worst_epsilon_upper


def test_blanket_where_it_is_proved_clones_elsewhere():
    made = randomizer("k-rr", k=10, max_epsilon_local=1.0)
    facts = {"n": 1000, "delta": 1e-5, "randomizer": made}
    single = remaining(SingleRound(), observed=Observed.IN_OUT, **facts)
    assert "blanket" in single.theorem
    for model, observed in (
        (SingleRound(), Observed.LENGTH),
        (Multinomial(weights=(1, 1)), Observed.NOTHING),
        (Divide(groups=2), Observed.NOTHING),
    ):
        assert "clones" in remaining(model, observed=observed, **facts).theorem


@pytest.mark.parametrize("model", MODELS[:-2], ids=lambda model: model.model)
def test_specification_builds_the_model_again(model):
    assert participation(**model.specification) == model


def test_messages():
    assert Multinomial(weights=(1,) * 60, rectified=True).messages(100) == (60, 60)
    assert Subsample(repeats=60, batch=1000).messages(60_000) == (1, 60)
    assert Bins(bins=((1,), (1, 1, 1)), rectified=True).messages(10) == (2, 3)
    assert Parallel(weights=(1, 1), rectified=True).messages(10) == (1, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: participation("none"),
        lambda: Divide(groups=0),
        lambda: Parallel(weights=()),
        lambda: Multinomial(weights=(0, 1)),
        lambda: Bins(bins=()),
        lambda: Subsample(repeats=1, batch=11).chance(10),
        lambda: Divide(groups=11).crowds(10, rounds_seen=True),
        lambda: RandomCheckIn(slots=10).crowds(20, rounds_seen=True),
        lambda: remaining(SingleRound(), n=10, delta=0, observed=Observed.IN_OUT, epsilon_local=1),
        lambda: remaining(SingleRound(), n=10, delta=0.1, observed=Observed.IN_OUT),
        lambda: remaining(
            SingleRound(),
            n=10,
            delta=0.1,
            observed=Observed.LENGTH,
            epsilon_local=1,
            lengths=[Fraction(1, 2)],
        ),
        lambda: remaining(
            SingleRound(),
            n=10,
            delta=0.1,
            observed=Observed.LENGTH,
            epsilon_local=1,
            lengths=[math.nan],
        ),
        lambda: ShuffleThenRandomize(people=5).crowds(6, rounds_seen=True),
    ],
)
def test_what_is_refused(call):
    with pytest.raises(ParameterError):
        call()
