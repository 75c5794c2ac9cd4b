"""`croupier leakage bayes-security`: how well two values can be told apart."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from croupier.accounting.blanket import lower_curve, upper_curve
from croupier.cli.options.mechanism import Choice, count, takes_mechanism
from croupier.cli.output.terminal import Json, out, print_json, progress, say_drawn, say_fact
from croupier.documents.plots.bayes_security import plot_bayes_security
from croupier.documents.plots.figure import require_plottable, save_plot
from croupier.leakage.bayes_security import witness
from croupier.leakage.bayes_security_bounds import curve_floor, private_floor
from croupier.model import Direction, Randomizer
from croupier.numerics.rounding import ceiling_digits, floor_digits, nearest_digits

__all__ = ["HELP", "command"]

HELP = """Compute Bayes security: the share of a guesser's errors that remains.

1 means that nothing is learned, 0 that some two values are told apart for certain. Without --n for
one report whose sender is known, with --n for a reader of a shuffled batch.

Example: croupier leakage bayes-security --mechanism k-rr --k 400 --max-epsilon-local 3.3
"""


@takes_mechanism()
def command(
    chosen: Choice,
    n: Annotated[
        int | None, typer.Option(parser=count, metavar="N", help="People in a shuffled batch.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw it over epsilon_local into this file (.png, .svg, .pdf)."),
    ] = None,
    json: Json = False,
) -> None:
    """Compute Bayes security."""
    require_plottable(plot)
    randomizer = chosen.required()
    pair = witness(randomizer)
    alone = pair.guarantee
    value, ceiling, direction, theorem = alone.value, alone.value, alone.direction, alone.theorem
    batch = None
    if n is not None:
        batch = partial(_of_batch, n=n)
        value, ceiling = batch(randomizer)
        direction, theorem = Direction.LOWER, upper_curve(randomizer, n=n).theorem
    if plot is not None:
        with progress("Drawing", total=26, quiet=json) as advance:
            save_plot(plot, plot_bayes_security, randomizer, batch=batch, n=n, advance=advance)
    if json:
        print_json(
            bayes_security=value,
            bayes_security_upper=ceiling,
            guess_of_two=1 - value / 2,
            direction=str(direction),
            n=n,
            epsilon_local=randomizer.epsilon_local,
            floor_from_epsilon_local=private_floor(randomizer.epsilon_local),
            witness=[str(pair.first), str(pair.second)],
            theorem=theorem,
        )
        return
    if n is None:
        out.print(f"Bayes security of one report: {nearest_digits(value, 5)}")
    else:
        out.print(f"Bayes security of a batch of {n:,}: at least {floor_digits(value, 5)}")
        out.print(f"  and at most {ceiling_digits(ceiling, 5)}: some dataset leaks that much")
    guess = ceiling_digits(100 * (1 - value / 2), 4)
    out.print(
        f"  Told that a value is one of two, a guesser is right at most {guess} times in 100."
    )
    if n is None:
        first, second = (f"{value!s:.40}" for value in (pair.first, pair.second))
        out.print(f"  Easiest to tell apart: {first} and {second}.")
    out.print()
    say_fact("proof", theorem)
    say_drawn(plot)


def _of_batch(randomizer: Randomizer, *, n: int) -> tuple[float, float]:
    """Return the least and the most that Bayes security may be, whatever the others hold."""
    above, below = upper_curve(randomizer, n=n), lower_curve(randomizer, n=n)
    return curve_floor(min(1.0, above.delta(0.0))), curve_floor(below.delta(0.0))
