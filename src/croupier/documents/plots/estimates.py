"""Published estimates with their intervals."""

from collections.abc import Sequence

import numpy as np

from croupier.documents.plots.figure import BLUE, Target, drawing
from croupier.model.estimate import Estimate

__all__ = ["save_estimates_plot"]

_NAMED = 60
"""Up to so many values are named on the axis; more are numbered."""


def save_estimates_plot(path: Target, estimates: Sequence[Estimate], *, title: str) -> None:
    """Draw every value of every question from left to right, each with its interval."""
    names = [
        f"{place}: {value}" if len(estimates) > 1 else str(value)
        for place, estimate in enumerate(estimates)
        for value in estimate.values
    ]
    points, lower, upper = (
        np.concatenate([getattr(estimate, name) for estimate in estimates])
        for name in ("points", "lower", "upper")
    )
    kinds = " or ".join(dict.fromkeys(estimate.quantity for estimate in estimates))
    across = "question: value" if len(estimates) > 1 else "value"
    with drawing(path, title=title, across=across, up=kinds) as axes:
        # A point may lie beyond what is possible; its interval does not.
        places = range(len(names))
        axes.plot(places, points, "o", color=BLUE)
        axes.errorbar(
            places,
            (lower + upper) / 2,
            yerr=(upper - lower) / 2,
            fmt="none",
            color=BLUE,
            capsize=3,
            label=f"estimate, {100 * estimates[0].confidence:.4g} % interval",
        )
        if len(names) <= _NAMED:
            long = sum(map(len, names)) > _NAMED
            axes.set_xticks(range(len(names)), names, rotation=90 if long else 0)
