"""Questions together: each person answers all of them, in one report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from itertools import accumulate, chain, combinations, pairwise, product
from typing import TYPE_CHECKING, Any

from croupier.errors import ParameterError, TooLargeError
from croupier.model.channel import Channel
from croupier.model.report import ReportFormat
from croupier.numerics.arrays import np
from croupier.numerics.rounding import float_above
from croupier.randomizers.frequency_oracle import FrequencyOracle
from croupier.randomizers.several import SeveralQuestions, distinct_pairs, estimate_of, flat

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from croupier.model.estimate import Estimate
    from croupier.model.likelihood import LikelihoodClasses
    from croupier.model.randomizer import Randomizer
    from croupier.numerics.honest_chances import HonestChances

__all__ = ["MOST_CROSSED", "TogetherRandomizer"]

_MOST_ENTRIES = 1 << 22
_COUNTED_AT_ONCE = 1 << 16
"""Counts below 2^24 are exact in single precision."""
MOST_CROSSED = 256
"""The most categories of all questions together of which every pair is counted."""

_MOST_CLASSES = 256
"""The most classes, those of all pairs together, whose curves are a matter of seconds."""


@dataclass(frozen=True, kw_only=True)
class TogetherRandomizer(SeveralQuestions):
    """Answer every one of K questions with its own noise, and send all answers as one report.

    The report (y_1, …, y_K) for the row of values x has the law

        R(x)(y) = R_1(x_1)(y_1) … R_K(x_K)(y_K),

    so that epsilon_local is the sum of the questions': somebody's rows of values may differ in
    every question at once. The answers of one person stay together, and two-way tables of two
    questions can be estimated.

    Attributes:
        queries: A randomizer for each question. Values are rows with the columns of all questions.

    Example:
        >>> from croupier.randomizers.k_rr import KaryRandomizedResponse
        >>> both = TogetherRandomizer(
        ...     queries=(
        ...         KaryRandomizedResponse(k=2, max_epsilon_local=1.0, denominator=16),
        ...         KaryRandomizedResponse(k=3, max_epsilon_local=1.0, denominator=16),
        ...     ),
        ... )
        >>> both.channel().probability(0, 0)
        Fraction(11, 32)
        >>> round(both.epsilon_local, 3), both.budget_cost
        (1.482, 2.0)
    """

    mechanism = "together"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(math.isfinite(query.epsilon_local) for query in self.queries):
            raise ParameterError("queries", must="each limit epsilon: they are answered together")

    @cached_property
    def epsilon_local(self) -> float:  # type: ignore[override]
        """The sum of the questions', rounded up."""
        parts = (Fraction(query.epsilon_local) for query in self.queries)
        return float_above(sum(parts, Fraction(0)))

    @cached_property
    def budget_cost(self) -> float:
        """The sum of the questions', as they are written in decimals: what every client charges.

        Its last digit may be below that of `epsilon_local`: 1.1 and 1.3 cost 2.4.
        """
        return float(sum(Fraction(repr(query.budget_cost)) for query in self.queries))

    @cached_property
    def specification(self) -> dict[str, Any]:
        """The specification of every question."""
        queries = [query.specification for query in self.queries]
        return {"mechanism": self.mechanism, "queries": queries}

    @cached_property
    def draw_bounds(self) -> tuple[int, ...]:
        """The draws of each question in turn."""
        return tuple(chain.from_iterable(query.draw_bounds for query in self.queries))

    @property
    def cells_a_report(self) -> int:
        """The number of draws, plus the most cells of any question."""
        return len(self.draw_bounds) + max(query.cells_a_report for query in self.queries)

    @cached_property
    def report_format(self) -> ReportFormat:
        """The integers of each answer in turn."""
        bounds = (query.report_format.bounds for query in self.queries)
        return ReportFormat(tuple(chain.from_iterable(bounds)))

    @cached_property
    def _drawn(self) -> list[slice]:
        """The columns of the draws that each question uses."""
        return _slices(len(query.draw_bounds) for query in self.queries)

    @cached_property
    def _answered(self) -> list[slice]:
        """The columns of a report that each question fills."""
        return _slices(len(query.report_format.bounds) for query in self.queries)

    def respond(self, indices: NDArray[Any], draws: NDArray[np.uint64]) -> NDArray[Any]:
        """The answers to all questions."""
        reports = np.empty((len(indices), len(self.report_format.bounds)), self.report_format.dtype)
        values = self.domain.split(indices)
        for query, own, drawn, place in zip(
            self.queries, values, self._drawn, self._answered, strict=True
        ):
            answers = query.respond(own, draws[:, drawn])
            reports[:, place] = np.reshape(answers, reports[:, place].shape)
        return reports.reshape(self.report_format.empty(len(indices)).shape)

    def respond_one(self, index: Sequence[int], draws: Sequence[int]) -> tuple[int, ...]:
        """The answers to all questions."""
        values = self.domain.split_one(index)
        answers = [
            query.respond_one(value, draws[drawn])
            for query, value, drawn in zip(self.queries, values, self._drawn, strict=True)
        ]
        return tuple(chain.from_iterable(answers))

    def answers(self, reports: NDArray[Any]) -> list[NDArray[Any]]:
        """The answers to each question, as that question's own methods take them."""
        rows = reports.reshape(len(reports), len(self.report_format.bounds))
        parts = (rows[:, place] for place in self._answered)
        return [part[:, 0] if part.shape[1] == 1 else part for part in parts]

    def refused(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Mark the rows in which some answer is one that no client gives."""
        wrong = super().refused(reports)
        if wrong.all():
            return wrong
        for query, answers in zip(self.queries, self.answers(reports), strict=True):
            wrong |= query.refused(answers)
        return wrong

    def is_report(self, report: Sequence[int]) -> bool:
        """Tell if these integers are an answer to each question."""
        return super().is_report(report) and all(
            query.is_report(report[place])
            for query, place in zip(self.queries, self._answered, strict=True)
        )

    def channel(self) -> Channel:
        """The law of a report given the row of values: the product of the questions'.

        Raises:
            TooLargeError: There are too many rows of values or reports; ask for
                `likelihood_classes`.
        """
        blocks = [query.channel() for query in self.queries]
        entries = math.prod(math.prod(block.shape) for block in blocks)
        if entries > _MOST_ENTRIES:
            raise TooLargeError(
                f"The channel of {self.mechanism}",
                entries=entries,
                limit=_MOST_ENTRIES,
                hint="Use likelihood_classes, which does not list the values.",
            )
        weights = reduce(np.kron, (block.weights.astype(object) for block in blocks))
        return Channel.from_weights(
            weights,
            math.prod(self.draw_bounds),
            inputs=_rows(block.inputs for block in blocks),
            outputs=_rows(block.outputs for block in blocks),
        )

    def _listed_epsilons(self) -> Iterator[float]:
        """The sum of the questions', each checked against its integers."""
        checked = (Fraction(query.checked_epsilon_local) for query in self.queries)
        yield float_above(sum(checked, Fraction(0)))

    def likelihood_classes(
        self, first: Any, second: Any, *, others: Any = None
    ) -> LikelihoodClasses:
        """The products of the classes of all questions.

        The least of R(x)(y) over the rows x is the product of the questions' least, since every x_k
        may be chosen freely: the blanket of the whole is the product of the blankets.

        Args:
            first: One input per question, each as that question's own `likelihood_classes` takes
                it.
            second: The same.
            others: The same, if all others hold it.

        Raises:
            TooLargeError: There are too many classes.
        """
        given = [first, second] if others is None else [first, second, others]
        for row in given:
            if not isinstance(row, Sequence) or len(row) != len(self.queries):
                raise ParameterError(
                    "first", must=f"have {len(self.queries)} inputs, one per question"
                )
        held = [None] * len(self.queries) if others is None else others
        parts = [
            query.likelihood_classes(one, two, others=other)
            for query, one, two, other in zip(self.queries, first, second, held, strict=True)
        ]
        # Questions of one kind are multiplied first: their classes coincide.
        parts.sort(key=lambda part: (part.ratios, part.units))
        return reduce(_product, parts)

    def representative_pairs(self) -> Sequence[tuple[Any, Any]]:
        """Every combination of the pairs of the questions.

        Let w be the blanket, and G = p/w - c q/w with p = R(x), q = R(x') and a factor c > 0. Given
        the answers to all other questions, the G of the whole is a multiple of one question's G,
        with another factor: a question's pair may be replaced by one whose G is larger in the
        convex order for every factor.

        Questions with support patterns, noisy bits or sampled signs have such a pair, and its two
        inputs may trade places without changing the law of (p/w, q/w). A pair that is not
        represented has the G of one that is, or consists of equal inputs (x, x). For those take any
        z: the G of (z, x) less that of (x, x) is (R(z) - p)/w, and the G of (x, z) less it is
        c (p - R(z))/w, both of mean zero. For c >= 1 the G of (x, x), (1 - c) p/w, is larger where
        the first is positive; for c <= 1 where the second is: one of the two spreads it out, and
        both have one law.

        On a grid whose table is certified, by `ends_dominate`, every pair of different inputs has a
        G that is at most that of one of the two orders of the ends, for every factor. So has a pair
        of equal inputs, if the two orders have one law; if they have not, the two pairs of an end
        with itself are listed too, since which order is larger depends on the factor.

        Any other question: all pairs of its inputs, equal ones too, but one of those that have the
        same classes.

        Raises:
            TooLargeError: There are too many combinations, or classes of them.
        """
        options = [distinct_pairs(query, _pairs(query)) for query in self.queries]
        combinations = math.prod(map(len, options))
        self._require_few_classes([own[0] for own in options], combinations)
        return [
            (tuple(one for one, _ in pairs), tuple(two for _, two in pairs))
            for pairs in product(*options)
        ]

    def _require_few_classes(self, pairs: Sequence[tuple[Any, Any]], combinations: int) -> None:
        """Refuse more classes than curves can be computed of, for so many pairs like these.

        Questions whose classes coincide share them: m answers with c classes each have as many
        together as there are ways to say how often each class occurs among them.
        """
        kinds = Counter(
            query.likelihood_classes(one, two)
            for query, (one, two) in zip(self.queries, pairs, strict=True)
        )
        each = math.prod(math.comb(m + len(kind) - 1, m) for kind, m in kinds.items())
        classes = combinations * each
        if classes > _MOST_CLASSES:
            raise _too_many_classes(classes)

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """The tally of each question, then how many reports support two values of two questions."""
        answers = self.answers(reports)
        parts = [query.tally(own) for query, own in zip(self.queries, answers, strict=True)]
        return np.concatenate([*parts, self._counted_together(answers)]).astype(np.int64)

    def _counted_together(self, answers: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        """The number of reports that support each pair of values of each pair of questions."""
        counts = np.zeros(len(self._pairs_of_values[0]), dtype=np.int64)
        if not len(counts):
            return counts
        for start in range(0, len(answers[0]), _COUNTED_AT_ONCE):
            columns = [
                oracle.supported(answers[place][start : start + _COUNTED_AT_ONCE])
                for place, oracle in self.crossable.items()
            ]
            supported = np.concatenate(columns, axis=1).astype(np.float32)
            counts += (supported.T @ supported)[self._pairs_of_values].astype(np.int64)
        return counts

    @cached_property
    def crossable(self) -> dict[int, FrequencyOracle]:
        """The questions of which two-way tables can be made, by their places.

        None if they have so many categories together that counting all pairs would take long.
        """
        found = {
            place: query
            for place, query in enumerate(self.queries)
            if isinstance(query, FrequencyOracle)
        }
        few = sum(oracle.size for oracle in found.values()) <= MOST_CROSSED
        return found if few and len(found) > 1 else {}

    @cached_property
    def _pairs_of_values(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of the pairs among all crossable values, those of one question left out."""
        sizes = [oracle.size for oracle in self.crossable.values()]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        first, second = np.nonzero(owner[:, None] < owner[None, :])
        return first, second

    def crossed(
        self, tally: NDArray[np.int64], n: int, *, first: int, second: int, confidence: float = 0.95
    ) -> Estimate:
        """Estimate the share of people who hold each pair of values of two questions, row by row.

        Args:
            tally: The counts.
            n: The number of reports.
            first: The place of the question whose values are rows.
            second: The place of the one whose values are columns.
            confidence: The coverage of each interval.

        Raises:
            ParameterError: No table can be made of these two questions.
        """
        for place in (first, second):
            if place not in self.crossable:
                raise ParameterError("questions", must=_must_be_crossed(self), got=place + 1)
        if first == second:
            raise ParameterError("questions", must="be two different ones", got=first + 1)
        from croupier.randomizers.estimates.two_way import (  # noqa: PLC0415 - not on devices
            two_way_estimate,
        )

        sizes = [oracle.size for oracle in self.crossable.values()]
        both = np.zeros((sum(sizes), sum(sizes)), dtype=np.int64)
        both[self._pairs_of_values] = tally[len(tally) - len(self._pairs_of_values[0]) :]
        both += both.T
        places = dict(zip(self.crossable, _slices(sizes), strict=True))
        oracles = self.crossable[first], self.crossable[second]
        parts = self.split(tally)
        return two_way_estimate(
            both[places[first], places[second]],
            oracles[0].support(parts[first]),
            oracles[1].support(parts[second]),
            n,
            oracles=oracles,
            confidence=confidence,
        )

    @cached_property
    def tally_size(self) -> int:
        """The tallies of all questions, and the pairs of values."""
        pairs = len(self._pairs_of_values[0])
        return sum(query.tally_size for query in self.queries) + pairs

    def split(self, tally: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """The tally of each question."""
        return _split(tally, [query.tally_size for query in self.queries])[:-1]

    def pool(self, tallies: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """The pooled tallies of each question, and the sums of the pairs of values."""
        if not self.varies_by_batch:
            return super().pool(tallies)
        sizes = [query.tally_size // query.batch_count for query in self.queries]
        *split, pairs = zip(*(_split(tally, sizes) for tally in tallies), strict=True)
        parts = [query.pool(own) for query, own in zip(self.queries, split, strict=True)]
        return np.concatenate([*parts, np.sum(pairs, axis=0, dtype=np.int64)])

    def lots(self, tally: NDArray[np.int64]) -> list[tuple[int, Fraction]]:
        """The parts of all questions that have some: everybody draws one part of each."""
        parts = zip(self.queries, self.split(tally), strict=True)
        return [lot for query, own in parts for lot in query.lots(own)]

    def traits(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """The traits of the answers to each question."""
        answers = zip(self.queries, self.answers(reports), strict=True)
        return np.concatenate([query.traits(own) for query, own in answers])

    def honest_chances(
        self, tally: NDArray[np.int64], traits: NDArray[np.int64], n: int
    ) -> list[HonestChances]:
        """Each question's own counts: everybody answers all of them."""
        own_traits = _split(traits, [query.trait_count for query in self.queries])
        parts = zip(self.queries, self.split(tally), own_traits, strict=False)
        return [
            replace(group, part=None, name=_about(group.name, place))
            for place, (query, own, more) in enumerate(parts, start=1)
            for group in query.honest_chances(own, more, n)
        ]

    def estimate_tallies(
        self,
        tally: NDArray[np.int64],
        n: int,
        *,
        confidence: float = 0.95,
        listed: Sequence[str] = (),
    ) -> list[Estimate]:
        """One unbiased estimate per question, about all `n` people, who all answered it."""
        return [
            estimate_of(query, own, n, confidence=confidence, listed=listed)
            for query, own in zip(self.queries, self.split(tally), strict=True)
        ]

    def rms_errors(self, n: int) -> list[float]:
        """The root mean square standard error of each question."""
        return [query.rms_error(n) for query in self.queries]

    @property
    def worst_shifts(self) -> list[Fraction | None]:
        """The worst shift of each question: a liar answers all of them as it likes."""
        return [query.worst_shift for query in self.queries]

    @property
    def worst_shift(self) -> Fraction | None:
        """The largest of them, and of the cells of every two-way table.

        The score of a cell is the product of two questions', each of which a liar chooses from
        -q/(p - q) and (1 - q)/(p - q).
        """
        largest = super().worst_shift
        if largest is None:
            return None
        scores = [_scores(oracle) for oracle in self.crossable.values()]
        return max([largest, *(_extent(*pair) for pair in combinations(scores, 2))])


def _scores(oracle: FrequencyOracle) -> tuple[Fraction, Fraction]:
    """The scores of a report that does not support a value, and of one that does."""
    own, other = oracle.support_probabilities
    return -other / (own - other), (1 - other) / (own - other)


def _extent(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    """The largest product of two scores, less the least."""
    products = [one * two for one, two in product(first, second)]
    return max(products) - min(products)


def _about(name: Callable[[int], str], place: int) -> Callable[[int], str]:
    """Name an entry of one question's counts, with the question."""
    return lambda entry: f"{name(entry)} (question {place})"


def _must_be_crossed(made: TogetherRandomizer) -> str:
    if made.crossable:
        return "be of categories, by a mechanism whose reports support some of them, such as k-rr"
    return f"be two or more of categories, at most {MOST_CROSSED} together"


def _slices(widths: Iterable[int]) -> list[slice]:
    """The places of parts of these widths, one after the other."""
    return [slice(start, end) for start, end in pairwise(accumulate(widths, initial=0))]


def _split(tally: NDArray[np.int64], sizes: Sequence[int]) -> list[NDArray[np.int64]]:
    """Parts of these sizes, and the rest."""
    return np.split(tally, list(accumulate(sizes)))


def _rows(labels: Iterator[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Every combination of one label of each question, as rows."""
    return [tuple(chain.from_iterable(map(flat, row))) for row in product(*labels)]


def _product(one: LikelihoodClasses, two: LikelihoodClasses) -> LikelihoodClasses:
    """The classes of two answers to different questions."""
    if len(one) * len(two) > _MOST_ENTRIES:
        raise _too_many_classes(len(one) * len(two))
    return one.times(two)


def _too_many_classes(count: int) -> TooLargeError:
    return TooLargeError(
        "The list of classes of together",
        entries=count,
        limit=_MOST_CLASSES,
        hint="Use the bound by clones, which needs epsilon_local only.",
    )


def _pairs(query: Randomizer) -> Sequence[tuple[Any, Any]]:
    """Pairs, one of which has the largest G in the convex order for every factor."""
    if query.pairs_dominate:
        pairs = list(query.representative_pairs() or [])
        if len(distinct_pairs(query, pairs)) > 1:
            pairs += [(one, one) for one, _ in pairs]
        return pairs
    inputs = range(query.channel().shape[0])
    return [(one, two) for one in inputs for two in inputs]
