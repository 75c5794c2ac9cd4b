"""Cells of the trust ladder as people read them, in three digits, outward."""

from fractions import Fraction

from croupier.assessment.ladder.cell import Cell
from croupier.model.guarantee import Direction, Guarantee, Metric
from croupier.numerics.rounding import ceiling_digits, float_above, floor_digits, nearest_digits

__all__ = ["CERTAIN", "NOT_BOUNDED", "cell_text", "limit_text", "one_in", "percent"]
__all__ += ["proved_text", "with_unit"]

CERTAIN = "certain"
NOT_BOUNDED = "not bounded"

_GUESSES = (Metric.GUESS_COIN, Metric.GUESS_UNIFORM, Metric.GUESS_INFORMED)


def cell_text(cell: Cell) -> str:
    """What is promised; an epsilon with what is attained, where that is more than nothing.

    >>> cell_text(Cell(metric=Metric.ALPHA, reason="the plan has no groups"))
    'not bounded'
    """
    proved = cell.proved
    if proved is None:
        return NOT_BOUNDED
    if cell.metric in (Metric.EPSILON, Metric.ALPHA):
        return _range(cell, proved)
    if cell.metric in _GUESSES and not proved.adversary.sees:
        return nearest_digits(100 * proved.value)  # a blind guess is a point, not a bound
    return proved_text(cell.metric, proved.value)


def _range(cell: Cell, proved: Guarantee) -> str:
    upper = ceiling_digits(proved.value)
    if proved.direction is Direction.EXACT:
        return upper
    return f"{floor_digits(cell.lower)}-{upper}" if cell.lower else f"<= {upper}"


def proved_text(metric: Metric, value: float) -> str:
    """A promise: on the safe side of the value.

    >>> proved_text(Metric.REIDENTIFICATION, 1 / 3663), proved_text(Metric.GUESS_COIN, 0.50332)
    ('1 in 3,660', '50.4')
    """
    if metric is Metric.REIDENTIFICATION:
        return one_in(value)
    if metric in _GUESSES:
        return percent(value)
    return floor_digits(value) if metric.protects else ceiling_digits(value)


def limit_text(metric: Metric, value: float) -> str:
    """A limit, as it was set.

    >>> limit_text(Metric.EPSILON, 0.1), limit_text(Metric.GUESS_COIN, 0.51)
    ('0.1', '51')
    """
    if metric is Metric.REIDENTIFICATION:
        return one_in(value)
    return f"{100 * value if metric in _GUESSES else value:g}"


def with_unit(metric: Metric, text: str) -> str:
    """Add the unit where a number stands alone, not in a column whose head has it.

    >>> with_unit(Metric.GUESS_COIN, "50.4"), with_unit(Metric.EPSILON, "0.1")
    ('50.4 %', '0.1')
    """
    return f"{text} %" if metric in _GUESSES else text


def one_in(probability: float) -> str:
    """A probability as people say it, rounded up: one in N, or above a half in hundredths.

    >>> one_in(0.000273), one_in(0.149), one_in(0.5), one_in(0.9708), one_in(0.9999)
    ('1 in 3,660', '1 in 6.71', '1 in 2', '97.1 %', 'certain')
    """
    if probability <= 0:
        return "never"
    if probability > 0.5:
        share = percent(probability)
        return CERTAIN if share == "100" else f"{share} %"
    # Twelve digits, since 1/n was rounded up: n itself is to be said.
    times = float(floor_digits(float(f"{1 / probability:.12g}")))
    return f"1 in {times:,.0f}" if times >= 100 else f"1 in {times:g}"


def percent(probability: float) -> str:
    """A probability in hundredths, rounded up.

    >>> percent(0.02037), percent(1.0)
    ('2.04', '100')
    """
    if probability >= 1:
        return "100"
    return ceiling_digits(float_above(100 * Fraction(probability)))
