"""The option that names pointers to the successors of plans."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated

import typer

from croupier.errors import ParameterError, UntrustedError
from croupier.protocol.superseded import SupersededPlan

__all__ = ["SupersededFiles", "read_superseded"]

SupersededFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--superseded",
        help="The pointer of a plan that is no longer served to its successor, from croupier keys "
        "supersede. Can be repeated.",
        metavar="FILE",
    ),
]


def read_superseded(
    files: Sequence[Path] | None, *, served: Collection[str]
) -> tuple[SupersededPlan, ...]:
    """Read the pointers in some files, each signed by the root that its own plan names.

    Args:
        files: The files.
        served: The digests of the plans that are served.

    Raises:
        ParameterError: A file is missing or not signed, or its plan is served, or has two pointers.
    """
    found: dict[str, SupersededPlan] = {}
    for file in files or ():
        read = _read(file)
        if read.digest in served:
            raise ParameterError(
                "--superseded",
                must="be of a plan that is no longer served",
                got=str(file),
                hint=f"Plan {read.digest[:8]} is served. Leave out its --plan once its last round "
                "is settled, or leave out this file until then.",
            )
        if read.digest in found:
            raise ParameterError(
                "--superseded",
                must="be given once per plan",
                got=str(file),
                hint=f"Another file is of plan {read.digest[:8]}, too. Give the newer one.",
            )
        found[read.digest] = read
    return tuple(found.values())


def _read(file: Path) -> SupersededPlan:
    make = "Whoever keeps the shuffler's root has to run croupier keys supersede OLD NEW."
    if not file.is_file():
        raise ParameterError("--superseded", must="be a file", got=str(file), hint=make)
    try:
        return SupersededPlan.verified(file.read_bytes())
    except UntrustedError as error:
        raise ParameterError(
            "--superseded",
            must="be signed by the shuffler's root that its plan names",
            got=str(file),
            hint=f"It {error.problem}. {make}",
        ) from None
