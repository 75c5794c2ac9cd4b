"""epsilon against the size of the batch."""

from collections.abc import Callable

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
    advance: Callable[[int], None] = lambda _: None,
) -> None:
    """Draw upper bound, lower bound and epsilon_local over n.

    `advance` is called after each of about 21 sizes.
    """
    what = "any randomizer" if randomizer is None else randomizer.mechanism
    title = f"{what}, epsilon_local {epsilon_local:.3g}, delta {delta:g}"
    with drawing(
        path, title=title, across="people in the batch", up="epsilon after shuffling"
    ) as axes:
        sizes = sizes_around(n, _POINTS)
        upper, lower = {}, {}
        for size in sizes:
            local = epsilon_local if randomizer is None else None
            upper[size] = proved_curve(randomizer, epsilon_local=local, n=size).epsilon(delta)
            if randomizer is not None:
                lower[size] = lower_curve(randomizer, n=size).epsilon(delta)
            advance(1)
        axes.axhline(epsilon_local, color=GREY, linestyle=":", label="not shuffled (epsilon_local)")
        axes.loglog(sizes, list(upper.values()), color=BLUE, label="proved: at most")
        if lower:
            label = "proved: at least"
            axes.loglog(sizes, list(lower.values()), color=ORANGE, linestyle="--", label=label)
        mark(axes, n, upper[n], f"n = {n:,}")
