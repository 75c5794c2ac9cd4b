"""Synthetic adults of all ages, married or not, and their earnings."""

import numpy as np

from croupier.datasets.community import Community

__all__ = ["census"]

_YOUNGEST, _OLDEST = 17.0, 90.0
_DAYS = 365.25


def census(*, n: int = 33_000, seed: int = 0) -> Community:
    """Synthetic: adults by age; the value is whether they earn more than half of the others.

    Age to the day is public, as birth dates are. Earnings rise until about fifty and fall again;
    the married earn more at every age. Marital status is privileged: an attacker may know it, the
    shuffler does not use it.

    The value splits people into halves on purpose: if most people held one value, guessing it would
    be right for most of them, whatever the order.

    Example:
        >>> float(census(n=1000).values.mean())
        0.5
    """
    rng = np.random.default_rng(seed)
    age = _YOUNGEST + (_OLDEST - _YOUNGEST) * rng.beta(1.6, 3.0, size=n)
    ever = rng.random(n) < 0.92 / (1 + np.exp(-(age - 28) / 4))
    over = rng.random(n) < 0.15 + 0.004 * (age - _YOUNGEST)
    status = np.where(ever, np.where(over, "formerly married", "married"), "never married")
    bonus = np.select([status == "married", status == "formerly married"], [1.5, 0.1], -0.8)
    earned = bonus - ((age - 50) / 20) ** 2 + 0.9 * rng.standard_normal(n)
    return Community(
        labels=("less", "more"),
        values=(earned > np.median(earned)).astype(np.int64),
        places=np.round(age * _DAYS) / _DAYS,
        privileged=status,
        synthetic=True,
    )
