"""The setting of an attack on a plan: what is seen on a rung, and among whom the person hides."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from croupier.accounting.blanket import local_curve, lower_curve
from croupier.accounting.pair import ShuffledPair
from croupier.model.adversary import Adversary, Goal, Knowledge
from croupier.model.participation import Crowd
from croupier.model.randomizer import Randomizer
from croupier.model.rung import SEES, Rung
from croupier.plan.plan import Plan

__all__ = ["Scene", "known_scene", "scenes"]

_A_BATCH = (b"",)
"""The name of the batch that is attacked, where it decides what people send."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Scene:
    """One rung of a plan at its minimum batch, as an attacker finds it.

    The others all hold one value, and the attacker knows it, unless a game says otherwise: such
    people may exist, so whatever is gained here can be gained from the plan.

    Attributes:
        rung: The attacker's position.
        randomizer: The randomizer that everybody applies.
        people: The number of honest people, including the one who is attacked.
        share: The chance that each of the others is in the same crowd.
        asked: The chance that the one person is asked in a round.
        rounds: The number of rounds in which the one person may report, with fresh noise.
        one_answer: True if the person has one answer, and gives it in every round.
        corrupt: The number of people who have revealed what they sent.
        delta: The failure probability of an epsilon.
    """

    rung: Rung
    randomizer: Randomizer
    people: int
    share: float = 1.0
    asked: float = 1.0
    rounds: int = 1
    one_answer: bool = True
    corrupt: int = 0
    delta: float = 1e-6

    def adversary(self, goal: Goal, *, knows: Knowledge = Knowledge.EVERYONE_ELSE) -> Adversary:
        """Return the adversary who plays."""
        return Adversary(sees=SEES[self.rung], knows=knows, corrupt=self.corrupt, wants=goal)

    @property
    def alone(self) -> bool:
        """True if the sender of every report is known."""
        return self.people == 1

    @cached_property
    def pairs(self) -> list[ShuffledPair]:
        """Two values of the person and the others' reports, in the most promising cases."""
        if self.alone:
            varies = self.randomizer.varies_by_batch
            known = lower_curve(self.randomizer, n=1) if varies else local_curve(self.randomizer)
            return [
                replace(pair, reference=(pair.first + pair.second) / 2, rest=0.0)
                for pair in known.pairs
            ]
        curve = lower_curve(self.randomizer, n=self.people, report_probability=self.share)
        return [self._sampled(pair) for pair in curve.pairs]

    def _sampled(self, pair: ShuffledPair) -> ShuffledPair:
        """Replace people who are not asked by one of the others."""
        if self.asked == 1:
            return pair
        first, second = (
            self.asked * law + (1 - self.asked) * pair.reference
            for law in (pair.first, pair.second)
        )
        return replace(pair, first=first, second=second)

    def easiest_pair(self, epsilon: float) -> ShuffledPair:
        """Return the case in which two values are told apart best at `epsilon`."""
        ranked = sorted(self.pairs, key=lambda pair: -pair.chi_square)[:8]
        return max(ranked, key=lambda pair: pair.log_delta(epsilon, rtol=1e-3).lower)


def scenes(plan: Plan) -> Iterator[Scene]:
    """Yield the rungs on which a plan is attacked, each if its adversary sees something new.

    A reader of estimates is played if the counts of reports are published. An adversary is not
    played if no bound is proved for an attack on their view: the shuffler, who sees no rows.
    """
    batch = _hidden(plan, Rung.BATCH, rounds_seen=False)
    if batch is not None:
        if plan.analyzer.publication in ("histogram", "sorted", "released-order"):
            yield replace(batch, rung=Rung.ESTIMATE)
        yield batch
    network = _hidden(plan, Rung.NETWORK, rounds_seen=True)
    if network is not None and (batch is None or _place(network) != _place(batch)):
        yield network
    if batch is not None and plan.corrupt and not plan.participation_model.sampled:
        people = max(1, batch.people - plan.corrupt)
        yield replace(batch, rung=Rung.CLIENTS, people=people, corrupt=plan.corrupt)
    yield known_scene(plan)


def _place(scene: Scene) -> tuple[int, float, float]:
    return scene.people, scene.share, scene.asked


def _hidden(plan: Plan, rung: Rung, *, rounds_seen: bool) -> Scene | None:
    """Return the smallest crowd's scene; None if rounds ask different things, unseen."""
    crowds = plan.participation_model.crowds(plan.people, rounds_seen=rounds_seen)
    place = min(range(len(crowds)), key=lambda number: _expected(crowds[number]))
    crowd = crowds[place]
    if not plan.participation_model.adaptive:
        randomizer = plan.randomizer
    elif len(plan.randomizers) == 1:
        randomizer = plan.randomizers[0]
    elif len(crowds) == len(plan.randomizers):
        randomizer = plan.randomizers[place]
    else:
        return None
    sampled = plan.participation_model.sampled
    chance = float(crowd.probability) if sampled and not rounds_seen else 1.0
    return Scene(
        rung=rung,
        randomizer=randomizer.in_batches(_A_BATCH),
        people=crowd.people,
        share=float(crowd.share),
        asked=chance,
        rounds=_rounds(plan),
        one_answer=_one_answer(plan) and not sampled,
        delta=plan.guarantee.delta or 0.0,
    )


def _expected(crowd: Crowd) -> tuple[float, int]:
    return float(crowd.share), crowd.people


def known_scene(plan: Plan) -> Scene:
    """Return the scene of one report, or one per round, of a known sender."""
    together = not plan.participation_model.adaptive
    weakest = max(plan.randomizers, key=lambda question: question.epsilon_local)
    return Scene(
        rung=Rung.COLLUSION.among(len(plan.shufflers))[0],
        randomizer=(plan.randomizer if together else weakest).in_batches(_A_BATCH),
        people=1,
        rounds=_rounds(plan),
        one_answer=_one_answer(plan),
        delta=plan.guarantee.delta or 0.0,
    )


def _one_answer(plan: Plan) -> bool:
    """Tell whether one question is asked, and not several in one report."""
    return len(plan.randomizers) == 1 and (
        plan.participation_model.adaptive or plan.participation_model.rounds == 1
    )


def _rounds(plan: Plan) -> int:
    """Count rounds with fresh noise; of reports that share noise, one batch is attacked."""
    return plan.reports if plan.draws_anew else 1
