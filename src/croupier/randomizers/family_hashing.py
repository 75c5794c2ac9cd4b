"""Randomized response over the bucket of a function that is drawn from a public family."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Self

from croupier.errors import ParameterError, TooLargeError
from croupier.model.likelihood import LikelihoodClasses
from croupier.model.report import ReportFormat
from croupier.numerics.arrays import np
from croupier.numerics.rounding import exp_enclosure, log_above
from croupier.numerics.validate import whole_number
from croupier.randomizers.calibrated import CalibratedRandomizer
from croupier.randomizers.hash_family import HashFamily
from croupier.randomizers.k_rr import blanket_weight, kary_response, kary_response_of_one
from croupier.randomizers.parameter import WHOLE, declares

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from croupier.numerics.honest_chances import HonestChances

__all__ = ["FamilyHashing"]

_MOST_FUNCTIONS = 1 << 16
_MOST_BUCKETS = 1 << 16
_CHOSEN_BUCKETS = 1 << 12
_MOST_ROWS = 1 << 20
_MOST_CELLS = 1 << 26
_NAME_BITS = 256


@dataclass(frozen=True, kw_only=True)
class FamilyHashing(CalibratedRandomizer):
    """Draw a function of a public family; report it, and k-RR over the bucket of the value.

    A value is hashed at one of several levels, each with J functions of its own. With L levels, g
    buckets and h_r the function of row r = 0, …, LJ - 1,

        R(x)(r, y) = 1/(LJ) * (high if h_r(x) = y else low),   high = 1 - (g - 1) low.

    The analyzer counts how often each (r, y) occurs, once, and finds how many people hold any value
    from the LJ counts of its buckets.

    `likelihood_classes` without others are those of two values that share no bucket, whatever the
    functions are, so that a proof holds for every batch: k-RR over g buckets. Values that share a
    bucket under some functions are harder to tell apart. Given the function, the G of two values
    in one bucket is that of equal inputs, which that of different buckets exceeds in the convex
    order (see `ParallelRandomizer.representative_pairs`); and the least of a column of R is at
    least low/(LJ). With others, the classes are those of the functions of one batch. Where no
    batch is named, there is no channel, and no bound from below.

    Attributes:
        functions: The number J of functions per level.
        buckets: The number g of buckets; the one nearest to e^epsilon + 1 if not given, at most
            4,096.
        batches: The names of the batches in which the reports are sent; `in_batches` sets them.
    """

    pairs_dominate = True

    functions: int = field(
        default=1024, metadata=declares(WHOLE, "of the public family, per level; 1024 if left out")
    )
    buckets: int | None = field(
        default=None, metadata=declares(WHOLE, "values of the hash functions; chosen if left out")
    )
    batches: tuple[bytes, ...] = ()

    varies_by_batch: ClassVar[bool] = True

    def __post_init__(self) -> None:
        whole_number("functions", self.functions, least=1, most=_MOST_FUNCTIONS)
        super().__post_init__()
        most = min(_MOST_ROWS, _MOST_CELLS // self.g) // self.level_count
        if self.functions > most:
            levels = "one level" if self.level_count == 1 else f"{self.level_count} levels"
            raise ParameterError(
                "functions",
                must=f"be at most {most:,} for {levels} of {self.g:,} buckets",
                got=self.functions,
                hint=f"Try functions = {1 << most.bit_length() - 1}.",
            )

    @property
    def level_count(self) -> int:
        """The number L of levels."""
        return 1

    @abstractmethod
    def message(self, index: Any, level: int) -> bytes:
        """Return what the functions of a level hash of a value."""

    def messages(self, indices: NDArray[Any], levels: NDArray[np.int64]) -> Iterator[bytes]:
        """Yield what the functions hash of each value, at the level beside it."""
        for index, level in zip(indices.tolist(), levels.tolist(), strict=True):
            yield self.message(index, level)

    @property
    def rows(self) -> int:
        """The number LJ of functions of all levels."""
        return self.level_count * self.functions

    @cached_property
    def g(self) -> int:
        """The number of buckets."""
        low, _ = exp_enclosure(self.max_epsilon_local)
        best = min(round(low + 1), _CHOSEN_BUCKETS)
        given = best if self.buckets is None else self.buckets
        return whole_number("buckets", given, least=2, most=_MOST_BUCKETS)

    @cached_property
    def blanket(self) -> int:
        """The weight of every bucket that is not the value's."""
        return blanket_weight(self.denominator, self.max_epsilon_local, self.g)

    @cached_property
    def likelihoods(self) -> tuple[Fraction, Fraction]:
        """The chances (high, low) of the value's bucket and of any other."""
        low = Fraction(self.blanket, self.denominator)
        return 1 - (self.g - 1) * low, low

    @cached_property
    def epsilon_local(self) -> float:  # type: ignore[override]
        """The epsilon of the integers."""
        high, low = self.likelihoods
        return log_above(high / low) if high > low > 0 else math.inf

    @cached_property
    def specification(self) -> dict[str, Any]:
        """The mechanism's name and parameters, without the batches."""
        return {name: value for name, value in super().specification.items() if name != "batches"}

    @property
    def draw_bounds(self) -> tuple[int, ...]:
        """A draw for the function, and one for the bucket."""
        return (self.rows, self.denominator)

    @cached_property
    def report_format(self) -> ReportFormat:
        """Function and bucket."""
        return ReportFormat((self.rows, self.g))

    def in_batches(self, names: Sequence[bytes]) -> Self:
        """Return the mechanism with the functions of these batches."""
        return replace(self, batches=tuple(names))

    @cached_property
    def families(self) -> tuple[HashFamily, ...]:
        """The functions of each batch."""
        return tuple(HashFamily(name, self.rows, self.g) for name in self.batches or (b"",))

    @property
    def family(self) -> HashFamily:
        """The functions of the one batch that a report is for."""
        if len(self.families) != 1:
            raise ParameterError("batches", must="be one where reports are made")
        return self.families[0]

    def respond(self, indices: NDArray[Any], draws: NDArray[np.uint64]) -> NDArray[Any]:
        """Randomise the bucket of the value under the drawn function."""
        rows = draws[:, 0].astype(np.int64)
        found = self.family.fingerprints(self.messages(indices, rows // self.functions))
        own = self.family.buckets_of_drawn(rows, found)
        bucket = kary_response(own, draws[:, 1], blanket=self.blanket, k=self.g)
        return np.stack([rows, bucket], axis=1).astype(self.report_format.dtype)

    def respond_one(self, index: Any, draws: Sequence[int]) -> tuple[int, int]:
        """Randomise the bucket of the value under the drawn function."""
        row, draw = draws
        own = self.family.bucket(row, self.message(index, row // self.functions))
        return row, kary_response_of_one(own, draw, blanket=self.blanket, k=self.g)

    def likelihood_classes(
        self, first: Any, second: Any, *, others: Any = None
    ) -> LikelihoodClasses:
        """The classes of two values that share no bucket; with others, those of the batches.

        Where no batch is named, nothing is known of others but what holds for all functions, which
        may put all values into one bucket.
        """
        patterns: Counter[tuple[int, ...]]
        if others is None:
            patterns = Counter({(0, int(first != second)): 1})
        elif not self.batches:
            patterns = Counter({(0, 0, 0): 1})
        else:
            patterns = self._patterns((first, second, others))
        high, low = self.likelihoods
        total = sum(patterns.values())
        outputs: list[tuple[Fraction, Fraction, Fraction]] = []
        for pattern, rows in patterns.items():
            share = Fraction(rows, total)
            hit = [[high if at == bucket else low for at in pattern] for bucket in set(pattern)]
            rest = self.g - len(hit)
            for times, levels in [*((1, levels) for levels in hit), (rest, [low] * 3)]:
                reference = low if others is None else levels[2]
                outputs.append(
                    tuple(share * times * each for each in (reference, levels[0], levels[1]))  # type: ignore[arg-type]
                )
        return LikelihoodClasses.merged(outputs)

    def _patterns(self, values: Sequence[Any]) -> Counter[tuple[int, ...]]:
        """Count the functions by which of the values share a bucket."""
        rows = np.arange(self.rows)
        found = [self.family.fingerprints(self._messages(value)) for value in values]
        each = [self.family.buckets_of(rows, own[rows // self.functions]).tolist() for own in found]
        return Counter(
            tuple(buckets.index(bucket) for bucket in buckets)
            for buckets in zip(*each, strict=True)
        )

    def _messages(self, value: Any) -> list[bytes]:
        return [self.message(value, level) for level in range(self.level_count)]

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count how often each function was reported with each bucket."""
        cells = reports.reshape(-1, 2).astype(np.int64) @ np.array([self.g, 1])
        return np.bincount(cells, minlength=self.rows * self.g)

    def honest_chances(
        self,
        tally: NDArray[np.int64],
        traits: NDArray[np.int64],  # noqa: ARG002 - of other mechanisms
        n: int,
    ) -> list[HonestChances]:
        """The reports of each function, which is drawn whatever the value is."""
        from croupier.numerics.honest_chances import HonestChances  # noqa: PLC0415 - not on devices

        drawn = tally.reshape(self.rows, self.g).sum(axis=1)
        chance = Fraction(1, self.rows)
        return [HonestChances.of(n, drawn, chance, name="are of function {}".format)]

    @property
    def batch_count(self) -> int:
        """The number of batches, each with functions of its own."""
        return len(self.families)

    @cached_property
    def tally_size(self) -> int:
        """One count per batch, function and bucket."""
        return self.batch_count * self.rows * self.g

    def pool(self, tallies: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Put the counts of all batches one after the other: each has functions of its own."""
        return np.concatenate(tallies)

    def rms_error(self, n: int) -> float:
        """The root mean square standard error over the values, on average over the functions.

        That of fresh functions for each of the n people of a level: with p = high and q = 1/g,

            sqrt([p(1 - p) + (k - 1) q(1 - q)]/(k n)) / (p - q),

        to which public functions add what shares buckets with frequent values and is not fitted:
        measured at 1.00 to 1.05 times this.
        """
        own, other, size = float(self.likelihoods[0]), 1 / self.g, self.domain.size
        spread = other * (1 - other) + (own * (1 - own) - other * (1 - other)) / size
        return math.sqrt(spread * self.level_count / n) / (own - other)

    @property
    def most_right(self) -> Fraction:
        """The sum over all reports of the largest chance of each, whatever the functions are."""
        high, low = self.likelihoods
        hit = min(self.g, self.domain.size)
        return hit * high + (self.g - hit) * low

    def require_named(self) -> None:
        """Refuse to list what depends on the functions where no batch is named."""
        if not self.batches:
            raise TooLargeError(
                f"The channel of {self.mechanism} for the functions of every batch",
                entries=self.rows * self.g << _NAME_BITS,
                limit=_MOST_CELLS,
                hint="Name a batch with in_batches, or use likelihood_classes.",
            )

    def rows_of_channel(self, inputs: Sequence[Any]) -> NDArray[Any]:
        """The weights of `channel()`: one row per value, one column per function and bucket."""
        rows, total = np.arange(self.rows), self.denominator
        truth = total - (self.g - 1) * self.blanket
        weights = np.full((len(inputs), self.rows * self.g), self.blanket, dtype=object)
        for place, value in enumerate(inputs):
            found = self.family.fingerprints(self._messages(value))
            buckets = self.family.buckets_of(rows, found[rows // self.functions])
            weights[place, rows * self.g + buckets] = truth
        return weights

    def outputs_of_channel(self) -> list[tuple[int, int]]:
        """The reports, in the order of the columns."""
        return list(chain.from_iterable(((r, y) for y in range(self.g)) for r in range(self.rows)))
