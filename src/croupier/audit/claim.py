"""A claimed epsilon, held against what a mechanism puts out."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from croupier.audit.blackbox_samples import check_confidence
from croupier.audit.column import Column, as_column
from croupier.audit.event_search import Promise, best_event
from croupier.audit.ratio import Detectable, Hits, detectable, epsilon_lower, flip_coins
from croupier.audit.shuffled_target import shuffled_target
from croupier.audit.target import Advance, Places, Target, target_of
from croupier.errors import ParameterError
from croupier.model.adversary import Adversary, View
from croupier.model.evidence import Evidence
from croupier.model.guarantee import Metric
from croupier.model.randomizer import Randomizer
from croupier.model.whole import whole_number
from croupier.numerics.keystream import Keystream

__all__ = ["Audit", "Witness", "audit", "audit_samples", "certify"]

_LEAST = 20
_REPORT_READER = Adversary(sees=frozenset({View.REPORTS}))
_BATCH_READER = Adversary(sees=frozenset({View.BATCH}))


@dataclass(frozen=True)
class Witness:
    """What tells two inputs apart.

    Attributes:
        inputs: The two; the event is likelier from the first.
        event: A set of outputs, in words.
        hits: How often it came from either on the split that certifies.
    """

    inputs: tuple[Hashable, Hashable]
    event: str
    hits: Hits


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What an audit found. It can refute a claim and never confirms one.

    Attributes:
        claim: The epsilon that was claimed.
        evidence: epsilon is at least `evidence.lower`, with `evidence.confidence`.
        witness: The inputs and the event that show it.
        samples: Outputs drawn an input, search and certification together.
        power: What would have been found.
    """

    claim: float
    evidence: Evidence
    witness: Witness
    samples: int
    power: tuple[Detectable, ...]

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted, at the confidence of the evidence."""
        return self.evidence.lower > self.claim


def audit(  # noqa: PLR0913 - keyword-only facts about one audit
    target: Callable[[Any], Any] | Randomizer,
    *,
    inputs: Sequence[Any],
    claim: float | None = None,
    delta: float = 0.0,
    n: int | None = None,
    samples: int | None = None,
    confidence: float = 0.95,
    search: float = 0.2,
    vectorised: bool = False,
    rng: Keystream | None = None,
    advance: Advance = lambda _: None,
) -> Audit:
    """Hold a mechanism of one value to the epsilon that is claimed for it.

    Inputs are fed in a mixed order, so that what drifts from call to call does not pass for a leak.
    A first part of the samples chooses two inputs and an event (`best_event`): single outputs, sets
    and thresholds by likelihood ratio, the lowest bits of doubles, lengths, types. A second part,
    drawn afterwards, certifies that one choice (`epsilon_lower`), so that the search costs no
    confidence: before each of its calls a fair coin chooses the input.

    Args:
        target: A callable of one value, or a randomizer of this library.
        inputs: The values to tell apart, two or more.
        claim: The claimed epsilon; a randomizer's own if left out.
        delta: The failure probability that belongs to the claim.
        n: Audit the shuffled batch of so many people instead, of whom one holds an input and all
            others one value: then a claim is the batch's epsilon, and a sample a batch.
        samples: How many outputs to draw an input; if left out, 500,000, or fewer large batches.
        confidence: Of the lower bound, at least 0.75.
        search: The share of the samples that chooses.
        vectorised: Whether `target` takes an array of values and returns as many outputs.
        rng: Mixes the calls and chooses the input of every certifying one; the operating system if
            not given.
        advance: Is told how many more outputs were drawn.

    Holds when every call is fresh and independent of the others: a client that remembers its answer
    cannot be audited so.
    Direction: lower. That nothing was found proves nothing; `power` says what would have been.

    Example:
        >>> from croupier.randomizers import KaryRandomizedResponse
        >>> loose = KaryRandomizedResponse(k=2, epsilon_local=1.2)
        >>> found = audit(loose, inputs=[0, 1], claim=1.0, samples=50_000)
        >>> found.refuted, found.witness.event
        (True, 'output = ...')
    """
    asked = target_of(target, vectorised=vectorised)
    values = _distinct(inputs)
    promised = _claim(claim, None if n is not None else target)
    samples = whole_number("samples", _affordable(n) if samples is None else samples, least=_LEAST)
    learn = _learning(samples, search)
    trials = 2 * (samples - learn)
    stream = Keystream() if rng is None else rng
    note, adversary = "", _REPORT_READER
    if n is not None:
        n = whole_number("n", n, least=2)
        asked = shuffled_target(asked, values, n=n, samples=samples, rng=stream)
        values = [values[place] for place in asked.pair]
        note, adversary = f"; all others hold {asked.others}", _BATCH_READER
    learning = asked.drawn(values, learn, rng=stream, advance=advance)
    chosen = best_event(
        learning,
        delta=delta,
        confidence=confidence,
        trials=trials,
        questions=asked.questions,
    )
    heads = flip_coins(trials, stream)
    calls = np.where(heads, chosen.first, chosen.second)
    hits = _hits(asked, values, calls, chosen, advance)
    return certify(
        chosen,
        hits,
        heads=int(heads.sum()),
        inputs=values,
        claim=promised,
        delta=delta,
        confidence=confidence,
        samples=samples,
        adversary=adversary,
        note=note,
    )


def audit_samples(  # noqa: PLR0913 - keyword-only facts about one audit
    outputs: Mapping[Hashable, Any],
    *,
    claim: float,
    delta: float = 0.0,
    confidence: float = 0.95,
    search: float = 0.2,
    rng: Keystream | None = None,
) -> Audit:
    """The same from recorded outputs of every input.

    They are mixed before they are split. Of the rest, a fair coin chooses for every trial of which
    input the next output is taken; some outputs are left over, so that none runs out (the chance
    that one does, below 3e-16 by Hoeffding, costs the audit its finding).

    Args:
        outputs: Independent outputs of each input.
        claim: The claimed epsilon.
        delta: The failure probability that belongs to the claim.
        confidence: Of the lower bound, at least 0.75.
        search: The share of the samples that chooses.
        rng: Mixes and chooses; the operating system if not given.

    Example:
        >>> rows = {0: [0] * 800 + [1] * 200, 1: [1] * 800 + [0] * 200}
        >>> audit_samples(rows, claim=0.5).refuted
        True
    """
    values = _distinct(list(outputs))
    promised = _claim(claim, None)
    stream = Keystream() if rng is None else rng
    columns = [_mixed(as_column(column), stream) for column in outputs.values()]
    samples = min(map(len, columns))
    if samples < _LEAST:
        raise ParameterError("outputs", must=f"hold {_LEAST} or more of every input", got=samples)
    learn = _learning(samples, search)
    left = samples - learn
    trials = max(left, int(2 * left - 12 * math.sqrt(left)))
    learning = [column[:learn] for column in columns]
    chosen = best_event(learning, delta=delta, confidence=confidence, trials=trials)
    heads = int(flip_coins(trials, stream).sum())
    first, second = (columns[place][learn:] for place in (chosen.first, chosen.second))
    enough = heads <= len(first) and trials - heads <= len(second)
    hits = Hits(
        int(chosen.event.holds(first[:heads]).sum()) if enough else 0,
        int(chosen.event.holds(second[: trials - heads]).sum()) if enough else 0,
        trials,
    )
    return certify(
        chosen,
        hits,
        heads=heads,
        inputs=values,
        claim=promised,
        delta=delta,
        confidence=confidence,
        samples=samples,
    )


def certify(  # noqa: PLR0913 - keyword-only facts about one audit
    chosen: Promise,
    hits: Hits,
    *,
    heads: int,
    inputs: Sequence[Any],
    claim: float,
    delta: float,
    confidence: float,
    samples: int,
    adversary: Adversary = _REPORT_READER,
    note: str = "",
) -> Audit:
    """What the counts of an event say about a claim."""
    check_confidence(confidence)
    lower = epsilon_lower(hits, delta=delta, confidence=confidence)
    evidence = Evidence(
        metric=Metric.EPSILON,
        measured=max(lower, _measured(hits, heads, delta)),
        lower=lower,
        upper=math.inf,
        confidence=confidence,
        adversary=adversary,
        games=hits.trials,
        delta=delta,
    )
    pair = (inputs[chosen.first], inputs[chosen.second])
    return Audit(
        claim=claim,
        evidence=evidence,
        witness=Witness(pair, chosen.event.words + note, hits),
        samples=samples,
        power=detectable(claim, hits.trials, delta=delta, confidence=confidence),
    )


def _affordable(n: int | None) -> int:
    return 500_000 if n is None else max(20_000, 10_000_000 // n)


def _measured(hits: Hits, heads: int, delta: float) -> float:
    first = hits.first / max(heads, 1)
    second = hits.second / max(hits.trials - heads, 1)
    if first <= delta:
        return 0.0
    return math.inf if second == 0 else max(0.0, math.log((first - delta) / second))


def _hits(
    target: Target, values: Sequence[Any], calls: Places, chosen: Promise, advance: Advance
) -> Hits:
    """How often the event came from either input, over calls in the order of their coins."""
    first = second = 0
    for places, outputs in target.pieces(values, calls, advance):
        hit = chosen.event.holds(outputs)
        first += int((hit & (places == chosen.first)).sum())
        second += int((hit & (places == chosen.second)).sum())
    return Hits(first, second, len(calls))


def _learning(samples: int, search: float) -> int:
    if not 0 < search < 1:
        raise ParameterError("search", must="be in (0, 1)", got=search, hint="Try 0.2.")
    return min(max(4, round(search * samples)), samples - 4)


def _mixed(column: Column, rng: Keystream) -> Column:
    return column[np.random.default_rng(rng.words(4)).permutation(len(column))]


def _distinct(inputs: Sequence[Any]) -> Sequence[Any]:
    if len(inputs) < 2 or len({repr(value) for value in inputs}) < len(inputs):
        raise ParameterError("inputs", must="be two or more different values", hint="Try 0,1.")
    return inputs


def _claim(claim: float | None, target: Any) -> float:
    if claim is None and isinstance(target, Randomizer):
        return target.epsilon_local
    if claim is None or not 0 <= claim < math.inf:
        raise ParameterError("claim", must="be an epsilon of at least 0", got=claim)
    return float(claim)
