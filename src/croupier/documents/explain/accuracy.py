"""Words for the error of a result."""

from croupier.model.domain import Categories
from croupier.model.texts import Texts
from croupier.numerics.rounding import ceiling_digits
from croupier.plan.plan import Plan
from croupier.randomizers.distribution import Distribution

__all__ = ["accuracy"]


def accuracy(plan: Plan) -> str:
    r"""Say what is estimated, with which standard error; empty if there is no one error.

    >>> plan = Plan.from_toml('schema = 2\npopulation.enrolled = 9_000\n'
    ...     'randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1}\n'
    ...     'protections.minimum_batch = 500')
    >>> accuracy(plan)
    'shares with a standard error of 4.30 percentage points'
    """
    error, first = plan.rms_error, plan.randomizers[0]
    if error is None:
        return ""
    points = f"with a standard error of {ceiling_digits(100 * error)} percentage points"
    if isinstance(first, Distribution):
        return f"the share of people up to a number, {points}"
    if isinstance(first.domain, Categories | Texts):
        return f"shares {points}"
    return f"a standard error of {ceiling_digits(error)}"
