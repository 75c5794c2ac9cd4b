"""Amplification for a given randomizer: from above by its privacy blanket, from below exactly."""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from typing import TypeVar

import numpy as np

from croupier.accounting.binary import MOST_PEOPLE, SplitOthers
from croupier.accounting.curve import Curve, PairFamily
from croupier.accounting.pair import Laws, ShuffledPair
from croupier.model.channel import Channel
from croupier.model.guarantee import Direction
from croupier.model.people import honest_people, people_assumptions
from croupier.model.randomizer import Randomizer

__all__ = ["local_curve", "lower_curve", "upper_curve"]

Found = TypeVar("Found")

_KEPT = 32
"""The number of randomizers whose laws are remembered: every row of a ladder asks for them."""

_TRIPLES = 4
"""The number of datasets of equal others for which a lower bound is computed."""


def _remembered(find: Callable[[Randomizer], Found]) -> Callable[[Randomizer], Found]:
    """Remember what is found about the last randomizers, of those that can be hashed."""
    known = lru_cache(maxsize=_KEPT)(find)

    def found(randomizer: Randomizer) -> Found:
        try:
            hash(randomizer)
        except TypeError:
            return find(randomizer)
        return known(randomizer)

    return found


def upper_curve(
    randomizer: Randomizer, *, n: int, corrupt: int = 0, report_probability: float = 1.0
) -> Curve:
    """delta(epsilon) from above, for every dataset of n people of whom `corrupt` are not honest.

    The part of each honest person's law that does not depend on the value, the blanket
    w = min over x of R(x), hides the one person:

        delta(epsilon) <= max over x0 != x1 of (1/h) E[(G_1 + … + G_h)_+],   h = n - corrupt,

    with G as in `ShuffledPair`.

    Holds when all use this randomizer with fresh noise and the order is uniform; each other honest
    person reports independently with at least `report_probability`. Corrupt people may send
    anything and tell what they sent.
    Direction: upper, rounded up.
    Reference: balle2019, Lemma 5.3; thinning and corruption by data processing.
    """
    return Curve(
        pairs=_hidden(_blanket_laws(randomizer), n, corrupt, report_probability),
        direction=Direction.UPPER,
        epsilon_local=randomizer.checked_epsilon_local,
        theorem="blanket (Balle et al. 2019, Lemma 5.3)",
        assumptions=("one randomizer", *people_assumptions(n - corrupt, report_probability)),
    )


def lower_curve(
    randomizer: Randomizer, *, n: int, corrupt: int = 0, report_probability: float = 1.0
) -> Curve:
    """delta(epsilon) from below: the exact divergence for some datasets in which others are equal.

    No proof can give a smaller epsilon: these datasets are possible. For two values and two outputs
    and a small batch, every split of the others is tried as well.

    Direction: lower, rounded down.
    Reference: balle2019, Lemma 5.3 with R(c) as the law of the others, where it is an equality.
    """
    pairs = _hidden(_equal_others_laws(randomizer), n, corrupt, report_probability)
    theorem = "exact, others equal"
    others: tuple[PairFamily, ...] = ()
    binary = randomizer.report_format.bounds == (2,) and randomizer.channel().shape == (2, 2)
    if binary and report_probability == 1 and n - corrupt <= MOST_PEOPLE:
        (_, first), (_, second) = randomizer.channel().probabilities.tolist()
        if 0 < second < 1:
            others = (SplitOthers(first, second, n - corrupt),)
            theorem = "exact, worst split of the others"
    return Curve(
        pairs=pairs,
        direction=Direction.LOWER,
        epsilon_local=randomizer.checked_epsilon_local,
        theorem=theorem,
        assumptions=(
            "one randomizer",
            *people_assumptions(n - corrupt, report_probability, exactly=True),
        ),
        others=others,
    )


def local_curve(randomizer: Randomizer) -> Curve:
    """delta(epsilon) of one report whose sender is known: the guarantee without a shuffler."""
    pairs = [ShuffledPair.among(laws, 1) for laws in _blanket_laws(randomizer)]
    theorem = "exact, from the integers of the randomizer"
    if randomizer.varies_by_batch:
        theorem = "values that share no bucket, from the integers of the randomizer"
    return Curve(
        pairs=pairs,
        direction=Direction.UPPER,
        epsilon_local=randomizer.checked_epsilon_local,
        theorem=theorem,
        assumptions=("one report of this randomizer",),
    )


def _hidden(
    laws: Iterable[Laws], n: int, corrupt: int, report_probability: float
) -> list[ShuffledPair]:
    """The pairs of values, each among the honest others."""
    honest = honest_people(n, corrupt, report_probability)
    return [ShuffledPair.among(law, honest, report_probability=report_probability) for law in laws]


@_remembered
def _blanket_laws(randomizer: Randomizer) -> tuple[Laws, ...]:
    """(blanket, R(x0), R(x1)) for every ordered pair that may be the worst."""
    return tuple(_listed_blanket_laws(randomizer))


def _listed_blanket_laws(randomizer: Randomizer) -> Iterator[Laws]:
    pairs = randomizer.representative_pairs()
    if pairs is not None:
        for first, second in pairs:
            yield Laws.of(randomizer.likelihood_classes(first, second))
        return
    channel = randomizer.channel()
    rows = channel.probabilities
    blanket = rows.min(axis=0)
    total = channel.blanket_mass
    for first, second in _ordered_pairs(channel):
        yield Laws(blanket, rows[first], rows[second], total)


def _ordered_pairs(channel: Channel) -> Iterator[tuple[int, int]]:
    """All ordered pairs of rows; half of them if rotating the matrix changes nothing."""
    mirrored = bool((channel.weights == channel.weights[::-1, ::-1]).all())
    for first, second in permutations(range(channel.shape[0]), 2):
        if first < second or not mirrored:
            yield first, second


@_remembered
def _equal_others_laws(randomizer: Randomizer) -> tuple[Laws, ...]:
    """(R(c), R(x0), R(x1)) for the triples likely to have the largest divergence."""
    return tuple(_listed_equal_others_laws(randomizer))


def _listed_equal_others_laws(randomizer: Randomizer) -> Iterator[Laws]:
    pairs = randomizer.representative_pairs()
    if pairs is not None:
        classes = [
            randomizer.likelihood_classes(first, second, others=others)
            for first, second in pairs
            for others in randomizer.representative_others(first, second)
        ]
        for distinct in dict.fromkeys(classes):
            yield Laws.of(distinct)
        return
    rows = randomizer.channel().probabilities
    possible = rows.max(axis=0) > 0
    rows = rows[:, possible]
    floor = np.maximum(rows, 1e-300)
    ranked = []
    for first, second in permutations(range(len(rows)), 2):
        promise = ((rows[first] - rows[second]) ** 2 / floor).sum(axis=1)
        ranked += [(promise[others], first, second, others) for others in range(len(rows))]
    for _, first, second, others in sorted(ranked, reverse=True)[:_TRIPLES]:
        yield Laws(rows[others], rows[first], rows[second], Fraction(1))
