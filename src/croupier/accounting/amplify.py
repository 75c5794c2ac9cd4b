"""Amplification: the epsilon of the batch from the epsilon of a report."""

from dataclasses import replace
from typing import Any

from croupier.accounting.blanket import lower_curve, upper_curve
from croupier.accounting.clones import clone_curve
from croupier.accounting.curve import Curve
from croupier.errors import ParameterError
from croupier.model.adversary import Adversary, View
from croupier.model.bracket import Bracket
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.model.randomizer import Randomizer, require_randomizer
from croupier.numerics.validate import number_of_people

__all__ = ["amplify", "bracket", "proved_curve"]


def amplify(  # noqa: PLR0913 - keyword-only facts about one collection
    randomizer: Randomizer | None = None,
    *,
    n: float,
    delta: float,
    epsilon_local: float | None = None,
    corrupt: float = 0,
    report_probability: float = 1.0,
) -> Guarantee:
    """Prove an upper bound of epsilon after a uniform shuffle of `n` reports.

    Args:
        randomizer: The randomizer of every client; its blanket gives the bound.
        n: The number of people whose reports are in the batch.
        delta: The probability with which the bound may fail, in (0, 1).
        epsilon_local: Instead of `randomizer`: all that is known of the randomizer that everybody
            uses, or that is assigned to each independently of the person. Clones give the bound.
        corrupt: The number of people among the `n` who are not honest and show what they sent.
        report_probability: The chance that each other honest person reports at all.

    Returns:
        An upper bound against a reader of the batch who knows the value of everybody else.

    Example:
        >>> from croupier.randomizers import KaryRandomizedResponse
        >>> response = KaryRandomizedResponse(k=10, max_epsilon_local=4.0)
        >>> str(amplify(response, n=100_000, delta=1e-6))
        'epsilon <= 0.110 at delta 1e-06'
        >>> str(amplify(epsilon_local=4.0, n=100_000, delta=1e-6))
        'epsilon <= 0.170 at delta 1e-06'
    """
    curve = proved_curve(
        randomizer,
        epsilon_local=epsilon_local,
        n=number_of_people("n", n, least=1),
        corrupt=number_of_people("corrupt", corrupt, least=0),
        report_probability=report_probability,
    )
    return _guarantee(curve, delta, corrupt)


def bracket(
    randomizer: Randomizer,
    *,
    n: float,
    delta: float,
    corrupt: float = 0,
    report_probability: float = 1.0,
) -> Bracket:
    """Prove bounds from both sides: the true epsilon of the mechanism lies in between.

    The lower end is the exact epsilon for a dataset in which everybody else holds one value.

    Example:
        >>> from croupier.randomizers import KaryRandomizedResponse
        >>> response = KaryRandomizedResponse(k=10, max_epsilon_local=4.0)
        >>> str(bracket(response, n=100_000, delta=1e-6))
        'epsilon between 0.109 and 0.110 at delta 1e-06'
    """
    people: Any = {
        "n": number_of_people("n", n, least=1),
        "corrupt": number_of_people("corrupt", corrupt, least=0),
        "report_probability": report_probability,
    }
    require_randomizer(randomizer)
    ends = (curve(randomizer, **people) for curve in (lower_curve, upper_curve))
    return Bracket(*(_guarantee(end, delta, people["corrupt"]) for end in ends))


def proved_curve(
    randomizer: Randomizer | None,
    *,
    n: int,
    epsilon_local: float | None = None,
    corrupt: int = 0,
    report_probability: float = 1.0,
) -> Curve:
    """The upper curve of a randomizer, or of any randomizer with this `epsilon_local`."""
    if (randomizer is None) == (epsilon_local is None):
        raise ParameterError("randomizer", must="be given, or `epsilon_local`, not both")
    if randomizer is not None:
        require_randomizer(randomizer)
        return upper_curve(randomizer, n=n, corrupt=corrupt, report_probability=report_probability)
    return clone_curve(
        epsilon_local=epsilon_local or 0.0,
        n=n,
        corrupt=corrupt,
        report_probability=report_probability,
    )


def _guarantee(curve: Curve, delta: float, corrupt: float) -> Guarantee:
    guarantee = Guarantee(
        metric=Metric.EPSILON,
        value=curve.epsilon(delta),
        direction=curve.direction,
        adversary=Adversary(sees=frozenset({View.BATCH}), corrupt=int(corrupt)),
        theorem=curve.theorem,
        assumptions=curve.assumptions,
        delta=delta,
    )
    if guarantee.value >= curve.epsilon_local and curve.direction is Direction.UPPER:
        return replace(guarantee, theorem="epsilon_local: shuffling adds nothing here")
    return guarantee
