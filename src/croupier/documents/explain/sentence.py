"""A sentence whose numbers know where they come from."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.text import CERTAIN, one_in, percent, proved_text
from croupier.model.guarantee import Direction
from croupier.model.metric import Metric
from croupier.numerics.rounding import ceiling_digits, delta_text, floor_digits, nearest_digits

__all__ = ["NO_PROTECTION", "Form", "Number", "Quoted", "Sentence", "chance", "promised"]

NO_PROTECTION = "no protection"


class Form(StrEnum):
    """The forms in which a value is said."""

    DIGITS = "digits"
    PERCENT = "percent"
    ODDS = "odds"
    SOME_ROUND = "odds in some round"
    TWO_ROUNDS = "odds in two rounds"
    RATIO = "ratio"
    PROMISE = "promise"
    UPPER = "upper"
    LOWER = "lower"


@dataclass(frozen=True, kw_only=True)
class Number:
    """A proved value as it is said: on the safe side, in three digits, or six as a bound.

    Of several rounds with what limits it: "at most", or "no protection".

    Attributes:
        value: The value that was proved.
        metric: What it is about.
        rung: Against whom.
        form: How it is said.
        direction: Whether the truth is at most, at least or at the value; None where the form or
            the words around it say so.
        rounds: In how many rounds a person reports.
    """

    value: float
    metric: Metric
    rung: str
    form: Form = Form.DIGITS
    direction: Direction | None = Direction.UPPER
    rounds: int = 1

    @property
    def said(self) -> float:
        """The quantity that is printed, rounded outward.

        A ratio is e^value. In some of T independent rounds: 1 - (1 - p)^T; in two of them: p^2.
        """
        if self.form is Form.RATIO:
            return _ratio(self.value)
        if self.form is Form.SOME_ROUND and self.value < 1:
            return min(1.0, -math.expm1(self.rounds * math.log1p(-self.value)) * (1 + 1e-14))
        if self.form is Form.TWO_ROUNDS:
            return self.value**2 * (1 + 1e-15)
        return self.value

    def __str__(self) -> str:
        if self.form is Form.PROMISE:
            return proved_text(self.metric, self.value)
        if self.form in (Form.UPPER, Form.LOWER):
            return _BOUNDS[self.form](self.value, 6)
        exact = self.direction is Direction.EXACT
        if self.form is Form.PERCENT:
            return f"{nearest_digits(100 * self.value) if exact else percent(self.value)} %"
        if self.form in (Form.DIGITS, Form.RATIO):
            return _powered(self.said) if self.said >= 1e6 else _DIGITS[self.direction](self.said)
        if self.form is Form.ODDS:
            return one_in(self.said)
        odds = one_in(self.said)
        return NO_PROTECTION if odds == CERTAIN else f"at most {odds}"


_DIGITS: dict[Direction | None, Callable[[float], str]] = {
    Direction.UPPER: ceiling_digits,
    Direction.LOWER: floor_digits,
    Direction.EXACT: nearest_digits,
}
_BOUNDS = {Form.UPPER: ceiling_digits, Form.LOWER: floor_digits}


class Quoted(str):
    """Words of the plan inside a sentence: nobody of this project wrote them."""

    __slots__ = ()


class Sentence:
    """Words and numbers in a row, on the page as the macro `said` writes them.

    >>> share = Number(value=0.50332, metric=Metric.GUESS_OF_TWO, rung="batch", form=Form.PERCENT)
    >>> str(Sentence("right at most ", share, " of the time"))
    'right at most 50.4 % of the time'
    """

    def __init__(self, *parts: str | Number) -> None:
        self.parts = parts

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The numbers alone."""
        return tuple(part for part in self.parts if isinstance(part, Number))

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


def promised(cell: Cell, rung: str, *, form: Form = Form.DIGITS, rounds: int = 1) -> Number:
    """Return what the cell promises: on the safe side, also where it is exact.

    Raises:
        ValueError: Nothing is promised.
    """
    if cell.proved is None:
        raise ValueError("nothing is promised")
    return Number(
        value=cell.proved.value,
        metric=cell.metric,
        rung=rung,
        form=form,
        direction=Direction.LOWER if cell.metric.protects else Direction.UPPER,
        rounds=rounds,
    )


def _ratio(epsilon: float) -> float:
    if epsilon == 0:
        return 1.0
    return math.exp(epsilon) * (1 + 1e-13) if epsilon < 700 else math.inf


def _powered(value: float) -> str:
    """Write a number too long to be read digit by digit, rounded up to a power of ten."""
    return "infinity" if math.isinf(value) else f"10^{math.ceil(math.log10(value))}"


_LARGE = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"))


def chance(probability: float) -> str:
    """Write a small probability as people say it, rounded up.

    >>> chance(1e-8), chance(3e-7), chance(0.002), chance(1e-30)
    ('1 in 100 million', '1 in 3.33 million', '1 in 500', '1e-30')
    """
    times = float(f"{1 / probability:.12g}")
    if times >= 10**15:
        return delta_text(probability)
    for size, name in _LARGE:
        if times >= size:
            return f"1 in {float(floor_digits(times / size)):g} {name}"
    return one_in(probability)
