"""`croupier keys`: who signs for a plan, and what reports are sealed to."""

import typer

from croupier.cli.group import Group
from croupier.cli.keys import create, sign

__all__ = ["HELP", "app"]

HELP = "Make the keys of shuffler and analyzer, and sign what clients seal to."

app = typer.Typer(cls=Group, no_args_is_help=True, rich_markup_mode=None)
app.command("create", help=create.HELP)(create.command)
app.command("sign", help=sign.HELP)(sign.command)
