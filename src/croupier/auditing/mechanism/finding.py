"""The finding of an audit: what its counts say about a claim, and what was not tested."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from croupier.auditing.blackbox.samples import check_confidence
from croupier.auditing.mechanism.event_search import Promise
from croupier.auditing.mechanism.ratio import (
    Detectable,
    Hits,
    detectable,
    epsilon_lower,
    rarest_leak,
)
from croupier.auditing.mechanism.repeats import Repeats
from croupier.model.adversary import Adversary, View
from croupier.model.evidence import Evidence
from croupier.model.metric import Metric
from croupier.model.result import Result
from croupier.numerics.rounding import AtLeast

__all__ = ["BATCH_READER", "REPORT_READER", "Audit", "Counted", "Shares", "TellingEvent", "certify"]

REPORT_READER = Adversary(sees=frozenset({View.REPORTS}))
BATCH_READER = Adversary(sees=frozenset({View.BATCH}))

_ENOUGH_REPEATING = 0.5
"""The share of repeated outputs below which single outputs reveal too little."""

_NEVER_ALIKE = (
    "outputs hardly ever repeat, so that single outputs and rare leaks inside them were not "
    "looked for"
)


class Shares:
    """The share of the error that each test gets, so that one confidence holds for all together.

    There are at most two tests of one-sided events; the sum is 1.
    """

    LIKELIEST = 0.8
    ONE_SIDED = 0.05
    REPEATS = 0.05
    RESTART = 0.05

    @staticmethod
    def confidence(share: float, confidence: float) -> float:
        """The confidence of a test that gets this part of the error."""
        check_confidence(confidence)
        return 1 - share * (1 - confidence)


class Counted(NamedTuple):
    """An event, its counts on the split that certifies, and the trials with its first input."""

    promise: Promise
    hits: Hits
    heads: int


@dataclass(frozen=True)
class TellingEvent:
    """The pair of inputs that is told apart, and the event that does so.

    Attributes:
        inputs: The two; the event is likelier from the first.
        event: A set of outputs, in words.
        hits: The number of times it came from either on the split that certifies.
    """

    inputs: tuple[Hashable, Hashable]
    event: str
    hits: Hits


@dataclass(frozen=True, kw_only=True, repr=False)
class Audit(Result):
    """The finding of an audit. It can refute a claim and never confirms one.

    Attributes:
        claim: The epsilon that was claimed.
        evidence: epsilon is at least `evidence.lower`, with `evidence.confidence`.
        witness: The inputs and the event that show it.
        samples: Outputs drawn per input, search and certification together.
        power: The least epsilon that would have been found, by the probability of its event.
        rarest_leak: The least probability of outputs of only one input, at which they would have
            been found; infinite if none would have been.
        repeating: The share of the search's outputs that came more than once. If it is small, all
            outputs are new, and none shows that only one input has it.
        parts_repeating: The same for the part of the outputs of which it is largest.
        repeats: The comparison of calls with the calls whose noise they may repeat; None if that
            was not tested.
        restart: The same for calls of two processes, both just started.
    """

    claim: float
    evidence: Evidence
    witness: TellingEvent
    samples: int
    power: tuple[Detectable, ...]
    rarest_leak: float
    repeating: float
    parts_repeating: float
    repeats: Repeats | None = None
    restart: Repeats | None = None

    @property
    def refuted(self) -> bool:
        """True if the claim is refuted, at the confidence of the evidence."""
        return any(
            each > self.claim
            for each in (self.evidence.lower, *(one.lower for one in self._compared))
        )

    @property
    def _summary(self) -> str:
        verdict = "REFUTED" if self.refuted else "not refuted"
        least = AtLeast(self.evidence.lower).shown
        return f"claim {self.claim:g} {verdict}; epsilon at least {least}"

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "claim": self.claim,
                "refuted": self.refuted,
                "epsilon_lower": AtLeast(self.evidence.lower),
                "measured": self.evidence.measured,
                "confidence": self.evidence.confidence,
                "inputs": ", ".join(map(str, self.witness.inputs)),
                "event": self.witness.event,
                "samples": self.samples,
            }
        ]

    @property
    def stale(self) -> Repeats | None:
        """The calls that show that draws are not fresh, if they refute the claim.

        They must show more than single outputs do: any two reveal what a single one does.
        """
        least = max(self.claim, self.evidence.lower)
        return next((each for each in self._compared if each.lower > least), None)

    @property
    def _compared(self) -> tuple[Repeats, ...]:
        return tuple(each for each in (self.repeats, self.restart) if each is not None)

    @property
    def looked_at(self) -> tuple[str, ...]:
        """Name what was tested besides the events of `power`."""
        looked = []
        if self._sees_reports and self.rarest_leak < 1:
            least = f"found 9 times in 10 from 1 in {_one_in(self.rarest_leak)}"
            what = "outputs" if self._repeat else "parts of outputs"
            looked.append(f"{what} that only one input has: {least}")
        if self.repeats is not None:
            looked.append("noise that calls regularly repeat from another one")
        if self.restart is not None:
            looked.append("noise that repeats after every start")
        return tuple(looked)

    @property
    def not_looked_at(self) -> tuple[str, ...]:
        """Name possible faults that would not have been seen."""
        unseen = ["other inputs"]
        if not self._sees_reports:
            unseen.append("rare leaks in single reports")
        elif max(self.repeating, self.parts_repeating) < _ENOUGH_REPEATING:
            unseen.append(_NEVER_ALIKE)
        elif self.rarest_leak < 1:
            unseen.append(f"leaks rarer than 1 in {_one_in(self.rarest_leak)}")
        else:
            unseen.append("rare leaks: too few samples")
        if self._sees_reports and self.rarest_leak < 1 and not self._repeat:
            unseen.append("leaks in parts of outputs that hardly ever repeat")
        sharing = "noise shared by calls" if self.repeats is None else "noise shared now and then"
        unseen.append(sharing)
        if self.repeats is not None and not self._repeat:
            unseen.append("shared noise beside a part that is new in every call")
        if self.restart is None:
            unseen.append("noise that repeats after every start")
        return (*unseen, "noise that can be predicted", "side channels such as time")

    @property
    def _repeat(self) -> bool:
        return self.repeating >= _ENOUGH_REPEATING

    @property
    def _sees_reports(self) -> bool:
        return self.evidence.adversary == REPORT_READER


def _one_in(probability: float) -> str:
    """Write a chance as "1 in" so many, two digits, rounded towards the likelier."""
    times = 1 / probability
    unit = 10 ** max(0, math.floor(math.log10(times)) - 1)
    return f"{max(1, int(times // unit) * unit):,}"


def certify(  # noqa: PLR0913 - keyword-only facts about one audit
    likeliest: Counted,
    one_sided: Sequence[Counted],
    *,
    inputs: Sequence[Any],
    claim: float,
    delta: float,
    confidence: float,
    samples: int,
    learned: int,
    repeating: float,
    parts_repeating: float,
    adversary: Adversary = REPORT_READER,
    note: str = "",
    repeats: Repeats | None = None,
) -> Audit:
    """Judge a claim by the counts of events, each at its share of the error."""
    sure = Shares.confidence(Shares.LIKELIEST, confidence)
    rare = Shares.confidence(Shares.ONE_SIDED, confidence)
    lowers = [
        (epsilon_lower(counted.hits, delta=delta, confidence=each), counted)
        for counted, each in ((likeliest, sure), *((counted, rare) for counted in one_sided))
    ]
    lower, shown = max(lowers, key=lambda each: each[0])
    evidence = Evidence(
        metric=Metric.EPSILON,
        measured=max(lower, _measured(shown, delta)),
        lower=lower,
        upper=math.inf,
        confidence=confidence,
        adversary=adversary,
        games=shown.hits.trials,
        delta=delta,
    )
    promise = shown.promise
    pair = (inputs[promise.first], inputs[promise.second])
    trials = likeliest.hits.trials
    return Audit(
        claim=claim,
        evidence=evidence,
        witness=TellingEvent(pair, promise.event.words + note, shown.hits),
        samples=samples,
        power=detectable(claim, trials, delta=delta, confidence=sure),
        rarest_leak=(
            rarest_leak(claim, trials, learned=learned, delta=delta, confidence=rare)
            if max(repeating, parts_repeating) >= _ENOUGH_REPEATING
            else math.inf
        ),
        repeating=repeating,
        parts_repeating=parts_repeating,
        repeats=repeats,
    )


def _measured(counted: Counted, delta: float) -> float:
    hits = counted.hits
    first = hits.first / max(counted.heads, 1)
    second = hits.second / max(hits.trials - counted.heads, 1)
    if first <= delta:
        return 0.0
    return math.inf if second == 0 else max(0.0, math.log((first - delta) / second))
