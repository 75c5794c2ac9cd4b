"""Bayes security of a black box, from samples of its outputs."""

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.blackbox.samples import (
    Outputs,
    check_confidence,
    check_support,
    halves,
    mixer,
    neighbours,
    read_outputs,
    stratified_lower,
    subsets_logarithm,
)
from croupier.errors import ParameterError
from croupier.model.adversary import Adversary, Knowledge, View
from croupier.model.evidence import Evidence
from croupier.model.guarantee import Direction
from croupier.model.metric import Metric
from croupier.numerics.intervals import clopper_pearson
from croupier.numerics.keystream import Keystream
from croupier.numerics.validate import whole_number

__all__ = ["SampledBayesSecurity", "sampled_bayes_security"]

Event = frozenset[Any] | tuple[float, float] | None
"""A set of outputs by its members, by its ends, or (for nearest neighbours) without a name."""

Inside = NDArray[np.bool_]
"""A function that marks the samples of an input that lie in a set of outputs."""

_ROUNDING = 1e-15
_READER = Adversary(sees=frozenset({View.REPORTS}), knows=Knowledge.NOTHING)


@dataclass(frozen=True, kw_only=True)
class SampledBayesSecurity:
    """The measured Bayes security, and the set it was measured with.

    Attributes:
        evidence: The interval.
        pair: The two inputs that were told apart.
        witness: The outputs that speak for the first of the pair: a set of categories, or the
            numbers above the first and up to the second end; None if they have no short name.
    """

    evidence: Evidence
    pair: tuple[Hashable, Hashable]
    witness: Event


@dataclass(frozen=True)
class _OutputSet:
    """A set of outputs that speak for the first of two inputs, or for the second if `swapped`."""

    holds: Callable[[NDArray[Any]], NDArray[np.bool_]]
    witness: Event
    swapped: bool = False


def sampled_bayes_security(  # noqa: PLR0913 - keyword-only facts about one measurement
    outputs: Mapping[Hashable, Any],
    *,
    confidence: float = 0.95,
    split: float = 0.5,
    rng: Keystream | None = None,
    insecure_seed: int | None = None,
    direction: Direction = Direction.UPPER,
    support_size: int | None = None,
    adversary: Adversary = _READER,
) -> SampledBayesSecurity:
    """Measure Bayes security from samples of a channel: 1 - max over inputs a, b of TV(C_a, C_b).

    A first part of the samples chooses a pair a, b and a set B of outputs; on the rest

        security <= 1 - (C_a(B) - C_b(B)) <= 1 - lower(C_a(B)) + upper(C_b(B)),

    with the ends of Clopper and Pearson, each one-sided at half the error; or, with as many samples
    of a as of b, 2 - 2 lower((C_a(B) + 1 - C_b(B))/2) by one interval for how often B is right.
    The former is sharper for rare outputs, the latter for common ones; the first part decides.

    B holds the categories more frequent from a; for numbers, the interval in which a is most ahead
    of b; for rows of numbers, the points most of whose nearest neighbours came from a.

    That bounds security from above only: the lower end is 0, since outputs that never repeat look
    as if they revealed everything. If at most m = `support_size` outputs are possible, both ends
    come from the frequencies F of all samples. With N samples of an input and V = 1/N_a + 1/N_b,

        lower = 1 - max over a, b of [TV(F_a, F_b) + sqrt(V ln(2/error)/2)]
        upper = 1 - max over a, b of [TV(F_a, F_b) - sqrt(V ln((2^m - 2) 2 pairs/error)/2)],

    where error = 1 - confidence. The first needs one inequality of Hoeffding, for the true best
    pair and set, which the frequencies' best can only exceed; the second one for each pair and set.

    Args:
        outputs: For every input, samples of the output: categories or numbers. Independent and
            in the order drawn, or mixed by `rng`.
        confidence: The coverage of the interval, at least 0.75.
        split: The share of the samples on which the pair and the set are chosen.
        rng: Mixes the samples before they are split by position.
        insecure_seed: The same, repeatably.
        direction: The side on which a bound is needed. Below needs `support_size`.
        support_size: The largest number of possible outputs. All samples then count; nothing is
            split.
        adversary: The observer of such outputs; by default, one who sees one report and its sender.

    Holds when each input's samples are independent draws of one law.
    Direction: upper by default; two-sided with `support_size`.
    Reference: clopper1934; hoeffding1963, Theorem 2; chatzikokolakis2023, Theorem 2.

    Example:
        >>> samples = {"no": [0] * 80 + [1] * 20, "yes": [1] * 90 + [0] * 10}
        >>> found = sampled_bayes_security(samples, insecure_seed=1)
        >>> found.evidence.lower, round(found.evidence.upper, 3)
        (0.0, 0.488)
        >>> sorted(found.witness)
        [0]
    """
    check_confidence(confidence)
    if support_size is not None:
        return _finite(outputs, confidence, support_size, adversary)
    if direction is not Direction.UPPER:
        raise ParameterError(
            "support_size",
            must="be given to bound Bayes security from below",
            hint="Outputs that do not repeat look as if they told the input, so a lower bound "
            "needs a limit on how many outputs are possible.",
        )
    learning, rest = read_outputs(outputs).split(split, mixer(rng, insecure_seed))
    first, second = _farthest_pair(learning)
    chosen = _output_set(learning.chosen(first, second))
    if chosen.swapped:
        first, second = second, first
    learned = (chosen.holds(learning.samples[first]), chosen.holds(learning.samples[second]))
    held_out = (chosen.holds(rest.samples[first]), chosen.holds(rest.samples[second]))
    bound = min((_apart, _together), key=lambda kind: kind(learned, confidence)[1])
    measured, upper, games = bound(held_out, confidence)
    evidence = Evidence(
        metric=Metric.BAYES_SECURITY,
        measured=min(measured, upper),
        lower=0.0,
        upper=upper,
        confidence=confidence,
        adversary=adversary,
        games=games,
    )
    pair = (rest.inputs[first], rest.inputs[second])
    return SampledBayesSecurity(evidence=evidence, pair=pair, witness=chosen.witness)


def _apart(inside: tuple[Inside, Inside], confidence: float) -> tuple[float, float, int]:
    """Return security, its upper end and the number of samples, by one interval per input."""
    first, second = inside
    hits, wrong = int(first.sum()), int(second.sum())
    lower = clopper_pearson(hits, len(first), confidence=confidence).lower
    upper = clopper_pearson(wrong, len(second), confidence=confidence).upper
    measured = 1 - hits / len(first) + wrong / len(second)
    return measured, min(1.0, 1 - lower + upper + _ROUNDING), len(first) + len(second)


def _together(inside: tuple[Inside, Inside], confidence: float) -> tuple[float, float, int]:
    """Return the same by one interval for how often the set is right, equally often for both."""
    first, second = inside
    size = min(len(first), len(second))
    right = int(first[:size].sum()) + size - int(second[:size].sum())
    lower = stratified_lower(right, 2 * size, confidence)
    return 2 - right / size, min(1.0, 2 - 2 * lower + _ROUNDING), 2 * size


def _finite(
    outputs: Mapping[Hashable, Any], confidence: float, support_size: int, adversary: Adversary
) -> SampledBayesSecurity:
    """Return both ends, from the frequencies of all samples."""
    support_size = whole_number("support_size", support_size, least=1)
    found = read_outputs(outputs, as_categories=True)
    shares = found.frequencies()
    check_support(shares.shape[1], support_size)
    sizes = [len(sample) for sample in found.samples]
    pairs = list(combinations(range(len(sizes)), 2))
    half = math.log(2) - math.log1p(-confidence)
    sets = max(0.0, subsets_logarithm(support_size) + math.log(len(pairs)) + half)
    ahead = [np.maximum(0, shares[a] - shares[b]) for a, b in pairs]
    distances = np.array([row.sum() for row in ahead])
    spread = np.array([1 / sizes[a] + 1 / sizes[b] for a, b in pairs])
    best = int(distances.argmax())
    lower = 1 - float((distances + np.sqrt(spread * half / 2)).max()) - _ROUNDING
    upper = 1 - float((distances - np.sqrt(spread * sets / 2)).max()) + _ROUNDING
    evidence = Evidence(
        metric=Metric.BAYES_SECURITY,
        measured=min(1.0, max(0.0, 1 - float(distances[best]))),
        lower=max(0.0, lower),
        upper=min(1.0, upper),
        confidence=confidence,
        adversary=adversary,
        games=sum(sizes),
    )
    first, second = (found.inputs[x] for x in pairs[best])
    members = _named(found, ahead[best] > 0)
    return SampledBayesSecurity(evidence=evidence, pair=(first, second), witness=members)


def _farthest_pair(learning: Outputs) -> tuple[int, int]:
    """Return the pair that a set chosen on one half tells apart best on the other."""
    if len(learning.inputs) == 2:
        return 0, 1
    half, check = halves(learning)

    def difference(pair: tuple[int, int]) -> float:
        chosen = _output_set(half.chosen(*pair))
        first, second = (float(chosen.holds(check.samples[x]).mean()) for x in pair)
        return second - first if chosen.swapped else first - second

    return max(combinations(range(len(learning.inputs)), 2), key=difference)


def _output_set(pair: Outputs) -> _OutputSet:
    if pair.labels is not None:
        first, second = pair.frequencies()
        member = first > second
        return _OutputSet(lambda codes: member[codes], _named(pair, member))
    if pair.samples[0].shape[1] == 1:
        return _best_interval(pair.samples[0][:, 0], pair.samples[1][:, 0])
    return _nearest(pair)


def _named(outputs: Outputs, member: NDArray[np.bool_]) -> frozenset[Any]:
    labels = outputs.labels or ()
    return frozenset(label for label, inside in zip(labels, member, strict=True) if inside)


def _best_interval(first: NDArray[Any], second: NDArray[Any]) -> _OutputSet:
    """Return the half-line or interval with the largest difference of the two empirical laws.

    The difference of the distribution functions starts and ends at 0; between its least and its
    greatest value lies the interval.
    """
    cuts = np.unique(np.concatenate([first, second]))
    ahead = np.searchsorted(np.sort(first), cuts, side="right") / len(first)
    ahead -= np.searchsorted(np.sort(second), cuts, side="right") / len(second)
    ahead = np.concatenate([[0.0], ahead])
    edges = np.concatenate([[-math.inf], cuts[:-1], [math.inf]])
    least, greatest = int(ahead.argmin()), int(ahead.argmax())
    low, high = (float(edges[x]) for x in sorted((least, greatest)))
    return _OutputSet(
        lambda points: (points[:, 0] > low) & (points[:, 0] <= high),
        (low, high),
        swapped=least > greatest,
    )


def _nearest(pair: Outputs) -> _OutputSet:
    points = np.concatenate(pair.samples)
    sizes = [len(sample) for sample in pair.samples]
    vote = np.repeat([1 / sizes[0], -1 / sizes[1]], sizes)
    return _OutputSet(lambda rows: vote[neighbours(points, rows)].sum(axis=1) > 0, None)
