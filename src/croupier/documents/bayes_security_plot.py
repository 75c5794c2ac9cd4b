"""Bayes security against the noise of a report."""

from collections.abc import Callable

import numpy as np

from croupier.documents.figure import BLUE, GREY, Target, drawing, mark
from croupier.errors import ParameterError
from croupier.leakage.bayes_security import bayes_security
from croupier.leakage.bayes_security_bounds import private_floor
from croupier.model.randomizer import Randomizer
from croupier.randomizers import randomizer as named_randomizer

__all__ = ["save_bayes_security_plot"]

_POINTS = 25


def save_bayes_security_plot(
    path: Target, randomizer: Randomizer, *, advance: Callable[[int], None] = lambda _: None
) -> None:
    """Draw beta* of the mechanism, and the least that any may have, over epsilon_local.

    `advance` is called after each of 25 values.
    """
    given = dict(randomizer.specification)
    if "epsilon_local" not in given:
        raise ParameterError(
            "plot", must="be of a mechanism with an epsilon_local", got=randomizer.mechanism
        )
    chosen = given.pop("epsilon_local")
    with drawing(
        path,
        title=f"{randomizer.mechanism}, one report",
        across="epsilon_local",
        up="Bayes security (1: nothing learned)",
    ) as axes:
        locals_ = np.linspace(0.1, max(6.0, 1.5 * chosen), _POINTS)
        values = []
        for local in locals_.tolist():
            values.append(bayes_security(named_randomizer(**given, epsilon_local=local)).value)
            advance(1)
        axes.plot(locals_, values, color=BLUE, label=randomizer.mechanism)
        floors = [private_floor(local) for local in locals_.tolist()]
        axes.plot(locals_, floors, color=GREY, linestyle=":", label="least of any mechanism")
        axes.set_ylim(0, 1.02)
        mark(axes, chosen, bayes_security(randomizer).value, f"epsilon_local = {chosen:.3g}")
