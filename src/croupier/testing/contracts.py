"""The contracts of randomizers and shufflers."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.errors import CroupierError, TooLargeError
from croupier.model.channel import Channel
from croupier.model.domain import Categories, Domain, Grid, Product, SignVectors
from croupier.model.randomizer import Randomizer
from croupier.model.shuffler import Shuffler
from croupier.model.texts import Texts
from croupier.numerics.keystream import Keystream
from croupier.randomizers.parallel import ParallelRandomizer
from croupier.randomizers.several import SeveralQuestions
from croupier.randomizers.together import TogetherRandomizer
from croupier.testing.law import law_p_value

__all__ = ["ContractError", "check_randomizer", "check_shuffler"]

_MOST_DRAWS = 1 << 20
_SAMPLES = 20_000
_BATCH = 1 << 40
"""The size of a batch in which every report occurs in proportion to its probability."""


def check_randomizer(randomizer: Randomizer, *, false_alarm: float = 1e-9) -> list[str]:
    """Check every promise of a randomizer that can be checked at its size.

    The law is compared with `channel()` in two ways: by feeding every row of draws if there are at
    most a million, with equality of integers; and by drawing samples, with an exact test. Build the
    randomizer with a small denominator for the first.

    Args:
        randomizer: An instance of the class under test.
        false_alarm: The probability that the sampling test calls a correct randomizer wrong.

    Returns:
        The names of the checks that were made; checks that are too expensive at its size are
        missing.

    Raises:
        ContractError: A promise does not hold.
    """
    if randomizer.varies_by_batch:
        randomizer = randomizer.in_batches((b"",))
    made = ["reports", "repeatable"]
    _check_reports(randomizer)
    _check_repeatable(randomizer)
    try:
        channel = randomizer.channel()
    except TooLargeError:
        return made
    _check_channel(randomizer, channel)
    made.append("channel")
    if not randomizer.varies_by_batch:  # else unbiased on average over batches
        _check_unbiased(randomizer, channel)
        made.append("unbiased")
    _check_sampled_law(randomizer, channel, false_alarm)
    made.append("sampled law")
    if math.prod(randomizer.draw_bounds) * channel.shape[0] <= _MOST_DRAWS:
        _check_every_draw(randomizer, channel)
        made.append("every draw")
    return made


def _some_inputs(randomizer: Randomizer, n: int) -> NDArray[Any]:
    """Encoded values to try: all categories or grid points in turn, or random signs."""
    return _some_of(randomizer.domain, n)


def _some_of(domain: Domain, n: int) -> NDArray[Any]:
    if isinstance(domain, Product):
        return np.column_stack([_some_of(part, n) for part in domain.parts]).astype(np.int64)
    if isinstance(domain, SignVectors):
        bits = Keystream().integers(2, n * domain.dimension).astype(np.int64)
        return domain.encode(2 * bits.reshape(n, domain.dimension) - 1)
    if isinstance(domain, Texts):
        lengths = Keystream().integers(domain.longest + 1, n).astype(np.int64)
        letters = Keystream().integers(domain.letters, n * domain.longest).astype(np.int64)
        places = np.arange(domain.longest)
        return np.where(places < lengths[:, None], 1 + letters.reshape(n, -1), 0)
    if isinstance(domain, (Categories, Grid)):
        return np.arange(n) % domain.size
    msg = f"croupier has no sample values for {type(domain).__name__}"
    raise NotImplementedError(msg)


def _check_reports(randomizer: Randomizer) -> None:
    form = randomizer.report_format
    inputs = _some_inputs(randomizer, 500)
    draws = Keystream().table(randomizer.draw_bounds, len(inputs))
    before = draws.copy()
    reports = np.asarray(randomizer.respond(inputs, draws))
    require((draws == before).all(), "`respond` leaves its draws as they are")
    require(not form.malformed(reports), "every report keeps to `report_format`")
    require(
        (form.from_bytes(form.to_bytes(reports)) == reports).all(), "bytes give the report back"
    )
    parts = randomizer.tally(reports[:200]) + randomizer.tally(reports[200:])
    require((parts == randomizer.tally(reports)).all(), "tallies of two batches add")


def _check_repeatable(randomizer: Randomizer) -> None:
    inputs = _some_inputs(randomizer, 100)
    draws = Keystream().table(randomizer.draw_bounds, len(inputs))
    first, second = (randomizer.respond(inputs, draws) for _ in range(2))
    require((first == second).all(), "`respond` depends on value and draws only")
    for value, row, report in zip(inputs.tolist(), draws.tolist(), first, strict=True):
        alone = randomizer.respond_one(tuple(value) if inputs.ndim > 1 else value, row)
        require(alone == tuple(np.ravel(report).tolist()), "`respond_one` is `respond` of one row")


def _check_channel(randomizer: Randomizer, channel: Channel) -> None:
    draws = math.prod(randomizer.draw_bounds)
    require(channel.exact, "`channel()` is exact")
    require(channel.denominator == draws, "`channel()` counts the rows of draws")
    found, claimed = channel.epsilon, randomizer.epsilon_local
    if isinstance(randomizer, TogetherRandomizer):  # a sum of parts that are rounded up
        found = max(found, min(claimed, found * (1 + 1e-15 * len(randomizer.queries))))
    require(found == claimed, "`epsilon_local` is that of `channel()`")


def _check_unbiased(randomizer: Randomizer, channel: Channel) -> None:
    """Check the expectation of the estimate from one report, computed from the channel.

    Integers over a small denominator cannot express every law: an expectation may then be off by
    the effect of one unit of every weight.
    """
    if isinstance(randomizer, SeveralQuestions):
        _check_unbiased_queries(randomizer, channel)
        return
    if randomizer.lots(randomizer.tally(randomizer.report_format.empty(0))):
        _check_unbiased_lots(randomizer, channel)
        return
    reports = np.array(channel.outputs, dtype=randomizer.report_format.dtype)
    single = [
        randomizer.estimate_tally(randomizer.tally(reports[[y]]), 1) for y in range(len(reports))
    ]
    scores = np.array([estimate.points for estimate in single])
    expected = channel.probabilities @ scores
    if single[0].quantity == "share":
        truth: NDArray[Any] = np.eye(channel.shape[0])
    else:
        truth = np.array(channel.inputs, dtype=np.float64).reshape(channel.shape[0], -1)
    unit = np.abs(scores).sum(axis=0).max() / float(channel.denominator or 1)
    error = np.abs(expected - truth).max()
    require(error <= unit + 1e-9 * np.abs(scores).max(), "the estimate is unbiased")


def _check_unbiased_lots(randomizer: Randomizer, channel: Channel) -> None:
    """Check the estimate from the reports to be expected of many people who hold one value."""
    reports = np.array(channel.outputs, dtype=randomizer.report_format.dtype)
    tallies = np.array([randomizer.tally(reports[[y]]) for y in range(len(reports))])
    for row, law in enumerate(channel.probabilities):
        found = randomizer.estimate_tally(np.rint(_BATCH * law @ tallies).astype(int), _BATCH)
        truth = np.arange(channel.shape[0]) == row
        error = np.abs(found.points - truth).max()
        require(error <= 1e-6, "the estimate is unbiased")


def _check_unbiased_queries(randomizer: SeveralQuestions, channel: Channel) -> None:
    """Check that every query is unbiased and gets the answers of exactly those who drew it."""
    law = channel.probabilities[-1]
    reports = np.array(channel.outputs, dtype=randomizer.report_format.dtype)
    tallies = np.array([randomizer.tally(reports[[y]]) for y in range(len(reports))])
    found = randomizer.estimate_tallies(_BATCH * law @ tallies, _BATCH)
    everybody = (Fraction(1),) * len(randomizer.queries)
    chances = randomizer.chances if isinstance(randomizer, ParallelRandomizer) else everybody
    for query, chance, estimate in zip(randomizer.queries, chances, found, strict=True):
        own = query.channel()
        _check_unbiased(query, own)
        answers = np.array(own.outputs, dtype=query.report_format.dtype)
        counts = np.array([query.tally(answers[[y]]) for y in range(len(answers))])
        people = int(_BATCH * chance)
        alone = query.estimate_tally(people * own.probabilities[-1] @ counts, people)
        scale = 1 + np.abs(alone.points).max()
        error = np.abs(estimate.points - alone.points).max()
        require(error <= 1e-6 * scale, "each query is estimated from its own answers")


def _check_sampled_law(randomizer: Randomizer, channel: Channel, false_alarm: float) -> None:
    rows = {0, channel.shape[0] // 2, channel.shape[0] - 1}
    column = {_key(label): y for y, label in enumerate(channel.outputs)}
    for row in rows:
        inputs = _inputs_of(randomizer, channel, row, _SAMPLES)
        draws = Keystream().table(randomizer.draw_bounds, _SAMPLES)
        counts = np.zeros(channel.shape[1])
        for report, times in _counted(randomizer.respond(inputs, draws)).items():
            require(report in column, "every report is an output of `channel()`")
            counts[column[report]] = times
        p_value = law_p_value(counts, channel.probabilities[row])
        require(p_value > false_alarm / len(rows), "samples follow `channel()`")


def _check_every_draw(randomizer: Randomizer, channel: Channel) -> None:
    bounds = randomizer.draw_bounds
    draws = np.array(list(product(*map(range, bounds))), dtype=np.uint64).reshape(-1, len(bounds))
    for row in range(channel.shape[0]):
        inputs = _inputs_of(randomizer, channel, row, len(draws))
        found = _counted(randomizer.respond(inputs, draws))
        weights = zip(channel.outputs, channel.weights[row].tolist(), strict=True)
        claimed = {_key(label): int(weight) for label, weight in weights if weight}
        require(found == claimed, "every row of draws, fed once, gives the weights of `channel()`")


def _inputs_of(randomizer: Randomizer, channel: Channel, row: int, n: int) -> NDArray[Any]:
    label = channel.inputs[row]
    if isinstance(label, tuple | str) and not isinstance(randomizer.domain, Categories):
        values = np.array([label], dtype=object)
        return np.tile(randomizer.domain.encode(values), (n, 1))
    return np.full(n, row)


def _counted(reports: NDArray[Any]) -> Counter[tuple[int, ...]]:
    rows, counts = np.unique(reports.reshape(len(reports), -1), axis=0, return_counts=True)
    return Counter(dict(zip(map(tuple, rows.tolist()), counts.tolist(), strict=True)))


def _key(label: Any) -> tuple[int, ...]:
    return label if isinstance(label, tuple) else (label,)


class ContractError(CroupierError, AssertionError):
    """A class does not keep a promise that the rest of croupier relies on."""

    def __init__(self, promise: str) -> None:
        self.promise = promise
        super().__init__(f"Broken promise: {promise}.")


def require(kept: object, promise: str) -> None:
    """Raise unless the promise is kept."""
    if not kept:
        raise ContractError(promise)


def check_shuffler(shuffler: Shuffler) -> None:
    """Check that a shuffler orders every batch, loses nothing and takes its randomness from `rng`.

    Raises:
        ContractError: A promise does not hold.
    """
    for n in (0, 1, 2, 1000):
        order = shuffler.order(n, rng=Keystream(insecure_seed=n))
        require((np.sort(order) == np.arange(n)).all(), "`order` is a permutation")
        again = shuffler.order(n, rng=Keystream(insecure_seed=n))
        require((order == again).all(), "`order` depends on `rng` only")
        batch = shuffler.shuffle(np.arange(n) + 7, rng=Keystream(insecure_seed=n))
        require((batch == order + 7).all(), "`shuffle` applies `order`")
    orders = [shuffler.order(1000).tolist() for _ in range(2)]
    require(orders[0] != orders[1], "without `rng`, each order is drawn afresh")
