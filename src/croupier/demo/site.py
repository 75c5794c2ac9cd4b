"""The parts of a collection on one machine: keys, a plan, the service, the release job."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from croupier.analyzer.keys import ANALYZER, AnalyzerKeys, KeySource
from croupier.errors import CroupierError
from croupier.model.judgement import Judgement
from croupier.plan.plan import Plan
from croupier.protocol.key_list import AnalyzerKey, PolicyWord
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.wire import Epoch
from croupier.shuffler.database.store import Store
from croupier.shuffler.handover import Handover
from croupier.shuffler.intake.credentials import BearerCredentials, read_secret, write_secret
from croupier.shuffler.intake.keys import IntakeKeys
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.release.release import BatchOutcome, release
from croupier.shuffler.release.rounds import open_round
from croupier.shuffler.release.storage import DirectoryStorage
from croupier.shuffler.root import RootKeys

__all__ = ["Site", "make_site"]

_PLAN = """\
schema = 2
name = "demo"
[randomizer]
mechanism = "k-rr"
k = 10
max_epsilon_local = 2.0
[population]
enrolled = {enrolled}
[collection]
every = "5s"
[protections]
minimum_batch = {minimum}
disposal_age = "24h"
[[shufflers]]
operator = "this host"
key = "{shuffler}"
[analyzer]
operator = "this host"
key = "{analyzer}"
"""


_ROLES: dict[str, type[AnalyzerKeys | IntakeKeys | ReleaseKeys | RootKeys]] = {
    "shuffler": RootKeys,
    "release": ReleaseKeys,
    "intake": IntakeKeys,
    "analyzer": AnalyzerKeys,
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Site:
    """The folder, plan and database of the demo.

    Attributes:
        folder: A temporary directory.
        plan: The plan of the collection.
        database: The connection string of the shuffler's database.
        phrase: The passphrase of the keys; it lives as long as the demo.
    """

    folder: Path
    plan: Plan
    database: str
    phrase: str

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
        return ShufflerKeys.verified((self.folder / "shuffler.json").read_bytes(), self.plan)

    @property
    def analyzer_key(self) -> KeySource:
        """The place of the analyzer's key."""
        return KeySource(self.folder / "keys" / "analyzer", self.folder / "phrase")

    @property
    def released(self) -> Path:
        """The directory in which batches and receipts are published."""
        return self.folder / "released"

    def credentials(self, people: int) -> list[str]:
        """Issue a credential for each person."""
        issuer = BearerCredentials(read_secret(self.folder / "credentials.key"))
        return [issuer.issue() for _ in range(people)]

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Run `croupier serve` in a process of its own; yield the URL at which it answers."""
        asyncio.run(self._open_round())
        options = ["--plan", "plan.toml", "--secret", "credentials.key"]
        options += ["--passphrase-file", "phrase", "--json"]
        options += ["--port", "0", "--metrics-port", "0", "--workers", "2"]
        program = "from croupier.demo.ending import end_with_the_holder; end_with_the_holder(); "
        program += "from croupier.cli import main; main()"
        with (
            (self.folder / "service.log").open("w") as log,
            subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-c", program, "serve", *options],
                cwd=self.folder,
                env=os.environ | {"CROUPIER_DATABASE": self.database},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            ) as process,
        ):
            try:
                line = process.stdout.readline() if process.stdout else ""
                url = json.loads(line or "{}").get("server", "")
                if not url or not _answers(f"{url}/readyz"):
                    raise CroupierError("The service did not start. Try: croupier serve --help.")
                yield url
            finally:
                process.terminate()

    def epoch(self) -> Epoch:
        """Return what the seals of the one open batch are bound to."""
        (batch,) = self.keys.batches()
        analyzer = self.analyzer_key.load().public_key().public_bytes_raw()
        return Epoch.of(self.plan, round_number=0, batch=batch, analyzer=analyzer)

    def release(self) -> BatchOutcome:
        """Run the release job and return the outcome of the batch."""
        self.released.mkdir(exist_ok=True)
        (outcome,) = release(
            self.database,
            plan=self.plan,
            storage=DirectoryStorage(self.released),
            **self._release_settings,
        )
        return outcome

    @property
    def _release_settings(self) -> dict[str, Any]:
        return {"keys": self.keys, "handover": self.handover, "shuffler": self.shuffler}

    async def _open_round(self) -> None:
        """Open the one round, as `croupier release --next-round` does."""
        analyzer = self.analyzer_key.load().public_key().public_bytes_raw()
        store = await Store.connect(self.database)
        try:
            await store.migrate()
            settings = self._release_settings
            await open_round(self.plan, store=store, analyzer=analyzer, **settings)
        finally:
            await store.close()


def _answers(url: str) -> bool:
    """Tell whether the service answers within a minute."""
    for _ in range(240):
        try:
            with urlopen(url, timeout=5) as answer:  # noqa: S310 - the service on loopback
                return bool(answer.status == 200)
        except OSError:
            time.sleep(0.25)
    return False


def make_site(folder: Path, *, database: str, people: int, visitors: int = 0) -> Site:
    """Make keys for every role, a plan that names their roots, signed lists and credentials.

    Args:
        folder: The folder for all of it.
        database: The connection string of the shuffler's database.
        people: The number of simulated people: without them nothing is released.
        visitors: The number of others who may take part.
    """
    phrase = os.urandom(16).hex()
    descriptor = os.open(folder / "phrase", os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(phrase + "\n")
    made = {
        role: kind(folder / "keys" / role, phrase.encode()).create()
        for role, kind in _ROLES.items()
    }
    text = _PLAN.format(
        enrolled=people + visitors,
        minimum=people,
        shuffler=made["shuffler"].key,
        analyzer=made["analyzer"].key,
    )
    (folder / "plan.toml").write_text(text)
    plan = Plan.from_toml(text)
    root = RootKeys(folder / "keys" / "shuffler", phrase.encode())
    listed = ShufflerKeys.first(
        plan, release=made["release"], intake=made["intake"], signing_key=root.signer()
    )
    (folder / "shuffler.json").write_bytes(listed.to_bytes())
    word = PolicyWord.on(plan, Judgement.NO_LIMIT, despite_policy=True)
    analyzer = AnalyzerKeys(folder / "keys" / "analyzer", phrase.encode())
    sealing, signer = analyzer.sealing_key(ANALYZER), analyzer.signing_key(ANALYZER)
    signed = AnalyzerKey.make(plan, key=sealing, signing_key=signer, policy=word)
    (folder / "analyzer.json").write_bytes(signed.to_bytes())
    write_secret(folder / "credentials.key")
    return Site(folder=folder, plan=plan, database=database, phrase=phrase)
