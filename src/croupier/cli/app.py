"""The `croupier` program: commands, errors, exit codes."""

import errno
import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from croupier.cli.group import Program
from croupier.cli.options.configuration import OPERATED, defaults
from croupier.errors import (
    CroupierError,
    NotPublishedError,
    ParameterError,
    PolicyError,
    RenamedError,
)
from croupier.plan.file import PlanError

__all__ = ["app", "main"]

FAILURE, USAGE, INVALID_PLAN, NOT_MET = 1, 2, 3, 4

app = typer.Typer(
    name="croupier",
    help="Design, run and audit data collection in the shuffle model of differential privacy.",
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _program(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            envvar="CROUPIER_CONFIG",
            help="A TOML file with options of serve, release, recover, status, analyze and issuer "
            "serve.",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    called = [each for each in OPERATED if each.split()[0] == context.invoked_subcommand]
    if config is not None and called:
        program = cast("Program", context.command)
        given: Any = defaults(config, called[0], program.options)
        for word in reversed(called[0].split()):
            given = {word: given}
        context.default_map = given
    if version:
        from importlib.metadata import version as installed  # noqa: PLC0415 - only asked for here

        typer.echo(f"croupier {installed('croupier')}")
        raise typer.Exit


def main() -> None:
    """Run the program: print errors as sentences, and exit with the documented code.

    0 success; 1 failure; 2 usage; 3 invalid plan; 4 the policy is not met, or a problem holds
    up a batch; 5 refuted claim; 6 disposed batch.
    With --json an error is a document too.
    """
    sys.exit(_flushed(_run()))


def _run() -> Any:
    try:
        # Where nothing needs to be JSON, typer prints usage errors itself, with their usage line.
        code = app(standalone_mode="--json" not in sys.argv) or 0
    except SystemExit as stop:
        code = stop.code
    except typer.TyperException as error:
        code = _fail(error.format_message(), USAGE)
    except (ParameterError, RenamedError) as error:
        code = _fail(str(error), USAGE)
    except PlanError as error:
        code = _fail(str(error), INVALID_PLAN)
    except (NotPublishedError, PolicyError) as error:
        code = _fail(str(error), NOT_MET)
    except CroupierError as error:
        code = _fail(str(error), FAILURE)
    except OSError as error:
        code = _fail(_in_words(error), FAILURE)
    except Exception as error:  # noqa: BLE001 - its message might hold a person's value
        code = _fail(f"croupier failed with {type(error).__name__}. Please report it.", FAILURE)
    return code


def _flushed(code: Any) -> Any:
    """Flush the output, so that a full disk is noticed here."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # The interpreter flushes once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _fail(_in_words(error), FAILURE)
    return code


def _in_words(error: OSError) -> str:
    if error.errno == errno.ENOSPC:
        where = f"{error.filename} cannot be written" if error.filename else "The output is cut off"
        return f"{where}: the disk is full. Free some space, or write elsewhere."
    return str(error)


def _fail(message: str, code: int) -> int:
    from croupier.cli.output.terminal import SCHEMA_VERSION, err  # noqa: PLC0415 - slow to import

    try:
        if "--json" in sys.argv:
            typer.echo(json.dumps({"schema_version": SCHEMA_VERSION, "error": message}))
            return code
    except OSError:
        pass  # stderr is closed, too
    err.print(message, soft_wrap=True)
    return code
