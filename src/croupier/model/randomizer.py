"""The local randomizer: what a client does to its value before anything leaves the device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import fields, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from croupier.errors import DataError, ParameterError, TooLargeError
from croupier.numerics.arrays import np
from croupier.numerics.columns import column_like, is_column, library_of, read_column
from croupier.numerics.keystream import Keystream, stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from croupier.model.bracket import Bracket
    from croupier.model.channel import Channel
    from croupier.model.domain import Domain
    from croupier.model.estimate import Estimate
    from croupier.model.likelihood import LikelihoodClasses
    from croupier.model.report import ReportFormat
    from croupier.numerics.honest_chances import HonestChances

__all__ = ["Randomizer", "require_randomizer"]

_SHIPPED = f"{__name__.partition('.')[0]}."
"""Modules of this package, whose representative pairs are tested against their channels."""

_DRAWS_AT_ONCE = 1 << 18
"""A chunk of draws that stays in the processor's cache."""


class Randomizer(ABC):
    """A local mechanism whose law is a table of integers.

    One report consumes a row of integers, column j uniform below ``draw_bounds[j]``, and is a row
    of integers, column j below ``report_format.bounds[j]``. `respond` maps value and draws to the
    report and has no other source of randomness: feeding it every possible row of draws yields the
    channel, integer by integer.

    A subclass is a frozen dataclass whose fields are its parameters. The mechanisms of this package
    take a `max_epsilon_local` that may not be exceeded, and compute `epsilon_local` from the
    integers, rounded up.

    Attributes:
        mechanism: The name in plans and on the command line.
        epsilon_local: ln of the largest ratio of two entries of a column of the channel.
    """

    mechanism: ClassVar[str]
    epsilon_local: float
    varies_by_batch: ClassVar[bool] = False
    """True if what a report means depends on the batch that it is for."""
    pairs_dominate: ClassVar[bool] = False
    """True if one of the representative G is the largest in the convex order at each factor >= 1.

    At other factors too, except perhaps for pairs of equal inputs.
    """

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """The values that people may hold."""

    @property
    @abstractmethod
    def draw_bounds(self) -> tuple[int, ...]:
        """The exclusive bounds of the uniform integers that one report consumes."""

    @property
    def cells_a_report(self) -> int:
        """The number of integers that `respond` holds in memory per report."""
        return len(self.draw_bounds)

    @property
    @abstractmethod
    def report_format(self) -> ReportFormat:
        """The format of a report."""

    @property
    def alphabet_size(self) -> int | None:
        """The number of possible reports if dummies can be made of them: 0, 1, 2, …; else None."""
        return None

    @property
    def answer_chances(self) -> tuple[Fraction, Fraction] | None:
        """The chances that a report is the value and that it is a given other one.

        None if a report is not one of the values.
        """
        return None

    @property
    def shows_value(self) -> bool:
        """Tell whether a report is the value itself, without noise."""
        return self.answer_chances == (Fraction(1), Fraction(0))

    def require_answer_chances(self) -> tuple[Fraction, Fraction]:
        """Return those chances.

        Raises:
            TypeError: A report is not one of the values.
        """
        if self.answer_chances is None:
            raise TypeError(f"a report of {self.mechanism} is not one of its values")
        return self.answer_chances

    @property
    def count_weight(self) -> Fraction:
        """The mean square error of an estimate, in units of that of one noisy count."""
        return Fraction(1)

    @property
    def permanent(self) -> Randomizer | None:
        """The mechanism of an answer that a device keeps and makes all reports from; else None."""
        return None

    @property
    def instantaneous(self) -> Randomizer:
        """The mechanism that makes a report from the permanent answer, with noise of its own.

        Raises:
            TypeError: There is no permanent answer.
        """
        raise TypeError(f"{self.mechanism} keeps no answer")

    def in_batches(self, names: Sequence[bytes]) -> Self:  # noqa: ARG002 - most do not depend on it
        """Return the mechanism as people apply it in the batches with these names."""
        return self

    @abstractmethod
    def respond(self, indices: NDArray[Any], draws: NDArray[np.uint64]) -> NDArray[Any]:
        """The reports for encoded values and rows of draws: a pure function.

        Args:
            indices: The result of ``domain.encode``, one entry (or row) per person.
            draws: One row per person, column j below ``draw_bounds[j]``.
        """

    def respond_one(self, index: Any, draws: Sequence[int]) -> tuple[int, ...]:
        """The report of one person, the same as that of `respond`.

        The mechanisms of this package do without arrays here, so that a device needs none.

        Args:
            index: The result of ``domain.encode_one``.
            draws: One integer below each of `draw_bounds`.
        """
        report = self.respond(np.array([index]), np.array([draws], dtype=np.uint64))
        return tuple(np.ravel(report).tolist())

    @abstractmethod
    def channel(self) -> Channel:
        """The law of `respond`: the number of rows of draws that lead to each report.

        The denominator is the product of `draw_bounds`.

        Raises:
            TooLargeError: The matrix would not fit; ask for `likelihood_classes` instead.
        """

    def likelihood_classes(
        self, first: int, second: int, *, others: int | None = None
    ) -> LikelihoodClasses:
        """Merge reports that say the same about two values.

        The reference is the privacy blanket (or, where stated, a lower bound of it), or the law of
        the value `others` if one is given.
        """
        return self.channel().likelihood_classes(first, second, others=others)

    def representative_pairs(self) -> Sequence[tuple[Any, Any]] | None:
        """Ordered pairs of inputs, one of which is the easiest to tell apart in any batch.

        None if no symmetry is known: then every ordered pair of rows of `channel()` counts.
        """
        return None

    @cached_property
    def checked_epsilon_local(self) -> float:
        """`epsilon_local`, checked against the deployed integers; every proof starts from it.

        It is checked against the channel, or against the classes of the representative pairs if
        there are any; for mechanisms outside this package against both, since their pairs may
        belong to another mechanism. If the table is too large to be listed, the declared value is
        taken.

        Raises:
            ParameterError: The integers give more than is declared.
        """
        found = max(self._listed_epsilons(), default=self.epsilon_local)
        if not found <= self.epsilon_local:
            raise ParameterError(
                "epsilon_local",
                must=f"be at least {found!r}, which the integers of {type(self).__name__} give",
                got=self.epsilon_local,
                hint="Compute it: channel().epsilon.",
            )
        return self.epsilon_local

    def _listed_epsilons(self) -> Iterator[float]:
        """The epsilons of the integers, one per pair of values or table that can be listed."""
        pairs: Sequence[tuple[Any, Any]] | None = ()
        with suppress(TooLargeError):
            pairs = self.representative_pairs()
            yield from (self.likelihood_classes(*pair).epsilon for pair in pairs or ())
        shipped = type(self).__module__.startswith(_SHIPPED)
        if pairs is None or not shipped:
            with suppress(TooLargeError):
                yield self.channel().epsilon

    @property
    def budget_cost(self) -> float:
        """The cost of one report to a person's budget, in nats: at least `epsilon_local`."""
        return self.epsilon_local

    def representative_others(self, first: Any, second: Any) -> Sequence[Any]:
        """Inputs that all others may hold while `first` and `second` are told apart."""
        return [first, second]

    @abstractmethod
    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Sums over the reports that suffice for `estimate_tally`; tallies of two batches add."""

    def lots(self, tally: NDArray[np.int64]) -> Sequence[tuple[int, Fraction]]:  # noqa: ARG002
        """The number of people who answered each part of the question, and the chance to draw it.

        Nothing for a mechanism in which everybody answers the same.
        """
        return ()

    def traits(self, reports: NDArray[Any]) -> NDArray[np.int64]:  # noqa: ARG002 - most have none
        """Counts that a tally lacks and that show liars; those of two parts of a batch add."""
        return np.zeros(0, dtype=np.int64)

    @cached_property
    def trait_count(self) -> int:
        """The number of entries of `traits`."""
        return self.traits(self.report_format.empty(0)).size

    def honest_chances(
        self,
        tally: NDArray[np.int64],  # noqa: ARG002 - as below
        traits: NDArray[np.int64],  # noqa: ARG002 - as below
        n: int,  # noqa: ARG002 - nothing is known of a mechanism that says nothing
    ) -> Sequence[HonestChances]:
        """Counts of a batch, and the chances of honest reports to be counted, for every value.

        Args:
            tally: The tally of the batch.
            traits: Its traits.
            n: The number of reports.
        """
        return ()

    @property
    def batch_count(self) -> int:
        """The number of batches whose tallies `estimate_tally` takes one after the other, if so."""
        return 1

    @cached_property
    def tally_size(self) -> int:
        """The number of entries of a tally."""
        return self.tally(self.report_format.empty(0)).size

    def pool(self, tallies: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """The tally of several batches, for `estimate_tally` of the mechanism in these batches."""
        return np.asarray(np.sum(tallies, axis=0, dtype=np.int64))

    @abstractmethod
    def estimate_tally(
        self, tally: NDArray[np.int64], n: int, *, confidence: float = 0.95
    ) -> Estimate:
        """The unbiased estimate from the tally of `n` reports."""

    @abstractmethod
    def rms_error(self, n: int) -> float:
        """The root mean square standard error of the estimates from `n` reports.

        For shares, over the categories; for means, at the value where it is largest.
        """

    @property
    def worst_shift(self) -> Fraction | None:
        """The largest shift of an estimate by corrupt reports, per share of the reports.

        Corrupt people may send any report. If they are c of n, the largest shift is c/n times this
        number, which for an average of scores is

            max over the estimates of (largest score of a report - least score).

        Shares are shifted by this much, means by this much of their range. It may exceed 1. Where
        people draw what they answer, it is the shift of what is drawn least often, by liars who
        all answer that, at the expected number of answers.

        Direction: exact, or upper where a mechanism says so; None where nothing is proved.
        """
        return None

    def randomize(
        self, values: Any, *, rng: Keystream | None = None, insecure_seed: int | None = None
    ) -> Any:
        """Randomise every value; each person's report is independent of the others'.

        Args:
            values: A list, numpy array, or column of pandas, Polars or Arrow.
            rng: The source of the integers; the operating system if not given.
            insecure_seed: Instead of `rng`: makes the reports repeatable, and predictable.

        Returns:
            The reports: an array for a list or an array, else a column of the same library. A
            report of several integers becomes a fixed-size binary entry of a column.
        """
        indices = self.domain.encode(read_column(values))
        rng = stream(rng, insecure_seed)
        reports = self.report_format.empty(len(indices))
        step = max(1, _DRAWS_AT_ONCE // self.cells_a_report)
        for start in range(0, len(indices), step):
            part = indices[start : start + step]
            draws = rng.table(self.draw_bounds, len(part))
            reports[start : start + step] = self.respond(part, draws)
        if is_column(values) and reports.ndim > 1:
            return column_like(values, self.report_format.to_bytes(reports))
        return column_like(values, reports)

    def randomize_one(self, value: Any, *, rng: Keystream) -> tuple[int, ...]:
        """Randomise the value of one person: the report that `randomize` gives for it."""
        return self.respond_one(self.domain.encode_one(value), rng.row(self.draw_bounds))

    def estimate(
        self, reports: Any, *, confidence: float = 0.95, project: bool = False
    ) -> Estimate:
        """The unbiased estimate of the values behind the reports.

        Args:
            reports: The result of `randomize`, in any order.
            confidence: The coverage of each interval.
            project: True to move shares onto the simplex (smaller error, some bias).
        """
        entries = self.read_reports(reports)
        if not len(entries):
            raise ParameterError("reports", must="contain at least one report")
        estimate = self.estimate_tally(self.tally(entries), len(entries), confidence=confidence)
        estimate = replace(estimate, library=library_of(reports))
        return estimate.projected() if project else estimate

    def read_reports(self, reports: Any) -> NDArray[Any]:
        """An array of the reports in a column or array, all checked to be well formed."""
        entries = read_column(reports)
        if entries.dtype == object:
            entries = self.report_format.from_bytes(entries.tolist())
        malformed = int(np.count_nonzero(self.refused(entries)))
        if malformed:
            raise self._no_reports(malformed)
        return entries

    def _no_reports(self, count: int) -> DataError:
        return DataError(
            count,
            f"entries are not reports of {self.mechanism} with these parameters",
            hint="Check the mechanism and its parameters.",
        )

    def to_bytes_of_one(self, report: Sequence[int]) -> bytes:
        """The bytes of one report, checked to be well formed."""
        if not self.is_report(report):
            raise self._no_reports(1)
        return self.report_format.to_bytes_of_one(report)

    def is_report(self, report: Sequence[int]) -> bool:
        """Tell if some client sends these integers, whatever its value."""
        return self.report_format.is_report(report)

    def refused(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Mark the rows of integers that no client sends, whatever its value."""
        return self.report_format.refused(reports)

    def bracket(
        self, *, n: float, delta: float, corrupt: float = 0, report_probability: float = 1.0
    ) -> Bracket:
        """Prove epsilon after a uniform shuffle of `n` reports, from below and from above.

        Args:
            n: The number of people whose reports are in the batch.
            delta: The probability with which the bound may fail, in (0, 1).
            corrupt: The number of people among the `n` who are not honest and show what they sent.
            report_probability: The chance that each other honest person reports at all.
        """
        from croupier.accounting.amplify import bracket  # noqa: PLC0415 - a verb

        return bracket(
            self, n=n, delta=delta, corrupt=corrupt, report_probability=report_probability
        )

    @cached_property
    def specification(self) -> dict[str, Any]:
        """The mechanism's name and parameters: what a registry needs to build it again."""
        given = {field.name: field for field in fields(self) if field.init}  # type: ignore[arg-type]
        return {"mechanism": self.mechanism} | {
            name: getattr(self, name)
            for name, field in given.items()
            if getattr(self, name) != field.default
        }


def require_randomizer(randomizer: Randomizer) -> Randomizer:
    """Return a randomizer, and refuse the mere name of one.

    >>> require_randomizer("k-rr")
    Traceback (most recent call last):
    croupier.errors.ParameterError: `randomizer` must be a Randomizer; got 'str'. Pass
    croupier.randomizer("k-rr", k=10, max_epsilon_local=4).
    """
    given: object = randomizer
    if not isinstance(given, Randomizer):
        hint = 'Pass croupier.randomizer("k-rr", k=10, max_epsilon_local=4).'
        got = type(given).__name__
        raise ParameterError("randomizer", must="be a Randomizer", got=got, hint=hint)
    return randomizer
