"""One shuffler of the demo: its keys, its database, its rounds, and its output."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from croupier.plan.plan import Plan
from croupier.protocol.key_list import Onward
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.public_keys import PublicKeys
from croupier.protocol.seen_lists import SeenLists
from croupier.shuffler.database.store import Store
from croupier.shuffler.handover import Handover
from croupier.shuffler.intake.keys import IntakeKeys
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.release.output import publish_openings
from croupier.shuffler.release.predecessor import Predecessor
from croupier.shuffler.release.release import BatchOutcome
from croupier.shuffler.release.rounds import open_round
from croupier.shuffler.release.run import release
from croupier.shuffler.release.storage import DirectoryStorage
from croupier.shuffler.root import RootKeys

__all__ = ["Mixer", "MixerKeys"]

_ROLES: dict[str, type[IntakeKeys | ReleaseKeys | RootKeys]] = {
    "shuffler": RootKeys,
    "release": ReleaseKeys,
    "intake": IntakeKeys,
}


@dataclass(frozen=True, repr=False)
class MixerKeys:
    """The keys of one shuffler, made before there is a plan that names their root.

    Attributes:
        folder: The folder of everything that the shuffler has.
        phrase: The passphrase of the keys; it lives as long as the demo.
        made: The public keys of each role.
    """

    folder: Path
    phrase: str
    made: dict[str, PublicKeys]

    @classmethod
    def create(cls, folder: Path) -> Self:
        """Make the keys of each role, and a passphrase for them."""
        phrase = os.urandom(16).hex()
        descriptor = os.open(folder / "phrase", os.O_WRONLY | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(phrase + "\n")
        made = {
            role: kind(folder / "keys" / role, phrase.encode()).create()
            for role, kind in _ROLES.items()
        }
        return cls(folder, phrase, made)

    @property
    def root(self) -> str:
        """The public key of the root, which the plan names."""
        return self.made["shuffler"].key

    def sign(self, plan: Plan) -> None:
        """Sign the list of the shuffler's keys."""
        root = RootKeys(self.folder / "keys" / "shuffler", self.phrase.encode())
        listed = ShufflerKeys.first(
            plan,
            release=self.made["release"],
            intake=self.made["intake"],
            signing_key=root.signer(),
        )
        (self.folder / "shuffler.json").write_bytes(listed.to_bytes())


@dataclass(frozen=True, kw_only=True, repr=False)
class Mixer:
    """A shuffler that runs on this machine.

    Attributes:
        folder: The folder of everything that it has.
        plan: The plan of the collection.
        database: The connection string of its database.
        phrase: The passphrase of its keys.
        first: For the second of two shufflers, the directory in which the first one publishes.
    """

    folder: Path
    plan: Plan
    database: str
    phrase: str
    first: Path | None = None

    @property
    def keys(self) -> ReleaseKeys:
        """The keys of release: here one machine plays all roles."""
        return ReleaseKeys(self.folder / "keys" / "release", self.phrase.encode())

    @property
    def handover(self) -> Handover:
        """The directory in which release leaves tag keys for the service."""
        return Handover(self.folder / "keys" / "handover")

    @property
    def shuffler(self) -> ShufflerKeys:
        """The list of the shuffler's keys."""
        return ShufflerKeys.verified(
            (self.folder / "shuffler.json").read_bytes(), self.plan, hop=int(self.first is not None)
        )

    @property
    def released(self) -> Path:
        """The directory in which batches and receipts are published."""
        return self.folder / "released"

    def release(self) -> BatchOutcome:
        """Run the release job and return the outcome of the batch."""
        self.released.mkdir(exist_ok=True)
        (outcome,) = release(
            self.database,
            plan=self.plan,
            storage=DirectoryStorage(self.released),
            first=self._predecessor,
            **self._own,
        )
        return outcome

    async def open_round(self, analyzer: bytes, *, after: "Mixer | None" = None) -> None:
        """Open the one round, as `croupier release --next-round` does.

        Args:
            analyzer: The analyzer's public key.
            after: For the first of two shufflers, the second one, which has opened it already.
        """
        store = await Store.connect(self.database)
        try:
            await store.migrate()
            offered = [] if after is None else after.openings()
            await open_round(
                self.plan, store=store, analyzer=analyzer, offered=offered, **self._own
            )
            if self.first is not None:
                self.released.mkdir(exist_ok=True)
                storage = DirectoryStorage(self.released)
                publish_openings(storage, self.shuffler, await store.batches(self.plan.digest))
        finally:
            await store.close()

    def openings(self) -> list[Onward]:
        """Return the openings of rounds that this shuffler shows to the first one."""
        shown = DirectoryStorage(self.released).openings()
        return [Onward.model_validate_json(text) for text in shown.values()]

    @property
    def _predecessor(self) -> Predecessor | None:
        if self.first is None:
            return None
        return Predecessor(self.plan, DirectoryStorage(self.first), SeenLists(self.keys.path))

    @property
    def _own(self) -> dict[str, Any]:
        return {"keys": self.keys, "handover": self.handover, "shuffler": self.shuffler}
