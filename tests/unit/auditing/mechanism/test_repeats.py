"""Calls that repeat the noise of another call, and audits that must not be alarmed."""

import time

import numpy as np
import pytest
from scipy import stats

from croupier.auditing.mechanism.claim import audit
from croupier.auditing.mechanism.repeats import Repeat
from croupier.randomizers import KaryRandomizedResponse

KEEP = np.e / (np.e + 1)


class Reused:
    """Binary response, correct call by call, whose noise serves several calls."""

    def __init__(self, calls_per_draw):
        self.calls_per_draw = calls_per_draw
        self.rng = np.random.default_rng(3)
        self.calls = 0
        self.flip = False

    def __call__(self, value):
        if self.calls % self.calls_per_draw == 0:
            self.flip = self.rng.random() >= KEEP
        self.calls += 1
        return 1 - value if self.flip else value


@pytest.mark.parametrize("calls_per_draw", [2, 3, 500])
def test_noise_that_several_calls_share_is_found(calls_per_draw):
    found = audit(Reused(calls_per_draw), inputs=[0, 1], claim=1.1, samples=20_000)
    assert found.refuted
    assert found.stale.distance < calls_per_draw
    assert found.stale.lower > 5


def test_noise_of_one_millisecond_is_found():
    rng, drawn = np.random.default_rng(4), {}

    def respond(value):
        noise = drawn.setdefault(time.time_ns() // 10**6, rng.laplace())
        return round(value + noise, 6)

    found = audit(respond, inputs=[0, 1], claim=1.1, samples=20_000)
    assert found.stale is not None


def test_noise_drawn_again_from_the_same_seed_by_every_call_of_an_array():
    def seeded(values):
        return values + np.random.default_rng(7).laplace(0, 1, len(values)).round(2)

    found = audit(seeded, inputs=[0, 1], claim=1.1, samples=50_000, vectorised=True)
    assert found.refuted
    assert found.repeats.lower > 5


def test_noise_from_a_table_that_is_used_up_and_begun_again():
    table = np.random.default_rng(5).random(997) >= KEEP
    turn = iter(range(10**9))

    def looked_up(value):
        return 1 - value if table[next(turn) % 997] else value

    found = audit(looked_up, inputs=[0, 1], claim=1.1, samples=20_000)
    assert found.stale.distance % 997 == 0


@pytest.mark.parametrize("flip", [0, 1])
def test_noise_that_never_changes_is_found_by_single_outputs(flip):
    found = audit(lambda value: value ^ flip, inputs=[0, 1], claim=1.1, samples=2000)
    assert found.refuted
    assert found.stale is None


def test_pairs_share_no_call():
    repeats = [Repeat(1), Repeat(1, odd=False), Repeat(7, turns=3, turn=2)]
    for repeat in (*repeats, Repeat(4, odd=False, turns=2, turn=1)):
        for start in (0, 13):
            later = repeat.later(start, 500)
            used = np.concatenate([later, later - repeat.distance])
            assert len(np.unique(used)) == len(used)
            assert used.min() >= 0
            assert used.max() < 500


def exact(values, _):
    return KaryRandomizedResponse(k=40, max_epsilon_local=2.0).randomize(values)


def revealing(values, rng):
    """Tells the value with probability delta, else responds: (1, 0.02) and no better."""
    said = np.where(rng.random(len(values)) < KEEP, values, 1 - values)
    return np.where(rng.random(len(values)) < 0.02, 10 + values, said)


def stamped(values, rng):
    """Puts out what calls share, a number of the second say, and fresh noise."""
    said = np.where(rng.random(len(values)) < KEEP, values, 1 - values)
    return said + 2 * (np.arange(len(values)) // 50)


CORRECT = {"k-rr": (exact, 2.0, 0.0), "reveals": (revealing, 1.0, 0.02), "stamp": (stamped, 1.0, 0)}


@pytest.mark.parametrize("name", CORRECT)
def test_false_alarms_at_the_exact_claim(name, alarm):
    """At confidence 0.75 no more than one audit in four alarms; a claim too low is refuted."""
    call, claim, delta = CORRECT[name]
    rng, runs = np.random.default_rng(6), 600

    def alarms(claimed, samples, count):
        return sum(
            audit(
                lambda values: call(values, rng),
                inputs=[0, 1],
                claim=claimed,
                delta=delta,
                samples=samples,
                vectorised=True,
                confidence=0.75,
            ).refuted
            for _ in range(count)
        )

    assert stats.binom.sf(alarms(claim, 1000, runs) - 1, runs, 0.25) > alarm
    assert alarms(claim / 2, 20_000, 10) == 10
