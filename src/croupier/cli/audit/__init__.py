"""`croupier audit`: try to falsify a claim about a mechanism or a running shuffler."""

from typing import Any

import typer

from croupier.cli.audit import mechanism, shuffler
from croupier.cli.group import Group

__all__ = ["HELP", "app"]

HELP = """Try to falsify a claim about a mechanism (croupier audit MODULE:FUNCTION) or a shuffler.

Exits with 5 if the claim is refuted, 0 if no violation was found, which proves nothing.
"""

_MECHANISM = "mechanism"


class _Audits(Group):
    """A group of commands in which any other name is a mechanism."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the command that may be left out."""
        if args and args[0] not in {*self.commands, "--help", "-h"}:
            args = [_MECHANISM, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=_Audits, no_args_is_help=True, rich_markup_mode=None)
app.command(_MECHANISM, help=mechanism.HELP)(mechanism.command)
app.command("shuffler", help=shuffler.HELP)(shuffler.command)
