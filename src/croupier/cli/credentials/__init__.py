"""`croupier credentials`: issue and revoke credentials."""

import typer

from croupier.cli.credentials import issue, revoke
from croupier.cli.group import Group

__all__ = ["HELP", "app"]

HELP = "Issue credentials under the shuffler's secret, and revoke individual ones."

app = typer.Typer(cls=Group, no_args_is_help=True, rich_markup_mode=None)
app.command("issue", help=issue.HELP)(issue.command)
app.command("revoke", help=revoke.HELP)(revoke.command)
