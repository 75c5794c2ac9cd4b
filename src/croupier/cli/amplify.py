"""`croupier amplify`: epsilon after shuffling."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.accounting.amplify import amplify, bracket, proved_curve
from croupier.accounting.composition import basic_epsilon, composed_epsilon
from croupier.accounting.curve import Curve
from croupier.cli.options.mechanism import (
    Choice,
    Corrupt,
    People,
    ReportProbability,
    Rounds,
    takes_mechanism,
)
from croupier.cli.output.terminal import Json, out, print_json, progress, say_drawn, say_fact
from croupier.documents.plots.amplification import plot_amplification
from croupier.documents.plots.figure import require_plottable, save_plot
from croupier.errors import MissingExtraError, ParameterError
from croupier.model import Bracket, Guarantee
from croupier.numerics.rounding import ceiling_digits, floor_digits

__all__ = ["HELP", "command"]

HELP = """Prove epsilon after shuffling, from the mechanism and the number of reports.

Without --mechanism the bound holds for one randomizer with that epsilon_local, known or not, that
everybody uses, or that is assigned independently of the person. It does not hold where each person
has a randomizer of their own.

Example: croupier amplify --mechanism k-rr --k 10 --max-epsilon-local 4 --n 1e5 --delta 1e-6
"""

ADJACENCY = "replace-one"


@takes_mechanism()
def command(
    chosen: Choice,
    n: People,
    delta: Annotated[float, typer.Option(help="Failure probability of the bound.")],
    corrupt: Corrupt = 0,
    report_probability: ReportProbability = 1.0,
    rounds: Rounds = 1,
    plot: Annotated[
        Path | None, typer.Option(help="Draw epsilon over n into this file (.png, .svg, .pdf).")
    ] = None,
    json: Json = False,
) -> None:
    """Prove epsilon after shuffling."""
    require_plottable(plot)
    if rounds < 1:
        raise ParameterError("--rounds", must="be at least 1", got=rounds)
    people = {"n": n, "corrupt": corrupt, "report_probability": report_probability}
    randomizer, local = chosen.randomizer, chosen.local
    lower = None
    if randomizer is None:
        upper = amplify(epsilon_local=local, delta=delta, **people)  # type: ignore[arg-type]
    else:
        both: Bracket = bracket(randomizer, delta=delta, **people)
        upper, lower = both.upper, both.lower
    composed = None
    if rounds > 1:
        known = chosen.any_randomizer
        curve = proved_curve(randomizer, epsilon_local=known, **people)  # type: ignore[arg-type]
        composed = _composed(curve, rounds, delta)
    if plot is not None:
        with progress("Drawing", total=21, quiet=json) as advance:
            save_plot(
                plot,
                plot_amplification,
                randomizer,
                epsilon_local=local,
                delta=delta,
                rounds=rounds,
                compose=(lambda curve: _composed(curve, rounds, delta)[0]) if rounds > 1 else None,
                advance=advance,
                **people,  # type: ignore[arg-type]
            )
    if json:
        print_json(
            epsilon_upper=upper.value,
            epsilon_lower=None if lower is None else lower.value,
            reason=None if lower else "no lower bound holds for every randomizer",
            delta=delta,
            n=n,
            corrupt=corrupt,
            epsilon_local=local,
            adjacency=ADJACENCY,
            theorem=upper.theorem,
            assumptions=list(upper.assumptions),
            rounds=rounds,
            epsilon_composed=upper.value if composed is None else composed[0],
            composition=None if composed is None else composed[1],
        )
    else:
        _print(upper, lower, local, n)
        if composed is not None:
            epsilon, how = composed
            out.print(f"\n{rounds:,} rounds, same person: epsilon <= {ceiling_digits(epsilon)}")
            out.print(f"  {how}")
        say_drawn(plot)


def _composed(curve: Curve, rounds: int, delta: float) -> tuple[float, str]:
    try:
        epsilon = composed_epsilon(curve, rounds=rounds, delta=delta)
    except MissingExtraError as error:
        epsilon = basic_epsilon(curve, rounds=rounds, delta=delta)
        return epsilon, f"Basic composition, loose. {error}"
    return epsilon, "Fresh noise in every round; a report that is sent again is one report."


def _print(upper: Guarantee, lower: Guarantee | None, epsilon_local: float, n: int) -> None:
    high = ceiling_digits(upper.value)
    bounds = (
        f"at most {high}" if lower is None else f"between {floor_digits(lower.value)} and {high}"
    )
    proof = f"upper: {upper.theorem}"
    if lower is not None:
        proof += f"; lower: {lower.theorem}"
    out.print(f"epsilon after shuffling: {bounds}  (delta {upper.delta:g}, n {n:,})")
    out.print("  Against a reader of the batch who knows everybody else.")
    out.print(f"  If the shuffler is not honest: epsilon_local = {ceiling_digits(epsilon_local)}")
    out.print()
    say_fact("proof", proof)
    say_fact("relation", f"{ADJACENCY}: hides the value, not participation")
    say_fact("assumes", "; ".join(upper.assumptions))
