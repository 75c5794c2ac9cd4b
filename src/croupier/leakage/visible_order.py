"""Re-identification where the released order is seen: hiding among those who are near."""

import math
from fractions import Fraction

from croupier.errors import ParameterError
from croupier.leakage.reidentification import clone_probability
from croupier.model.adversary import Adversary, Goal, View
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.numerics.rounding import float_above
from croupier.numerics.validate import number_given, number_of_people

__all__ = ["visible_order_link"]

_ROUNDING = 4e-13
"""A generous bound on the relative error of the floating-point evaluation."""


def visible_order_link(*, epsilon_local: float, crowd: float, corrupt: int = 0) -> Guarantee:
    """Bound the chance that a reader of a Mallows order finds one person's report.

        P(found) <= E[1 / (1 + M)] = (1 - (1 - p)^(c - m)) / ((c - m) p),
        M ~ Bin(c - m - 1, p),    p = e^-epsilon_local

    where c (`crowd`) is the least crowd of a person present, as `order_crowds` computes it, and m
    people (`corrupt`) show what they sent. It is the bound of a uniform order of c - m people.

    Proof. Since R(x_j) >= p R(x_i), each other honest person j draws, with chance p and
    independently, from the law R(x_i) of the person i; call j a clone then, and tell the adversary
    who the clones are. An exchange of the reports of i and of a clone at distance d changes nothing
    in what is likely of the reports, and the inversions of the order by at most 2 d - 1. So, for
    every batch and every place k of it, that the report of j is at k is at least w_j = e^(-theta
    (2 d - 1)) times as likely as that i's is; only one of all these can be true, hence P(i's is at
    k) <= 1 / (1 + S), S the sum of w_j over the clones.

    The mean of 1 / (1 + S) is convex in the weights, which are in [0, 1] and, without the corrupt,
    add up to c - 1 - m at least: it is largest where c - 1 - m weights are 1 and the others 0, and
    S is M. A crowd between two whole numbers is bounded by the chord, for the same reason.

    The paper's second theorem exchanges all members of a group at the price of alpha and of
    epsilon_local twice: 1 / (1 + (g - 1) e^-(2 epsilon_local + alpha)). For a group of g present
    people of width w the crowd is at least 1 + (g - 1) e^(-theta (2 w - 1)).

    Holds when all use one randomizer with fresh noise, one report per person, and the shuffler
    follows the Mallows law by Kendall's distance. The adversary may know everybody's value, who is
    present, and the reports of the corrupt; people may be missing from the file.

    Direction: upper, rounded up.

    Reference: meehan2022, Theorem 4.2, sharpened; su2025, Theorem 8, for the mean.

    Example:
        >>> print(visible_order_link(epsilon_local=2.0, crowd=30))
        reidentification <= 0.244
        >>> print(visible_order_link(epsilon_local=2.0, crowd=30, corrupt=20))
        reidentification <= 0.567
    """
    local = number_given("epsilon_local", epsilon_local)
    bad = number_of_people("corrupt", corrupt, least=0)
    if not bad + 1 <= crowd < math.inf:
        raise ParameterError("crowd", must="be finite, and above the number of corrupt", got=crowd)
    whole = math.floor(crowd)
    few, more = (clone_probability(local, n=whole - bad + one) for one in (0, 1))
    value = (few + (crowd - whole) * (more - few)) * (1 + _ROUNDING)
    return Guarantee(
        metric=Metric.REIDENTIFICATION,
        value=float_above(min(Fraction(1), Fraction(value))),
        direction=Direction.UPPER,
        adversary=Adversary(sees=frozenset({View.BATCH}), corrupt=bad, wants=Goal.LINK),
        theorem="exchanges with clones nearby (Meehan et al. 2022, Theorem 4.2, sharpened)",
        assumptions=(
            "one randomizer",
            "one report per person",
            f"everybody present in a crowd of {crowd:,} by the order's law",
            *([f"{bad:,} of them corrupt"] if bad else []),
        ),
    )
