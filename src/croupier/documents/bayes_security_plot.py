"""Bayes security against the noise of a report."""

from collections.abc import Callable

import numpy as np

from croupier.documents.figure import BLUE, GREY, ORANGE, Target, curve, drawing, mark
from croupier.errors import ParameterError
from croupier.leakage.bayes_security import bayes_security
from croupier.leakage.bayes_security_bounds import private_floor
from croupier.model.randomizer import Randomizer
from croupier.randomizers import randomizer as named_randomizer

__all__ = ["save_bayes_security_plot"]

_POINTS = 25


def save_bayes_security_plot(
    path: Target,
    randomizer: Randomizer,
    *,
    batch: Callable[[Randomizer], tuple[float, float]] | None = None,
    n: int | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> None:
    """Draw beta* of the mechanism, and the least that any may have, over epsilon_local.

    With `n` of a batch of so many people too: `batch` tells the least and the most that it may be
    with a mechanism. `advance` is called after each of about 25 values.
    """
    given = dict(randomizer.specification)
    if "max_epsilon_local" not in given:
        raise ParameterError(
            "plot", must="be of a mechanism with an epsilon_local", got=randomizer.mechanism
        )
    chosen = float(given.pop("max_epsilon_local"))
    alone, least, most = {}, {}, {}
    for local in sorted({*np.linspace(0.1, max(6.0, 1.5 * chosen), _POINTS).tolist(), chosen}):
        made = randomizer
        if local != chosen:
            made = named_randomizer(**given, max_epsilon_local=local)
        alone[local] = bayes_security(made).value
        if batch is not None:
            least[local], most[local] = batch(made)
        advance(1)
    with drawing(
        path,
        title=f"{randomizer.mechanism}, one report" + (f" and a batch of {n:,}" if n else ""),
        across="epsilon_local",
        up="Bayes security (1: nothing learned)",
    ) as axes:
        if batch is not None:
            name = f"batch of {n:,}"
            curve(axes, least, color=BLUE, label=f"{name}: at least")
            curve(axes, most, color=ORANGE, linestyle="--", label=f"{name}: at most")
        curve(axes, alone, color=GREY if least else BLUE, label="one report")
        floors = {local: private_floor(local) for local in alone}
        curve(axes, floors, color=GREY, linestyle=":", label="one report, least of any mechanism")
        axes.set_ylim(0, 1.05)
        mark(
            axes,
            chosen,
            (least or alone)[chosen],
            f"epsilon_local = {chosen:.3g}",
            beside=(-8, -14),
        )
