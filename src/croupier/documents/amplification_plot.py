"""epsilon against the size of the batch."""

from collections.abc import Callable
from typing import Any

from croupier.accounting.amplify import proved_curve
from croupier.accounting.blanket import lower_curve
from croupier.documents.figure import BLUE, GREY, ORANGE, Target, drawing, mark, sizes_around
from croupier.model.randomizer import Randomizer

__all__ = ["save_amplification_plot"]

_POINTS = 21


def save_amplification_plot(  # noqa: PLR0913 - keyword-only facts about one collection
    path: Target,
    randomizer: Randomizer | None,
    *,
    epsilon_local: float,
    n: int,
    delta: float,
    corrupt: int = 0,
    report_probability: float = 1.0,
    advance: Callable[[int], None] = lambda _: None,
) -> None:
    """Draw upper bound, lower bound and epsilon_local over n.

    `advance` is called after each of about 21 sizes.
    """
    what = "any randomizer" if randomizer is None else randomizer.mechanism
    title = f"{what}, epsilon_local {epsilon_local:.3g}, delta {delta:g}"
    across = "people in the batch" + (f", {corrupt:,} of them corrupt" if corrupt else "")
    others: Any = {"corrupt": corrupt, "report_probability": report_probability}
    with drawing(path, title=title, across=across, up="epsilon after shuffling") as axes:
        sizes = [size for size in sizes_around(n, _POINTS) if size > corrupt]
        upper, lower = {}, {}
        for size in sizes:
            local = epsilon_local if randomizer is None else None
            proved = proved_curve(randomizer, epsilon_local=local, n=size, **others)
            upper[size] = proved.epsilon(delta)
            if randomizer is not None:
                lower[size] = lower_curve(randomizer, n=size, **others).epsilon(delta)
            advance(1)
        axes.axhline(epsilon_local, color=GREY, linestyle=":", label="not shuffled (epsilon_local)")
        axes.loglog(sizes, list(upper.values()), color=BLUE, label="proved: at most")
        if lower:
            label = "proved: at least"
            axes.loglog(sizes, list(lower.values()), color=ORANGE, linestyle="--", label=label)
        mark(axes, n, upper[n], f"n = {n:,}")
