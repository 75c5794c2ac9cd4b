"""Texts of the cells of the trust ladder: three digits, rounded outward."""

from fractions import Fraction

from croupier.assessment.ladder.cell import Cell
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.numerics.rounding import ceiling_digits, float_above, floor_digits, nearest_digits

__all__ = ["CERTAIN", "NOT_BOUNDED", "cell_text", "limit_text", "one_in", "percent"]
__all__ += ["proved_text"]

CERTAIN = "certain"
NOT_BOUNDED = "not bounded"


def cell_text(cell: Cell) -> str:
    """Say what is promised; for an epsilon also what is attained, where that is above zero.

    >>> cell_text(Cell(metric=Metric.ALPHA, reason="the plan has no groups"))
    'not bounded'
    """
    proved = cell.proved
    if proved is None:
        return NOT_BOUNDED
    if cell.metric.is_epsilon or cell.metric is Metric.ALPHA:
        return _range(cell, proved)
    if proved.adversary.sees or proved.direction is Direction.UPPER:
        return proved_text(cell.metric, proved.value)
    if cell.metric.guesses:
        return f"{nearest_digits(100 * proved.value)} %"  # luck alone is a point, not a bound
    return limit_text(cell.metric, proved.value)


def _range(cell: Cell, proved: Guarantee) -> str:
    upper = ceiling_digits(proved.value)
    if proved.direction is Direction.EXACT:
        return upper
    return f"{floor_digits(cell.lower)}-{upper}" if cell.lower else f"at most {upper}"


def proved_text(metric: Metric, value: float) -> str:
    """Write a promise with its unit, on the safe side of the value.

    >>> proved_text(Metric.REIDENTIFICATION, 1 / 3663), proved_text(Metric.GUESS_OF_TWO, 0.50332)
    ('1 in 3,660', '50.4 %')
    """
    if metric is Metric.REIDENTIFICATION:
        return one_in(value)
    if metric is Metric.MANIPULATION and value >= 1:
        return "any value"
    if metric.guesses or metric is Metric.MANIPULATION:
        return f"{percent(value)} %"
    return floor_digits(value) if metric.protects else ceiling_digits(value)


def limit_text(metric: Metric, value: float) -> str:
    """Write a limit with its unit, as it was set.

    >>> limit_text(Metric.EPSILON, 0.1), limit_text(Metric.GUESS_OF_TWO, 0.51)
    ('0.1', '51 %')
    >>> [limit_text(Metric.REIDENTIFICATION, limit) for limit in (1 / 1999, 2.7295e-4, 0.9999, 0)]
    ['1 in 1,999', '1 in 3,663.67', '99.99 %', '0 %']
    """
    if metric is Metric.REIDENTIFICATION and 0 < value <= 0.5:
        times = float(f"{1 / value:.9g}")
        return f"1 in {times:,.0f}" if times >= 10**6 else f"1 in {times:,g}"
    shares = metric.guesses or metric in (Metric.REIDENTIFICATION, Metric.MANIPULATION)
    return f"{100 * value:g} %" if shares else f"{value:g}"


def one_in(probability: float) -> str:
    """Write a probability as people say it, rounded up: one in N, or in percent above a half.

    >>> one_in(0.000273), one_in(0.149), one_in(0.5), one_in(0.9708), one_in(0.9999)
    ('1 in 3,660', '1 in 6.71', '1 in 2', '97.1 %', 'certain')
    """
    if probability <= 0:
        return "never"
    if probability > 0.5:
        share = percent(probability)
        return CERTAIN if share == "100" else f"{share} %"
    # Twelve digits, since 1/n was rounded up and n itself must be printed.
    times = float(floor_digits(float(f"{1 / probability:.12g}")))
    return f"1 in {times:,.0f}" if times >= 100 else f"1 in {times:g}"


def percent(probability: float) -> str:
    """Write a probability in percent, rounded up, without the sign.

    >>> percent(0.02037), percent(1.0)
    ('2.04', '100')
    """
    if probability >= 1:
        return "100"
    return ceiling_digits(float_above(100 * Fraction(probability)))
