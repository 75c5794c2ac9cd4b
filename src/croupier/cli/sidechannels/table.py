"""`croupier sidechannels table`: epsilon of every participation model under every attack."""

from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from croupier.cli.options.mechanism import Choice, count, takes_mechanism
from croupier.cli.output.terminal import Json, out, print_json, print_table, progress, say_drawn
from croupier.cli.sidechannels.models import compared
from croupier.documents.plots.figure import require_plottable, save_plot
from croupier.documents.plots.marks import row_inches
from croupier.documents.plots.sidechannels import plot_sidechannels
from croupier.errors import ParameterError, how_to_install
from croupier.numerics.rounding import ceiling_digits
from croupier.sidechannels.participation import Observed, Remaining, remaining

__all__ = ["HELP", "command"]

HELP = """Prove epsilon for every participation model, by what is seen of a person's messages.

Epsilon is averaged over the crowds that a person's own coins decide; that of the worst crowd
follows in parentheses where it differs. Policies use the worst.

Example: croupier sidechannels table --n 6e4 --rounds 60 --batch 1e3 --max-epsilon-local 2 --delta
1e-5
"""


@takes_mechanism()
def command(
    chosen: Choice,
    n: Annotated[int, typer.Option(parser=count, metavar="N", help="People.")],
    delta: Annotated[float, typer.Option(help="Failure probability of the bound.")],
    rounds: Annotated[int, typer.Option(parser=count, metavar="K", help="Rounds.")] = 60,
    batch: Annotated[
        int | None,
        typer.Option(
            parser=count, metavar="N", help="Subsampled people per round.  [default: n/K]"
        ),
    ] = None,
    bins: Annotated[
        int | None, typer.Option(parser=count, metavar="N", help="Bins of rounds.  [default: K/6]")
    ] = None,
    lengths: Annotated[
        int, typer.Option(parser=count, metavar="N", help="Equally likely lengths of a message.")
    ] = 7,
    report_bytes: Annotated[
        int, typer.Option(parser=count, metavar="N", help="Bytes of a padded message.")
    ] = 128,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the table into this file (.png, .svg, .pdf).")
    ] = None,
    json: Json = False,
) -> None:
    """Prove epsilon for every participation model."""
    require_plottable(plot)
    for flag, value in (("--lengths", lengths), ("--report-bytes", report_bytes)):
        if value < 1:
            raise ParameterError(flag, must="be at least 1", got=value)
    models = compared(n=n, rounds=rounds, batch=batch, bins=bins)
    cells: dict[str, list[Remaining]] = {}
    with progress("Proving", total=len(models) * len(Observed), quiet=json) as advance:
        for model in models:
            row = cells.setdefault(model.model, [])
            for observed in Observed:
                row.append(
                    remaining(
                        model,
                        n=n,
                        delta=delta,
                        observed=observed,
                        randomizer=chosen.randomizer,
                        epsilon_local=chosen.any_randomizer,
                        lengths=[Fraction(1, lengths)] * lengths,
                    )
                )
                advance(1)
    costs = {model.model: model.messages(n) for model in models}
    if plot is not None:
        save_plot(
            plot,
            plot_sidechannels,
            cells,
            epsilon_local=chosen.local,
            delta=delta,
            n=n,
            inches=row_inches(2 * len(cells)),
        )
    if json:
        print_json(
            cells=[
                _cell(found) | {"theorem": found.theorem} for row in cells.values() for found in row
            ],
            models=[
                {
                    "model": model.model,
                    "adaptive": model.adaptive,
                    "messages": float(costs[model.model][0]),
                    "messages_most": costs[model.model][1],
                    "bytes": float(costs[model.model][0]) * report_bytes,
                }
                for model in models
            ],
            n=n,
            rounds=rounds,
            delta=delta,
            epsilon_local=chosen.local,
            direction="upper",
        )
        return
    head = ["model", *(str(observed) for observed in Observed), "adaptive", "messages", "bytes"]
    rows = [
        [
            model.model,
            *map(_text, cells[model.model]),
            "yes" if model.adaptive else "no",
            f"{float(costs[model.model][0]):.3g}",
            f"{float(costs[model.model][0]) * report_bytes:,.0f}",
        ]
        for model in models
    ]
    print_table(head, rows, right=(1, 2, 3, 5, 6))
    out.print()
    out.print(f"epsilon at most, by what is seen; delta {delta:g}, n {n:,}, {rounds:,} rounds,")
    out.print(f"epsilon_local {chosen.local:.3g}. In parentheses: in the worst crowd.")
    if find_spec("dp_accounting") is None:
        out.print("Rounds of `subsample` are added up: a loose bound.")
        out.print(how_to_install("composition"))
    say_drawn(plot)


def _cell(found: Remaining) -> dict[str, Any]:
    return {
        "model": found.model,
        "attack": str(found.observed),
        "population": found.population,
        "epsilon_upper": found.epsilon_upper,
        "worst_epsilon_upper": found.worst_epsilon_upper,
    }


def _text(found: Remaining) -> str:
    average, worst = (
        ceiling_digits(value) for value in (found.epsilon_upper, found.worst_epsilon_upper)
    )
    return average if average == worst else f"{average} ({worst})"
