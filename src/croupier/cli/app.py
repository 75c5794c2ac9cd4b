"""The `croupier` program: commands, errors, exit codes."""

import json
import sys
from typing import Annotated

import typer

from croupier.cli import (
    amplify,
    audit,
    credentials,
    demo,
    estimate,
    keys,
    leakage,
    mallows,
    mechanisms,
    plan,
    randomize,
    sidechannels,
)
from croupier.cli.analyzer import analyze, receipt
from croupier.cli.client import mirror, submit
from croupier.cli.output.terminal import SCHEMA_VERSION, err
from croupier.cli.plan import assess, attack, check, compare, design, explain, init
from croupier.cli.shuffler import release, serve
from croupier.errors import CroupierError, NotPublishedError, ParameterError, PolicyError
from croupier.plan.file import PlanError

__all__ = ["app", "main"]

FAILURE, USAGE, INVALID_PLAN, NOT_MET = 1, 2, 3, 4

app = typer.Typer(
    name="croupier",
    help="Design, run and audit data collection in the shuffle model of differential privacy.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _program(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        from importlib.metadata import version as installed  # noqa: PLC0415 - only asked for here

        typer.echo(f"croupier {installed('croupier')}")
        raise typer.Exit


app.command("demo", help=demo.HELP)(demo.command)
app.command("init", help=init.HELP)(init.command)
app.command("assess", help=assess.HELP)(assess.command)
app.command("design", help=design.HELP)(design.command)
app.command("check", help=check.HELP)(check.command)
app.command("attack", help=attack.HELP)(attack.command)
app.command("compare", help=compare.HELP)(compare.command)
app.command("explain", help=explain.HELP)(explain.command)
app.add_typer(plan.app, name="plan", help=plan.HELP)
app.command("mechanisms", help=mechanisms.HELP)(mechanisms.command)
app.command("amplify", help=amplify.HELP)(amplify.command)
app.add_typer(leakage.app, name="leakage", help=leakage.HELP)
app.add_typer(sidechannels.app, name="sidechannels", help=sidechannels.HELP)
app.add_typer(mallows.app, name="mallows", help=mallows.HELP)
app.command("randomize", help=randomize.HELP)(randomize.command)
app.command("estimate", help=estimate.HELP)(estimate.command)
app.add_typer(keys.app, name="keys", help=keys.HELP)
app.command("submit", help=submit.HELP)(submit.command)
app.add_typer(credentials.app, name="credentials", help=credentials.HELP)
app.command("mirror", help=mirror.HELP)(mirror.command)
app.command("serve", help=serve.HELP)(serve.command)
app.command("release", help=release.HELP)(release.command)
app.command("analyze", help=analyze.HELP)(analyze.command)
app.add_typer(receipt.app, name="receipt", help=receipt.HELP)
app.add_typer(audit.app, name="audit", help=audit.HELP)


def main() -> None:
    """Run the program; errors are sentences, exit codes as documented.

    0 yes; 1 failure; 2 usage; 3 invalid plan; 4 the policy is not met; 5 a claim is refuted.
    With --json an error is a document too.
    """
    try:
        # Where nothing needs to be JSON, typer prints usage errors itself, with their usage line.
        code = app(standalone_mode="--json" not in sys.argv) or 0
    except typer.TyperException as error:
        code = _fail(error.format_message(), USAGE)
    except ParameterError as error:
        code = _fail(str(error), USAGE)
    except PlanError as error:
        code = _fail(str(error), INVALID_PLAN)
    except (NotPublishedError, PolicyError) as error:
        code = _fail(str(error), NOT_MET)
    except (CroupierError, OSError) as error:
        code = _fail(str(error), FAILURE)
    except Exception as error:  # noqa: BLE001 - its message might hold a person's value
        code = _fail(f"croupier failed with {type(error).__name__}. Please report it.", FAILURE)
    sys.exit(code)


def _fail(message: str, code: int) -> int:
    if "--json" in sys.argv:
        typer.echo(json.dumps({"schema_version": SCHEMA_VERSION, "error": message}))
    else:
        err.print(message, soft_wrap=True)
    return code
