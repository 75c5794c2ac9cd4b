"""`croupier sidechannels`: epsilon when the network or the shuffler watches."""

import typer

from croupier.cli.group import Group
from croupier.cli.sidechannels import population, simulate, table

__all__ = ["HELP", "app"]

HELP = "Prove the epsilon that remains when rounds, lengths or counts of messages are seen."

app = typer.Typer(cls=Group, no_args_is_help=True, rich_markup_mode=None)
app.command("table", help=table.HELP)(table.command)
app.command("simulate", help=simulate.HELP)(simulate.command)
app.command("population", help=population.HELP)(population.command)
