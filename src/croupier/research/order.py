"""The meaning of alpha: what a hidden order protects from a reader of the batch."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from croupier.errors import ParameterError
from croupier.model.adversary import Adversary, Goal, Knowledge, View
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.numerics.rounding import ceiling_digits, exp_enclosure, float_above, float_below
from croupier.numerics.validate import number_given, number_of_people, whole_number

__all__ = ["OddsBound", "TwoPointPrior", "everybody_alpha", "exposing_prior", "finding_odds"]
__all__ += ["finding_probability", "odds_bound"]

_LARGEST_EXPONENT = 700.0
"""The x beyond which e^x counts as infinite and e^-x as zero, each on the safe side."""


@dataclass(frozen=True, kw_only=True)
class OddsBound:
    """A bound on how far a batch can move beliefs about who sent what within a group.

    Attributes:
        alpha: The bound on the logarithm of odds.
        factor: The bound on the odds, e^alpha, rounded up.

    Example:
        >>> bound = odds_bound(1.0)
        >>> [round(end, 4) for end in bound.beliefs(0.5)]
        [0.2689, 0.7311]
        >>> print(bound)
        Somebody who knows all reports outside a group, and those inside without their senders, can
        change the odds between two ways to assign them by a factor of at most 2.72 on seeing the
        batch.
    """

    alpha: float
    factor: float

    def beliefs(self, prior: float) -> tuple[float, float]:
        """The least and the greatest probability that the batch can turn `prior` into.

        Direction: outward, by rounding.
        """
        if not 0 <= prior <= 1:
            raise ParameterError("prior", must="be in [0, 1]", got=prior)
        if prior in (0, 1):
            return prior, prior
        if math.isinf(self.factor):
            return 0.0, 1.0
        chance, factor = Fraction(prior), Fraction(self.factor)
        lowest = chance / (chance + (1 - chance) * factor)
        highest = chance * factor / (chance * factor + 1 - chance)
        return float_below(lowest), float_above(highest)

    def __str__(self) -> str:
        if math.isinf(self.factor):
            return "The batch may show who sent what."
        return (
            "Somebody who knows all reports outside a group, and those inside without their "
            "senders, can change the odds between two ways to assign them by a factor of at most "
            f"{ceiling_digits(self.factor)} on seeing the batch."
        )


def odds_bound(alpha: Guarantee | float) -> OddsBound:
    """Bound the change of odds between two assignments that differ in one group by e^alpha.

        e^-alpha <= (P(a | z, known) / P(b | z, known)) / (P(a | known) / P(b | known)) <= e^alpha

    where z is the batch in its order; a and b are two ways in which the members of one group can
    have sent the reports of that group, or two values of one member's secret; `known` are the
    reports outside the group, with their senders, and the bag of those inside. It holds for
    every prior, whatever correlations the adversary believes in.

    Holds when the shuffler is alpha-private for that group, and the batch depends on the secrets
    through the reports only. It does not bound what the bag itself reveals: that is up to the
    randomizer.

    Args:
        alpha: A guarantee of alpha, or the number.

    Direction: upper, reached by a prior on the two assignments that are furthest apart.

    Reference: meehan2022, Theorem 4.1.

    Example:
        >>> odds_bound(0.5).factor
        1.648721270700...
    """
    value = _alpha(alpha)
    if value > _LARGEST_EXPONENT:
        return OddsBound(alpha=value, factor=math.inf)
    return OddsBound(alpha=value, factor=float_above(_exponential(Fraction(value))[1]))


def finding_odds(
    alpha: Guarantee | float,
    *,
    epsilon_local: float,
    group: int,
    wanted: int = 1,
    common_randomizer: bool,
) -> float:
    """The least odds that an attacker who looks for the reports of a few in a group fails.

        P(lose) / P(win) >= floor((r - k) / k) e^-(2 k epsilon_local + alpha)

    where k people (`wanted`) of a group of r (`group`) are looked for by naming k places of the
    batch, and winning means that more than half of the named reports are theirs. Proof: each order
    that makes the adversary win has floor((r - k) / k) others, in which the k have changed places
    with k different members, and none of which is shared.

    Holds when all people use one randomizer (`common_randomizer`), the shuffler does not look at
    the reports, and k < r / 2. Each exchange of two reports costs e^(2 epsilon_local) only if both
    come from the same randomizer. Otherwise there is no such bound: people who always say their
    own name have epsilon_local = 0 and are found at once.

    Direction: lower, for every batch that can be seen, and rounded down; reached if alpha =
    epsilon_local = 0 and k = 1.

    Reference: meehan2022, Theorem 4.2, which leaves out that the randomizer is common.

    Example:
        >>> round(finding_odds(0.6, epsilon_local=0.5, group=3, common_randomizer=True), 5)
        0.40379
    """
    return float_below(_finding_odds(alpha, epsilon_local, group, wanted, common=common_randomizer))


def finding_probability(
    alpha: Guarantee | float, *, epsilon_local: float, group: int, common_randomizer: bool
) -> Guarantee:
    """Bound the chance of finding one person's report in a group of r by 1 / (1 + odds).

        P(win) <= 1 / (1 + (r - 1) e^-(2 epsilon_local + alpha))

    Holds under the conditions of `finding_odds` with one person wanted.

    Direction: upper, rounded up.

    Reference: meehan2022, Theorem 4.2.

    Example:
        >>> print(finding_probability(0.6, epsilon_local=0.5, group=100, common_randomizer=True))
        reidentification <= 0.0477
    """
    odds = _finding_odds(alpha, epsilon_local, group, 1, common=common_randomizer)
    return Guarantee(
        metric=Metric.REIDENTIFICATION,
        value=float_above(1 / (1 + odds)),
        direction=Direction.UPPER,
        adversary=Adversary(
            sees=frozenset({View.BATCH}), knows=Knowledge.EVERYONE_ELSE, wants=Goal.LINK
        ),
        theorem="Meehan et al. 2022, Theorem 4.2",
        assumptions=(
            "one randomizer for everybody in the group",
            f"a shuffler that is alpha-private for a group of {group:,} and ignores the reports",
        ),
    )


def everybody_alpha(*, theta: float, n: int) -> float:
    """The alpha of Mallows shuffling for the group of everybody: theta n (n - 1) / 2.

    It bounds what *any* adversary learns about who sent what, with only the bag of all reports
    known beforehand; the alphas of smaller groups do not.

    Direction: exact, rounded up.

    Reference: meehan2022, Appendix A.3, Properties 1 and 2.

    Example:
        >>> everybody_alpha(theta=0.125, n=9)
        4.5
    """
    number = number_of_people("n", n, least=1)
    theta = number_given("theta", theta)
    if number == 1:
        return 0.0
    if math.isinf(theta):
        return math.inf
    return float_above(Fraction(theta) * (number * (number - 1) // 2))


@dataclass(frozen=True, kw_only=True, eq=False)
class TwoPointPrior:
    """A prior over two assignments under which one batch says far more than alpha allows.

    Reports are numbered 0 to n - 1, and person i is the i-th in the reference order.

    Attributes:
        assignment: The report that each person sent, as believed with probability `prior`.
        other: The same, as believed otherwise.
        batch: The batch to look at: the reports in the order in which they come out.
        prior: The probability, before the batch is seen, that person 0 sent report 0.
        posterior: The same probability after the batch is seen.
    """

    assignment: NDArray[np.int64]
    other: NDArray[np.int64]
    batch: NDArray[np.int64]
    prior: float
    posterior: float


def exposing_prior(alpha: Guarantee | float, *, theta: float, n: int) -> TwoPointPrior | None:
    """A prior under which Mallows shuffling reveals more than alpha with no report known.

    A de Finetti attack. Everybody sent the report of their own number, or the numbers are
    reversed; the batch comes out in the order of the numbers:

        P(own | batch) / P(own) = 1 / (p + (1 - p) / R) > e^alpha,
        R = e^(theta n (n - 1) / 2),    p = (1/2) (e^-alpha - 1/R) / (1 - 1/R)

    where p is the prior of the former. No such prior exists, and the result is None, exactly if the
    alpha of everybody, `everybody_alpha`, is at most `alpha`. With theta chosen for `alpha`, this
    is the case if one of the groups is everybody, or everybody except the middle person, who sends
    the same report in both assignments.

    Holds when all reports differ.

    Direction: exact; a counterexample.

    Reference: meehan2022, Appendix A.3, Property 2. The prior there is 1/2, which no batch can more
    than double, so that from alpha = ln 2 on it violates only the bound on odds.

    Example:
        >>> found = exposing_prior(1.0, theta=0.5, n=5)
        >>> round(found.prior, 4), round(found.posterior, 4), found.other.tolist()
        (0.1818, 0.9706, [4, 3, 2, 1, 0])
        >>> exposing_prior(5.0, theta=0.5, n=5) is None
        True
    """
    value, everybody = _alpha(alpha), everybody_alpha(theta=theta, n=n)
    if everybody <= value:
        return None
    if value > _LARGEST_EXPONENT:
        raise ParameterError("alpha", must=f"be at most {_LARGEST_EXPONENT:g}", got=value)
    gap = everybody - value
    prior = math.exp(-value) / 2 * math.expm1(-gap) / math.expm1(-everybody)
    posterior = prior / (prior + (1 - prior) * math.exp(-everybody))
    places = np.arange(n, dtype=np.int64)
    places.flags.writeable = False
    return TwoPointPrior(
        assignment=places, other=places[::-1], batch=places, prior=prior, posterior=posterior
    )


def _finding_odds(
    alpha: Guarantee | float, epsilon_local: float, group: int, wanted: int, *, common: bool
) -> Fraction:
    """The odds, rounded down slightly."""
    if not common:
        raise ParameterError(
            "common_randomizer",
            must="hold: people with different randomizers can be told apart by their reports",
            got=common,
            hint="Split the group by randomizer, and ask for each part.",
        )
    epsilon_local = number_given("epsilon_local", epsilon_local)
    r = whole_number("group", group, least=1)
    k = whole_number("wanted", wanted, least=1)
    if 2 * k >= r:
        raise ParameterError("wanted", must=f"be less than half of the group of {r:,}", got=k)
    value = _alpha(alpha)
    if 2 * k * epsilon_local + value > _LARGEST_EXPONENT:
        return Fraction(0)
    exponent = 2 * k * Fraction(epsilon_local) + Fraction(value)
    return (r - k) // k * _exponential(-exponent)[0]


def _exponential(exponent: Fraction) -> tuple[Fraction, Fraction]:
    return exp_enclosure(exponent) if exponent else (Fraction(1), Fraction(1))


def _alpha(alpha: Guarantee | float) -> float:
    """The number; a guarantee must bound alpha from above."""
    if isinstance(alpha, Guarantee):
        if alpha.metric is not Metric.ALPHA or alpha.direction is Direction.LOWER:
            raise ParameterError("alpha", must="be bounded from above", got=str(alpha))
        return alpha.value
    return number_given("alpha", alpha)
