"""`croupier mirror`: compare the keys that several addresses show."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.options.plan import PlanOption, read_plan
from croupier.cli.options.server import as_typed
from croupier.cli.output.terminal import Json, Quiet, err, out, print_json
from croupier.client.conversation import submit
from croupier.client.mirror import Look, Served, keep, look
from croupier.errors import CertificateError
from croupier.plan.plan import Plan
from croupier.protocol.key_list import KeyList

__all__ = ["HELP", "command"]

HELP = """Compare the key lists and queries that several addresses serve, and keep all of them.

Whoever terminates TLS could show one person other keys, with valid signatures. Run this from
several networks and from a timer, with the service's address and those of its mirrors: it compares
what they serve with each other and with all that was kept before. Addresses that differ are asked
three times, and what they answered each time is kept and compared.

Exits with 0 if all are the same, 5 if two differ, if a list cannot be trusted, or if a round
was opened with two sets of keys or asks two queries; 1 if an address does not answer.

Example: croupier mirror https://reports.example https://mirror.example --plan plan.toml
"""

_REFUTED, _FAILURE = 5, 1

Addresses = Annotated[
    list[str], typer.Argument(help="Addresses that serve key lists, without a path.", metavar="URL")
]
Seen = Annotated[
    Path,
    typer.Option(
        "--output", "-o", help="Directory of everything that was served.", metavar="DIRECTORY"
    ),
]
Insecure = Annotated[bool, typer.Option("--insecure-http", help="Allow addresses without TLS.")]


def command(
    addresses: Addresses,
    plan: PlanOption,
    output: Seen = Path("key-lists"),
    insecure_http: Insecure = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare key lists."""
    made = read_plan(plan, option="--plan")
    with as_typed(url="URL"):
        found = submit(look(made, addresses, insecure_http=insecure_http))
    kept = keep(output, key_lists=found.key_lists, rounds=found.rounds)
    problems = found.problems(made, kept)
    if json:
        print_json(
            plan_digest=made.digest,
            same=not problems,
            problems=problems,
            superseded=sorted({s.successor for s in found.missing if s.successor}),
            silent=list(dict.fromkeys(served.url for served in found.missing)),
            kept=len(kept),
            output=str(output),
        )
    elif problems:
        err.print("DIFFERENT  Not everybody is shown the same keys: send nothing.", soft_wrap=True)
        for problem in problems:
            err.print(problem, soft_wrap=True)
        err.print(f"What was served is in {output}: keep it, it is evidence.", soft_wrap=True)
    elif not quiet and found.key_lists:
        which = _open_rounds(found, made)
        who = _addresses(found.agreed, len(addresses))
        out.print(f"SAME  {who}, {which}; {len(kept):,} kept in {output}")
    for sentence in () if json else dict.fromkeys(map(_absence, found.missing)):
        err.print(sentence, soft_wrap=True)
    if problems or found.missing:
        raise typer.Exit(_REFUTED if problems else _FAILURE)


def _addresses(agreed: int, asked: int) -> str:
    of_all = f"{agreed:,}" if agreed == asked else f"{agreed:,} of {asked:,}"
    return f"{of_all} address{'es' if asked > 1 else ''}"


def _absence(served: Served) -> str:
    """Say why a document is missing."""
    if served.is_silent:
        return f"{served.url} did not answer, or was busy."
    if isinstance(served.refusal, CertificateError):
        return f"{served.url} was not asked. {served.refusal}"
    reason = "" if served.refusal is None else f" {served.refusal}"
    return f"{served.url} has no {served.what} of this plan.{reason}"


def _open_rounds(found: Look, plan: Plan) -> str:
    """Name the open rounds, by the list on which all agreed in the end."""
    data = next(
        served.body
        for served in found.tries[-1]
        if served.round is None and served.body is not None
    )
    rounds = [entry.round for entry in KeyList.verified(data, plan).shuffler]
    return f"round {', '.join(map(str, rounds))} open" if rounds else "no round open"
