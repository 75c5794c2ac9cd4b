"""Bayes risk of a black box: the share of wrong guesses of the input from the output."""

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.blackbox.samples import (
    Outputs,
    check_confidence,
    check_support,
    mixer,
    neighbours,
    read_outputs,
    stratified_lower,
)
from croupier.errors import ParameterError
from croupier.model.adversary import Adversary, Goal, Knowledge, View
from croupier.model.evidence import Evidence
from croupier.model.guarantee import Direction
from croupier.model.metric import Metric
from croupier.numerics.intervals import Interval
from croupier.numerics.keystream import Keystream
from croupier.numerics.validate import whole_number

__all__ = ["LearningStep", "SampledBayesRisk", "sampled_bayes_risk"]

_ROUNDING = 1e-15
_READER = Adversary(sees=frozenset({View.REPORTS}), knows=Knowledge.NOTHING, wants=Goal.GUESS)
_FEWEST = 16
"""Samples per input at which the log begins; it doubles from there."""


@dataclass(frozen=True, kw_only=True)
class LearningStep:
    """The attack's result after learning from some of the samples.

    Attributes:
        learned_from: The number of samples, over all inputs.
        risk: The share of wrong guesses on held-out outputs.
        risk_upper: The bound of the Bayes risk that this row alone would prove.
    """

    learned_from: int
    risk: float
    risk_upper: float


@dataclass(frozen=True, kw_only=True)
class SampledBayesRisk:
    """The measured success of guessing, the Bayes risk it bounds, and the learning log.

    Attributes:
        evidence: The success of guessing a uniform input, with its interval.
        log: One row per training size. The last is the measurement. Each row's bound is valid by
            itself, but the least of them is not: check whether it has settled, do not pick one.
    """

    evidence: Evidence
    log: tuple[LearningStep, ...]

    @property
    def bayes_risk(self) -> Interval:
        """One minus the success, rounded outward."""
        found = self.evidence
        lower, upper = 1 - found.upper - _ROUNDING, 1 - found.lower + _ROUNDING
        return Interval(max(0.0, lower), min(1.0, upper), found.confidence)


def sampled_bayes_risk(  # noqa: PLR0913 - keyword-only facts about one measurement
    outputs: Mapping[Hashable, Any],
    *,
    confidence: float = 0.95,
    split: float = 0.5,
    rng: Keystream | None = None,
    insecure_seed: int | None = None,
    direction: Direction = Direction.UPPER,
    support_size: int | None = None,
    adversary: Adversary = _READER,
) -> SampledBayesRisk:
    """Bound the Bayes risk of guessing a uniform input x from an output of C_x, from above.

    A guess is learned from a first part of the samples: the input from which a category came most
    often; for numbers, the one most frequent among the nearest neighbours, as many as the
    logarithm of the samples. The rest counts how often it is wrong, equally often for every input:

        Bayes risk = 1 - (1/k) sum over y of max over x of C_x(y) <= risk of any guess.

    In `evidence`, this is the success of guessing, from below.

    No guess bounds the risk from below: the interval reaches down to 0, since outputs that never
    repeat look as if they revealed everything. If at most m = `support_size` outputs are possible,
    both ends come from the frequencies of all samples. With success S the mean over inputs of how
    often the best rule for the frequencies is right, V = (1/k^2) sum of 1/N_x and
    error = 1 - confidence,

        S - sqrt(V ln(2 k^m/error)/2) <= 1 - Bayes risk <= S + sqrt(V ln(2/error)/2):

    one inequality of Hoeffding for each of k^m rules below; above, one for the true best rule,
    which the frequencies' best can only exceed.

    Args:
        outputs: For every input, samples of the output: categories or numbers. Independent and
            in the order drawn, or mixed by `rng`.
        confidence: The coverage of the interval, at least 0.75.
        split: The share of the samples from which the guess is learned. Surplus samples of an
            input are learned from as well.
        rng: Mixes the samples before they are split by position.
        insecure_seed: The same, repeatably.
        direction: The side on which the risk is to be bounded. Below needs `support_size`.
        support_size: The largest number of possible outputs. All samples then count; nothing is
            split.
        adversary: The observer of such outputs; by default, one who sees one report and its sender.

    Holds when each input's samples are independent draws of one law.
    Direction: of the risk, upper; two-sided with `support_size`.
    Reference: clopper1934, for unequal trials as in `stratified_lower`; hoeffding1963, Theorem 2.

    Example:
        >>> samples = {"no": [0] * 80 + [1] * 20, "yes": [1] * 90 + [0] * 10}
        >>> found = sampled_bayes_risk(samples, insecure_seed=1)
        >>> round(found.bayes_risk.upper, 3)
        0.244
        >>> [row.learned_from for row in found.log]
        [32, 64, 100]
    """
    check_confidence(confidence)
    if support_size is not None:
        return _finite(outputs, confidence, support_size, adversary)
    if direction is not Direction.UPPER:
        raise ParameterError(
            "support_size",
            must="be given to bound the Bayes risk from below",
            hint="Outputs that do not repeat look as if they told the input, so a lower bound "
            "needs a limit on how many outputs are possible.",
        )
    learning, rest = _equal_rest(*read_outputs(outputs).split(split, mixer(rng, insecure_seed)))
    held_out = np.concatenate(rest.samples)
    truth = np.repeat(np.arange(len(rest.samples)), len(rest.samples[0]))

    def progress(part: Outputs) -> tuple[LearningStep, int]:
        right = int((_guess(part)(held_out) == truth).sum())
        upper = 1 - stratified_lower(right, len(truth), confidence) + _ROUNDING
        size = sum(map(len, part.samples))
        risk = 1 - right / len(truth)
        return LearningStep(learned_from=size, risk=risk, risk_upper=min(1.0, upper)), right

    steps = [progress(part) for part in _growing(learning)]
    right = steps[-1][1]
    evidence = Evidence(
        metric=Metric.GUESS_UNINFORMED,
        measured=right / len(truth),
        lower=stratified_lower(right, len(truth), confidence),
        upper=1.0,
        confidence=confidence,
        adversary=adversary,
        games=len(truth),
    )
    return SampledBayesRisk(evidence=evidence, log=tuple(row for row, _ in steps))


def _equal_rest(learning: Outputs, rest: Outputs) -> tuple[Outputs, Outputs]:
    """Keep equally many held-out samples of every input; the others are learned from."""
    size = min(map(len, rest.samples))
    grown = (
        np.concatenate([known, sample[size:]])
        for known, sample in zip(learning.samples, rest.samples, strict=True)
    )
    return learning.with_samples(grown), rest.with_samples(x[:size] for x in rest.samples)


def _growing(learning: Outputs) -> list[Outputs]:
    """Return the first 16, 32, … samples of every input, and finally all."""
    most = max(map(len, learning.samples))
    sizes = [_FEWEST << step for step in range(60) if _FEWEST << step < most]
    parts = [learning.with_samples(x[:size] for x in learning.samples) for size in sizes]
    return [*parts, learning]


def _guess(part: Outputs) -> Callable[[NDArray[Any]], NDArray[np.intp]]:
    if part.labels is not None:
        best = part.frequencies().argmax(axis=0)
        return lambda codes: np.asarray(best[codes])
    points = np.concatenate(part.samples)
    sizes = [len(sample) for sample in part.samples]
    votes = np.repeat(np.diag(1 / np.array(sizes)), sizes, axis=0)
    return lambda rows: votes[neighbours(points, rows)].sum(axis=1).argmax(axis=1)


def _finite(
    outputs: Mapping[Hashable, Any], confidence: float, support_size: int, adversary: Adversary
) -> SampledBayesRisk:
    """Return both ends, from the frequencies of all samples."""
    support_size = whole_number("support_size", support_size, least=1)
    found = read_outputs(outputs, as_categories=True)
    shares = found.frequencies()
    inputs = len(shares)
    check_support(shares.shape[1], support_size)
    success = float(shares.max(axis=0).sum()) / inputs
    sizes = [len(sample) for sample in found.samples]
    spread = sum(1 / size for size in sizes) / inputs**2
    half = math.log(2) - math.log1p(-confidence)
    rules = support_size * math.log(inputs) + half
    evidence = Evidence(
        metric=Metric.GUESS_UNINFORMED,
        measured=min(1.0, success),
        lower=max(0.0, success - math.sqrt(spread * rules / 2) - _ROUNDING),
        upper=min(1.0, success + math.sqrt(spread * half / 2) + _ROUNDING),
        confidence=confidence,
        adversary=adversary,
        games=sum(sizes),
    )
    risk = max(0.0, 1 - success)
    upper = min(1.0, 1 - evidence.lower + _ROUNDING)
    row = LearningStep(learned_from=sum(sizes), risk=risk, risk_upper=upper)
    return SampledBayesRisk(evidence=evidence, log=(row,))
