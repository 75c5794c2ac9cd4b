"""Clones: amplification for a randomizer of which only epsilon_local is known."""

from fractions import Fraction

from croupier.accounting.curve import Curve
from croupier.accounting.pair import Laws, ShuffledPair
from croupier.errors import ParameterError, TooLargeError
from croupier.model.channel import Channel
from croupier.model.guarantee import Direction
from croupier.model.likelihood import LikelihoodClasses
from croupier.model.people import SHARED_RANDOMIZER, honest_people, people_assumptions
from croupier.model.randomizer import Randomizer
from croupier.numerics.rounding import exp_enclosure

__all__ = ["clone_curve", "require_stronger_clones", "stronger_clone_curve", "unlisted_curve"]

ERRATUM = (
    "The general theorem on stronger clones is withdrawn (arXiv:2208.04591, erratum). "
    "Use standard clones, or the blanket of the mechanism."
)


def clone_curve(
    *, epsilon_local: float, n: int, corrupt: int = 0, report_probability: float = 1.0
) -> Curve:
    """The pair that dominates an epsilon_local-private randomizer of which nothing else is known.

    Each of the others is, with probability e^-epsilon_local, a clone of the one person at either
    value with equal chances; the person says so with odds e^epsilon_local : 1.

    Holds when everybody uses one randomizer, which may be unknown and may depend on earlier rounds,
    or when randomizers are assigned independently of the person. It does not hold for randomizers
    that belong to people: if person i sends (i, answer), the order hides nothing (epsilon_local 1,
    n = 8: delta(0) is 0.462, and this curve says 0.209).
    Direction: upper; the probability of a clone is rounded down, the odds up.
    Reference: feldman2021, the reduction to clones.
    """
    if not 0 < epsilon_local <= 100:
        raise ParameterError("epsilon_local", must="be in (0, 100]", got=epsilon_local)
    honest = honest_people(n, corrupt, report_probability)
    _, odds = exp_enclosure(epsilon_local)
    return _curve(
        _two_clones(odds, chance=1 / odds),
        epsilon_local,
        honest,
        report_probability,
        theorem="clones (Feldman, McMillan and Talwar 2021)",
        randomizer=SHARED_RANDOMIZER,
    )


def stronger_clone_curve(
    randomizer: Randomizer, *, n: int, corrupt: int = 0, report_probability: float = 1.0
) -> Curve:
    """The same with the larger clone probability 2/(e^epsilon_local + 1), where it is proved.

    Direction: upper.
    Reference: feldman2023, with its erratum: only where `require_stronger_clones` passes.
    """
    require_stronger_clones(randomizer)
    honest = honest_people(n, corrupt, report_probability)
    _, odds = exp_enclosure(randomizer.checked_epsilon_local)
    return _curve(
        _two_clones(odds, chance=2 / (odds + 1)),
        randomizer.checked_epsilon_local,
        honest,
        report_probability,
        theorem="stronger clones (Feldman et al. 2023), condition checked on the channel",
        randomizer="one randomizer",
    )


def require_stronger_clones(randomizer: Randomizer) -> None:
    """Refuse unless R(x)(y)(p + 1) >= R(x0)(y) + R(x1)(y) for all x and all x0 != x1 and y.

    p is the largest ratio of two entries of a column, e^epsilon_local. Integers are compared.
    """
    try:
        channel = randomizer.channel()
    except TooLargeError:
        raise ParameterError(
            "randomizer", must="have a channel small enough to check", hint=ERRATUM
        ) from None
    if not _dominated(channel):
        raise ParameterError(
            "randomizer",
            must="satisfy R(x)(y)(e^epsilon_local + 1) >= R(x0)(y) + R(x1)(y) everywhere",
            hint=ERRATUM,
        )


def unlisted_curve(epsilon_local: float) -> Curve:
    """delta(epsilon) of one report whose sender is known, if only epsilon_local is known of it.

        delta(epsilon) <= (e^epsilon_local - e^epsilon)_+ / (e^epsilon_local + 1).

    Direction: upper; the odds are rounded up.
    Reference: kairouz2015, the law that dominates every one of this epsilon_local.
    """
    _, odds = exp_enclosure(epsilon_local)
    classes = _two_clones(odds, chance=Fraction(0))
    theorem = "any randomizer of this epsilon_local (Kairouz, Oh and Viswanath 2015)"
    return _curve(classes, epsilon_local, 1, 1.0, theorem=theorem, randomizer="one report")


def _dominated(channel: Channel) -> bool:
    columns = [sorted(column) for column in channel.weights.T.tolist() if any(column)]
    if any(column[0] == 0 for column in columns):
        return False
    ratio = max(Fraction(column[-1], column[0]) for column in columns)
    return all(column[0] * (ratio + 1) >= column[-1] + column[-2] for column in columns)


def _two_clones(odds: Fraction, *, chance: Fraction) -> LikelihoodClasses:
    clone, high, low = chance / 2, odds / (odds + 1), 1 / (odds + 1)
    return LikelihoodClasses.merged([(clone, high, low), (clone, low, high)])


def _curve(  # noqa: PLR0913 - what the two theorems differ in
    classes: LikelihoodClasses,
    epsilon_local: float,
    honest: int,
    report_probability: float,
    *,
    theorem: str,
    randomizer: str,
) -> Curve:
    return Curve(
        pairs=[ShuffledPair.among(Laws.of(classes), honest, report_probability=report_probability)],
        direction=Direction.UPPER,
        epsilon_local=epsilon_local,
        theorem=theorem,
        assumptions=(randomizer, *people_assumptions(honest, report_probability)),
    )
