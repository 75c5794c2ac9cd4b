import re
import time
from pathlib import Path

import pytest

from croupier.assessment.design.design import STRENGTHS, Design, design
from croupier.assessment.ladder.ladder import assess
from croupier.assessment.policy import PolicyNotMetError, check, checked
from croupier.errors import ParameterError
from croupier.plan.plan import Plan

ROOT = Path(__file__).parents[4]
EMOJI = {
    "k": 50,
    "enrolled": 1_000_000,
    "corrupt_fraction": 0.05,
    "target_error": 5e-4,
    "max_epsilon": 0.1,
    "max_reidentification": 5e-4,
}
SMALL = {"k": 4, "enrolled": 20_000, "target_error": 0.02, "max_epsilon": 0.3, "delta": 1e-6}
FEW = ["k-rr", "subset-selection"]


def batch(found):
    return found.plan.protections.minimum_batch


def test_emoji():
    started = time.process_time()
    soonest, readers, collusion, _ = design(**EMOJI)  # the last one has dummies
    assert time.process_time() - started < 30
    assert [found.strengths for found in (soonest, readers, collusion)] == [
        (strength,) for strength in STRENGTHS
    ]
    assert soonest.plan.randomizer.mechanism == readers.plan.randomizer.mechanism == "k-rr"
    assert collusion.plan.randomizer.mechanism == "subset-selection"
    assert 0.0999 < soonest.clients.value <= 0.1
    assert batch(soonest) < batch(readers) == batch(collusion) == 500_000
    assert readers.epsilon.value < collusion.epsilon.value < soonest.epsilon.value
    assert collusion.epsilon_local < readers.epsilon_local < soonest.epsilon_local
    assert all(4.99e-4 < found.rms_error <= 5e-4 for found in (soonest, readers, collusion))


@pytest.mark.parametrize(
    "asked",
    [
        SMALL,
        SMALL | {"max_epsilon": None, "max_epsilon_local": 2.0},
        SMALL | {"max_guess_of_two": 0.53, "max_guess_informed": 0.28, "min_bayes_security": 0.9},
        SMALL | {"k": None, "labels": ("a", "b", "c"), "max_guess_uninformed": 0.36},
        SMALL | {"questions": 2, "target_error": 0.05},
        SMALL | {"k": None, "grid": {"low": 0.0, "high": 1.0, "step": 0.25}},
    ],
)
def test_finished_plans_keep_every_limit_and_the_error(asked):
    for found in design(**asked):
        judged = checked(assess(found.plan))
        assert all(verdict.met for verdict in judged)
        kept = {(verdict.limit.rung, verdict.limit.key) for verdict in judged}
        limits = {name for name in asked if name[:4] in ("max_", "min_") and asked[name]}
        limits -= {"max_epsilon_local"}
        assert kept >= {(rung, name) for rung in ("batch", "clients") for name in limits}
        assert found.rms_error <= asked["target_error"]
        assert Plan.from_toml(found.plan.to_toml()) == found.plan


def test_what_is_said_to_be_best_is_so_among_epsilons_of_four_digits():
    """A finer epsilon_local does with one person fewer, as the words admit; four digits do not."""
    asked = SMALL | {"k": 2, "mechanisms": ["k-rr"]}
    soonest = design(**asked)[0]
    assert batch(soonest) == 843
    finer = soonest.plan.replace(
        protections__minimum_batch=842, randomizer__max_epsilon_local=1.56004
    )
    assert check(finer)
    assert finer.randomizer.rms_error(842) <= asked["target_error"]
    for tried in (1.559, 1.560, 1.561):
        other = soonest.plan.replace(
            protections__minimum_batch=842, randomizer__max_epsilon_local=tried
        )
        if other.randomizer.rms_error(842) <= asked["target_error"]:
            with pytest.raises(PolicyNotMetError):
                check(other)
    for words in (Design.__doc__, design.__doc__, ROOT.joinpath("docs/design.md").read_text()):
        assert "no other plan within the limits" not in " ".join(words.split())
    assert "that was considered" in Design.__doc__
    assert "four digits" in design.__doc__


def test_one_plan_may_be_best_at_everything():
    only = design(**SMALL, mechanisms=["k-rr"], max_batch=1_300)
    assert [found.strengths for found in only][-1][-1] == STRENGTHS[-1]
    assert len(only) == 2


def test_corrupt_people_may_all_sit_in_one_batch():
    honest = design(**SMALL, mechanisms=FEW)[0]
    exposed = design(**SMALL, mechanisms=FEW, corrupt_fraction=0.1)[0]
    assert batch(exposed) > batch(honest)
    assert exposed.plan.corrupt == 2_000


@pytest.mark.parametrize(
    ("change", "binding"),
    [
        ({"target_error": 1e-3}, "max_epsilon = 0.3 binds"),
        ({"target_error": 1e-3, "max_epsilon_local": 1.0}, "no larger epsilon_local is allowed"),
        ({"target_error": 1e-3, "max_guess_of_two": 0.505}, "max_guess_of_two = 0.505 binds"),
    ],
)
def test_an_error_out_of_reach_says_what_binds_and_what_would_do(change, binding):
    asked = SMALL | change
    with pytest.raises(ParameterError, match=re.escape(binding)) as refused:
        design(**asked, mechanisms=FEW)
    least = float(re.search(r"be at least (\S+)", str(refused.value))[1])
    advice = float(re.search(r"Try (\S+)\.$", str(refused.value))[1])
    assert least <= advice
    assert design(**asked | {"target_error": advice}, mechanisms=FEW)
    with pytest.raises(ParameterError):
        design(**asked | {"target_error": 0.98 * least}, mechanisms=FEW)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_reidentification": 1e-6}, "`max_reidentification` must be reachable"),
        ({"min_bayes_security": 1.0}, "`min_bayes_security` must be reachable"),
        ({"corrupt_fraction": 0.6}, "leave 2 honest people beside 12,000 corrupt ones"),
        ({"corrupt_fraction": 1.5}, "`corrupt_fraction` must be in [0, 1)"),
        ({"target_error": 0.0}, "`target_error` must be above 0"),
        ({"max_epsilon": None}, "`max_epsilon` must be given, or another limit"),
        ({"max_epsilon": -1}, "`max_epsilon` must be in [0, inf]"),
        ({"max_guess_of_two": 2}, "`max_guess_of_two` must be in [0, 1]"),
        ({"max_alpha": 2}, "`max_alpha` must be one of max_epsilon"),
        ({"max_epsilon_local": 30}, "`max_epsilon_local` must be in [0.001, 20]"),
        ({"max_batch": 30_000}, "`max_batch` must be"),
        ({"delta": 0.0}, "`delta` must be in (0, 1)"),
        ({"labels": ("a", "b")}, "`k` must be given, or labels, grid or texts"),
        ({"k": 1}, "`k` must be"),
    ],
)
def test_what_cannot_be_is_refused(change, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        design(**SMALL | change)
