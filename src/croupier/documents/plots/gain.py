"""How often a value is guessed, against the size of the batch."""

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
from croupier.leakage.uninformed import guess_uninformed, shuffle_only_vulnerability
from croupier.model.guarantee import Direction
from croupier.model.randomizer import Randomizer

__all__ = ["save_vulnerability_plot"]

_POINTS = 21


def save_vulnerability_plot(  # noqa: PLR0913 - keyword-only facts about one collection
    path: Target,
    randomizer: Randomizer | None,
    *,
    k: int,
    n: int,
    informed: Callable[[int], float] | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> None:
    """Draw the chance to guess a value, with noise and without, and the blind guess, over n.

    `informed` tells what is proved against a reader who knows everybody else, at a size; None where
    that is not asked for. `advance` is called after each of about 21 sizes.
    """
    # Beyond, few values without noise take seconds a point.
    sizes = [size for size in sizes_around(n, _POINTS) if size <= max(n, 100_000)]
    bare, noisy, known, bounded = {}, {}, {}, False
    for size in sizes:
        bare[size] = shuffle_only_vulnerability(k, size).value
        if informed is not None:
            known[size] = informed(size)
        if randomizer is not None:
            found = guess_uninformed(randomizer, n=size)
            bound = found.direction is Direction.UPPER
            noisy[size] = min(found.value, known.get(size, 1.0)) if bound else found.value
            bounded |= bound
        advance(1)
    what = "no noise" if randomizer is None else f"{randomizer.mechanism} and shuffling"
    nobody = "knows nobody" + (": at most" if bounded else "")
    with drawing(
        path,
        title=f"{what}, {k:,} equally likely values",
        across="people in the batch",
        up="probability to guess a value",
    ) as axes:
        axes.set_xscale("log")
        if known:
            label = "knows everybody else: at most"
            curve(axes, known, color=BLUE, linestyle="--", label=label)
            mark(axes, n, known[n], f"n = {n:,}")
        if noisy:
            curve(axes, noisy, color=BLUE, label=nobody)
        curve(axes, bare, color=ORANGE, label="knows nobody, no noise")
        axes.axhline(1 / k, color=GREY, linestyle=":", label="blind guess")
        mark(axes, n, (noisy or bare)[n], "" if known else f"n = {n:,}")
        axes.set_ylim(0, 1.05 * max([*known.values(), *noisy.values(), *bare.values()]))
