"""Shares of many listed answers, through a public family of hash functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from croupier.errors import ParameterError
from croupier.model.channel import Channel
from croupier.numerics.arrays import np
from croupier.randomizers.categorical import Categorical
from croupier.randomizers.family_hashing import FamilyHashing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from croupier.model.estimate import Estimate

__all__ = ["Dictionary"]

_MOST_ANSWERS = 10_000_000
"""The analyzer estimates the share of each."""


@dataclass(frozen=True, kw_only=True)
class Dictionary(FamilyHashing, Categorical):
    """Local hashing with public functions, for up to 10,000,000 answers.

    The error is that of `local-hashing`, but the analyzer counts every report once instead of
    hashing every answer for every report: a million answers of a million people take seconds
    instead of hours. Intervals come from the functions, which are as many independent groups of
    people; the shares of the most frequent answers are fitted together, since they are what other
    answers share buckets with.

    Reference: wang2017, OLH; bassily2017 for functions that are shared.

    Example:
        >>> Dictionary(k=1_000_000, max_epsilon_local=4.0).report_format.size
        2
    """

    mechanism = "dictionary"

    def __post_init__(self) -> None:
        Categorical.__post_init__(self)
        if self.size > _MOST_ANSWERS:
            raise ParameterError(
                "k" if self.labels is None else "labels",
                must=f"give at most {_MOST_ANSWERS:,} answers for dictionary",
                got=self.size,
                hint="Ask for text instead: it lists no answers.",
            )
        FamilyHashing.__post_init__(self)

    def message(self, index: int, level: int) -> bytes:  # noqa: ARG002 - there is one
        """Return the place of the answer, in 8 bytes."""
        return index.to_bytes(8)

    def channel(self) -> Channel:
        """The law of a report given the value, with the functions of its batch.

        Raises:
            TooLargeError: There are too many answers or reports, or no batch is named.
        """
        self.require_named()
        self.require_few(self.rows * self.g)
        return Channel.from_weights(
            self.rows_of_channel(range(self.size)),
            self.rows * self.denominator,
            inputs=self.domain.labels,
            outputs=self.outputs_of_channel(),
        )

    def representative_pairs(self) -> Sequence[tuple[int, int]]:
        """One pair: `likelihood_classes` takes any two to share no bucket."""
        return [(0, 1)]

    def representative_others(self, first: int, second: int) -> Sequence[int]:
        """Either value, and a third one if there is one."""
        return [first, second, *range(2, min(self.size, 3))]

    def estimate_tally(
        self, tally: NDArray[np.int64], n: int, *, confidence: float = 0.95
    ) -> Estimate:
        """The share of every answer from the tally of `n` reports."""
        from croupier.randomizers.estimates.family_fit import FamilyFit  # noqa: PLC0415 - it needs scipy

        fit = FamilyFit.of(self, tally, level=0)
        places = np.arange(self.size)
        found = fit.shares(self.messages(places, np.zeros_like(places)))
        return found.estimate(self.domain.labels, n=n, confidence=confidence)
