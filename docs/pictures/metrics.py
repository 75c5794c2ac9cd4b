"""Draw the pictures of docs/concepts/metrics.md.

Run: python docs/pictures/metrics.py
"""

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from croupier import bayes_security, randomizer, reidentification
from croupier.accounting.blanket import upper_curve
from croupier.documents.plots.figure import BLUE, GREY, drawing
from croupier.documents.plots.marks import curve
from croupier.documents.plots.ticks import count, metric_ticks, write_ticks
from croupier.leakage.bayes_security_bounds import curve_floor
from croupier.leakage.uninformed import guess_uninformed
from croupier.model.metric import Metric
from croupier.model.rung import LUCK

HERE = Path(__file__).parent
MECHANISM = randomizer("k-rr", k=10, max_epsilon_local=4.0)
SIZES = [round(size) for size in np.geomspace(100, 1_000_000, 17).tolist()]
DELTA = 1e-6


def draw(metric: Metric, value: Callable[[int], float], ends: dict[str, Any], *, log: bool) -> None:
    """Draw a metric over the size of the batch, between seeing nothing and knowing the sender."""
    text = StringIO()
    with drawing(text, title="", across="people in the batch", up="", inches=(5, 2.8)) as axes:
        axes.set_xscale("log")
        if log:
            axes.set_yscale("log")
        metric_ticks(axes.yaxis, metric)
        write_ticks(axes.xaxis, count)
        reader = {size: value(size) for size in SIZES}
        curve(axes, reader, color=BLUE, label="a reader of the batch")
        for (label, end), style in zip(ends.items(), (":", "--"), strict=False):
            heights = {size: end(size) if callable(end) else end for size in SIZES}
            curve(axes, heights, color=GREY, linestyle=style, label=label)
    (HERE / f"{metric}.svg").write_text(text.getvalue())


def security(n: int) -> float:
    """Return the Bayes security of a batch, proved: at least this."""
    return curve_floor(min(1.0, upper_curve(MECHANISM, n=n).delta(0.0)))


def main() -> None:
    """Draw them all."""
    local = MECHANISM.epsilon_local
    draw(
        Metric.EPSILON,
        lambda n: MECHANISM.bracket(n=n, delta=DELTA).upper.value,
        {"knows the sender": local},
        log=True,
    )
    draw(
        Metric.REIDENTIFICATION,
        lambda n: reidentification(MECHANISM, n=n).upper.value,
        {LUCK: lambda n: 1 / n},
        log=True,
    )
    secure = bayes_security(MECHANISM).value
    draw(
        Metric.GUESS_OF_TWO,
        lambda n: 1 - security(n) / 2,
        {LUCK: 0.5, "knows the sender": 1 - secure / 2},
        log=False,
    )
    draw(
        Metric.GUESS_UNINFORMED,
        lambda n: guess_uninformed(MECHANISM, n=n).value,
        {LUCK: 1 / 10},
        log=False,
    )
    draw(
        Metric.BAYES_SECURITY,
        security,
        {LUCK: 1.0, "knows the sender": secure},
        log=False,
    )


if __name__ == "__main__":
    main()
