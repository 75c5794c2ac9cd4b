"""`croupier sidechannels population`: epsilon of a batch with fewer honest people."""

from dataclasses import asdict
from typing import Annotated

import typer

from croupier.cli.options.mechanism import (
    Choice,
    Corrupt,
    People,
    ReportProbability,
    Rounds,
    count,
    takes_mechanism,
)
from croupier.cli.output.terminal import Json, out, print_json, print_table
from croupier.numerics.rounding import ceiling_digits
from croupier.sidechannels.population import situations

__all__ = ["HELP", "command"]

HELP = """Prove epsilon when the batch is not what it seems: Sybils, dropout, retries, rounds.

Example: croupier sidechannels population --n 1e4 --max-epsilon-local 2 --delta 1e-6 --corrupt 5000
"""


@takes_mechanism()
def command(
    chosen: Choice,
    n: People,
    delta: Annotated[float, typer.Option(help="Failure probability of the bound.")],
    corrupt: Corrupt = 0,
    report_probability: ReportProbability = 1.0,
    rounds: Rounds = 1,
    retries: Annotated[
        int, typer.Option(parser=count, metavar="N", help="Reports of one person in a batch.")
    ] = 1,
    json: Json = False,
) -> None:
    """Prove epsilon when the batch is not what it seems."""
    found = situations(
        chosen.randomizer,
        n=n,
        delta=delta,
        epsilon_local=chosen.any_randomizer,
        corrupt=corrupt,
        report_probability=report_probability,
        rounds=rounds,
        retries=retries,
    )
    if json:
        print_json(situations=[asdict(situation) for situation in found], delta=delta, n=n)
        return
    rows = [
        [situation.name, f"{situation.honest:,}", ceiling_digits(situation.epsilon_upper)]
        for situation in found
    ]
    print_table(["situation", "honest", "epsilon <="], rows, right=(1, 2))
    out.print()
    for situation in found:
        if situation.advice:
            out.print(f"{situation.name}: {situation.advice}")
    out.print("Adjacency is replace-one: participation is not hidden.")
