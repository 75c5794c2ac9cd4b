"""`croupier keys`: make, sign and replace keys."""

import typer

from croupier.cli.group import Group
from croupier.cli.keys import create, gateway, migrate, rotate, sign, supersede

__all__ = ["HELP", "app"]

HELP = "Make, sign and replace the keys of every party."

app = typer.Typer(cls=Group, no_args_is_help=True, rich_markup_mode=None)
app.command("create", help=create.HELP)(create.command)
app.command("sign", help=sign.HELP)(sign.command)
app.command("rotate", help=rotate.HELP)(rotate.command)
app.command("gateway", help=gateway.HELP)(gateway.command)
app.command("supersede", help=supersede.HELP)(supersede.command)
app.command("migrate", help=migrate.HELP)(migrate.command)
