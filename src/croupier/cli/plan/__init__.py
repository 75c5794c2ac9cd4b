"""Commands that take a plan; `croupier plan` has those that rewrite one."""

import typer

from croupier.cli.group import Group
from croupier.cli.plan import upgrade

__all__ = ["HELP", "app"]

HELP = "Rewrite a plan of an earlier schema."

app = typer.Typer(cls=Group, no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _group() -> None:
    """Keep the only command a subcommand."""


app.command("upgrade", help=upgrade.HELP)(upgrade.command)
