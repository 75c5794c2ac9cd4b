"""The roles that have keys, each in a directory of its own."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from croupier.analyzer.keys import AnalyzerKeys
from croupier.issuer.admission import InviterKeys
from croupier.issuer.keys import IssuerRootKeys
from croupier.protocol.approval import ApproverKeys
from croupier.protocol.key_directory import RoleKeys
from croupier.shuffler.intake.keys import IntakeKeys
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.root import RootKeys

__all__ = ["DIRECTORIES", "KEYS", "Role", "RoleDirectory", "directory_of"]

KEYS = Path("keys")


class Role(StrEnum):
    """The roles that have keys."""

    SHUFFLER = "shuffler"
    RELEASE = "release"
    INTAKE = "intake"
    ANALYZER = "analyzer"
    APPROVER = "approver"
    ISSUER = "issuer"
    INVITER = "inviter"

    @property
    def is_root(self) -> bool:
        """Tell if the plan names its key."""
        return self in {Role.SHUFFLER, Role.ANALYZER, Role.ISSUER}


DIRECTORIES: dict[Role, type[RoleKeys]] = {
    Role.SHUFFLER: RootKeys,
    Role.RELEASE: ReleaseKeys,
    Role.INTAKE: IntakeKeys,
    Role.ANALYZER: AnalyzerKeys,
    Role.APPROVER: ApproverKeys,
    Role.ISSUER: IssuerRootKeys,
    Role.INVITER: InviterKeys,
}

RoleDirectory = Annotated[
    Path | None,
    typer.Option(
        "--keys", help="The directory of its private keys; default: keys/ROLE.", metavar="DIRECTORY"
    ),
]


def directory_of(role: Role, given: Path | None) -> Path:
    """The directory of a role's keys: the given one, or where it is by default."""
    return KEYS / role if given is None else given
