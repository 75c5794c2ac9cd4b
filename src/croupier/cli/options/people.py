"""The flags that say who is in a batch, the same in every command."""

from typing import Annotated

import typer

from croupier.cli.options.mechanism import count

__all__ = ["Corrupt", "People", "ReportProbability", "Rounds"]

People = Annotated[int, typer.Option(parser=count, metavar="N", help="People in the batch.")]
Corrupt = Annotated[
    int, typer.Option(parser=count, metavar="N", help="How many of them are not honest.")
]
ReportProbability = Annotated[
    float, typer.Option(help="Chance that each other honest person reports at all.")
]
Rounds = Annotated[
    int, typer.Option(parser=count, metavar="N", help="Rounds of one person, fresh noise.")
]
