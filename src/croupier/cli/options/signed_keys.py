"""The options that name what the parties have signed, the same in every command."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from croupier.errors import ParameterError, UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol.key_list import AnalyzerKey
from croupier.protocol.party_keys import ShufflerKeys, hop_of

__all__ = ["HandoverDirectory", "ListBeside", "ShufflerList", "for_the_operator", "read_analyzer"]
__all__ += ["analyzer_beside", "beside", "newest_list", "read_shuffler"]

ShufflerList = Annotated[
    Path | None,
    typer.Option(
        "--shuffler",
        help="The list of the shuffler's keys, JSON; default: shuffler.json beside the plan.",
        metavar="FILE",
    ),
]
ListBeside = Annotated[
    Path | None,
    typer.Option(
        "--shuffler",
        help="The list of the shuffler's keys; default: shuffler-keys.json beside the receipts.",
        metavar="FILE",
    ),
]
HandoverDirectory = Annotated[
    Path,
    typer.Option(
        "--handover",
        help="Directory in which release leaves tag keys for intake.",
        metavar="DIRECTORY",
    ),
]


_SIGN = "{party} has to run croupier keys sign {party}"


def beside(plan: Path, given: Path | None, name: str) -> Path:
    """Return a signed file of a plan: the given one, or that of a name beside the plan."""
    return plan.with_name(name) if given is None else given


def read_analyzer(file: Path, plan: Plan) -> AnalyzerKey:
    """The analyzer's signed key in a file."""
    remedy = _SIGN.format(party="analyzer")
    if not file.is_file():
        hint = f"The plan's {remedy}."
        raise ParameterError("--analyzer", must="be a file", got=str(file), hint=hint)
    with for_the_operator("--analyzer", file, f"the plan's {remedy}"):
        return AnalyzerKey.verified(file.read_bytes(), plan)


def analyzer_beside(file: Path, plan: Plan) -> str | None:
    """Return the key that analyzer.json beside a plan shows; None without such a file."""
    signed = file.with_name("analyzer.json")
    try:
        return AnalyzerKey.verified(signed.read_bytes(), plan).key if signed.is_file() else None
    except UntrustedError:  # serve refuses it, and a round is opened with a file that is named
        return None


def read_shuffler(file: Path, plan: Plan) -> ShufflerKeys:
    """The signed list of the shuffler's keys in a file."""
    remedy = "whoever keeps the shuffler's root has to run croupier keys sign shuffler"
    if not file.is_file():
        hint = f"{remedy[0].upper()}{remedy[1:]}."
        raise ParameterError("--shuffler", must="be a file", got=str(file), hint=hint)
    with for_the_operator("--shuffler", file, remedy):
        read = ShufflerKeys.read(file.read_bytes())
        hop_of(read, plan)  # refuses a list that no shuffler of the plan has signed
        return read


@contextmanager
def for_the_operator(option: str, file: Path | None, remedy: str) -> Iterator[None]:
    """Name the file that cannot be trusted; clients would be told to ask the operator."""
    try:
        yield
    except UntrustedError as error:
        raise ParameterError(
            option,
            must="be signed for this plan",
            got=str(file),
            hint=f"It {error.problem}. Give the file that belongs to --plan; if there is none, "
            f"{remedy}.",
        ) from None


@contextmanager
def newest_list(file: Path) -> Iterator[None]:
    """Say that a list of the shuffler's keys is older than one that was followed."""
    try:
        yield
    except UntrustedError as error:
        if error.what != ShufflerKeys.what:
            raise
        raise ParameterError(
            "--shuffler",
            must="be the newest list of keys",
            got=str(file),
            hint=f"It {error.problem}. Get the newest from whoever keeps the shuffler's root; "
            "a copy lies beside the newest receipts.",
        ) from None
