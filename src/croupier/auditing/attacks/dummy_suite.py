"""The attacks on a plan whose shufflers add dummies."""

import math
from collections.abc import Iterator

from croupier.auditing.attacks.distinguisher import CoinGame, EpsilonGame
from croupier.auditing.attacks.dummy_epsilon import DummyEpsilonGame, DummyWeights
from croupier.auditing.attacks.dummy_games import (
    DummyCoinGame,
    DummyInformedGame,
    DummyLinkGame,
    DummyUninformedGame,
)
from croupier.auditing.attacks.dummy_scene import DummyScene, dummy_scenes, least_protected
from croupier.auditing.attacks.game import Game
from croupier.auditing.attacks.scene import known_scene
from croupier.auditing.attacks.value import InformedGame, UninformedGame
from croupier.plan.plan import Plan
from croupier.randomizers.k_rr import KaryRandomizedResponse

__all__ = ["dummy_games"]

_FEW = "attacks on dummies are played against k-rr and plain only"
_MANY = "the people are so many that the pairs of two counts cannot be listed"


def dummy_games(plan: Plan) -> tuple[tuple[Game, ...], tuple[str, ...]]:
    """Return the attacks on a plan with dummies, and why some are left out.

    Attacks that know nothing of dummies are not among them: they would take a dummy for a person.
    """
    if plan.randomizer.answer_chances is None:
        return tuple(_known(plan)), (f"{plan.randomizer.mechanism}: {_FEW}",)
    games: list[Game] = []
    left_out = []
    for scenes in dummy_scenes(plan):
        games += _games(scenes)
        if not scenes[0].pair.exact:
            left_out.append(f"{scenes[0].rung}: epsilon, {_MANY}")
    if isinstance(plan.randomizer, KaryRandomizedResponse):
        games += _known(plan)
    return tuple(games), tuple(left_out)


def _known(plan: Plan) -> Iterator[Game]:
    """Yield the attacks of those who know the sender of every report: no dummies matter."""
    scene = known_scene(plan)
    yield CoinGame(scene=scene)
    if scene.one_answer:
        yield UninformedGame(scene=scene)
        yield InformedGame(scene=scene)
    yield EpsilonGame(scene=scene)


def _games(scenes: tuple[DummyScene, ...]) -> Iterator[Game]:
    """Yield the games on one rung; in each, the adversary chooses the best of its scenes."""
    found, told = least_protected(scenes, _alone), least_protected(scenes, _distance)
    if found.rows and (found.unknown or found.people > 1):
        yield DummyLinkGame(scene=found)
    yield DummyCoinGame(scene=told)
    yield DummyUninformedGame(scene=told)
    yield DummyInformedGame(scene=told)
    if scenes[0].pair.exact:
        yield DummyEpsilonGame(scene=least_protected(scenes, _epsilon))


def _alone(scene: DummyScene) -> float:
    """The chance to pick a report among its dummies."""
    return scene.kept * float(min((each.table.alone for each in scene.unknown), default=1))


def _distance(scene: DummyScene) -> float:
    """About the total variation of the two counts."""
    told = min((each.table.delta(0.0)[1] for each in scene.unknown), default=1)
    return scene.kept * float(told)


def _epsilon(scene: DummyScene) -> float:
    """The epsilon of the two counts; infinite if they are too many to be listed."""
    law = DummyWeights.decisive(scene)
    return math.inf if law is None or law.limit is None else law.limit[0]
