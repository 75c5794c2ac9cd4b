"""Families of mechanisms in which only epsilon_local is open, for the planner."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from croupier.errors import CroupierError, ParameterError
from croupier.model.randomizer import Randomizer
from croupier.numerics.bisection import bisect_safe_integer
from croupier.numerics.rounding import float_above
from croupier.randomizers import MECHANISMS, parameters, randomizer

__all__ = ["LARGEST_INDEX", "MANY_VALUES", "MODELS", "Family", "decimal_at", "families", "index_of"]

MODELS = ("parallel", "divide", "subsample")
"""The ways in which several questions may be divided among the people."""

_NEVER_BEST = ("rappor", "memoised-k-rr")
"""One bit per category (symmetric-unary) is a RAPPOR filter without collisions, and errs less; k-RR
without a permanent answer errs less in one report."""

MANY_VALUES = 4096
"""From here on a dictionary counts in seconds what local hashing counts in hours."""

_FOR_FEW = ("local-hashing", "symmetric-unary", "optimized-unary")
_LARGEST_SET = 512
"""With many values, a report of a bit per value or of more than so many values has kilobytes."""

_OTHER_NUMBERS = ("distribution",)
"""Its error is that of a distribution function, and not that of a mean."""

_WITHOUT_NOISE = ("plain",)
"""There is no epsilon_local to choose."""

_DECADE = 9_000
_LEAST_EXPONENT = -6
_ALL_UP_TO, _RATIO = 24, 1.12
_MOST_BUCKETS = 1 << 16
_MOST_BYTES = 65_534


def decimal_at(index: int) -> float:
    """The numbers of four significant digits from 0.001 on, in order.

    >>> decimal_at(0), decimal_at(1), decimal_at(9_000 * 3 + 3_000)
    (0.001, 0.001001, 4.0)
    """
    decade, digits = divmod(index, _DECADE)
    return float(Decimal(digits + 1_000).scaleb(decade + _LEAST_EXPONENT))


def index_of(value: float) -> int:
    """The index of the largest such number that is at most `value`.

    >>> decimal_at(index_of(4.05678)), decimal_at(index_of(20))
    (4.056, 20.0)
    """
    exact = Decimal(repr(float(value)))
    digits = int(exact.scaleb(3 - exact.adjusted()))
    return (exact.adjusted() - 3 - _LEAST_EXPONENT) * _DECADE + digits - 1_000


LARGEST_INDEX = index_of(20.0)


@dataclass(frozen=True, eq=False)
class Family:
    """A mechanism with its own parameters, and the way in which questions are divided.

    Attributes:
        mechanism: Its name.
        given: Its parameters except epsilon_local.
        participation: The participation table of a plan.
        questions: The number of questions, all of this kind.
        corrupt: The number of people who may lie, all in one batch.
        max_manipulation: The largest shift of an estimate that they may cause.
    """

    mechanism: str
    given: Mapping[str, Any]
    participation: Mapping[str, Any]
    questions: int = 1
    corrupt: int = 0
    max_manipulation: float = math.inf

    @property
    def batches(self) -> int:
        """The number of batches into which the people are divided."""
        return self.questions if self.participation["model"] == "divide" else 1

    def batch(self, people: int) -> int:
        """The number of people in the smallest batch."""
        return people // self.batches

    def randomizer(self, index: int) -> Randomizer:
        """The randomizer with the epsilon_local of that index."""
        if index not in self._made:
            local = decimal_at(index)
            self._made[index] = randomizer(self.mechanism, max_epsilon_local=local, **self.given)
        return self._made[index]

    @cached_property
    def _made(self) -> dict[int, Randomizer]:
        return {}

    def error(self, index: int, people: int) -> float:
        """The root mean square standard error; infinite if there is no such randomizer."""
        try:
            question = self.randomizer(index)
            if question.report_format.size > _MOST_BYTES or not self.batch(people):
                return math.inf
            return self._together(question).rms_error(self.batch(people))
        except CroupierError:
            return math.inf

    def manipulation(self, index: int, people: int) -> float:
        """The largest shift of an estimate by corrupt people; infinite if nothing is proved."""
        try:
            worst = self._together(self.randomizer(index)).worst_shift
        except CroupierError:
            return math.inf
        if worst is None or not self.batch(people):
            return math.inf
        return float_above(worst * self.corrupt / self.batch(people))

    def _together(self, question: Randomizer) -> Randomizer:
        """The mechanism of all questions, if they share a batch."""
        if self.questions == 1 or self.participation["model"] != "parallel":
            return question
        return randomizer(
            "parallel", queries=(question,) * self.questions, weights=(1,) * self.questions
        )

    def is_enough(self, error: float, index: int, people: int) -> bool:
        """Tell whether so many people give no larger error, and liars no larger shift."""
        if self.error(index, people) > error:
            return False
        limited = math.isfinite(self.max_manipulation)
        return not limited or self.manipulation(index, people) <= self.max_manipulation

    def least_index(self, error: float, people: int, *, most: int) -> int | None:
        """The least index, at most `most`, at which this number of people is enough."""
        if not self.is_enough(error, most, people):
            return None
        return bisect_safe_integer(
            lambda index: self.is_enough(error, index, people), safe=most, unsafe=-1
        )

    def people(self, error: float, index: int, *, most: int) -> int:
        """The least number of people, if at most `most`, that is enough."""
        return bisect_safe_integer(
            lambda people: self.is_enough(error, index, people), safe=most, unsafe=0
        )


def families(
    domain: Mapping[str, Any],
    *,
    questions: int = 1,
    mechanisms: Sequence[str] | None = None,
    models: Sequence[str] = MODELS[:2],
) -> list[Family]:
    """Every mechanism for the domain, with each of its own parameters that may be best.

    Args:
        domain: One of ``k``, ``labels`` and ``grid`` with its value, or ``longest`` and what else
            describes texts.
        questions: The number of questions.
        mechanisms: The mechanisms to consider; all that may be best if left out.
        models: The ways in which several questions may be divided.

    >>> grid = {"low": 0.0, "high": 1.0, "step": 0.1}
    >>> [family.mechanism for family in families({"grid": grid})]
    ['laplace', 'gaussian', 'one-bit-mean']
    """
    kind = next((each for each in ("grid", "longest") if each in domain), "k")
    known = [name for name in MECHANISMS if kind in parameters(name)]
    sensible = [name for name in known if name not in _NEVER_BEST + _OTHER_NUMBERS]
    for name in mechanisms or ():
        if name not in known:
            must, hint = f"be one of {', '.join(known)} here", f"Try {known[0]}."
            raise ParameterError("mechanism", must=must, got=name, hint=hint)
    for model in models:
        if model not in MODELS:
            raise ParameterError("model", must=f"be one of {', '.join(MODELS)}", got=model)
    size = len(domain["labels"]) if "labels" in domain else domain.get("k", 2)
    wasteful = _FOR_FEW if size >= MANY_VALUES else ("dictionary",)
    return [
        Family(mechanism, dict(domain) | own, table, questions)
        for table in _participation(models, questions)
        for mechanism in (mechanisms or [name for name in sensible if name not in wasteful])
        if mechanism not in _WITHOUT_NOISE
        for own in _own_parameters(mechanism, size)
    ]


def _participation(models: Sequence[str], questions: int) -> Iterator[dict[str, Any]]:
    """The participation tables; one question is a single round in every model."""
    own = {"parallel": "weights", "divide": "groups", "subsample": "repeats"}
    for model in models:
        if questions > 1 or model == "subsample":
            yield {"model": model, own[model]: questions}
    if questions == 1 and set(models) - {"subsample"}:
        yield {"model": "single"}


def _own_parameters(mechanism: str, size: int) -> Iterator[dict[str, int]]:
    """No own parameter, then values of a mechanism's whole number: all small ones, some large.

    A set of one category is k-RR, and one of more than half of them is never best.
    """
    yield {}
    if mechanism == "subset-selection":
        largest = size // 2 if size < MANY_VALUES else _LARGEST_SET
        yield from ({"subset_size": value} for value in _spread(2, largest))
    if mechanism == "local-hashing":
        yield from ({"buckets": value} for value in _spread(2, min(2 * size, _MOST_BUCKETS)))


def _spread(least: int, most: int) -> list[int]:
    """All whole numbers up to some size, then increasingly sparse ones.

    >>> _spread(2, 36)[-5:]
    [24, 26, 29, 32, 35]
    """
    found = list(range(least, min(most, _ALL_UP_TO) + 1))
    while found and (value := max(found[-1] + 1, int(found[-1] * _RATIO))) <= most:
        found.append(value)
    return found
