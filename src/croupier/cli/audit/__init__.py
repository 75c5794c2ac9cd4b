"""`croupier audit`: try to falsify what is claimed, of a mechanism or of a running shuffler."""

from typing import Any

import typer

from croupier.cli.audit import mechanism, shuffler
from croupier.cli.group import Group

__all__ = ["HELP", "app"]

HELP = """Try to falsify a claim: of a mechanism (croupier audit MODULE:FUNCTION), or of a shuffler.

Exits with 5 if the claim is refuted, 0 if no violation was found, which proves nothing.
"""

_MECHANISM = "mechanism"


class _Audits(Group):
    """What names no other command is a mechanism."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put in the command that may be left out."""
        if args and args[0] not in {*self.commands, "--help", "-h"}:
            args = [_MECHANISM, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=_Audits, no_args_is_help=True, rich_markup_mode=None)
app.command(_MECHANISM, help=mechanism.HELP)(mechanism.command)
app.command("shuffler", help=shuffler.HELP)(shuffler.command)
