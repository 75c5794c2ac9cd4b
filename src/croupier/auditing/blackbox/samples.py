"""Samples of a black box: reading, splitting and bounding them."""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.errors import CroupierError, DataError, ParameterError
from croupier.numerics.bisection import bisect_safe
from croupier.numerics.columns import read_column
from croupier.numerics.intervals import clopper_pearson, empirical_bernstein
from croupier.numerics.keystream import Keystream, generator

__all__ = ["Outputs", "bernstein_lower", "binomial_lower", "binomial_upper", "chernoff_lower"]
__all__ += ["check_confidence", "check_support", "halves", "mixer", "neighbours", "read_outputs"]
__all__ += ["stratified_lower", "subsets_logarithm"]

Array = NDArray[Any]

_ROUNDING = 1e-12
"""Relative allowance for a few dozen roundings and for the logarithms of the platform."""


@dataclass(frozen=True)
class Outputs:
    """Samples of outputs, one array per input: codes of categories, or points as rows.

    Attributes:
        inputs: The names of the inputs.
        samples: For each input, its outputs in the order in which they were drawn.
        labels: The meaning of each code; None for points.
    """

    inputs: tuple[Hashable, ...]
    samples: tuple[Array, ...]
    labels: tuple[Any, ...] | None

    def split(self, share: float, rng: np.random.Generator | None) -> tuple["Outputs", "Outputs"]:
        """Return the first `share` of every input's samples and the rest, both with one or more."""
        if not 0 < share < 1:
            raise ParameterError("split", must="be in (0, 1)", got=share, hint="Try 0.5.")
        samples = self.samples
        if min(map(len, samples)) < 2:
            raise ParameterError("outputs", must="hold two or more samples of every input")
        if rng is not None:
            samples = tuple(rng.permutation(sample) for sample in samples)
        cuts = [min(max(1, round(share * len(sample))), len(sample) - 1) for sample in samples]
        return (
            self.with_samples(sample[:cut] for sample, cut in zip(samples, cuts, strict=True)),
            self.with_samples(sample[cut:] for sample, cut in zip(samples, cuts, strict=True)),
        )

    def with_samples(self, samples: Any) -> "Outputs":
        """Return other samples of the same inputs."""
        return Outputs(self.inputs, tuple(samples), self.labels)

    def chosen(self, *positions: int) -> "Outputs":
        """Return some of the inputs only."""
        return Outputs(
            tuple(self.inputs[position] for position in positions),
            tuple(self.samples[position] for position in positions),
            self.labels,
        )

    def frequencies(self) -> NDArray[np.float64]:
        """Return how often each category came from each input, as shares: one row per input."""
        size = len(self.labels or ())
        return np.array(
            [np.bincount(sample, minlength=size) / len(sample) for sample in self.samples]
        )


def halves(learning: Outputs) -> tuple[Outputs, Outputs]:
    """Return two halves of the samples on which choices are made; all twice if there is one."""
    if min(map(len, learning.samples)) < 2:
        return learning, learning
    return learning.split(0.5, None)


def mixer(rng: Keystream | None, insecure_seed: int | None) -> np.random.Generator | None:
    """Return the generator that mixes samples before the split; None if they keep their order."""
    kept = rng is None and insecure_seed is None
    return None if kept else generator(rng, insecure_seed)


def read_outputs(
    outputs: Mapping[Hashable, Any], *, least: int = 2, as_categories: bool = False
) -> Outputs:
    """Read lists, arrays or columns of outputs, coded alike for all inputs.

    Floating-point numbers, or rows of them, become points; everything else becomes categories, a
    row of several entries being one category.

    Args:
        outputs: The samples of every input.
        least: The least number of inputs.
        as_categories: True if floating-point numbers are categories too.
    """
    if len(outputs) < least:
        raise ParameterError("outputs", must=f"map {least} or more inputs to samples of outputs")
    columns = [_column(sample) for sample in outputs.values()]
    if any(column.dtype == object and column.ndim == 1 for column in columns):
        columns = [_tuples(column) if column.ndim == 2 else column for column in columns]
    if any(column.ndim not in (1, 2) or not len(column) for column in columns):
        raise ParameterError("outputs", must="hold one or more samples of every input")
    if len({column.shape[1:] for column in columns}) > 1:
        raise ParameterError("outputs", must="have as many entries per sample for every input")
    ends = np.cumsum([len(column) for column in columns])[:-1]
    numeric = all(column.dtype.kind in "iubf" for column in columns)
    together = np.concatenate([column if numeric else column.astype(object) for column in columns])
    labels: tuple[Any, ...] | None = None
    if numeric and together.dtype.kind == "f" and not as_categories:
        together = _points(together)
    else:
        together, labels = _codes(together)
    return Outputs(tuple(outputs), tuple(np.split(together, ends)), labels)


def _column(sample: Any) -> Array:
    try:
        return read_column(sample)
    except CroupierError:
        raise
    except ValueError:  # rows of different lengths
        return _objects(list(sample))


def _tuples(rows: Array) -> Array:
    return _objects([tuple(row) for row in rows.tolist()])


def _objects(entries: list[Any]) -> Array:
    column = np.empty(len(entries), dtype=object)
    for position, entry in enumerate(entries):
        column[position] = entry
    return column


def _points(numbers: Array) -> Array:
    infinite = int(np.count_nonzero(~np.isfinite(numbers)))
    if infinite:
        raise DataError(
            infinite, "outputs are not finite numbers", hint="Give them as categories (text)."
        )
    return numbers.reshape(len(numbers), -1)


def _codes(entries: Array) -> tuple[Array, tuple[Any, ...]]:
    if entries.dtype != object:
        found, codes = np.unique(entries, axis=0, return_inverse=True)
        listed = found.tolist()
        return codes.reshape(-1), tuple(map(tuple, listed) if entries.ndim == 2 else listed)
    known: dict[Any, int] = {}
    rows = entries.tolist() if entries.ndim == 1 else map(tuple, entries.tolist())
    try:
        numbers = np.array([known.setdefault(row, len(known)) for row in rows])
    except TypeError:
        raise ParameterError("outputs", must="be hashable") from None
    return numbers, tuple(known)


def neighbours(points: Array, at: Array) -> NDArray[np.intp]:
    """Find for every row of `at` the nearest of `points`, about as many as the log of all."""
    from scipy.spatial import cKDTree  # noqa: PLC0415 - slow to load, and seldom needed

    count = min(len(points), max(1, round(math.log(len(points)))))
    _, nearest = cKDTree(points).query(at, k=np.arange(1, count + 1))
    return np.asarray(nearest, dtype=np.intp)


def check_confidence(confidence: float) -> None:
    """Refuse a confidence below half: one-sided intervals are built from two-sided ones."""
    if not 0.75 <= confidence < 1:
        raise ParameterError("confidence", must="be in [0.75, 1)", got=confidence, hint="Try 0.95.")


def check_support(seen: int, support_size: int) -> None:
    """Refuse a support smaller than what was seen: a false assumption."""
    if seen > support_size:
        raise ParameterError(
            "support_size", must=f"be at least the {seen} outputs seen", got=support_size
        )


def subsets_logarithm(support_size: int) -> float:
    """Return ln(2^m - 2), the number of sets a frequency could be wrong about; -inf for m = 1.

    >>> subsets_logarithm(2) == math.log(2)
    True
    """
    if support_size == 1:
        return -math.inf
    return support_size * math.log(2) + math.log1p(-(2.0 ** (1 - support_size)))


def binomial_lower(successes: int, trials: int, confidence: float) -> float:
    """Return the one-sided lower end of Clopper and Pearson."""
    return clopper_pearson(successes, trials, confidence=2 * confidence - 1).lower


def binomial_upper(successes: int, trials: int, confidence: float) -> float:
    """Return the one-sided upper end of Clopper and Pearson."""
    return clopper_pearson(successes, trials, confidence=2 * confidence - 1).upper


def stratified_lower(successes: int, trials: int, confidence: float) -> float:
    """Bound the mean probability of independent trials that need not be alike, from below.

    It is Clopper and Pearson's end, but (1 - confidence)/trials for a single success.

    Let p be the mean probability, S the number of successes and s the least one whose end exceeds
    p; the bound fails if S >= s. For s = 1, P(S >= 1) <= trials p < 1 - confidence. For s >= 2,
    equal trials would give P(S >= s) < 1 - confidence <= 1/4, so s - 1 >= trials p: a binomial
    variable exceeds its mean, if that is above 0.29, with probability at least 1/4 (Doerr).
    For such s, no unequal trials of that mean give a larger P(S >= s) than equal ones
    (Hoeffding).

    Holds when confidence >= 0.75.
    Direction: lower.
    Reference: clopper1934, for equal trials; at one success it would be too high for unequal ones;
        hoeffding1956, Theorem 4; doerr2018.

    >>> stratified_lower(1, 2, 0.95) < binomial_lower(1, 2, 0.95)
    True
    """
    if successes == 1:
        return (1 - confidence) / trials * (1 - _ROUNDING)
    return binomial_lower(successes, trials, confidence)


def chernoff_lower(mean: float, trials: int, confidence: float) -> float:
    """Bound the expectation of observations in [0, 1], from below, by their mean.

    It is the greatest p that clearly satisfies trials * KL(mean, p) >= ln(1/(1 - confidence)),
    where KL is the relative entropy of two coins.

    Holds when the observations are independent; for a mean of dependent ones that is an average of
    means of `trials` independent ones each (a U-statistic), by convexity of the exponential.
    Direction: lower, rounded down.
    Reference: hoeffding1963, Theorem 1 and section 5.

    >>> chernoff_lower(0.5, 1000, 0.95)
    0.46135...
    """
    mean = max(0.0, mean - _ROUNDING)
    if mean == 0:
        return 0.0
    needed = -math.log1p(-confidence) / trials * (1 + _ROUNDING) + 1e-15

    def is_excluded(p: float) -> bool:
        return p == 0 or _coin_divergence(mean, p) >= needed

    return bisect_safe(is_excluded, safe=0.0, unsafe=mean, tolerance=1e-7 * mean)


def _coin_divergence(mean: float, p: float) -> float:
    miss = 0.0 if mean >= 1 else (1 - mean) * math.log((1 - mean) / (1 - p))
    return mean * math.log(mean / p) + miss


def bernstein_lower(mean: float, variance: float, trials: int, confidence: float) -> float:
    """Bound the expectation of independent values in [0, 1], from below, sharp if they vary little.

    Direction: lower.
    Reference: maurer2009, Theorem 4.
    """
    return empirical_bernstein(
        min(1.0, max(0.0, mean - _ROUNDING)),
        variance * (1 + _ROUNDING),
        trials,
        confidence=2 * confidence - 1,
    ).lower
