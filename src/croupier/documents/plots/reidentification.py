"""How often a report is linked, against the size of the batch."""

from collections.abc import Callable

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
from croupier.leakage.reidentification import reidentification
from croupier.model.randomizer import Randomizer

__all__ = ["save_reidentification_plot"]

_POINTS = 25


def save_reidentification_plot(  # noqa: PLR0913 - keyword-only facts about one collection
    path: Target,
    randomizer: Randomizer | None,
    *,
    epsilon_local: float,
    n: int,
    guesses: int = 1,
    report_probability: float = 1.0,
    advance: Callable[[int], None] = lambda _: None,
) -> None:
    """Draw upper bound, attack and blind guess over n.

    `advance` is called after each of about 25 sizes.
    """
    what = "unknown randomizer" if randomizer is None else randomizer.mechanism
    title = f"{what}, epsilon_local {epsilon_local:.3g}"
    up = "probability to find one's report" + (f" in {guesses:,} guesses" if guesses > 1 else "")
    with drawing(path, title=title, across="honest people in the batch", up=up) as axes:
        sizes = sizes_around(n, _POINTS)
        upper, lower = {}, {}
        for size in sizes:
            local = epsilon_local if randomizer is None else None
            bounds = reidentification(
                randomizer,
                epsilon_local=local,
                n=size,
                guesses=guesses,
                report_probability=report_probability,
            )
            upper[size], lower[size] = bounds.upper.value, bounds.lower.value
            advance(1)
        axes.set_xscale("log")
        axes.set_yscale("log")
        curve(axes, upper, color=BLUE, label="proved: at most")
        if randomizer is not None:
            curve(axes, lower, color=ORANGE, linestyle="--", label="an attack: at least")
        blind = {size: min(1.0, guesses / size) for size in sizes}
        curve(axes, blind, color=GREY, linestyle=":", label="blind guess")
        mark(axes, n, upper[n], f"{n:,} honest people")
