"""The real size of the crowd: Sybils, dropout, a dropping shuffler, repeated participation."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from croupier.accounting.amplify import proved_curve
from croupier.accounting.composition import Rounds, least_epsilon
from croupier.accounting.curve import NO_PROTECTION, Curve
from croupier.accounting.sums.terms import Real
from croupier.model.people import honest_people
from croupier.model.randomizer import Randomizer
from croupier.numerics.validate import number_of_people, require_delta

__all__ = ["Situation", "retried_epsilon", "situations"]

REPLACE_ONE = "replace-one"


@dataclass(frozen=True)
class Situation:
    """One way in which a batch differs from the plan.

    Attributes:
        name: A description of the situation.
        honest: The number of people on whom the guarantee then rests, present or not.
        epsilon_upper: The proved bound.
        relation: The neighbouring relation under which it is proved, or why there is none.
        advice: The measure that prevents it.
    """

    name: str
    honest: int
    epsilon_upper: float
    relation: str
    advice: str


def situations(  # noqa: PLR0913 - keyword-only facts about one collection
    randomizer: Randomizer | None = None,
    *,
    n: int,
    delta: float,
    epsilon_local: float | None = None,
    corrupt: int = 0,
    report_probability: float = 1.0,
    rounds: int = 1,
    retries: int = 1,
) -> list[Situation]:
    """The guarantee of a batch of `n` as planned, and in each situation that the numbers describe.

    Corrupt people may send anything and reveal it: the guarantee is that of the others. People who
    stay away at random, whatever their value, thin the crowd. If the shuffler drops, injects or
    reveals the order, only the noise of the client protects. The losses of several rounds with
    fresh noise compose. A retry with fresh noise is a second report.

    Whether somebody takes part is not hidden in any of them: under add/remove, epsilon is infinite.

    Direction: upper, rounded up.
    Reference: wang2025, section VII; composition as in `croupier.accounting.composition`.

    Example:
        >>> for found in situations(epsilon_local=2.0, n=10_000, delta=1e-6, corrupt=5_000):
        ...     print(f"{found.name}: {found.honest:,} honest, {found.epsilon_upper:.4f}")
        as planned: 10,000 honest, 0.1550
        Sybils or corrupt people: 5,000 honest, 0.2252
        shuffler drops, injects or tells the order: 1 honest, 2.0000
    """
    rounds = number_of_people("rounds", rounds, least=1)
    retries = number_of_people("retries", retries, least=1)
    n, corrupt = number_of_people("n", n, least=1), number_of_people("corrupt", corrupt, least=0)
    honest_people(n, corrupt, report_probability)

    def curve(**changes: Any) -> Curve:
        return proved_curve(randomizer, **({"n": n, "epsilon_local": epsilon_local} | changes))

    planned = curve()
    found = [Situation("as planned", n, planned.epsilon(delta), REPLACE_ONE, "")]
    if corrupt:
        left = curve(corrupt=corrupt).epsilon(delta)
        advice = "one credential per person; a minimum batch that allows for them"
        found.append(Situation("Sybils or corrupt people", n - corrupt, left, REPLACE_ONE, advice))
    if report_probability < 1:
        left = curve(report_probability=report_probability).epsilon(delta)
        relation = f"{REPLACE_ONE}, if staying away does not depend on the value"
        advice = "count people, not invitations"
        found.append(Situation("people stay away at random", n, left, relation, advice))
    found.append(
        Situation(
            "shuffler drops, injects or tells the order",
            1,
            planned.epsilon_local,
            REPLACE_ONE,
            "a shuffler that somebody else runs, or audits",
        )
    )
    if rounds > 1:
        name = f"one person in {rounds:,} rounds, fresh noise"
        left = Rounds(planned, rounds).epsilon(delta)
        advice = "a budget per person; remembered noise does not compose"
        found.append(Situation(name, n, left, f"{REPLACE_ONE} in all rounds", advice))
    if retries > 1:
        name = f"{retries:,} reports of one person in a batch"
        left = retried_epsilon(curve(n=n + retries - 1), reports=retries, delta=delta)
        relation = f"{REPLACE_ONE}: one person, {retries:,} reports"
        found.append(Situation(name, n, left, relation, "a retry resends identical bytes"))
    return found


def retried_epsilon(curve: Curve, *, reports: int, delta: float) -> float:
    """The epsilon of a person who sent several reports of one value, each with fresh noise.

    The reports are replaced one after the other, r steps in a batch of all n + r - 1 reports:

        delta_r(r epsilon) <= D(epsilon) (1 + e^epsilon + … + e^((r-1) epsilon)),

    where D is `curve`, that of all the reports, and r is `reports`. Never more than r
    epsilon_local.

    Holds when all use one randomizer with fresh noise.
    Direction: upper, rounded up.

    Example:
        >>> from croupier.accounting.clones import clone_curve
        >>> one = clone_curve(epsilon_local=2.0, n=10_001)
        >>> one.epsilon(1e-6) < retried_epsilon(one, reports=2, delta=1e-6) < 4.0
        True
    """
    reports = number_of_people("reports", reports, least=1)
    require_delta(delta)

    def log_deltas(epsilons: Real) -> Real:
        # ln(1 + e^epsilon + … + e^((r-1) epsilon)), from its largest term.
        rest = np.exp(-np.multiply.outer(np.arange(reports), epsilons)).sum(axis=0)
        growth = (reports - 1) * epsilons + np.log(rest)
        return np.asarray(curve.log_deltas(epsilons) + growth + 1e-12 * (1 + growth))

    most = min(curve.epsilon_local, NO_PROTECTION)
    if float(log_deltas(np.array([most]))[0]) > math.log(delta):
        return reports * curve.epsilon_local
    return reports * least_epsilon(log_deltas, delta, most=most) * (1 + 1e-15)
