"""epsilon against the size of the batch."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from croupier.accounting.amplify import proved_curve
from croupier.accounting.blanket import lower_curve
from croupier.errors import MissingExtraError
from croupier.model.randomizer import Randomizer

__all__ = ["save_amplification_plot"]

_POINTS = 21
_BLUE, _ORANGE, _GREY = "#0b6e99", "#d9730d", "#555555"


def save_amplification_plot(  # noqa: PLR0913 - keyword-only facts about one collection
    path: Path,
    randomizer: Randomizer | None,
    *,
    epsilon_local: float,
    n: int,
    delta: float,
    advance: Callable[[int], None] = lambda _: None,
) -> None:
    """Draw upper bound, lower bound and epsilon_local over n, two decades around the given n.

    `advance` is called after each of the 21 sizes.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, slow to import
    except ImportError:
        raise MissingExtraError("A plot", package="matplotlib", extra="plots") from None
    sizes = np.unique(np.rint(np.geomspace(max(2, n / 1000), 100 * n, _POINTS)).astype(np.int64))
    upper, lower = [], []
    for size in sizes.tolist():
        local = epsilon_local if randomizer is None else None
        upper.append(proved_curve(randomizer, epsilon_local=local, n=size).epsilon(delta))
        if randomizer is not None:
            lower.append(lower_curve(randomizer, n=size).epsilon(delta))
        advance(1)
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes: Any = figure.subplots()
    axes.axhline(epsilon_local, color=_GREY, linestyle=":", label="not shuffled (epsilon_local)")
    axes.loglog(sizes, upper, color=_BLUE, label="proved: at most")
    if lower:
        axes.loglog(sizes, lower, color=_ORANGE, linestyle="--", label="proved: at least")
    chosen = float(np.interp(np.log(n), np.log(sizes), np.log(upper)))
    axes.plot([n], [np.exp(chosen)], "o", color=_BLUE)
    axes.annotate(f"n = {n:,}", (n, np.exp(chosen)), xytext=(8, 8), textcoords="offset points")
    axes.set_xlabel("people in the batch")
    axes.set_ylabel("epsilon after shuffling")
    what = "any randomizer" if randomizer is None else randomizer.mechanism
    axes.set_title(f"{what}, epsilon_local {epsilon_local:.3g}, delta {delta:g}")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)
