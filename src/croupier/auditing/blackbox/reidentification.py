"""Re-identification from samples: how often a held-out attack finds one report among n."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.blackbox.samples import (
    Outputs,
    bernstein_lower,
    check_confidence,
    check_support,
    chernoff_lower,
    halves,
    mixer,
    neighbours,
    read_outputs,
    subsets_logarithm,
)
from croupier.errors import ParameterError
from croupier.leakage.likelihood_ratio import (
    LikelihoodRatio,
    chance_unrivalled,
    chance_unrivalled_between,
)
from croupier.model.adversary import Adversary, Goal, View
from croupier.model.evidence import Evidence
from croupier.model.guarantee import Direction
from croupier.model.metric import Metric
from croupier.numerics.columns import read_column
from croupier.numerics.intervals import clopper_pearson
from croupier.numerics.keystream import Keystream
from croupier.numerics.validate import number_of_people, whole_number

__all__ = ["SampledReidentification", "finding_among_law", "finding_among_samples"]
__all__ += ["sampled_reidentification"]

Real = NDArray[np.float64]
Score = Callable[[NDArray[Any]], Real]
Method = Literal["chernoff", "empirical bernstein", "threshold", "frequencies"]
_Bound = tuple[Method, float, float]

_ROUNDING = 1e-12
_READER = Adversary(sees=frozenset({View.BATCH}), wants=Goal.LINK)
_MOST_PEOPLE = 10**9
_LAW_ERROR = 1e-9
"""The most that a law may lack of 1 by rounding; the missing part counts against the attack."""


@dataclass(frozen=True, kw_only=True)
class SampledReidentification:
    """The measured re-identification, and the method of its lower end.

    Attributes:
        evidence: The interval.
        method: "chernoff" and "empirical bernstein" rank the outputs by a score, "threshold" tells
            high scores from low ones only, "frequencies" is the two-sided interval.
    """

    evidence: Evidence
    method: Method


def finding_among_law(above: Real, tied: Real, n: int) -> Real:
    """Return the chance that a report outscores n - 1 decoys of a known law; ties are random.

        h = [G^n - (G - g)^n] / (n g),    G = 1 - above,    g = tied;    G^(n-1) where g = 0.

    Args:
        above: The probability that a decoy scores higher than the report.
        tied: The probability that a decoy scores the same.
        n: The number of reports, the one included.

    Direction: exact up to rounding, also where n g is tiny.

    >>> finding_among_law(np.array([0.5]), np.array([0.25]), 3)
    array([0.14583333])
    """
    shared = chance_unrivalled_between(above, tied, n=n, guesses=1)
    alone = chance_unrivalled(above, n=n, guesses=1)
    return np.divide(shared, tied, out=alone, where=tied > 0)


def finding_among_samples(
    above: NDArray[np.int64], tied: NDArray[np.int64], decoys: int, n: int
) -> Real:
    """Return the same among n - 1 decoys drawn from a sample of N = `decoys` without replacement.

        h = [C(N-r+1, n) - C(N-r-e, n)] / ((e+1) C(N, n-1)),    r = above,    e = tied,

    is the mean of C(i, n-1)/C(N, n-1) over i = N-r-e, …, N-r, and is computed as such: no term is
    negative, none overflows.

    >>> finding_among_samples(np.array([3]), np.array([3]), 7, 3) * 42
    array([5.])
    """
    n = number_of_people("n", n, least=2, most=decoys + 1)
    counts = np.arange(n, decoys + 1, dtype=np.float64)
    steps = np.log1p(-(n - 1) / counts)
    chosen = np.zeros(decoys + 2)
    chosen[n - 1 : decoys + 1] = np.exp(np.append(np.cumsum(steps[::-1])[::-1], 0.0))
    ranks, place = np.unique(np.stack([above, tied], axis=1), axis=0, return_inverse=True)
    high = decoys - ranks[:, 0]
    ends = np.stack([high - ranks[:, 1], high + 1], axis=1).reshape(-1)
    sums = np.add.reduceat(chosen, ends)[::2]
    return np.asarray((sums / (ranks[:, 1] + 1))[place.reshape(-1)])


def sampled_reidentification(  # noqa: PLR0913 - keyword-only facts about one measurement
    targets: Any,
    decoys: Any,
    *,
    n: int,
    confidence: float = 0.95,
    score: Callable[[Any], Any] | None = None,
    split: float = 0.5,
    rng: Keystream | None = None,
    insecure_seed: int | None = None,
    direction: Direction = Direction.LOWER,
    support_size: int | None = None,
    adversary: Adversary = _READER,
) -> SampledReidentification:
    """Bound the probability beta_n of finding a report of law P among n - 1 of law Q, from below.

    On a first part of the samples a score is learned; on the rest, the attack that names the
    highest score is measured. No attack beats beta_n, so a lower bound of its success is one of
    beta_n.

    Q known (a mapping): each held-out target's chance h (`finding_among_law`) is an independent
    number in [0, 1] of mean at most beta_n: bounded by Chernoff or empirical Bernstein.

    Q sampled: each held-out target's h among the held-out decoys (`finding_among_samples`). The
    decoys are shared, so these h are not independent; but their mean, of T targets and N decoys, is
    the average over all orders of the samples of the mean of K = min(T, floor(N/(n-1))) games with
    targets and decoys of their own. The exponential is convex, so Chernoff's bound for K
    independent games holds for it. Where K is small, a threshold is better: with p and q the
    chances that a target and a decoy score above it, naming a random one of the high ones finds

        p (1 - (1-q)^n)/(n q) + (1-p) (1-q)^(n-1)/n,

    which rises in p and falls in q: Clopper and Pearson's ends for both, each at half the error.

    All choices (the score, the threshold, the kind of bound) are made on the first part, so that
    one bound is computed on the rest.

    An upper end below 1 needs `support_size`: with F the frequencies of all samples,

        |beta_n(P, Q) - beta_n(F_P, F_Q)| <= TV(P, F_P) + 1 - (1 - TV(Q, F_Q))^(n-1),

    TV(P, F_P) <= sqrt(ln((2^m - 2)/error)/(2T)) for m possible outputs. From above, the first term
    is sqrt(ln(1/error)/(2T)): the true best attack is one attack, and the frequencies' best can
    only do better on them. The errors of these three inequalities (two if Q is known) are equal.

    Args:
        targets: Samples of the output whose sender is sought: categories or numbers.
        decoys: Samples of what the others send, or their law: the probability of every output.
        n: The number of reports among which the one is sought.
        confidence: The coverage of the interval, at least 0.75.
        score: Higher for outputs that look like a target's; fixed before these samples were seen.
            Called with an array of outputs. If not given, one is learned from the first part.
        split: The share of the samples on which choices are made.
        rng: Mixes the samples before they are split by position; else they are taken to be in the
            order drawn.
        insecure_seed: The same, repeatably.
        direction: The side on which a bound is needed. Above needs `support_size`.
        support_size: The largest number of possible outputs. All samples then count; nothing is
            split, no score is used.
        adversary: The player of this game.

    Holds when targets and decoys are independent draws of one law each.
    Direction: lower by default; two-sided with `support_size`.
    Reference: hoeffding1963, Theorems 1 and 2 and section 5; maurer2009; clopper1934; su2025.

    Example:
        >>> found = sampled_reidentification([1, 1, 0, 1] * 500, {0: 0.75, 1: 0.25}, n=5)
        >>> round(found.evidence.measured, 3), round(found.evidence.lower, 3)
        (0.473, 0.444)
    """
    check_confidence(confidence)
    n = number_of_people("n", n, least=2, most=_MOST_PEOPLE)
    if direction is not Direction.LOWER and support_size is None:
        raise ParameterError(
            "support_size",
            must="be given to bound re-identification from above",
            hint="Outputs that do not repeat look as if only one person sent them, so an upper "
            "bound needs a limit on how many are possible. A limit M of the likelihood ratio "
            "gives one without samples: (M/n)(1 - (1 - 1/M)^n).",
        )
    if support_size is not None:
        return _finite(targets, decoys, n, confidence, support_size, adversary)
    parts = _parts(targets, decoys, score=score, split=split, rng=mixer(rng, insecure_seed))
    found = _against_law if isinstance(decoys, Mapping) else _against_samples
    method, value, lower = found(*parts, n, confidence)
    evidence = Evidence(
        metric=Metric.REIDENTIFICATION,
        measured=min(1.0, max(value, lower)),
        lower=lower,
        upper=1.0,
        confidence=confidence,
        adversary=adversary,
        games=len(parts[1].targets),
    )
    return SampledReidentification(evidence=evidence, method=method)


@dataclass(frozen=True)
class _Half:
    """Scores of targets, and of decoys with the probability of each if their law is known."""

    targets: Real
    decoys: Real
    law: Real | None = None


def _parts(
    targets: Any,
    decoys: Any,
    *,
    score: Callable[[Any], Any] | None,
    split: float,
    rng: np.random.Generator | None,
) -> tuple[_Half, _Half]:
    """Return scores for choosing a bound and scores for computing it."""
    if isinstance(decoys, Mapping):
        together, law = _with_law(targets, decoys)
        labels = np.arange(len(law))
        only_targets = together.chosen(0)
        learning, rest = only_targets.split(split, rng)
        if score is None:
            fitting, learning = halves(learning)
            counts = np.bincount(fitting.samples[0], minlength=len(law))
            with np.errstate(divide="ignore", invalid="ignore"):
                table = np.where(law > 0, counts / law, math.inf)
        else:
            table = _scores(score, read_column(list(together.labels or ())), len(law))
        choice, final = (
            _Half(table[part.samples[0]], table[labels], law) for part in (learning, rest)
        )
        return choice, final
    if score is not None:
        columns = [read_column(sample) for sample in (targets, decoys)]
        scored = [_scores(score, column, len(column)).reshape(-1, 1) for column in columns]
        learning, rest = Outputs(("targets", "decoys"), tuple(scored), None).split(split, rng)
        choice, final = (_Half(*(x[:, 0] for x in part.samples)) for part in (learning, rest))
        return choice, final
    learning, rest = read_outputs({"targets": targets, "decoys": decoys}).split(split, rng)
    fitting, learning = halves(learning)
    learned = _learned_score(fitting)
    choice, final = (_Half(*map(learned, part.samples)) for part in (learning, rest))
    return choice, final


def _with_law(targets: Any, decoys: Mapping[Any, float]) -> tuple[Outputs, Real]:
    """Return the targets coded with the outputs of a law, and the probability of each code."""
    together = read_outputs({"targets": targets, "decoys": list(decoys)}, as_categories=True)
    given = np.array([float(probability) for probability in decoys.values()])
    if not (given >= 0).all() or abs(math.fsum(given) - 1) > _LAW_ERROR:
        raise ParameterError("decoys", must="have probabilities that sum to 1")
    size = len(together.labels or ())
    return together, _sums(together.samples[1], given, size)


def _sums(codes: NDArray[Any], weights: Real, size: int) -> Real:
    return np.asarray(np.bincount(codes, weights, minlength=size), dtype=np.float64)


def _scores(score: Callable[[Any], Any], outputs: NDArray[Any], size: int) -> Real:
    found = np.asarray(score(outputs), dtype=np.float64)
    if found.shape != (size,) or np.isnan(found).any():
        raise ParameterError("score", must="return one number for every output")
    return found


def _learned_score(fitting: Outputs) -> Score:
    """Return how much more often an output came from the target; by neighbours for numbers."""
    if fitting.labels is not None:
        target, decoy = (
            (np.bincount(sample, minlength=len(fitting.labels)) + 0.5) / (len(sample) + 0.5)
            for sample in fitting.samples
        )
        ratio = target / decoy
        return lambda codes: np.asarray(ratio[codes])
    points = np.concatenate(fitting.samples)
    is_target = np.repeat([1.0, 0.0], [len(sample) for sample in fitting.samples])
    return lambda rows: np.asarray(is_target[neighbours(points, rows)].sum(axis=1))


def _against_law(choice: _Half, final: _Half, n: int, confidence: float) -> _Bound:
    chosen, found = (_law_chances(part, n) for part in (choice, final))
    trials = len(found)
    if min(trials, len(chosen)) > 1:
        mean, variance = float(chosen.mean()), float(chosen.var(ddof=1))
        if bernstein_lower(mean, variance, trials, confidence) > chernoff_lower(
            mean, trials, confidence
        ):
            mean, variance = float(found.mean()), float(found.var(ddof=1))
            lower = bernstein_lower(mean, variance, trials, confidence)
            return "empirical bernstein", mean, lower
    mean = float(found.mean())
    return "chernoff", mean, chernoff_lower(mean, trials, confidence)


def _law_chances(part: _Half, n: int) -> Real:
    """Return every target's chance; what a law lacks of 1 counts as scoring above everything."""
    law = np.array([1.0]) if part.law is None else part.law
    levels, place = np.unique(part.decoys, return_inverse=True)
    mass = _sums(place, law, len(levels))
    above = np.append(np.cumsum(mass[::-1])[::-1][1:], 0.0) + abs(1 - math.fsum(law))
    at = np.searchsorted(levels, part.targets)
    return finding_among_law(np.minimum(1.0, above), mass, n)[at]


def _against_samples(choice: _Half, final: _Half, n: int, confidence: float) -> _Bound:
    targets, decoys = len(final.targets), len(final.decoys)
    games = min(targets, decoys // (n - 1))
    threshold, promise = _best_threshold(choice, targets, decoys, n, confidence)
    if games and len(choice.decoys) >= n - 1:
        expected = float(_sample_chances(choice, n).mean())
        if chernoff_lower(expected, games, confidence) >= promise:
            mean = float(_sample_chances(final, n).mean())
            return "chernoff", mean, chernoff_lower(mean, games, confidence)
    hits, misses = (int((part >= threshold).sum()) for part in (final.targets, final.decoys))
    target = clopper_pearson(hits, targets, confidence=confidence).lower
    decoy = clopper_pearson(misses, decoys, confidence=confidence).upper
    measured = _found_above(np.array([hits / targets]), np.array([misses / decoys]), n)
    lower = _found_above(np.array([target]), np.array([decoy]), n)
    return "threshold", float(measured[0]), float(lower[0]) * (1 - _ROUNDING)


def _sample_chances(part: _Half, n: int) -> Real:
    ordered = np.sort(part.decoys)
    right = np.searchsorted(ordered, part.targets, side="right")
    tied = right - np.searchsorted(ordered, part.targets, side="left")
    return finding_among_samples(len(ordered) - right, tied, len(ordered), n)


def _best_threshold(
    choice: _Half, targets: int, decoys: int, n: int, confidence: float
) -> tuple[float, float]:
    """Return the threshold that promises the highest lower bound, and roughly that bound."""
    levels = np.unique(choice.targets)
    p = 1 - np.searchsorted(np.sort(choice.targets), levels) / len(choice.targets)
    q = 1 - np.searchsorted(np.sort(choice.decoys), levels) / len(choice.decoys)
    needed = -math.log1p(-confidence)
    low = p - np.sqrt(2 * p * (1 - p) * needed / targets) - needed / targets
    high = q + np.sqrt(2 * q * (1 - q) * needed / decoys) + needed / decoys
    promised = _found_above(np.maximum(0, low), np.minimum(1, high), n)
    best = int(promised.argmax())
    return float(levels[best]), float(promised[best])


def _found_above(p: Real, q: Real, n: int) -> Real:
    """Return the success of naming at random one above a threshold, or anybody if there is none."""
    high = finding_among_law(np.zeros_like(q), q, n)
    return np.asarray(p * high + (1 - p) * finding_among_law(q, 1 - q, n))


def _finite(  # noqa: PLR0913, PLR0917 - as the caller
    targets: Any,
    decoys: Any,
    n: int,
    confidence: float,
    support_size: int,
    adversary: Adversary,
) -> SampledReidentification:
    """Return both ends, from the frequencies of all samples."""
    support_size = whole_number("support_size", support_size, least=1)
    known = isinstance(decoys, Mapping)
    if known:
        found, law = _with_law(targets, decoys)
        counts = found.chosen(0).frequencies()[0]
    else:
        found = read_outputs({"targets": targets, "decoys": decoys}, as_categories=True)
        counts, law = found.frequencies()
    check_support(int(((counts > 0) | (law > 0)).sum()), support_size)
    value = LikelihoodRatio.of(counts, law).probability(n=n)
    error = math.log(2 if known else 3) - math.log1p(-confidence)
    sets = max(0.0, subsets_logarithm(support_size) + error)
    sizes = [len(sample) for sample in found.samples]
    moved = 0.0 if known else min(1.0, math.sqrt(sets / (2 * sizes[1])))
    decoy_term = 1 - (1 - moved) ** (n - 1)
    evidence = Evidence(
        metric=Metric.REIDENTIFICATION,
        measured=value,
        lower=max(0.0, value - math.sqrt(sets / (2 * sizes[0])) - decoy_term - _ROUNDING),
        upper=min(1.0, value + math.sqrt(error / (2 * sizes[0])) + decoy_term + _ROUNDING),
        confidence=confidence,
        adversary=adversary,
        games=sizes[0],
    )
    return SampledReidentification(evidence=evidence, method="frequencies")
