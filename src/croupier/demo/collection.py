"""The parts of a collection on one machine: shufflers, an analyzer, credentials, the service."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from croupier.analyzer.keys import ANALYZER, AnalyzerKeys, KeySource
from croupier.demo.plans import plan_text
from croupier.demo.site import Mixer, MixerKeys
from croupier.errors import CroupierError
from croupier.model.judgement import Judgement
from croupier.plan.plan import Plan
from croupier.protocol.admission.credentials import BearerCredentials, read_secret, write_secret
from croupier.protocol.key_list import AnalyzerKey, PolicyWord
from croupier.protocol.wire import Epoch

__all__ = ["Collection", "make_collection"]

_SECOND = "second"
"""The folder of the second shuffler."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Collection:
    """The folder, plan and shufflers of the demo.

    Attributes:
        folder: A temporary directory.
        plan: The plan of the collection.
        mixers: Its shufflers, in the order in which reports pass.
    """

    folder: Path
    plan: Plan
    mixers: tuple[Mixer, ...]

    @property
    def analyzer_key(self) -> KeySource:
        """The place of the analyzer's key."""
        return KeySource(self.folder / "keys" / "analyzer", self.folder / "phrase")

    @property
    def released(self) -> Path:
        """The directory in which the analyzer finds batches and receipts."""
        return self.mixers[-1].released

    def credentials(self, people: int) -> list[str]:
        """Issue a credential for each person."""
        issuer = BearerCredentials(read_secret(self.folder / "credentials.key"))
        return [issuer.issue() for _ in range(people)]

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Run `croupier serve` in a process of its own; yield the URL at which it answers."""
        asyncio.run(self._open_rounds())
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
                env=os.environ | {"CROUPIER_DATABASE": self.mixers[0].database},
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
        first, *later = self.mixers
        (batch,) = first.keys.batches()
        onward = (mixer.keys.outer_key(batch).public_key() for mixer in later)
        return Epoch.of(
            self.plan,
            round_number=0,
            batch=batch,
            analyzer=self._analyzer,
            onward=tuple(key.public_bytes_raw() for key in onward),
        )

    @property
    def _analyzer(self) -> bytes:
        return self.analyzer_key.load().public_key().public_bytes_raw()

    async def _open_rounds(self) -> None:
        """Open the one round of each shuffler, that of the last one first."""
        after = None
        for mixer in reversed(self.mixers):
            await mixer.open_round(self._analyzer, after=after)
            after = mixer


def _answers(url: str) -> bool:
    """Tell whether the service answers within a minute."""
    for _ in range(240):
        try:
            with urlopen(url, timeout=5) as answer:  # noqa: S310 - the service on loopback
                return bool(answer.status == 200)
        except OSError:
            time.sleep(0.25)
    return False


def make_collection(
    folder: Path, *, databases: Sequence[str], people: int, visitors: int = 0
) -> Collection:
    """Make keys for every role, a plan that names their roots, signed lists and credentials.

    Args:
        folder: The folder for all of it.
        databases: The connection strings of the databases, one per shuffler.
        people: The number of simulated people: without them nothing is released.
        visitors: The number of others who may take part.
    """
    folders = [folder, folder / _SECOND][: len(databases)]
    for each in folders:
        each.mkdir(exist_ok=True)
    made = [MixerKeys.create(each) for each in folders]
    analyzer = AnalyzerKeys(folder / "keys" / "analyzer", made[0].phrase.encode())
    text = plan_text(
        enrolled=people + visitors,
        minimum=people,
        shufflers=[own.root for own in made],
        analyzer=analyzer.create().key,
    )
    (folder / "plan.toml").write_text(text)
    plan = Plan.from_toml(text)
    for own in made:
        own.sign(plan)
    word = PolicyWord.on(plan, Judgement.NO_LIMIT, despite_policy=True)
    sealing, signer = analyzer.sealing_key(ANALYZER), analyzer.signing_key(ANALYZER)
    signed = AnalyzerKey.make(plan, key=sealing, signing_key=signer, policy=word)
    (folder / "analyzer.json").write_bytes(signed.to_bytes())
    write_secret(folder / "credentials.key")
    mixers: list[Mixer] = []
    for own, database in zip(made, databases, strict=True):
        mixers.append(
            Mixer(
                folder=own.folder,
                plan=plan,
                database=database,
                phrase=own.phrase,
                first=mixers[0].released if mixers else None,
            )
        )
    return Collection(folder=folder, plan=plan, mixers=tuple(mixers))
