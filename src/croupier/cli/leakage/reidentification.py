"""`croupier leakage reidentification`: how often a report is traced to its sender."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.assessment.ladder.text import CERTAIN, one_in
from croupier.cli.options.mechanism import (
    Choice,
    Corrupt,
    People,
    ReportProbability,
    count,
    takes_mechanism,
)
from croupier.cli.output.terminal import Json, out, print_json, progress, say_drawn, say_fact
from croupier.documents.plots.figure import require_plottable, save_plot
from croupier.documents.plots.reidentification import plot_reidentification
from croupier.leakage.reidentification import people_for, reidentification, reidentified_by_luck
from croupier.model import Bracket
from croupier.numerics.rounding import ceiling_digits, floor_digits, nearest_digits

__all__ = ["HELP", "command"]

HELP = """Prove how often the best attack finds one person's report in the shuffled batch.

Without --mechanism the bound holds for one randomizer with that epsilon_local, known or not, that
everybody uses, or that is assigned independently of the person.

Example: croupier leakage reidentification --mechanism k-rr --k 10 --max-epsilon-local 5 --n 1000
"""


@takes_mechanism()
def command(
    chosen: Choice,
    n: People,
    guesses: Annotated[
        int, typer.Option(parser=count, metavar="N", help="Reports that the attacker may point at.")
    ] = 1,
    corrupt: Corrupt = 0,
    report_probability: ReportProbability = 1.0,
    target: Annotated[
        float | None,
        typer.Option(help="Also print how many people keep it below this probability."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw it over n into this file (.png, .svg, .pdf).")
    ] = None,
    json: Json = False,
) -> None:
    """Prove how often a report is traced to its sender."""
    require_plottable(plot)
    randomizer, local = chosen.randomizer, chosen.any_randomizer
    bounds = reidentification(
        randomizer,
        epsilon_local=local,
        n=n,
        guesses=guesses,
        corrupt=corrupt,
        report_probability=report_probability,
    )
    needed = None
    if target is not None:
        needed = people_for(
            target,
            randomizer,
            epsilon_local=local,
            guesses=guesses,
            report_probability=report_probability,
        )
    if plot is not None:
        with progress("Drawing", total=25, quiet=json) as advance:
            save_plot(
                plot,
                plot_reidentification,
                randomizer,
                epsilon_local=chosen.local,
                n=n - corrupt,
                guesses=guesses,
                report_probability=report_probability,
                advance=advance,
            )
    honest = n - corrupt
    upper = bounds.upper.value
    luck = reidentified_by_luck(n=honest, guesses=guesses, report_probability=report_probability)
    reporting = honest * report_probability
    if json:
        print_json(
            reidentification_upper=upper,
            reidentification_lower=bounds.lower.value,
            advantage_multiplicative=upper / luck,
            advantage_additive=max(0.0, upper - luck),
            direction=str(bounds.upper.direction),
            n=n,
            guesses=guesses,
            corrupt=corrupt,
            epsilon_local=chosen.local,
            expected_people=None if guesses > 1 else upper * reporting,
            people_for_target=needed,
            theorem=bounds.upper.theorem,
            assumptions=list(bounds.upper.assumptions),
        )
    else:
        _print(bounds, luck, reporting, guesses)
        if needed is not None:
            out.print(f"\n{needed:,} honest people keep it at most {target:g}.")
        say_drawn(plot)


def _print(bounds: Bracket, luck: float, reporting: float, guesses: int) -> None:
    low, high = floor_digits(bounds.lower.value), ceiling_digits(bounds.upper.value)
    how = "points at your report" if guesses == 1 else f"finds your report in {guesses:,} guesses"
    limit = one_in(bounds.upper.value)
    often = f"at most {limit} of the time" if "%" in limit else f"at most {limit} times"
    if limit == CERTAIN:
        often = "every time: nothing less is proved"
    out.print(f"A reader of the batch {how} {often}")
    out.print(f"  probability between {low} and {high}, even knowing everybody's value")
    times = ceiling_digits(bounds.upper.value / luck)
    out.print(f"  by luck alone: {_by_luck(luck, guesses)}; at most {times} times that")
    if guesses == 1:
        people = ceiling_digits(bounds.upper.value * reporting)
        out.print(f"  an attack on everybody finds at most {people} people on average")
    out.print()
    say_fact("proof", f"upper: {bounds.upper.theorem}; lower: {bounds.lower.theorem}")
    say_fact("assumes", "; ".join(bounds.upper.assumptions))


def _by_luck(luck: float, guesses: int) -> str:
    tries = "1 time" if guesses == 1 else f"{guesses:,} times"
    among = guesses / luck
    if luck == 1:
        return "every time"
    return f"{tries} in {among:,.0f}" if among >= 100 else f"{tries} in {nearest_digits(among)}"
