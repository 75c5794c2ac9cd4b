"""`croupier demo`: a whole collection on this machine, with an attacker at the end."""

import tempfile
import time
import webbrowser
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from croupier.assessment.ladder.ladder import Ladder, assess
from croupier.cli.output.terminal import Json, Quiet, err, out, print_json, progress
from croupier.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from croupier.demo.board import Scoreboard
    from croupier.demo.ending import Signals
    from croupier.demo.site import Site
    from croupier.demo.visit import Visit

__all__ = ["HELP", "command"]

HELP = """Run a whole collection on this machine, in less than a minute, and attack it.

Real keys, a real service on PostgreSQL, a client with a credential for each simulated person, a
release, an analysis, and an attacker who reads the batch and knows everybody's answer. Nothing is
left behind. --watch shows it on a page, where you can answer too.

Example: croupier demo
"""

People = Annotated[int, typer.Option(help="Simulated people.", min=100, max=100_000)]
Watch = Annotated[
    bool, typer.Option("--watch", help="Show it on a page where you can answer; stop with Ctrl-C.")
]
Database = Annotated[
    str | None,
    typer.Option(
        envvar="CROUPIER_DEMO_DATABASE",
        help="A PostgreSQL server that may create databases. Default: one is found or started.",
    ),
]


def command(
    people: People = 4000,
    watch: Watch = False,
    database: Database = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run the demo."""
    silent = quiet or json
    began = time.monotonic()
    with (
        _signals() as signals,
        _site(database, people, visitors=int(watch)) as site,
        signals.interruptible(),
        ExitStack() as stack,
    ):
        ladder = assess(site.plan)
        board = _board(site, ladder)
        visit = stack.enter_context(_page(site, board, json=json)) if watch else None
        document = _run(site, ladder, board, visit=visit, silent=silent)
        document["seconds"] = time.monotonic() - began
        if json:
            print_json(**document)
        elif not quiet:
            out.print(f"\n{document['seconds']:.0f} seconds. Next: croupier init")
        if watch:
            (err if json else out).print("Stop with Ctrl-C.")
            _wait()


def _signals() -> "Signals":
    from croupier.demo.ending import Signals  # noqa: PLC0415 - only where there is a demo

    return Signals()


@contextmanager
def _site(database: str | None, people: int, *, visitors: int) -> "Iterator[Site]":
    try:
        from croupier.demo.database import temporary_database  # noqa: PLC0415 - several extras
        from croupier.demo.site import make_site  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError("demo", package=str(error.name), extra="all") from None
    with temporary_database(database) as own, tempfile.TemporaryDirectory() as folder:
        yield make_site(Path(folder), database=own, people=people, visitors=visitors)


def _board(site: "Site", ladder: Ladder) -> "Scoreboard":
    from croupier.demo.board import Scoreboard  # noqa: PLC0415 - several extras
    from croupier.demo.show import proved  # noqa: PLC0415

    people = site.plan.protections.minimum_batch
    return Scoreboard(people, people, proved(ladder))


@contextmanager
def _page(site: "Site", board: "Scoreboard", *, json: bool) -> "Iterator[Visit]":
    from croupier.demo.visit import Visit  # noqa: PLC0415 - only where it is asked for
    from croupier.demo.watch import watching  # noqa: PLC0415

    (credential,) = site.credentials(1)
    visit = Visit(site.plan, board, credential=credential)
    with watching(board, visit) as page:
        (err if json else out).print(f"page      {page}")
        webbrowser.open(page)
        yield visit


def _run(
    site: "Site", ladder: Ladder, board: "Scoreboard", *, visit: "Visit | None", silent: bool
) -> dict[str, Any]:
    from croupier.demo.show import Show  # noqa: PLC0415 - several extras

    with progress("clients", total=board.people, quiet=silent) as advance:
        say = (lambda _words: None) if silent else out.print
        return {"people": board.people} | Show(site, ladder, board, say, advance, visit).run()


def _wait() -> None:
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        return
