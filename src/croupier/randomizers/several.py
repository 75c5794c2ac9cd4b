"""Randomizers that ask several questions in one batch."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from croupier.errors import ParameterError
from croupier.model.domain import Product
from croupier.model.estimate import Estimate
from croupier.model.interval_rule import JoinedRule
from croupier.model.randomizer import Randomizer
from croupier.numerics.arrays import np
from croupier.randomizers.parameter import TABLES, declares
from croupier.randomizers.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

__all__ = ["SeveralQuestions", "distinct_pairs", "estimate_of", "flat"]


@dataclass(frozen=True, kw_only=True)
class SeveralQuestions(Randomizer):
    """A mechanism whose values are rows with an answer to each of several questions.

    Attributes:
        queries: A randomizer for each question. Values are rows with the columns of all of them.
    """

    queries: tuple[Randomizer, ...] = field(metadata=declares(TABLES, "the questions"))

    def __post_init__(self) -> None:
        queries = tuple(self.queries)
        if not queries or not all(isinstance(query, Randomizer) for query in queries):
            raise ParameterError("queries", must="be at least one randomizer")
        if any(isinstance(query, SeveralQuestions) for query in queries):
            raise ParameterError(
                "queries", must="not be several themselves", hint="List the inner queries."
            )
        if any(query.permanent is not None for query in queries):
            raise ParameterError(
                "queries", must="keep no answer: another one may be drawn", hint='Try "k-rr".'
            )
        object.__setattr__(self, "queries", queries)

    @property
    def varies_by_batch(self) -> bool:  # type: ignore[override]
        """Tell whether that of a query does."""
        return any(query.varies_by_batch for query in self.queries)

    def in_batches(self, names: Sequence[bytes]) -> Self:
        """Return the same queries, each in these batches."""
        if not self.varies_by_batch:
            return self
        return replace(self, queries=tuple(query.in_batches(names) for query in self.queries))

    @cached_property
    def domain(self) -> Product:
        """A value for every query."""
        return Product(tuple(query.domain for query in self.queries))

    def representative_others(self, first: Any, second: Any) -> Sequence[Any]:
        """The inputs that the queries suggest, with shorter lists repeated."""
        suggested = [
            list(query.representative_others(one, two))
            for query, one, two in zip(self.queries, first, second, strict=True)
        ]
        most = max(map(len, suggested))
        return [tuple(own[index % len(own)] for own in suggested) for index in range(most)]

    @abstractmethod
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

    @abstractmethod
    def rms_errors(self, n: int) -> list[float]:
        """The root mean square standard error of each query when `n` people report."""

    def estimate_tally(
        self, tally: NDArray[np.int64], n: int, *, confidence: float = 0.95
    ) -> Estimate:
        """The estimates of all queries in one, its entries named "query: value"."""
        return _joined(self.estimate_tallies(tally, n, confidence=confidence), n)

    def estimates(
        self, reports: Any, *, confidence: float = 0.95, project: bool = False
    ) -> list[Estimate]:
        """One estimate per query, about all people who reported.

        Args:
            reports: The result of `randomize`, in any order.
            confidence: The coverage of each interval.
            project: True to move each query's shares onto the simplex.
        """
        entries = self.read_reports(reports)
        found = self.estimate_tallies(self.tally(entries), len(entries), confidence=confidence)
        return [estimate.projected() for estimate in found] if project else found

    def estimate(
        self, reports: Any, *, confidence: float = 0.95, project: bool = False
    ) -> Estimate:
        """The estimates of all queries in one; `estimates` keeps them apart.

        Raises:
            ParameterError: Some queries estimate shares and others means.
        """
        found = self.estimates(reports, confidence=confidence, project=project)
        return _joined(found, sum(estimate.n for estimate in found))

    @property
    @abstractmethod
    def worst_shifts(self) -> list[Fraction | None]:
        """The worst shift of each query's estimate; None where it is not known."""

    @property
    def worst_shift(self) -> Fraction | None:
        """The largest of them; None if one is not known."""
        known = [shift for shift in self.worst_shifts if shift is not None]
        return max(known) if len(known) == len(self.queries) else None

    def rms_error(self, n: int) -> float:
        """The root mean square of `rms_errors`, every query counting once."""
        return math.sqrt(sum(error**2 for error in self.rms_errors(n)) / len(self.queries))


def estimate_of(
    query: Randomizer,
    tally: NDArray[np.int64],
    n: int,
    *,
    confidence: float,
    listed: Sequence[str] = (),
) -> Estimate:
    """Estimate one query from the tally of its `n` answers; look for texts if it asks for text."""
    if isinstance(query, Text):
        return query.find(tally, n, confidence=confidence, listed=listed)
    return query.estimate_tally(tally, n, confidence=confidence)


def distinct_pairs(query: Randomizer, pairs: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return those of a query's pairs of inputs that differ in their classes, and so in G."""
    found: dict[frozenset[Any], tuple[Any, Any]] = {}
    for first, second in pairs:
        law = query.likelihood_classes(first, second)
        found.setdefault(frozenset(zip(law.ratios, law.units, strict=True)), (first, second))
    return list(found.values())


def flat(label: Any) -> tuple[Any, ...]:
    """Return the entries of a label of a channel."""
    return label if isinstance(label, tuple) else (label,)


def _joined(estimates: Sequence[Estimate], n: int) -> Estimate:
    quantities = {estimate.quantity for estimate in estimates}
    if len(quantities) > 1:
        raise ParameterError(
            "queries",
            must="all estimate shares, or all means, to be put into one estimate",
            hint="Use `estimates`, which returns one per query.",
        )
    return Estimate(
        quantity=quantities.pop(),
        values=[
            f"{index}: {value}"
            for index, estimate in enumerate(estimates)
            for value in estimate.values
        ],
        points=np.concatenate([estimate.points for estimate in estimates]),
        standard_errors=np.concatenate([estimate.standard_errors for estimate in estimates]),
        n=n,
        confidence=estimates[0].confidence,
        rule=JoinedRule([estimate.intervals for estimate in estimates]),
    )
