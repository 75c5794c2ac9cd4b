"""The keys of an issuer beside those of a `House`, for trials only."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from benchmarks.house import House
from croupier.issuer.keys import IssuerRootKeys, TokenKeyFiles
from croupier.plan.plan import Plan
from croupier.protocol.admission.blind_rsa import BlindKey
from croupier.protocol.admission.token_keys import TokenKeys

__all__ = ["TokenIssuer"]


@dataclass(frozen=True)
class TokenIssuer:
    """The issuer's root and token keys in `keys`, where the commands look for them."""

    folder: Path
    root: IssuerRootKeys
    tokens: TokenKeyFiles

    @classmethod
    def at(cls, folder: Path, phrase: bytes) -> Self:
        """The directories in a folder, which need not exist yet."""
        keys = folder / "keys"
        return cls(
            folder, IssuerRootKeys(keys / "issuer", phrase), TokenKeyFiles(keys / "tokens", phrase)
        )

    def deploy(self, tables: dict[str, object], phrase: bytes) -> Plan:
        """Make the keys of all parties, and sign a plan that admits by token."""
        house = House.at(self.folder, phrase)
        admission = {"admission": {"by": "token", "key": self.root.create().key}}
        plan = Plan.from_document(tables | admission | house.create())
        house.sign(plan)
        return plan

    def sign(self, plan: Plan, keys: Sequence[BlindKey]) -> None:
        """Write the list of the token keys of the first rounds."""
        listed = TokenKeys.make(plan, first=0, keys=keys, signing_key=self.root.signer())
        (self.folder / "issuer.json").write_bytes(listed.to_bytes())
