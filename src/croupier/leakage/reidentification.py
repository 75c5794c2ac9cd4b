"""Re-identification: the chance that a reader of the batch traces a report to its sender."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from croupier.errors import ParameterError
from croupier.leakage.likelihood_ratio import LikelihoodRatio, chance_unrivalled_between
from croupier.leakage.prior import Prior, checked_prior
from croupier.model.adversary import Adversary, Goal, View
from croupier.model.bracket import Bracket
from croupier.model.channel import Channel
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.model.people import SHARED_RANDOMIZER, honest_people, people_assumptions
from croupier.model.randomizer import Randomizer, require_randomizer
from croupier.numerics.bisection import bisect_safe, bisect_safe_integer
from croupier.numerics.rounding import float_below
from croupier.numerics.validate import number_of_people, whole_number
from croupier.randomizers import randomizer as named_randomizer

__all__ = ["advantage_bounds", "clone_probability", "decomposition_law", "easiest_to_find"]
__all__ += ["epsilon_local_for", "expected_reidentified", "people_for", "reidentification"]
__all__ += ["reidentified_by_luck"]

_Laws = tuple[NDArray[np.float64], NDArray[np.float64]]
Success = Callable[[NDArray[np.float64], NDArray[np.float64]], float]

_ROUNDING = 4e-13
"""A generous bound on the relative error of the floating-point evaluation."""

_VALUE_UNKNOWN = "the attacker does not know the person's value, only that it follows the prior"

_MOST_PEOPLE = 10**15
_LEAST_LOCAL, _LARGEST_LOCAL = 1e-6, 20.0
_TOLERANCE = 1e-9


def reidentification(  # noqa: PLR0913 - keyword-only facts about one collection
    randomizer: Randomizer | None = None,
    *,
    n: float,
    guesses: int = 1,
    epsilon_local: float | None = None,
    prior: Prior | None = None,
    corrupt: float = 0,
    report_probability: float = 1.0,
) -> Bracket:
    """Bound the chance that the best attack finds one person's report in a shuffled batch.

    The upper end, for any values of the others, uses the privacy blanket b = min over x of R(x), or
    a lower bound of it for mechanisms that say so:

        psi = beta_n(R(x), b + (1 - |b|) dummy),

    the success against n - 1 decoys, each of which is known to be a decoy with chance 1 - |b|. The
    lower end is the success if all others hold one value. `LikelihoodRatio.probability` is beta_n.

    Holds when all use this randomizer with fresh noise, one report per person, and the order is
    uniform. The attacker may know everybody's value, except the one person's if there is a `prior`:
    an attacker who knows that too finds the report more often (k-rr, k = 10, epsilon_local 5, n =
    1,000: 0.0157 by a uniform prior, 0.148 by the value). Each other honest person reports
    independently with at least `report_probability`.
    Direction: a bracket, each end rounded outward.
    Reference: su2025, Theorems 6, 7 and 9. That nothing is worse than others who hold one value is
        not proved; hence a bracket.

    Args:
        randomizer: The randomizer of every client.
        n: The number of people whose reports are in the batch.
        guesses: The number of reports that the attacker may point at.
        epsilon_local: Instead of `randomizer`: all that is known of the randomizer that everybody
            uses, or that is assigned to each independently of the person.
        prior: The law of the one person's value, in the order of the channel's inputs, for an
            attacker who knows this law and not the value. If left out, the value is known, and it
            is the one at which the bound is largest.
        corrupt: The number of people among the `n` who are not honest and show what they sent.
        report_probability: The chance that each other honest person reports at all.

    Example:
        >>> from croupier.randomizers import KaryRandomizedResponse
        >>> response = KaryRandomizedResponse(k=10, max_epsilon_local=5.0)
        >>> str(reidentification(response, n=1000))
        'reidentification between 0.148 and 0.149'
        >>> str(reidentification(epsilon_local=5.0, n=1000).upper)
        'reidentification <= 0.149'
    """
    corrupt = number_of_people("corrupt", corrupt, least=0)
    honest = honest_people(n, corrupt, report_probability)
    guesses = number_of_people("guesses", guesses, least=1)
    blind = float_below(Fraction(min(guesses, honest), honest))

    def success(target: NDArray[np.float64], decoy: NDArray[np.float64]) -> float:
        law = LikelihoodRatio.of(target, report_probability * decoy)
        return law.probability(n=honest, guesses=guesses)

    if (randomizer is None) == (epsilon_local is None):
        raise ParameterError("randomizer", must="be given, or `epsilon_local`, not both")
    if randomizer is None and prior is not None:
        raise ParameterError("prior", must="come with a randomizer")
    if randomizer is not None:
        lower, upper = _ends(require_randomizer(randomizer), prior, success)
        low_proof = "exact, others equal (Su, Cheng and Wang 2025, Theorem 4)"
        proof = "blanket (Su, Cheng and Wang 2025, Theorems 6, 7)"
        who = "one randomizer"
    else:
        lower = blind
        upper = clone_probability(
            epsilon_local or 0.0, n=honest, guesses=guesses, thinned=report_probability
        )
        low_proof = "a guess by luck alone"
        proof = "clones (Su, Cheng and Wang 2025, Theorems 6, 8)"
        who = SHARED_RANDOMIZER
    adversary = Adversary(sees=frozenset({View.BATCH}), corrupt=corrupt, wants=Goal.LINK)
    assumptions = [
        (
            who,
            "one report per person",
            *people_assumptions(honest, report_probability, exactly=below),
            *([] if prior is None else [_VALUE_UNKNOWN]),
        )
        for below in (True, False)
    ]
    return Bracket(
        lower=Guarantee(
            metric=Metric.REIDENTIFICATION,
            value=max(blind, lower * (1 - _ROUNDING)),
            direction=Direction.LOWER,
            adversary=adversary,
            theorem=low_proof,
            assumptions=assumptions[0],
        ),
        upper=Guarantee(
            metric=Metric.REIDENTIFICATION,
            value=min(1.0, upper * (1 + _ROUNDING)),
            direction=Direction.UPPER,
            adversary=adversary,
            theorem=proof,
            assumptions=assumptions[1],
        ),
    )


def clone_probability(
    epsilon_local: float, *, n: int, guesses: int = 1, thinned: float = 1.0
) -> float:
    """The largest chance under epsilon_local alone: each of the others may be a clone.

        E[min(k, Bin(n, c))]/(n c),   c = e^-epsilon_local; k = 1: (1 - (1 - c)^n)/(n c),

    where k is `guesses`; c is multiplied by `thinned`, the chance that a person reports at all.

    Holds when everybody uses one randomizer, or randomizers are assigned independently of the
    person.
    Direction: upper, to 1e-13 relative. Its limit e^epsilon_local/n is never smaller and may exceed
        one.
    Reference: su2025, Theorem 8 before its last step, for any number of guesses.

    >>> clone_probability(5.0, n=100)
    0.72928831366619...
    """
    if not 0 <= epsilon_local <= 100:
        raise ParameterError("epsilon_local", must="be in [0, 100]", got=epsilon_local)
    chance = thinned * math.exp(-epsilon_local)
    hits = chance_unrivalled_between(0.0, chance, n=n, guesses=min(guesses, n))
    return min(1.0, float(hits) / chance)


def reidentified_by_luck(*, n: int, guesses: int = 1, report_probability: float = 1.0) -> float:
    """The chance to find a report among those of n people if all reports look alike.

    If each of the others reports with some probability only, there are fewer to choose from.

    Example:
        >>> reidentified_by_luck(n=1000)
        0.001
        >>> round(reidentified_by_luck(n=2, report_probability=0.5), 9)
        0.75
    """
    if report_probability == 1:
        return min(guesses, n) / n
    alike = np.ones(1)
    return LikelihoodRatio.of(alike, report_probability * alike).probability(n=n, guesses=guesses)


def expected_reidentified(
    randomizer: Randomizer | None = None, *, n: int, epsilon_local: float | None = None
) -> float:
    """The most of the n people that any attack on all of them finds on average: n psi.

    Whatever n, this is at most e^epsilon_local, up to rounding. The chance to find r or more is at
    most this number over r (Markov).

    Direction: upper, rounded up.

    Example:
        >>> expected_reidentified(epsilon_local=2.0, n=4000)
        7.38905609893...
    """
    bounds = reidentification(randomizer, n=n, epsilon_local=epsilon_local)
    return math.nextafter(n * bounds.upper.value, math.inf)


def decomposition_law(
    channel: Channel, x: int, *, gamma: float, common: ArrayLike
) -> LikelihoodRatio:
    """The law for a given decomposition R(x') = gamma common + (1 - gamma) rest(x').

    Its success probability bounds re-identification of a person who holds row `x`; the blanket,
    the largest decomposition, gives the smallest bound of this kind.

    Raises:
        ParameterError: Some R(x')(y) is below gamma common(y): no such decomposition exists.

    Reference: su2025, Theorems 6 and 9.

    Example:
        >>> response = Channel.from_weights([[3, 1], [1, 3]], 4)
        >>> clone = decomposition_law(response, 0, gamma=1/3, common=[3/4, 1/4])
        >>> round(clone.probability(n=5) * 405, 9)  # 211/405
        211.0
    """
    rows = channel.probabilities
    whole_number("x", x, least=0, most=len(rows) - 1)
    part = gamma * np.asarray(common, dtype=np.float64)
    blanket = rows.min(axis=0)
    if part.shape != blanket.shape:
        raise ParameterError("common", must="list one probability per output of the channel")
    if not 0 <= gamma <= 1 or abs(float(part.sum()) - gamma) > _TOLERANCE:
        raise ParameterError("gamma", must="be in [0, 1], and `common` sum to 1", got=gamma)
    if (part > blanket * (1 + _TOLERANCE)).any():
        raise ParameterError(
            "gamma", must="leave gamma * common at or below every row", hint="Try a smaller gamma."
        )
    return LikelihoodRatio.of(rows[x], np.minimum(part, blanket))


def advantage_bounds(total_variation: float, *, n: int) -> tuple[float, float]:
    """The least and the largest additive advantage of laws P, Q at a total variation D.

        (1/n)(D + D^2 + ... + D^(n-1))  <=  beta_n - 1/n  <=  D - D^n/n

    Both are attained: by P = (0, 1), Q = (D, 1 - D), and by P = (D, 1 - D, 0), Q = (0, 1 - D, D).

    Direction: exact ends, to 1e-15 relative.
    Reference: su2025, Theorem 5, sharpened; its lower bound D/n fails at n = 1.

    Example:
        >>> low, high = advantage_bounds(1/3, n=5)
        >>> round(low * 81, 9), round(high * 1215, 9)
        (8.0, 404.0)
    """
    distance = total_variation
    if not 0 <= distance <= 1:
        raise ParameterError("total_variation", must="be in [0, 1]", got=distance)
    n = number_of_people("n", n, least=1)
    if distance in (0, 1):
        return distance * (n - 1) / n, distance * (n - 1) / n
    logarithm = math.log(distance)
    lower = -distance * math.expm1((n - 1) * logarithm) / (n * (1 - distance))
    # D - D^n/n = D (1 - D^(n-1)) + D^n (n - 1)/n, a sum of positive terms.
    upper = -distance * math.expm1((n - 1) * logarithm)
    return lower, upper + math.exp(n * logarithm) * (n - 1) / n


def people_for(
    target: float,
    randomizer: Randomizer | None = None,
    *,
    epsilon_local: float | None = None,
    guesses: int = 1,
    report_probability: float = 1.0,
) -> int:
    """The least number of honest people at which the proved bound is at most `target`.

    Example:
        >>> people_for(0.01, epsilon_local=3.0)
        2009
    """
    _require_share("target", target)

    def is_safe(n: int) -> bool:
        bounds = reidentification(
            randomizer,
            n=n,
            epsilon_local=epsilon_local,
            guesses=guesses,
            report_probability=report_probability,
        )
        return bounds.upper.value <= target

    n = 1
    while not is_safe(n):
        n *= 2
        if n > _MOST_PEOPLE:
            raise ParameterError(
                "target", must=f"be reachable with {_MOST_PEOPLE:,} people", got=target
            )
    return bisect_safe_integer(is_safe, safe=n, unsafe=n // 2)


def epsilon_local_for(
    target: float, mechanism: str | None = None, *, n: int, guesses: int = 1, **parameters: Any
) -> float:
    """The largest epsilon_local at which the proved bound was seen to be at most `target`.

    Args:
        target: The chance that may not be exceeded.
        mechanism: A name from the registry, with its `parameters`; if left out, one shared
            randomizer of which only `epsilon_local` is known.
        n: The number of people whose reports are in the batch.
        guesses: The number of reports that the attacker may point at.
        parameters: The parameters of the mechanism, such as ``k=10``.

    Example:
        >>> epsilon_local_for(0.01, n=1000)
        2.302585092...
    """
    _require_share("target", target)
    if mechanism is None and parameters:
        raise ParameterError("mechanism", must="be named for its parameters to count")

    def is_safe(epsilon_local: float) -> bool:
        if mechanism is None:
            bounds = reidentification(epsilon_local=epsilon_local, n=n, guesses=guesses)
        else:
            made = named_randomizer(mechanism, max_epsilon_local=epsilon_local, **parameters)
            bounds = reidentification(made, n=n, guesses=guesses)
        return bounds.upper.value <= target

    if is_safe(_LARGEST_LOCAL):
        return _LARGEST_LOCAL
    # Search from above, since some mechanisms refuse a very small epsilon_local.
    safe = _LARGEST_LOCAL
    while not is_safe(safe):
        safe /= 2
        if safe < _LEAST_LOCAL:
            raise ParameterError(
                "target",
                must=f"be well above a guess by luck alone, {guesses} in {n:,}",
                got=target,
                hint="Collect from more people.",
            )
    return bisect_safe(is_safe, safe=safe, unsafe=2 * safe, tolerance=1e-11)


def easiest_to_find(
    randomizer: Randomizer, *, n: int, guesses: int = 1, report_probability: float = 1.0
) -> LikelihoodRatio:
    """The attack whose success is the lower end of `reidentification`: others hold one value.

    Example:
        >>> from croupier.randomizers import KaryRandomizedResponse
        >>> response = KaryRandomizedResponse(k=10, max_epsilon_local=5.0)
        >>> law = easiest_to_find(response, n=1000)
        >>> law.probability(n=1000) >= reidentification(response, n=1000).lower.value
        True
    """
    honest = honest_people(n, 0, report_probability)

    def success(target: NDArray[np.float64], decoy: NDArray[np.float64]) -> float:
        law = LikelihoodRatio.of(target, report_probability * decoy)
        return law.probability(n=honest, guesses=guesses)

    target, decoy = max(_laws(randomizer, None, success)[0], key=lambda laws: success(*laws))
    return LikelihoodRatio.of(target, report_probability * decoy)


def _ends(randomizer: Randomizer, prior: Prior | None, success: Success) -> tuple[float, float]:
    """The success against others who hold one value, and against the blanket."""
    equal, hidden = _laws(randomizer, prior, success)
    return max(success(*laws) for laws in equal), max(success(*laws) for laws in hidden)


def _laws(
    randomizer: Randomizer, prior: Prior | None, success: Success
) -> tuple[list[_Laws], list[_Laws]]:
    """Laws of a target and its decoys: others who hold one value, and the blanket."""
    pairs = randomizer.representative_pairs() if prior is None else None
    if pairs is not None:
        hidden = [randomizer.likelihood_classes(one, two).arrays() for one, two in pairs]
        equal = [randomizer.likelihood_classes(one, two, others=two).arrays() for one, two in pairs]
        return [(first, w) for w, first, _ in equal], [(first, w) for w, first, _ in hidden]
    rows = randomizer.channel().probabilities
    targets = rows if prior is None else _mixed(rows, prior)[None, :]
    blanket = rows.min(axis=0)
    worst = max(targets, key=lambda target: success(target, blanket))
    return [(worst, others) for others in rows], [(worst, blanket)]


def _mixed(rows: NDArray[np.float64], prior: Prior) -> NDArray[np.float64]:
    """The law of a report when the value itself is drawn."""
    return np.array([float(chance) for chance in checked_prior(prior, len(rows))]) @ rows


def _require_share(name: str, value: float) -> None:
    if not 0 < value <= 1:
        raise ParameterError(name, must="be in (0, 1]", got=value, hint="Try 0.001.")
