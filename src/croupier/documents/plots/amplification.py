"""epsilon against the size of the batch."""

import math
from collections.abc import Callable
from typing import Any

from croupier.accounting.amplify import proved_curve
from croupier.accounting.blanket import lower_curve
from croupier.accounting.curve import Curve
from croupier.documents.plots.figure import (
    BLUE,
    GREY,
    ORANGE,
    Target,
    curve,
    drawing,
    mark,
    sizes_around,
)
from croupier.model.randomizer import Randomizer

__all__ = ["save_amplification_plot"]

_POINTS, _COMPOSED = 21, 6


def save_amplification_plot(  # noqa: PLR0913 - keyword-only facts about one collection
    path: Target,
    randomizer: Randomizer | None,
    *,
    epsilon_local: float,
    n: int,
    delta: float,
    corrupt: int = 0,
    report_probability: float = 1.0,
    rounds: int = 1,
    compose: Callable[[Curve], float] | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> None:
    """Draw upper bound, lower bound and epsilon_local over n.

    Of several rounds too, at some of the sizes, where `compose` tells their epsilon from the curve
    of one. `advance` is called after each of about 21 sizes.
    """
    what = "unknown randomizer" if randomizer is None else randomizer.mechanism
    title = f"{what}, epsilon_local {epsilon_local:.3g}, delta {delta:g}"
    across = "people in the batch" + (f", {corrupt:,} of them corrupt" if corrupt else "")
    others: Any = {"corrupt": corrupt, "report_probability": report_probability}
    sizes = [size for size in sizes_around(n, _POINTS) if size > corrupt]
    some = {n, *sizes_around(n, _COMPOSED)} if compose else set()
    upper, lower, together = {}, {}, {}
    for size in sorted({*sizes, *(size for size in some if size > corrupt)}):
        local = epsilon_local if randomizer is None else None
        proved = proved_curve(randomizer, epsilon_local=local, n=size, **others)
        upper[size] = proved.epsilon(delta)
        if randomizer is not None:
            lower[size] = lower_curve(randomizer, n=size, **others).epsilon(delta)
        if compose is not None and size in some:
            together[size] = compose(proved)
        advance(1)
    one = "one round" if together else "proved"
    with drawing(path, title=title, across=across, up="epsilon after shuffling") as axes:
        axes.set_xscale("log")
        axes.set_yscale("log")
        if math.isfinite(epsilon_local):
            alone = "one report, not shuffled (epsilon_local)"
            axes.axhline(epsilon_local, color=GREY, linestyle=":", label=alone)
        curve(axes, upper, color=BLUE, label=f"{one}: at most")
        if lower:
            curve(axes, lower, color=ORANGE, linestyle="--", label=f"{one}: at least")
        mark(axes, n, upper[n], f"n = {n:,}")
        if together:
            label = f"{rounds:,} rounds: at most"
            curve(axes, together, color=BLUE, linestyle="-.", marker=".", label=label)
            mark(axes, n, together[n], f"n = {n:,}, {rounds:,} rounds")
