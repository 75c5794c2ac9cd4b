"""Where devices keep an answer, one batch is attacked: its law is that of one report."""

from croupier.auditing.attacks.scene import scenes
from croupier.plan.plan import Plan

PLAN = """
schema = 2
collection = {every = "24h", window = "30d", rounds = 30}
randomizer = {mechanism = "k-rr", k = 3, max_epsilon_local = 1.0}
population.enrolled = 1_000
protections.minimum_batch = 100
"""
KEPT = '"memoised-k-rr", max_epsilon_permanent = 3.0'


def test_reports_of_one_answer_are_no_rounds_with_fresh_noise():
    fresh = Plan.from_toml(PLAN)
    kept = Plan.from_toml(PLAN.replace('"k-rr"', KEPT))
    assert {scene.rounds for scene in scenes(fresh)} == {30}
    assert {scene.rounds for scene in scenes(kept)} == {1}
