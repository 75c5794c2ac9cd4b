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
    from croupier.demo.collection import Collection
    from croupier.demo.ending import Signals
    from croupier.demo.visit import Visit

__all__ = ["HELP", "command"]

HELP = """Run a whole collection on this machine, in less than a minute, and attack it.

Real keys, a real service on PostgreSQL, a client with a credential for each simulated person, a
release, an analysis, and an attacker who reads the batch and knows everybody's answer. Nothing is
left behind. --watch shows it on a page, where you can answer too.

With --shufflers 2, people send their answers without noise. Two shufflers in a row, each with keys
and a database of its own, mix them and add dummies: the page shows what each party sees, and what
everybody but one shuffler could say about one person.

Example: croupier demo
"""

People = Annotated[int, typer.Option(help="Simulated people.", min=100, max=100_000)]
Watch = Annotated[
    bool, typer.Option("--watch", help="Show it on a page where you can answer; stop with Ctrl-C.")
]
Shufflers = Annotated[
    int, typer.Option(help="Shufflers in a row; two add dummies in place of noise.", min=1, max=2)
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
    shufflers: Shufflers = 1,
    database: Database = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run the demo."""
    silent = quiet or json
    began = time.monotonic()
    with (
        _signals() as signals,
        _collection(database, people, visitors=int(watch), shufflers=shufflers) as collection,
        signals.interruptible(),
        ExitStack() as stack,
    ):
        ladder = assess(collection.plan)
        board = _board(collection, ladder)
        visit = stack.enter_context(_page(collection, board, json=json)) if watch else None
        document = _run(collection, ladder, board, visit=visit, silent=silent)
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
def _collection(
    database: str | None, people: int, *, visitors: int, shufflers: int
) -> "Iterator[Collection]":
    try:
        from croupier.demo.collection import make_collection  # noqa: PLC0415 - several extras
        from croupier.demo.database import temporary_database  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError("demo", package=str(error.name), extra="all") from None
    with ExitStack() as stack:
        own = [stack.enter_context(temporary_database(database)) for _ in range(shufflers)]
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        yield make_collection(folder, databases=own, people=people, visitors=visitors)


def _board(collection: "Collection", ladder: Ladder) -> "Scoreboard":
    from croupier.demo.board import Scoreboard  # noqa: PLC0415 - several extras
    from croupier.demo.limits import proved  # noqa: PLC0415

    people = collection.plan.protections.minimum_batch
    board = Scoreboard(people, people, proved(ladder))
    if len(collection.mixers) > 1:
        board.tell(shufflers=len(collection.mixers))
    return board


@contextmanager
def _page(collection: "Collection", board: "Scoreboard", *, json: bool) -> "Iterator[Visit]":
    from croupier.demo.visit import Visit  # noqa: PLC0415 - only where it is asked for
    from croupier.demo.watch import watching  # noqa: PLC0415

    (credential,) = collection.credentials(1)
    visit = Visit(collection.plan, board, credential=credential)
    with watching(board, visit) as page:
        (err if json else out).print(f"page      {page}")
        webbrowser.open(page)
        yield visit


def _run(
    collection: "Collection",
    ladder: Ladder,
    board: "Scoreboard",
    *,
    visit: "Visit | None",
    silent: bool,
) -> dict[str, Any]:
    from croupier.demo.show import Show  # noqa: PLC0415 - several extras

    with progress("clients", total=board.people, quiet=silent) as advance:
        say = (lambda _words: None) if silent else out.print
        return {"people": board.people} | Show(collection, ladder, board, say, advance, visit).run()


def _wait() -> None:
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        return
