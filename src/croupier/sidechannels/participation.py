"""The remaining guarantee if the network sees who sends in which round, and how much."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

from croupier.accounting.amplify import proved_curve
from croupier.accounting.composition import (
    BoundedCurve,
    LogDeltas,
    LossDistribution,
    Rounds,
    least_epsilon,
    subsampled,
)
from croupier.accounting.curve import Curve
from croupier.accounting.sums.terms import Real
from croupier.errors import MissingExtraError, ParameterError, TooLargeError
from croupier.model.participation import Crowd, Participation
from croupier.model.randomizer import Randomizer
from croupier.numerics.rounding import float_above, float_below
from croupier.numerics.validate import require_delta
from croupier.randomizers.parallel import ParallelRandomizer
from croupier.randomizers.several import SeveralQuestions
from croupier.randomizers.together import TogetherRandomizer

__all__ = ["HIERARCHY_LENGTHS", "Observed", "Remaining", "remaining", "seen_crowds"]

HIERARCHY_LENGTHS = (Fraction(1, 7),) * 7
"""Seven equally likely lengths: a hierarchy over 64 points in time."""

_COARSE = 1e-4
"""Relative precision of delta if hundreds of points are needed; it errs upward."""


class Observed(StrEnum):
    """The view that the network, or a curious shuffler, has of every person."""

    NOTHING = "nothing"
    IN_OUT = "in-out"
    LENGTH = "in-out and length"


@dataclass(frozen=True)
class Remaining:
    """The remaining guarantee of one model under one attack.

    Attributes:
        model: The participation model.
        observed: The view of the attacker.
        population: The expected number of people among whom a person hides, in the smallest crowd.
        epsilon_upper: The bound on average over the crowds that the person's own coins decide.
        worst_epsilon_upper: The bound in the worst crowd, which a policy uses.
        theorem: The proof.
    """

    model: str
    observed: Observed
    population: float
    epsilon_upper: float
    worst_epsilon_upper: float
    theorem: str


def remaining(  # noqa: PLR0913 - keyword-only facts about one collection
    participation: Participation,
    *,
    n: int,
    delta: float,
    observed: Observed,
    randomizer: Randomizer | None = None,
    epsilon_local: float | None = None,
    lengths: Sequence[Fraction] = HIERARCHY_LENGTHS,
) -> Remaining:
    """The epsilon that is proved for a person, given what is seen of everybody.

    The view puts the person into a crowd c, with probability P_c, to which each of n_c people
    belongs with chance s_c. Whether somebody reports is decided by coins that do not depend on
    values, so a crowd is a batch with that report probability (thinning), and

        delta(epsilon) <= sum over c of P_c D(epsilon; n_c, s_c),

    the same with the largest D for the worst crowd. A length that is seen splits every crowd by its
    probability, unless all messages are padded. Subsampling repeats: unseen, the curve of a random
    share is composed over all rounds; seen, a person who took part in T of them, T ~ Bin(K, s/n),
    has a T-fold composition.

    Groups and bins are not random: for them, `epsilon_upper` too is for the worst.

    D is the blanket of `randomizer` if one common randomizer answers in one batch (for parallel
    questions, that of all questions together, since two values may differ in opposite directions);
    if rounds adapt, or lengths are seen, it is the bound by clones with its epsilon_local.

    Holds when rounds, lengths and bins do not depend on the value, people act independently, noise
    is fresh and the order inside a batch uniform.
    Direction: upper, rounded up.
    Reference: wang2025, Table I, with epsilon computed; the thinning identity replaces its
        expectations over crowd sizes.

    Args:
        participation: The model of who takes part in which round.
        n: The number of people.
        delta: The failure probability.
        observed: The view of the attacker.
        randomizer: The randomizer of every client, for every question.
        epsilon_local: Instead of `randomizer`: all that is known of the randomizers.
        lengths: The probabilities of the lengths of a message, the same for every value.

    Example:
        >>> from croupier.model.participation import Multinomial
        >>> rounds = Multinomial(weights=(1,) * 60)
        >>> facts = {"n": 60_000, "delta": 1e-5, "epsilon_local": 2.0}
        >>> for seen in (Observed.NOTHING, Observed.IN_OUT):
        ...     print(round(remaining(rounds, observed=seen, **facts).epsilon_upper, 4))
        0.0487
        0.4681
    """
    if (randomizer is None) == (epsilon_local is None):
        raise ParameterError("randomizer", must="be given, or `epsilon_local`, not both")
    require_delta(delta)
    observed = Observed(observed)
    if randomizer is None:
        answered = participation.rounds if participation.answers_all else 1
        local = float_above(answered * Fraction(epsilon_local or 0.0))
    else:
        whole = _of_a_batch(randomizer, participation) if participation.one_batch else randomizer
        local = whole.checked_epsilon_local
    lengths_seen = observed is Observed.LENGTH and not participation.padded
    clones = participation.adaptive or lengths_seen
    curves = _Curves(None if clones else _common(randomizer, participation), local)
    crowds = seen_crowds(participation, n=n, observed=observed, lengths=lengths)
    if participation.sampled:
        chance = participation.chance(n)
        average, worst = _repeated(
            curves,
            crowds,
            participation.rounds,
            chance,
            delta,
            seen=observed is not Observed.NOTHING,
        )
        least = n if observed is Observed.NOTHING else min(crowd.expected for crowd in crowds)
    else:
        average, worst = _once(curves, crowds, delta)
        least = min(crowd.expected for crowd in crowds)
    return Remaining(
        model=participation.model,
        observed=observed,
        population=float(least),
        epsilon_upper=average,
        worst_epsilon_upper=worst,
        theorem=curves.theorem,
    )


def _common(randomizer: Randomizer | None, participation: Participation) -> Randomizer | None:
    """The randomizer that everybody applies in one batch; None if only clones apply."""
    if randomizer is None:
        return None
    several = _of_a_batch(randomizer, participation)
    try:
        several.representative_pairs()
    except TooLargeError:
        return None
    return several


def _of_a_batch(randomizer: Randomizer, participation: Participation) -> Randomizer:
    """The randomizer of a report in one batch, if each question has this one."""
    if participation.rounds == 1 or isinstance(randomizer, SeveralQuestions):
        return randomizer
    queries = (randomizer,) * participation.rounds
    if participation.answers_all:
        return TogetherRandomizer(queries=queries)
    return ParallelRandomizer(queries=queries, weights=participation.question_weights)


def seen_crowds(
    participation: Participation,
    *,
    n: int,
    observed: Observed,
    lengths: Sequence[Fraction] = HIERARCHY_LENGTHS,
) -> tuple[Crowd, ...]:
    """The crowds in which a person hides, given the view; equal crowds of a group are merged.

    A length that is seen splits every crowd, unless all messages are padded.
    """
    observed = Observed(observed)
    crowds = participation.crowds(n, rounds_seen=observed is not Observed.NOTHING)
    chances = [Fraction(1)]
    if observed is Observed.LENGTH and not participation.padded:
        chances = _checked_lengths(lengths)
    kinds: dict[tuple[int, Fraction, int], Fraction] = {}
    for crowd in crowds:
        for chance in chances:
            kind = crowd.people, crowd.share * chance, crowd.group
            kinds[kind] = kinds.get(kind, Fraction(0)) + crowd.probability * chance
    return tuple(Crowd(probability, *kind) for kind, probability in kinds.items())


@dataclass(frozen=True)
class _Curves:
    """The proved curve of a crowd, by the blanket of a randomizer or by clones."""

    randomizer: Randomizer | None
    epsilon_local: float

    @property
    def theorem(self) -> str:
        """The proof."""
        return self(Crowd(Fraction(1), 1, Fraction(1))).theorem

    def __call__(self, crowd: Crowd) -> Curve:
        return _curve(self.randomizer, self.epsilon_local, crowd.people, float_below(crowd.share))


@lru_cache(maxsize=256)
def _curve(randomizer: Randomizer | None, local: float, people: int, share: float) -> Curve:
    known = None if randomizer is not None else local
    return proved_curve(randomizer, epsilon_local=known, n=people, report_probability=share)


def _once(curves: _Curves, crowds: Sequence[Crowd], delta: float) -> tuple[float, float]:
    """The average and the worst epsilon of a person who sends one report, in the worst group."""
    groups: dict[int, list[Crowd]] = {}
    for crowd in crowds:
        groups.setdefault(crowd.group, []).append(replace(crowd, group=0))
    kinds = {frozenset(group) for group in groups.values()}
    found = [_in_group(curves, sorted(kind, key=lambda c: c.share), delta) for kind in kinds]
    return max(average for average, _ in found), max(worst for _, worst in found)


def _in_group(curves: _Curves, crowds: Sequence[Crowd], delta: float) -> tuple[float, float]:
    parts = [(float_above(crowd.probability), curves(crowd)) for crowd in crowds]
    worst = max(curve.epsilon(delta) for _, curve in parts)
    if len(parts) == 1 and parts[0][0] >= 1:
        return worst, worst

    safe = min(worst, curves.epsilon_local)
    return least_epsilon(partial(_mixture, parts), delta, most=safe), worst


def _mixture(parts: Sequence[tuple[float, Curve]], epsilons: Real, *, rtol: float = 1e-6) -> Real:
    """Logarithms of the sum over crowds of probability times delta, rounded up."""
    deltas = [share * np.exp(curve.log_deltas(epsilons, rtol=rtol)) for share, curve in parts]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.sum(deltas, axis=0) * (1 + 1e-12)))


def _repeated(  # noqa: PLR0913 - facts about one cell
    curves: _Curves,
    crowds: tuple[Crowd, ...],
    rounds: int,
    chance: Fraction,
    delta: float,
    *,
    seen: bool,
) -> tuple[float, float]:
    """The average and the worst epsilon of a person who may be asked again in every round."""
    whole = sum((crowd.probability for crowd in crowds), Fraction(0))
    asked = tuple(Crowd(c.probability / whole, c.people, c.share) for c in crowds)
    share, local = float_above(chance), curves.epsilon_local
    law = _round_law(curves, asked, rounds, delta)
    if not seen:
        most = math.log1p(share * math.expm1(local)) * (1 + 1e-15)
        value = _composed(subsampled(law.log_deltas, share), most, rounds, delta)
        return value, value
    worst = max(
        _composed(_round_law(curves, (crowd,), rounds, delta).log_deltas, local, rounds, delta)
        for crowd in (Crowd(Fraction(1), c.people, c.share) for c in asked)
    )
    return min(worst, _mixed_rounds(law, rounds, share, delta)), worst


@lru_cache(maxsize=16)
def _round_law(
    curves: _Curves, asked: tuple[Crowd, ...], rounds: int, delta: float
) -> LossDistribution:
    """The privacy loss of one round in which the person takes part, over lengths that are seen."""
    parts = [(float_above(crowd.probability), curves(crowd)) for crowd in asked]
    return LossDistribution.dominating(
        partial(_mixture, parts, rtol=_COARSE),
        most=curves.epsilon_local,
        tail=1e-5 * delta / rounds,
    )


def _composed(log_deltas: LogDeltas, most: float, rounds: int, delta: float) -> float:
    """The epsilon of this number of rounds."""
    return Rounds(BoundedCurve(lambda epsilons, _: log_deltas(epsilons), most), rounds).epsilon(
        delta
    )


def _mixed_rounds(law: LossDistribution, rounds: int, share: float, delta: float) -> float:
    """The epsilon of T rounds, T ~ Bin(rounds, share), on average over T; infinite if unknown."""
    times = _binomial(rounds, share)
    negligible = delta / (100 * (rounds + 1))
    kept = [t for t in range(1, rounds + 1) if times[t] > negligible]
    # Numbers of rounds that are very rare count as a full loss.
    lost = math.fsum(times[t] for t in range(1, rounds + 1) if times[t] <= negligible)
    try:
        losses = [law.after(t) for t in kept]
    except MissingExtraError:
        return math.inf

    def log_deltas(epsilons: Real) -> Real:
        spent = [times[t] * loss.deltas(epsilons) for t, loss in zip(kept, losses, strict=True)]
        return np.asarray(np.log((lost + np.sum(spent, axis=0)) * (1 + 1e-12)))

    most = max([1, *kept]) * law.step * len(law.masses) * (1 + 1e-12)
    if float(log_deltas(np.array([most]))[0]) > math.log(delta):
        return math.inf
    return least_epsilon(log_deltas, delta, most=most)


def _binomial(rounds: int, share: float) -> list[float]:
    """P(Bin(rounds, share) = t), rounded up a little."""
    if share >= 1:
        return [0.0] * rounds + [1.0]
    logarithms = [
        math.lgamma(rounds + 1)
        - math.lgamma(t + 1)
        - math.lgamma(rounds - t + 1)
        + t * math.log(share)
        + (rounds - t) * math.log1p(-share)
        for t in range(rounds + 1)
    ]
    slack = 1e-15 * (10 + rounds * math.log(rounds + 2))
    return [math.exp(logarithm + slack) for logarithm in logarithms]


def _checked_lengths(lengths: Sequence[Fraction]) -> list[Fraction]:
    try:
        chances = [Fraction(chance) for chance in lengths]
    except (TypeError, ValueError, OverflowError):
        raise ParameterError("lengths", must="be probabilities") from None
    total = sum(chances, Fraction(0))
    if any(chance <= 0 for chance in chances) or abs(float(total) - 1) > 1e-9:
        raise ParameterError("lengths", must="be positive probabilities that sum to 1")
    return [chance / total for chance in chances]
