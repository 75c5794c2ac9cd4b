"""Guesses under a known prior, if some values are known to be more frequent."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from croupier.accounting.exposure import Exposure
from croupier.assessment.ladder.exposures import exposures
from croupier.assessment.ladder.metrics import Columns
from croupier.assessment.ladder.rungs import Rungs
from croupier.errors import ParameterError, TooLargeError
from croupier.leakage.prior import Prior, checked_prior
from croupier.leakage.uninformed import uninformed_upper_bound, uninformed_vulnerability
from croupier.model.guarantee import Guarantee
from croupier.model.rung import Rung
from croupier.plan.plan import Plan

__all__ = ["PriorGuess", "known_prior"]

_ROUNDING = 1e-12


@dataclass(frozen=True)
class PriorGuess:
    """The chance of guessing one person's value on one rung, if it follows a known law.

    Attributes:
        rung: The adversary's rung.
        blind: The chance of the best guess before anything is seen.
        uninformed: An upper bound for somebody who knows only the law of everybody's value.
        informed: An upper bound for somebody who knows everybody else's value.
    """

    rung: Rung
    blind: float
    uninformed: float
    informed: Guarantee


def known_prior(plan: Plan, prior: Prior) -> tuple[PriorGuess, ...]:
    """The bounds of guessing a value with law `prior`, on every rung.

    Holds when the one person's value is independent of the others'; `uninformed` also when all
    values follow the law, in one round of a fixed number of people.
    Direction: upper.

    Example:
        >>> plan = Plan.from_toml('''
        ... schema = 2
        ... randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1.0}
        ... population.enrolled = 1_000
        ... protections.minimum_batch = 1_000
        ... ''')
        >>> batch = known_prior(plan, [0.9, 0.1])[1]
        >>> batch.blind, round(batch.informed.value, 3)
        (0.9, 0.903)
    """
    if len(plan.randomizers) > 1 or plan.participation_model.rounds > 1:
        raise ParameterError("prior", must="come with a plan of one question")
    law = checked_prior(prior, plan.randomizer.domain.size)
    rungs = Rungs(plan)
    return tuple(_guess(rungs, rung, law) for rung in plan.rungs)


def _guess(rungs: Rungs, rung: Rung, law: Prior) -> PriorGuess:
    informed, blind = _informed(rungs, rung, law), float(max(law))
    exposure = rungs.exposure(rung)
    uninformed, hidden = informed.value, exposure.hidden
    alone = rung is Rung.ALL_BUT_ONE  # all others are dropped
    if exposure.rounds == 1 and hidden is not None and hidden.share == 1 and not alone:
        people = {"n": hidden.honest, "prior": law}
        source = rungs.plan.randomizer
        try:
            chance = uninformed_vulnerability(source, **people) * (1 + _ROUNDING)  # type: ignore[arg-type]
        except TooLargeError:
            chance = uninformed_upper_bound(source, **people)  # type: ignore[arg-type]
        uninformed = min(uninformed, chance)
    return PriorGuess(rung, blind, uninformed, informed)


def _informed(rungs: Rungs, rung: Rung, law: Prior) -> Guarantee:
    """The bound with everybody else's value known: the least of a case, the worst of all cases."""
    columns = rungs.columns(rung)
    cases = [
        min(_bounds(columns, each, law), key=lambda bound: bound.value)
        for each in exposures(rungs, rung)
    ]
    return max(cases, key=lambda bound: bound.value)


def _bounds(columns: Columns, holding: Iterable[Exposure], law: Prior) -> Iterator[Guarantee]:
    for exposure in holding:
        found = replace(columns, exposure=exposure).guess_prior(law)
        if found is None:
            raise ParameterError("prior", must="come with a plan that bounds epsilon")
        yield found
