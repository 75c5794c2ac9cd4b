"""A claimed Bayes security or re-identification, compared with a mechanism's outputs."""

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from croupier.auditing.blackbox.bayes_security import sampled_bayes_security
from croupier.auditing.blackbox.reidentification import sampled_reidentification
from croupier.auditing.blackbox.samples import chernoff_lower, stratified_lower
from croupier.errors import ParameterError
from croupier.model.evidence import Evidence
from croupier.numerics.bisection import bisect_safe_integer
from croupier.numerics.keystream import Keystream, stream

__all__ = ["MetricAudit", "audit_bayes_security", "audit_reidentification"]

_OFTEN = 1.645
"""Standard errors that a sum exceeds 19 times out of 20, about."""


@dataclass(frozen=True, kw_only=True)
class MetricAudit:
    """The finding of an audit of a metric other than epsilon. It can refute and never confirms.

    Attributes:
        claim: A floor of Bayes security, or a ceiling of re-identification.
        evidence: The measured interval.
        inputs: The two inputs that were told apart; the target's and the others'.
        samples: The number of outputs of the input that has fewest.
        power: About the mildest violation that would have been found 9 times out of 10; None if
            none would have been.
    """

    claim: float
    evidence: Evidence
    inputs: tuple[Hashable, Hashable]
    samples: int
    power: float | None

    @property
    def not_looked_at(self) -> tuple[str, ...]:
        """Name possible faults that would not have been seen."""
        return (
            "other inputs",
            "rare leaks (an audit of epsilon looks for them)",
            "noise shared by calls",
            "noise that repeats after every start",
            "noise that can be predicted",
            "side channels such as time",
        )

    @property
    def refuted(self) -> bool:
        """True if the claim is refuted, at the confidence of the evidence."""
        if self.evidence.metric.protects:
            return self.evidence.upper < self.claim
        return self.evidence.lower > self.claim


def audit_bayes_security(
    outputs: Mapping[Hashable, Any],
    *,
    claim: float,
    confidence: float = 0.95,
    rng: Keystream | None = None,
    insecure_seed: int | None = None,
) -> MetricAudit:
    """Test samples against a claimed lower limit of Bayes security (`sampled_bayes_security`).

    They are mixed before they are split, by the operating system unless `rng` or `insecure_seed` is
    given.

    >>> rows = {0: [0, 0, 0, 1] * 500, 1: [1, 1, 1, 0] * 500}
    >>> audit_bayes_security(rows, claim=0.9).refuted
    True
    """
    _check_probability(claim)
    rng = stream(rng, insecure_seed)
    found = sampled_bayes_security(outputs, confidence=confidence, rng=rng)
    samples = min(map(len, outputs.values()))
    trials = 2 * (samples - samples // 2)
    told = _least_telling(1 - claim / 2, lambda right: stratified_lower(right, trials, confidence))
    return MetricAudit(
        claim=claim,
        evidence=found.evidence,
        inputs=found.pair,
        samples=samples,
        power=None if (share := told(trials)) is None else max(0.0, 2 - 2 * share),
    )


def audit_reidentification(  # noqa: PLR0913 - keyword-only facts about one audit
    outputs: Mapping[Hashable, Any],
    *,
    n: int,
    claim: float,
    confidence: float = 0.95,
    rng: Keystream | None = None,
    insecure_seed: int | None = None,
) -> MetricAudit:
    """Test samples against a claimed upper limit of `sampled_reidentification`.

    The first input is the target's, the second that of the n - 1 others. Samples are mixed as in
    `audit_bayes_security`.

    >>> rows = {0: [0, 0, 0, 1] * 500, 1: [1, 1, 1, 0] * 500}
    >>> audit_reidentification(rows, n=3, claim=0.34).refuted
    True
    """
    _check_probability(claim)
    if len(outputs) != 2:
        raise ParameterError(
            "inputs", must="be two: the target's and the others'", got=len(outputs)
        )
    (target, targets), (other, others) = outputs.items()
    rng = stream(rng, insecure_seed)
    found = sampled_reidentification(targets, others, n=n, confidence=confidence, rng=rng)
    samples = min(len(targets), len(others))
    games = (samples - samples // 2) // (n - 1)
    won = _least_telling(claim, lambda wins: chernoff_lower(wins / games, games, confidence))
    return MetricAudit(
        claim=claim,
        evidence=found.evidence,
        inputs=(target, other),
        samples=samples,
        power=won(games) if games else None,
    )


def _least_telling(limit: float, lower: Callable[[int], float]) -> Callable[[int], float | None]:
    """Return the least probability of a won game at which 19 of 20 audits end above a limit."""

    def share(trials: int) -> float | None:
        if not lower(trials) > limit:
            return None
        needed = bisect_safe_integer(lambda won: lower(won) > limit, safe=trials, unsafe=0)
        rate = needed / trials
        found = rate + _OFTEN * math.sqrt(rate * (1 - rate) / trials)
        return found if found < 1 else None

    return share


def _check_probability(claim: float) -> None:
    if not 0 < claim <= 1:
        raise ParameterError("claim", must="be in (0, 1] for this metric", got=claim)
