"""The distribution of a number: quantiles, shares below and between, mean, histogram."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from croupier.errors import ParameterError
from croupier.model.randomizer import Randomizer
from croupier.numerics.arrays import np
from croupier.numerics.keystream import WORD
from croupier.numerics.rounding import exp_enclosure
from croupier.numerics.validate import whole_number
from croupier.randomizers.calibrated import refuse_former_name
from croupier.randomizers.k_rr import KaryRandomizedResponse
from croupier.randomizers.local_hashing import LocalHashing
from croupier.randomizers.number_tree import NumberTree
from croupier.randomizers.parallel import ParallelRandomizer
from croupier.randomizers.parameter import EPSILON, GRID, WHOLE, declares
from croupier.randomizers.plain import Plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from croupier.model.channel import Channel
    from croupier.model.domain import Grid
    from croupier.model.likelihood import LikelihoodClasses
    from croupier.model.report import ReportFormat
    from croupier.numerics.honest_chances import HonestChances
    from croupier.randomizers.estimates.distribution import DistributionEstimate
    from croupier.randomizers.frequency_oracle import FrequencyOracle

__all__ = ["Distribution"]

_MOST_NUMBERS = 4096
"""The equations of least squares between all numbers fit in memory and take seconds."""


@dataclass(frozen=True, kw_only=True)
class Distribution(Randomizer):
    """Report where in the distribution a number is, with noise of one's own or of shufflers.

    With noise of one's own, a person draws a level of a tree over the grid, and answers which node
    of it has the number, by `k-rr` over few nodes and `local-hashing` over many, with the whole
    epsilon: a law of `parallel` questions, one per level, whose answers belong together. Two
    numbers in different nodes of every level are the easiest to tell apart. Without
    max_epsilon_local, the report is the number's place on the grid, and shufflers add dummies.

    The estimate is the distribution nearest to all answers, by least squares: whatever is said
    about several numbers adds up (`estimates.tree_fit`).

    Values are first rounded to the grid and clamped to its ends.

    Attributes:
        grid: The declared fixed-point grid, of at most 4,096 numbers.
        max_epsilon_local: The epsilon that may not be exceeded; None without noise of one's own.
        fanout: The number of nodes below a node.
        denominator: The denominator of the integer weights.

    Reference: cormode2019 for the tree and its consistency.

    Example:
        >>> from croupier.model.domain import Grid
        >>> latency = Distribution(grid=Grid(0, 1023, 1), max_epsilon_local=4.0)
        >>> [(level.mechanism, level.size) for level in latency.levels]
        [('k-rr', 4), ('k-rr', 16), ('k-rr', 64), ('local-hashing', 256), ('local-hashing', 1024)]
    """

    mechanism = "distribution"
    pairs_dominate = True

    grid: Grid = field(metadata=declares(GRID, "low, high and step; values are rounded to it"))
    max_epsilon_local: float | None = field(
        default=None,
        metadata=declares(EPSILON, "nats, a ceiling; left out where shufflers add dummies"),
    )
    fanout: int = field(default=4, metadata=declares(WHOLE, "nodes below a node of the tree"))
    denominator: int = field(
        default=WORD, metadata=declares(WHOLE, "denominator of integer weights; small for tests")
    )

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Refuse the former name of the ceiling; copying passes no arguments."""
        refuse_former_name(cls, given)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        if self.grid.size > _MOST_NUMBERS:
            raise ParameterError(
                "grid",
                must=f"have at most {_MOST_NUMBERS:,} numbers for distribution",
                got=self.grid.size,
                hint="Raise the step.",
            )
        whole_number("fanout", self.fanout, least=2, most=_MOST_NUMBERS)
        whole_number("denominator", self.denominator, least=2, most=WORD)
        _ = self._inner  # refuses what is no epsilon

    @property
    def domain(self) -> Grid:
        """The grid."""
        return self.grid

    @cached_property
    def tree(self) -> NumberTree:
        """The levels and their nodes; a single level without noise of one's own."""
        fanout = self.grid.size if self.max_epsilon_local is None else self.fanout
        return NumberTree(self.grid.size, fanout)

    @cached_property
    def levels(self) -> tuple[FrequencyOracle, ...]:
        """The mechanism of each level; none without noise of one's own."""
        if self.max_epsilon_local is None:
            return ()
        given = {"max_epsilon_local": self.max_epsilon_local, "denominator": self.denominator}
        made: list[FrequencyOracle] = []
        for size in self.tree.sizes:
            few = size <= 3 * round(exp_enclosure(self.max_epsilon_local)[0] + 1)
            chosen = KaryRandomizedResponse if few else LocalHashing
            made.append(chosen(k=size, **given))  # type: ignore[arg-type]
        return tuple(made)

    @cached_property
    def _inner(self) -> Plain | ParallelRandomizer:
        return ParallelRandomizer(queries=self.levels) if self.levels else Plain(k=self.grid.size)

    @property
    def epsilon_local(self) -> float:  # type: ignore[override]
        """The epsilon of the levels; infinite without noise of one's own."""
        return self._inner.epsilon_local

    @property
    def budget_cost(self) -> float:
        """The cost of the levels."""
        return self._inner.budget_cost

    @property
    def alphabet_size(self) -> int | None:
        """The numbers of the grid, without noise of one's own."""
        return self._inner.alphabet_size

    @property
    def answer_chances(self) -> tuple[Fraction, Fraction] | None:
        """Those of `plain`, without noise of one's own."""
        return self._inner.answer_chances

    @property
    def draw_bounds(self) -> tuple[int, ...]:
        """Those of parallel questions about the levels."""
        return self._inner.draw_bounds

    @property
    def cells_a_report(self) -> int:
        """Those of parallel questions about the levels."""
        return self._inner.cells_a_report

    @property
    def report_format(self) -> ReportFormat:
        """Level and answer; the number's place without noise of one's own."""
        return self._inner.report_format

    def respond(self, indices: NDArray[Any], draws: NDArray[np.uint64]) -> NDArray[Any]:
        """Answer the drawn level."""
        if self.levels:
            indices = np.stack(list(self.tree.nodes(indices)), axis=1)
        return self._inner.respond(indices, draws)

    def respond_one(self, index: int, draws: Sequence[int]) -> tuple[int, ...]:
        """Answer the drawn level."""
        return self._inner.respond_one(self._row(index), draws)

    def _row(self, index: int) -> Any:
        """The input of the inner mechanism."""
        return tuple(self.tree.nodes(index)) if self.levels else index

    def refused(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Mark the rows that answer no level."""
        return self._inner.refused(reports)

    def is_report(self, report: Sequence[int]) -> bool:
        """Tell if these integers answer a level."""
        return self._inner.is_report(report)

    def channel(self) -> Channel:
        """The law of a report given the number.

        Raises:
            TooLargeError: There are too many reports; ask for `likelihood_classes`.
        """
        if not isinstance(self._inner, ParallelRandomizer):
            return self._inner.channel()
        rows = np.stack(list(self.tree.nodes(np.arange(self.grid.size))), axis=1)
        return self._inner.channel_of(rows, self.grid.points.tolist())

    def likelihood_classes(
        self, first: int, second: int, *, others: int | None = None
    ) -> LikelihoodClasses:
        """Those of the nodes of the numbers, level by level.

        Every node of a level has numbers, so that the least chance of a report over all numbers is
        that over the nodes of its level: the blankets of the levels together are the blanket.
        """
        given = None if others is None else self._row(others)
        return self._inner.likelihood_classes(self._row(first), self._row(second), others=given)

    def representative_pairs(self) -> Sequence[tuple[int, int]]:
        """One pair: the first and the last number are in different nodes of every level."""
        return [(0, self.grid.size - 1)]

    def representative_others(self, first: int, second: int) -> Sequence[int]:
        """Either number, and one between."""
        return list(dict.fromkeys([first, second, self.grid.size // 2]))

    def traits(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Those of the levels."""
        return self._inner.traits(reports)

    def honest_chances(
        self, tally: NDArray[np.int64], traits: NDArray[np.int64], n: int
    ) -> Sequence[HonestChances]:
        """The answers to each level, and each level's own counts."""
        return self._inner.honest_chances(tally, traits, n)

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """The number of answers to each level and of those that support each node."""
        return self._inner.tally(reports)

    def lots(self, tally: NDArray[np.int64]) -> Sequence[tuple[int, Fraction]]:
        """The levels."""
        return self._inner.lots(tally)

    def estimate_tally(
        self, tally: NDArray[np.int64], n: int, *, confidence: float = 0.95
    ) -> DistributionEstimate:
        """The distribution nearest to the answers of all levels."""
        from croupier.randomizers.estimates.tree_fit import (  # noqa: PLC0415 - it needs scipy
            CountFit,
            TreeFit,
        )

        if isinstance(self._inner, ParallelRandomizer):
            parts = self._inner.split(tally)
            return TreeFit.of(self.tree, self.levels, parts, n).estimate(
                self.grid, confidence=confidence
            )
        exact = CountFit.of(tally / n, n, variances=np.zeros(len(tally)), jump=0.0)
        return exact.estimate(self.grid, confidence=confidence)

    @cached_property
    def count_weight(self) -> Fraction:
        """(N + 1)/6 for N counts without noise of one's own, else 1.

        Shares of all people add up to one. By least squares, the noise V of each count becomes a
        variance of V t (N - t)/N for the sum of the first t.
        """
        return Fraction(self.grid.size + 1, 6) if not self.levels else Fraction(1)

    def rms_error(self, n: int) -> float:
        """The root mean square error of the shares up to a number, over all numbers.

        That of people spread evenly over the grid; zero without noise of one's own.
        """
        from croupier.randomizers.estimates.tree_fit import expected_error  # noqa: PLC0415

        return expected_error(self.tree, self.levels, n) if self.levels else 0.0

    @cached_property
    def worst_shift(self) -> Fraction:
        """The worst shift of the shares up to a number; one without noise of one's own.

        A share between two numbers, the difference of two of them, moves at most twice as far
        where there is noise of one's own.

        Direction: upper.
        """
        if not self.levels:
            return Fraction(1)
        from croupier.randomizers.estimates.tree_fit import worst_shift  # noqa: PLC0415

        return worst_shift(self.tree, self.levels)
