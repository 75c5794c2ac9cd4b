"""Estimates that noise moved out of the possible range: shown at the end of their interval."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["MOVED", "shown"]

MOVED = "* Noise moved the estimate out of the possible range; --json prints it as is."


def shown(
    points: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    factor: float = 100,
    form: str = ".2f",
    unit: str = " %",
) -> tuple[Sequence[str], bool]:
    """Return the text of each estimate, with a star where it was moved; and whether any was."""
    raw = np.asarray(points)
    cut = raw.clip(lower, upper)
    moved = cut != raw
    blank = " " * bool(moved.any())
    texts = [
        f"{factor * point:{form}}{unit}{'*' if star else blank}"
        for point, star in zip(cut.tolist(), moved.tolist(), strict=True)
    ]
    return texts, bool(moved.any())
