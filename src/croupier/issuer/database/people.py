"""The issuer's database: statements about enrolled people and the tokens they received."""

from contextlib import AbstractAsyncContextManager
from importlib.resources import files
from typing import Literal, Protocol

from croupier.hosting.database.migrations import Migrations
from croupier.hosting.database.session import Session

__all__ = ["Enrolled", "Issued", "People", "Sessions"]

Enrolled = Literal["enrolled", "taken", "full"]
Issued = Literal["issued", "other", "closed"]


class People(Session):
    """One connection of the issuer to its database."""

    migrations = Migrations(
        folder=files("croupier.issuer.database") / "migrations",
        schema="issuer",
        lock=0x6973737565720000,  # "issuer" in ASCII
    )

    async def enrol(self, identity: bytes, subject: bytes | None, *, most: int) -> Enrolled:
        """Enrol a device, once however often it asks.

        Args:
            identity: The identity of its credential.
            subject: The keyed hash of the invitation or account, which admits one device.
            most: The largest number of people.

        Returns:
            "enrolled"; "taken" if another device used the invitation; "full" if there are as many
            people already.
        """
        query = "SELECT issuer.enrol(%s, %s, %s)"
        return await self._value(query, identity, subject, most)  # type: ignore[no-any-return]

    async def count(self) -> int:
        """Return the number of enrolled people."""
        return await self._value("SELECT people FROM issuer.counts")  # type: ignore[no-any-return]

    async def issue(
        self, identity: bytes, *, plan: str, round_number: int, blinded: bytes
    ) -> Issued:
        """Record the message that is signed for a person, before the signature is given out.

        Args:
            identity: The identity of the person's credential.
            plan: The digest of the plan.
            round_number: The round of the token.
            blinded: SHA-256 of the blinded message.

        Returns:
            "issued", now or before for the same message; "other" if another one was signed for this
            person and round; "closed" if the round has opened.
        """
        query = "SELECT issuer.issue(%s, %s, %s, %s)"
        row = (bytes.fromhex(plan), round_number, identity, blinded)
        return await self._value(query, *row)  # type: ignore[no-any-return]

    async def close_rounds(self, plan: str, newest: int = -1) -> None:
        """Issue no more tokens for a round that has opened, nor for earlier ones.

        Args:
            plan: The digest of the plan; tokens are issued for it from the first call on.
            newest: The newest open round; -1 if none has opened.
        """
        await self._execute("SELECT issuer.close(%s, %s)", bytes.fromhex(plan), newest)

    async def newest_open(self, plan: str) -> int:
        """Return the newest round that was seen open; -1 if there was none."""
        query = "SELECT coalesce(max(round), -1) FROM issuer.opened WHERE plan = %s"
        return await self._value(query, bytes.fromhex(plan))  # type: ignore[no-any-return]


class Sessions(Protocol):
    """Connections to the database, for one request each."""

    def taken(self) -> AbstractAsyncContextManager[People]:
        """Take one for a while.

        Raises:
            StoreError: There is none.
        """
