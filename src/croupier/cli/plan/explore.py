"""`croupier explore`: a page on which the numbers of a plan can be moved."""

import html
import time
import webbrowser
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from croupier.assessment.design.first_plan import first_plan
from croupier.cli.options.plan import read_plan
from croupier.cli.output.terminal import Json, out, print_json, progress
from croupier.explorer.explorer import Explorer
from croupier.explorer.server import exploring
from croupier.plan.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["HELP", "command"]

HELP = """Open a page on which the numbers of a plan can be moved, and see what follows at once.

The page shows who learns what, the error of the result, how far liars move it and what one person
risks, holds two versions side by side, and writes plan, page and command. It is served to this
machine alone, needs no network, and changes no file. Without a plan it starts with a first one.

Example: croupier explore plan.toml
"""


def command(
    plan: Annotated[
        Path | None, typer.Argument(help="A plan, such as plan.toml.", metavar="[PLAN]")
    ] = None,
    port: Annotated[int, typer.Option(help="The port on loopback; 0 takes a free one.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    json: Json = False,
) -> None:
    """Serve the page until it is interrupted."""
    made = _first() if plan is None else read_plan(plan)
    named = plan is not None and plan != Path("-")
    explorer = Explorer(made, file=str(plan) if named else "plan.toml")
    with progress("Proving", total=None, quiet=json):
        for _ in explorer.answer("state", {}):
            pass  # the first answer imports what later ones need
    with suppress(KeyboardInterrupt), exploring(explorer, port=port) as address:
        if json:
            print_json(address=address)
        else:
            out.print(f"The page: {address}", soft_wrap=True)
            out.print("Served to this machine alone. Press Ctrl+C to stop.")
        with _opened(address) if browser and not json else nullcontext():
            while True:
                time.sleep(3600)


def _first() -> Plan:
    return first_plan({"k": 50}, enrolled=1_000_000, minimum_batch=200_000, max_epsilon_local=4.0)


@contextmanager
def _opened(address: str) -> "Iterator[None]":
    """Open the page by way of a file that nobody else can read.

    Everybody on a machine may see the address that a browser is started with.
    """
    with TemporaryDirectory(prefix="croupier-") as folder:  # for its owner alone
        file = Path(folder) / "explore.html"
        target = html.escape(address, quote=True)
        file.write_text(
            f'<!doctype html><meta charset="utf-8"><title>croupier explore</title>'
            f'<meta http-equiv="refresh" content="0; url={target}"><a href="{target}">Open</a>',
            encoding="utf-8",
        )
        webbrowser.open(file.as_uri())
        yield
