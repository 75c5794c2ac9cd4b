"""Parallel queries: each person answers one of several, drawn in private."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, reduce
from itertools import (
    accumulate,
    chain,
    combinations_with_replacement,
    count,
    permutations,
    product,
)
from operator import or_
from typing import TYPE_CHECKING, Any

from croupier.errors import ParameterError, TooLargeError
from croupier.model.channel import Channel
from croupier.model.domain import Grid, SignVectors
from croupier.model.likelihood import LikelihoodClasses
from croupier.model.report import ReportFormat
from croupier.numerics.arrays import np
from croupier.numerics.keystream import WORD
from croupier.numerics.validate import whole_number
from croupier.randomizers.family_hashing import FamilyHashing
from croupier.randomizers.parameter import WHOLE_NUMBERS, declares
from croupier.randomizers.several import SeveralQuestions, distinct_pairs, estimate_of, flat

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from croupier.model.estimate import Estimate
    from croupier.model.randomizer import Randomizer
    from croupier.numerics.honest_chances import HonestChances

__all__ = ["ParallelRandomizer"]

_MOST_ENTRIES = 1 << 22
_MOST_PAIRS = 256
_MOST_LISTED = 4096
"""Pairs of one query whose classes are compared in seconds."""


@dataclass(frozen=True, kw_only=True)
class ParallelRandomizer(SeveralQuestions):
    """Draw one of K queries in private and answer it with the whole epsilon.

    With W the sum of the integer weights, report (k, y) has the law

        R(x)(k, y) = (weights_k / W) R_k(x_k)(y),

    so that epsilon_local is the largest of the queries'. The drawn query says nothing about the
    value. But if the length of a message revealed it to the network, the sender would hide among
    fewer people: every report is padded with zeros to one size.

    Queries share their draws: for each bound, a report takes as many integers as the query that
    needs most of them, and the drawn query ignores the rest.

    The answers to query k come from a random n_k of the n people, and its estimate is about all n.
    To the variance of the query's own estimate from n_k reports it adds that of the sample,

        (1 - n_k/n) (high - f)(f - low)/n_k,

    at the estimate f of a quantity between low and high. Up to the factor n/(n - 1) this is exact
    for shares and signs, and an upper bound for means.

    Attributes:
        queries: A randomizer for each query. Values are rows with the columns of all queries.
        weights: The relative frequency of each query; equal if not given.

    Reference: wang2025, Algorithms 3 and 4.

    Example:
        >>> from croupier.randomizers.k_rr import KaryRandomizedResponse
        >>> both = ParallelRandomizer(
        ...     queries=(
        ...         KaryRandomizedResponse(k=2, max_epsilon_local=1.0, denominator=16),
        ...         KaryRandomizedResponse(k=3, max_epsilon_local=1.0, denominator=16),
        ...     ),
        ...     weights=(1, 3),
        ... )
        >>> both.channel().probability(0, 0)
        Fraction(11, 64)
        >>> both.report_format.size
        1
    """

    mechanism = "parallel"

    weights: tuple[int, ...] = field(
        default=(), metadata=declares(WHOLE_NUMBERS, "how often each question is drawn; or equally")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        count = len(self.queries)
        given = tuple(self.weights) or (1,) * count
        if len(given) != count:
            raise ParameterError("weights", must=f"be {count}, one per query", got=len(given))
        weights = tuple(whole_number("weights", weight, least=1, most=WORD) for weight in given)
        whole_number("weights", sum(weights), least=1, most=WORD)
        object.__setattr__(self, "weights", weights)

    @cached_property
    def epsilon_local(self) -> float:  # type: ignore[override]
        """The largest of the queries'.

        A column of the channel belongs to one query, whose weight cancels from every ratio.
        """
        return max(query.epsilon_local for query in self.queries)

    @property
    def budget_cost(self) -> float:
        """The largest of the queries'."""
        return max(query.budget_cost for query in self.queries)

    @cached_property
    def specification(self) -> dict[str, Any]:
        """The specification of every query, and the weights."""
        return {
            "mechanism": self.mechanism,
            "queries": [query.specification for query in self.queries],
            "weights": list(self.weights),
        }

    @cached_property
    def chances(self) -> tuple[Fraction, ...]:
        """The probability of each query."""
        return tuple(Fraction(weight, sum(self.weights)) for weight in self.weights)

    @cached_property
    def _shared(self) -> Counter[int]:
        """The number of draws below each bound that suffice for any one query."""
        return reduce(or_, (Counter(query.draw_bounds) for query in self.queries))

    @cached_property
    def draw_bounds(self) -> tuple[int, ...]:
        """One draw for the query, then those that the queries share."""
        return (sum(self.weights), *self._shared.elements())

    @cached_property
    def _draw_columns(self) -> list[list[int]]:
        """The columns of the draws that each query uses."""
        starts = accumulate(self._shared.values(), initial=1)
        first = dict(zip(self._shared, starts, strict=False))
        columns = []
        for query in self.queries:
            free = {bound: count(start) for bound, start in first.items()}
            columns.append([next(free[bound]) for bound in query.draw_bounds])
        return columns

    @property
    def cells_a_report(self) -> int:
        """The number of draws, plus the most cells of any query."""
        return len(self.draw_bounds) + max(query.cells_a_report for query in self.queries)

    @cached_property
    def report_format(self) -> ReportFormat:
        """The query, then as many integers as the longest answer has, each below the largest bound.

        An answer fills the first of them; the rest are zeros.
        """
        answers = [query.report_format.bounds for query in self.queries]
        longest = max(map(len, answers))
        bounds = [max(a[index] for a in answers if index < len(a)) for index in range(longest)]
        return ReportFormat((len(self.queries), *bounds))

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The number of bytes of a message about each query if it were not padded."""
        count = len(self.queries)
        forms = [ReportFormat((count, *query.report_format.bounds)) for query in self.queries]
        return tuple(form.size for form in forms)

    def respond(self, indices: NDArray[Any], draws: NDArray[np.uint64]) -> NDArray[Any]:
        """The answer to the drawn query, padded with zeros."""
        thresholds = np.array(list(accumulate(self.weights))[:-1], dtype=np.uint64)
        drawn = np.searchsorted(thresholds, draws[:, 0], side="right")
        reports = self.report_format.empty(len(indices))
        reports[...] = 0
        reports[:, 0] = drawn
        values = self.domain.split(indices)
        for index, query in enumerate(self.queries):
            people = np.flatnonzero(drawn == index)
            own = draws[people[:, None], self._draw_columns[index]]
            answers = query.respond(values[index][people], own)
            width = len(query.report_format.bounds)
            reports[people, 1 : 1 + width] = np.reshape(answers, (len(people), width))
        return reports

    def respond_one(self, index: Sequence[int], draws: Sequence[int]) -> tuple[int, ...]:
        """The answer to the drawn query, padded with zeros."""
        drawn = bisect_right(list(accumulate(self.weights)), draws[0])
        own = [draws[column] for column in self._draw_columns[drawn]]
        answer = self.queries[drawn].respond_one(self.domain.split_one(index)[drawn], own)
        width = len(self.report_format.bounds)
        return (drawn, *answer, *(0,) * (width - 1 - len(answer)))

    def answers(self, reports: NDArray[Any]) -> list[NDArray[Any]]:
        """The reports of each query, as that query's own methods take them."""
        found = []
        for index, query in enumerate(self.queries):
            width = len(query.report_format.bounds)
            own = reports[reports[:, 0] == index, 1 : 1 + width]
            found.append(own[:, 0] if width == 1 else own)
        return found

    def refused(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Mark the rows that are not answers to their query, padded with zeros."""
        wrong = super().refused(reports)
        if wrong.all():
            return wrong
        for index, query in enumerate(self.queries):
            people = np.flatnonzero(~wrong & (reports[:, 0] == index))
            own = reports[people]
            end = 1 + len(query.report_format.bounds)
            answers = own[:, 1] if end == 2 else own[:, 1:end]
            wrong[people] = own[:, end:].any(axis=1) | query.refused(answers)
        return wrong

    def is_report(self, report: Sequence[int]) -> bool:
        """Tell if these integers answer their query and are padded with zeros."""
        if not super().is_report(report):
            return False
        query = self.queries[report[0]]
        end = 1 + len(query.report_format.bounds)
        return not any(report[end:]) and query.is_report(report[1:end])

    def channel(self) -> Channel:
        """The law of a report given the row of values: weighted blocks side by side.

        Raises:
            TooLargeError: There are too many rows of values; ask for `likelihood_classes`.
        """
        self._require_few(self.domain.size)
        blocks = [query.channel() for query in self.queries]
        rows = list(product(*(range(block.shape[0]) for block in blocks)))
        labels = product(*(block.inputs for block in blocks))
        return self.channel_of(
            np.array(rows), [tuple(chain.from_iterable(map(flat, label))) for label in labels]
        )

    def channel_of(self, rows: NDArray[Any], inputs: Sequence[Any]) -> Channel:
        """The law of a report given some rows of values.

        Args:
            rows: For each row of values, the row of every query's channel.
            inputs: The names of the rows.
        """
        self._require_few(len(rows))
        blocks = [query.channel() for query in self.queries]
        self._require_few(len(rows) * sum(block.shape[1] for block in blocks))
        total = math.prod(self.draw_bounds)
        scaled = [
            block.weights.astype(object) * int(total * chance / (block.denominator or 1))
            for block, chance in zip(blocks, self.chances, strict=True)
        ]
        width = len(self.report_format.bounds)
        return Channel.from_weights(
            np.concatenate([block[own] for block, own in zip(scaled, rows.T, strict=True)], axis=1),
            total,
            inputs=inputs,
            outputs=[
                (index, *flat(label), *(0,) * (width - 1 - len(flat(label))))
                for index, block in enumerate(blocks)
                for label in block.outputs
            ],
        )

    def _listed_epsilons(self) -> Iterator[float]:
        """The epsilons of all queries: a report says which one it answers."""
        yield from (query.checked_epsilon_local for query in self.queries)

    def _require_few(self, entries: int) -> None:
        if entries > _MOST_ENTRIES:
            raise TooLargeError(
                f"The channel of {self.mechanism}",
                entries=entries,
                limit=_MOST_ENTRIES,
                hint="Use likelihood_classes, which does not list the values.",
            )

    def likelihood_classes(
        self, first: Any, second: Any, *, others: Any = None
    ) -> LikelihoodClasses:
        """The classes of all queries, each weighted by the query's probability.

        The least of R(x)(k, y) over the rows x is the query's own least, since x_k may be chosen
        freely: the blanket of the whole is the weighted union of the blankets.

        Args:
            first: One input per query, each as that query's own `likelihood_classes` takes it.
            second: The same.
            others: The same, if all others hold it.
        """
        given = [first, second] if others is None else [first, second, others]
        for row in given:
            if not isinstance(row, Sized) or len(row) != len(self.queries):
                raise ParameterError(
                    "first", must=f"have {len(self.queries)} inputs, one per query"
                )
        held = [None] * len(self.queries) if others is None else others
        return LikelihoodClasses.side_by_side(
            (chance, query.likelihood_classes(one, two, others=other))
            for query, chance, one, two, other in zip(
                self.queries, self.chances, first, second, held, strict=True
            )
        )

    def representative_pairs(self) -> Sequence[tuple[Any, Any]]:
        """Every combination of the pairs of the queries, but for those that are alike.

        Let w be the blanket and G = (R(x0) - e^epsilon R(x1))/w. Each person's G is a mixture of
        the queries', so that a query's pair may be replaced by one whose G is larger in the convex
        order: the expected positive part of the sum can only grow, whatever the other queries do.

        Queries with support patterns, noisy bits or sampled signs: a pair that is not represented
        has the G of one that is, or consists of equal inputs (x, x). For those take any z, and
        p = R(x), q = R(z): the G of (z, x) less that of (x, x) is (q - p)/w, of mean zero. Where it
        is positive, p/w is smaller than wherever it is negative, so that the G of (x, x), which is
        (1 - e^epsilon) p/w, is larger: the difference spreads it out. A query with two inputs, or
        with two outputs, whose rows are mixtures of two, has the same property; and so has a grid
        whose table is certified, by `ends_dominate`, since here the factor is at least 1.

        Any other query: all pairs of its inputs, equal ones too.

        Pairs of one query with the same classes have the same G, so that one of them is enough. And
        equal queries that are drawn equally often may trade their pairs: of those, only how often
        each pair occurs matters.

        Raises:
            TooLargeError: There are too many combinations.
        """
        alike = self._alike
        queries = [self.queries[own[0]] for own in alike]
        listed = [_pairs(query) for query in queries]
        _require_few(max(map(len, listed)), most=_MOST_LISTED)
        options = [distinct_pairs(query, own) for query, own in zip(queries, listed, strict=True)]
        combinations = math.prod(
            math.comb(len(pairs) + len(own) - 1, len(own))
            for pairs, own in zip(options, alike, strict=True)
        )
        _require_few(combinations, most=_MOST_PAIRS)
        chosen = product(
            *(
                combinations_with_replacement(pairs, len(own))
                for pairs, own in zip(options, alike, strict=True)
            )
        )
        return [self._in_order(pairs) for pairs in chosen]

    @cached_property
    def _alike(self) -> list[list[int]]:
        """The places of equal queries that are drawn equally often."""
        found: list[list[int]] = []
        for place, (query, weight) in enumerate(zip(self.queries, self.weights, strict=True)):
            for own in found:
                if self.weights[own[0]] == weight and self.queries[own[0]] == query:
                    own.append(place)
                    break
            else:
                found.append([place])
        return found

    def _in_order(self, chosen: Sequence[Sequence[tuple[Any, Any]]]) -> tuple[Any, Any]:
        """The two rows of inputs, given the pairs of all queries that are alike."""
        pairs: dict[int, tuple[Any, Any]] = {}
        for own, given in zip(self._alike, chosen, strict=True):
            pairs.update(zip(own, given, strict=True))
        ordered = [pairs[place] for place in range(len(self.queries))]
        return tuple(one for one, _ in ordered), tuple(two for _, two in ordered)

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """The number of answers and their tally, for each query."""
        parts = [
            np.append(len(answers), query.tally(answers))
            for query, answers in zip(self.queries, self.answers(reports), strict=True)
        ]
        return np.concatenate(parts).astype(np.int64)

    @cached_property
    def tally_size(self) -> int:
        """The numbers of answers, and the tallies of all queries."""
        return sum(1 + query.tally_size for query in self.queries)

    def split(self, tally: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """The number of answers and the tally of each query."""
        return _split(tally, [query.tally_size for query in self.queries])

    def pool(self, tallies: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """The sums of all answers, and the pooled tallies of each query."""
        if not self.varies_by_batch:
            return super().pool(tallies)
        sizes = [query.tally_size // query.batch_count for query in self.queries]
        split = [_split(tally, sizes) for tally in tallies]
        parts = []
        for query, own in zip(self.queries, zip(*split, strict=True), strict=True):
            answered = sum(int(part[0]) for part in own)
            parts.append(np.append(answered, query.pool([part[1:] for part in own])))
        return np.concatenate(parts)

    def lots(self, tally: NDArray[np.int64]) -> list[tuple[int, Fraction]]:
        """The queries, or the parts of those that have some."""
        found: list[tuple[int, Fraction]] = []
        for query, chance, part in zip(self.queries, self.chances, self.split(tally), strict=True):
            parts = query.lots(part[1:]) or [(int(part[0]), Fraction(1))]
            found += [(answered, chance * own) for answered, own in parts]
        return found

    def traits(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """The traits of the answers to each query."""
        answers = zip(self.queries, self.answers(reports), strict=True)
        return np.concatenate([query.traits(own) for query, own in answers])

    def honest_chances(
        self, tally: NDArray[np.int64], traits: NDArray[np.int64], n: int
    ) -> list[HonestChances]:
        """The answers to each query, and each query's own counts among those who answered it."""
        from croupier.numerics.honest_chances import HonestChances  # noqa: PLC0415 - not on devices

        parts = self.split(tally)
        answered = np.array([part[0] for part in parts], dtype=np.int64)
        found = [HonestChances.of(n, answered, self.chances, name=lambda k: f"answer part {k + 1}")]
        ends = accumulate(query.trait_count for query in self.queries)
        own_traits = np.split(traits, list(ends)[:-1])
        for index, query in enumerate(self.queries):
            part = parts[index]
            groups = query.honest_chances(part[1:], own_traits[index], int(part[0]))
            found += [replace(group, part=index) for group in groups]
        return found

    def estimate_tallies(
        self,
        tally: NDArray[np.int64],
        n: int,
        *,
        confidence: float = 0.95,
        listed: Sequence[str] = (),
    ) -> list[Estimate]:
        """One unbiased estimate per query, about all `n` people.

        Args:
            tally: The counts.
            n: The number of reports.
            confidence: The coverage of each interval.
            listed: Texts to look for where a query asks for text.
        """
        parts = self.split(tally)
        silent = sum(part[0] == 0 for part in parts)
        if silent:
            raise ParameterError(
                "reports",
                must="answer every query",
                got=f"none for {silent} of {len(parts)}",
                hint="Collect from more people, or drop the query.",
            )
        from croupier.randomizers.estimates.distribution import (  # noqa: PLC0415 - needs scipy
            DistributionEstimate,
        )

        estimates: list[Estimate] = []
        for query, part in zip(self.queries, parts, strict=True):
            answered = int(part[0])
            own = estimate_of(query, part[1:], answered, confidence=confidence, listed=listed)
            if isinstance(own, DistributionEstimate):
                estimates.append(own.among(n))
                continue
            low, high = _limits(query, own)
            points = np.clip(own.points, low, high)
            sampled = (1 - answered / n) * (high - points) * (points - low) / answered
            errors = np.sqrt(own.standard_errors**2 + sampled)
            rule = own.rule and own.rule.among(n)
            estimates.append(replace(own, standard_errors=errors, rule=rule))
        return estimates

    def rms_errors(self, n: int) -> list[float]:
        """The root mean square standard error of each query when n P_k people answer it.

        The variance of the sample is taken where it is largest: at equal shares, at means half-way.
        """
        errors = []
        for query, chance in zip(self.queries, map(float, self.chances), strict=True):
            low, high, middle = _middle(query)
            sampled = (1 - chance) * (high - middle) * (middle - low)
            errors.append(math.sqrt((query.rms_error(1) ** 2 + sampled) / (n * chance)))
        return errors

    @property
    def worst_shifts(self) -> list[Fraction | None]:
        """The worst shift of each query over its chance: liars may all answer the same.

        With A the sum of the scores of m answers to a query, between a and b, r answers that are
        taken away and s that are added move the average A/m by at most (b - a) max(r, s)/m.
        """
        shifts = zip((query.worst_shift for query in self.queries), self.chances, strict=True)
        return [None if shift is None else shift / chance for shift, chance in shifts]


def _require_few(pairs: int, *, most: int) -> None:
    if pairs > most:
        raise TooLargeError(
            "The list of pairs of parallel",
            entries=pairs,
            limit=most,
            hint="Use the bound by clones, which needs epsilon_local only.",
        )


def _split(tally: NDArray[np.int64], sizes: Iterable[int]) -> list[NDArray[np.int64]]:
    """The number of answers and the tally of each query, given the sizes of the tallies."""
    return np.split(tally, list(accumulate(1 + size for size in sizes))[:-1])


def _zeros(query: Randomizer) -> NDArray[Any]:
    """One report of the right shape, filled with zeros."""
    report = query.report_format.empty(1)
    report[...] = np.arange(report.size) if query.report_format.ascending else 0
    return report


def _middle(query: Randomizer) -> tuple[float, float, float]:
    """The numbers between which the truth lies, and that at equal shares, or half-way."""
    if isinstance(query, FamilyHashing):
        return 0.0, 1.0, 1 / query.domain.size
    example = query.estimate_tally(query.tally(_zeros(query)), 1)
    low, high = _limits(query, example)
    equal = 1 / len(example.values)
    return low, high, equal if example.quantity == "share" else (low + high) / 2


def _limits(query: Randomizer, estimate: Estimate) -> tuple[float, float]:
    """The numbers between which the truth lies."""
    if estimate.quantity == "share":
        return 0.0, 1.0
    if isinstance(query.domain, SignVectors):
        return -1.0, 1.0
    if isinstance(query.domain, Grid):
        return query.domain.low, query.domain.high
    raise ParameterError(
        "queries",
        must="have a grid or signs as their domain to estimate means",
        got=query.mechanism,
    )


def _pairs(query: Randomizer) -> Sequence[tuple[Any, Any]]:
    """Pairs, one of which has the largest G in the convex order."""
    if query.pairs_dominate:
        return query.representative_pairs() or []
    inputs = range(query.channel().shape[0])
    if len(inputs) == 2:
        return list(permutations(inputs, 2))
    return [(one, two) for one in inputs for two in inputs]
