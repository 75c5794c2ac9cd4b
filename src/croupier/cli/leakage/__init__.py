"""`croupier leakage`: what an adversary gains, one question per command."""

import typer

from croupier.cli.group import Group
from croupier.cli.leakage import bayes_security, black_box, reidentification, vulnerability

__all__ = ["HELP", "app"]

HELP = "Answer what an adversary gains: finding a report, telling values apart, guessing a value."

app = typer.Typer(cls=Group, no_args_is_help=True, rich_markup_mode=None)
app.command("reidentification", help=reidentification.HELP)(reidentification.command)
app.command("bayes-security", help=bayes_security.HELP)(bayes_security.command)
app.command("vulnerability", help=vulnerability.HELP)(vulnerability.command)
app.command("black-box", help=black_box.HELP)(black_box.command)
