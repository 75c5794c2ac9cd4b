"""A claimed epsilon, compared with the outputs of a mechanism."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from croupier.auditing.mechanism.column import Column, Fingerprints, as_column, fingerprints
from croupier.auditing.mechanism.event_search import Promise, Promises, best_events
from croupier.auditing.mechanism.finding import (
    BATCH_READER,
    Audit,
    Counted,
    Shares,
    TellingEvent,
    certify,
)
from croupier.auditing.mechanism.ratio import Hits, flip_coins, rarest_leak
from croupier.auditing.mechanism.repeats import Repeats, likeliest_repeat, repeats_at
from croupier.auditing.mechanism.shuffled_target import shuffled_target
from croupier.auditing.mechanism.target import Advance, Calls, Places, Target, target_of
from croupier.errors import ParameterError
from croupier.model.randomizer import Randomizer
from croupier.numerics.columns import library_of, read_column
from croupier.numerics.keystream import Keystream, generator, stream
from croupier.numerics.validate import number_of_people

__all__ = ["Audit", "TellingEvent", "audit", "audit_samples", "enough_samples"]

_LEAST = 20
_DEFAULT, _MOST_DEFAULT = 500_000, 2_000_000
_SEARCH = 0.2
_LEAK = 1e-4
"""The rarest leak that is found by default, if the claim is not too large."""


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
    insecure_seed: int | None = None,
    advance: Advance = lambda _: None,
) -> Audit:
    """Test a mechanism of one value against the epsilon that is claimed for it.

    Inputs are fed in a mixed order, so that a drift from call to call does not pass for a leak. A
    first part of the samples chooses two inputs and an event (`best_events`): single outputs, sets
    and thresholds by likelihood ratio, the lowest bits of doubles, lengths, types; also the outputs
    that only one input had, however rare; and the distance at which calls may repeat noise
    (`likeliest_repeat`). A second part, drawn afterwards, certifies these choices (`epsilon_lower`,
    `repeats_at`), so the search costs no confidence: before each of its calls a fair coin chooses
    the input.

    Args:
        target: A callable of one value, or a randomizer of this library.
        inputs: The values to tell apart, two or more.
        claim: The claimed epsilon; a randomizer's own if left out.
        delta: The failure probability that belongs to the claim.
        n: Audit the shuffled batch of so many people instead, of whom one holds an input and all
            others one value: then a claim is the batch's epsilon, and a sample is a batch.
        samples: The number of outputs per input; if left out, `enough_samples`.
        confidence: Of the verdict, at least 0.75.
        search: The share of the samples that chooses.
        vectorised: True if `target` takes an array of values and returns as many outputs.
        rng: Mixes the calls and chooses the input of every certifying one; a randomizer of this
            library draws from it, too. The operating system if left out.
        insecure_seed: Instead of `rng`: makes the audit of a randomizer repeatable.
        advance: Called with the number of outputs drawn after each piece.

    Holds when, under the claim, every call is independent of the others given its input: a client
    that remembers its answer cannot be audited this way.
    Direction: lower. Finding nothing proves nothing; `power`, `rarest_leak` and `not_looked_at` say
    what would have been found and what would not.

    Example:
        >>> from croupier.randomizers import KaryRandomizedResponse
        >>> loose = KaryRandomizedResponse(k=2, max_epsilon_local=1.2)
        >>> found = audit(loose, inputs=[0, 1], claim=1.0, samples=50_000)
        >>> found.refuted, found.witness.event
        (True, 'output = ...')
    """
    rng = stream(rng, insecure_seed)
    asked = target_of(target, vectorised=vectorised, rng=rng)
    values = _distinct(inputs)
    promised = _claim(claim, None if n is not None else target)
    if samples is None:
        samples = enough_samples(promised, n=n, delta=delta, confidence=confidence)
    samples = number_of_people("samples", samples, least=_LEAST)
    learn = _learning(samples, search)
    trials = 2 * (samples - learn)
    facts: dict[str, Any] = {}
    if n is not None:
        n = number_of_people("n", n, least=2)
        asked = shuffled_target(asked, values, n=n, samples=samples, rng=rng)
        values = [values[place] for place in asked.pair]
        facts = {"note": f"; all others hold {asked.others}", "adversary": BATCH_READER}
    calls = asked.called(values, learn, rng=rng, advance=advance)
    chosen = best_events(
        calls.by_value(len(values)),
        delta=delta,
        confidence=Shares.confidence(Shares.LIKELIEST, confidence),
        trials=trials,
        questions=asked.questions,
    )
    certification = _Certification(
        asked, values, trials, asked.piece_size(len(calls.places)), rng, advance
    )
    likeliest, one_sided, outputs = certification.of(chosen)
    if n is None:
        facts["repeats"] = _repeats(calls, outputs, values, delta, confidence, rng)
    return certify(
        likeliest,
        one_sided,
        inputs=values,
        claim=promised,
        delta=delta,
        confidence=confidence,
        samples=samples,
        learned=learn,
        repeating=chosen.repeating,
        parts_repeating=chosen.parts_repeating,
        **facts,
    )


def audit_samples(  # noqa: PLR0913 - keyword-only facts about one audit
    outputs: Mapping[Hashable, Any],
    *,
    claim: float,
    delta: float = 0.0,
    confidence: float = 0.95,
    search: float = 0.2,
    rng: Keystream | None = None,
    insecure_seed: int | None = None,
) -> Audit:
    """Test recorded outputs of every input against a claim.

    They are mixed before they are split. Of the rest, a fair coin chooses for every trial of which
    input the next output is taken; some outputs are left over, so that none runs out (the chance
    that one does, below 3e-16 by Hoeffding, costs the audit its finding). The order of the calls,
    and who chose it, is unknown: noise that calls share is not looked for.

    Args:
        outputs: Independent outputs of each input.
        claim: The claimed epsilon.
        delta: The failure probability that belongs to the claim.
        confidence: Of the lower bound, at least 0.75.
        search: The share of the samples that chooses.
        rng: Mixes and chooses; the operating system if left out.
        insecure_seed: Instead of `rng`: makes the finding repeatable.

    Example:
        >>> rows = {0: [0] * 800 + [1] * 200, 1: [1] * 800 + [0] * 200}
        >>> audit_samples(rows, claim=0.5).refuted
        True
    """
    values = _distinct(list(outputs))
    promised = _claim(claim, None)
    rng = stream(rng, insecure_seed)
    columns = [_mixed(as_column(column), rng) for column in outputs.values()]
    samples = min(map(len, columns))
    if samples < _LEAST:
        raise ParameterError("outputs", must=f"hold {_LEAST} or more of every input", got=samples)
    learn = _learning(samples, search)
    left = samples - learn
    trials = max(left, int(2 * left - 12 * math.sqrt(left)))
    learning = [column[:learn] for column in columns]
    sure = Shares.confidence(Shares.LIKELIEST, confidence)
    chosen = best_events(learning, delta=delta, confidence=sure, trials=trials)
    kept = [column[learn:] for column in columns]
    return certify(
        _taken(kept, chosen.likeliest, trials, rng),
        [_taken(kept, promise, trials, rng) for promise in chosen.one_sided],
        inputs=values,
        claim=promised,
        delta=delta,
        confidence=confidence,
        samples=samples,
        learned=learn,
        repeating=chosen.repeating,
        parts_repeating=chosen.parts_repeating,
    )


def enough_samples(
    claim: float, *, n: int | None = None, delta: float = 0.0, confidence: float = 0.95
) -> int:
    """Return the default number of outputs per input.

    That is 500,000; or as many more, up to 2,000,000, as it takes to find a leak of 1 in 10,000
    (`rarest_leak`); or fewer large batches.

    >>> enough_samples(1.0), enough_samples(3.0)
    (500000, 2000000)
    """
    if n is not None:
        return max(20_000, 10_000_000 // n)
    sure = Shares.confidence(Shares.ONE_SIDED, confidence)
    samples = _DEFAULT
    while samples < _MOST_DEFAULT:
        learn = _learning(samples, _SEARCH)
        leak = rarest_leak(
            claim, 2 * (samples - learn), learned=learn, delta=delta, confidence=sure
        )
        if leak <= _LEAK:
            break
        samples += _DEFAULT // 2
    return samples


@dataclass(frozen=True)
class _Ordered:
    """Certifying calls in order: a word for each output, and the place of its input."""

    words: Fingerprints
    places: Places


@dataclass(frozen=True)
class _Certification:
    """Calls whose input a fair coin chooses, in pieces of one size."""

    target: Target
    values: Sequence[Any]
    trials: int
    piece: int
    rng: Keystream
    advance: Advance

    def of(self, chosen: Promises) -> tuple[Counted, list[Counted], _Ordered]:
        """Count all events, over the same calls if they are about the same two inputs."""
        pair = chosen.likeliest.pair
        beside = [promise for promise in chosen.one_sided if promise.pair == pair]
        (likeliest, *one_sided), outputs = self._counted([chosen.likeliest, *beside])
        for promise in chosen.one_sided:
            if promise not in beside:
                one_sided += self._counted([promise])[0]
        return likeliest, one_sided, outputs

    def _counted(self, promises: Sequence[Promise]) -> tuple[list[Counted], _Ordered]:
        """Count how often each event came from either of two inputs."""
        heads = flip_coins(self.trials, self.rng)
        calls = np.where(heads, promises[0].first, promises[0].second)
        hits = [[0, 0] for _ in promises]
        words = []
        pieces = self.target.pieces(self.values, calls, self.advance, most=self.piece)
        for places, outputs in pieces:
            for row, promise in zip(hits, promises, strict=True):
                hit = promise.event.holds(outputs)
                row[0] += int((hit & (places == promise.first)).sum())
                row[1] += int((hit & (places == promise.second)).sum())
            words.append(fingerprints(outputs))
        counted = [
            Counted(promise, Hits(first, second, self.trials), int((calls == promise.first).sum()))
            for (first, second), promise in zip(hits, promises, strict=True)
        ]
        return counted, _Ordered(np.concatenate(words), calls)


def _repeats(  # noqa: PLR0913, PLR0917 - facts about one test
    search: Calls,
    certifying: _Ordered,
    values: Sequence[Any],
    delta: float,
    confidence: float,
    rng: Keystream,
) -> Repeats | None:
    repeat = likeliest_repeat(search.fingerprints, search.places, delta=delta, rng=rng)
    if repeat is None:
        return None
    return repeats_at(
        certifying.words,
        certifying.places,
        repeat,
        inputs=[values[place] for place in np.unique(certifying.places)],
        start=len(search.places),
        delta=delta,
        confidence=Shares.confidence(Shares.REPEATS, confidence),
    )


def _taken(columns: Sequence[Column], promise: Promise, trials: int, rng: Keystream) -> Counted:
    """Count how often an event came from either input, over recorded outputs that coins choose."""
    heads = int(flip_coins(trials, rng).sum())
    first, second = (columns[place] for place in (promise.first, promise.second))
    enough = heads <= len(first) and trials - heads <= len(second)
    hits = Hits(
        int(promise.event.holds(first[:heads]).sum()) if enough else 0,
        int(promise.event.holds(second[: trials - heads]).sum()) if enough else 0,
        trials,
    )
    return Counted(promise, hits, heads)


def _learning(samples: int, search: float) -> int:
    if not 0 < search < 1:
        raise ParameterError("search", must="be in (0, 1)", got=search, hint="Try 0.2.")
    return min(max(4, round(search * samples)), samples - 4)


def _mixed(column: Column, rng: Keystream) -> Column:
    return column[generator(rng).permutation(len(column))]


def _distinct(inputs: Sequence[Any]) -> Sequence[Any]:
    if library_of(inputs):
        inputs = read_column(inputs).tolist()
    if len(inputs) < 2 or len({repr(value) for value in inputs}) < len(inputs):
        raise ParameterError("inputs", must="be two or more different values", hint="Try 0,1.")
    return inputs


def _claim(claim: float | None, target: Any) -> float:
    if claim is None and isinstance(target, Randomizer):
        return target.epsilon_local
    if claim is None or not 0 <= claim < math.inf:
        raise ParameterError("claim", must="be an epsilon of at least 0", got=claim)
    return float(claim)
