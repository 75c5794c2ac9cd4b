"""`croupier mallows`: shuffling that keeps a batch close to a public order."""

import typer

from croupier.cli.group import Group
from croupier.cli.mallows import evaluate, order, sensitivity, shuffle

__all__ = ["HELP", "app"]

HELP = "Shuffle inside groups of people and preserve trends across groups."

app = typer.Typer(cls=Group, no_args_is_help=True, rich_markup_mode=None)
app.command("sensitivity", help=sensitivity.HELP)(sensitivity.command)
app.command("order", help=order.HELP)(order.command)
app.command("shuffle", help=shuffle.HELP)(shuffle.command)
app.command("evaluate", help=evaluate.HELP)(evaluate.command)
