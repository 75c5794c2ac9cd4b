"""`croupier issuer`: enrol people, and give them tokens."""

import typer

from croupier.cli.group import Group
from croupier.cli.issuer import invite, keys, serve
from croupier.cli.options.origin import OperatedCommand

__all__ = ["HELP", "app"]

HELP = "Enrol people, invite them, and give them tokens."

app = typer.Typer(cls=Group, no_args_is_help=True, rich_markup_mode=None)
app.command("serve", cls=OperatedCommand, help=serve.HELP)(serve.command)
app.command("keys", help=keys.HELP)(keys.command)
app.command("invite", help=invite.HELP)(invite.command)
