"""One worker process: made when it starts, renewed while it runs, drained when it ends."""

import asyncio
import gc
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

from croupier.errors import CroupierError, UntrustedError
from croupier.hosting.http.certificate import Certificate
from croupier.hosting.http.logs import log
from croupier.hosting.http.notes import Notes
from croupier.hosting.http.readiness import Readiness
from croupier.hosting.http.worker import HostedWorker, Receive, Scope, Send, end_with_parent
from croupier.hosting.incidents import Occurrence
from croupier.hosting.revocation import RevocationList
from croupier.plan.plan import Plan
from croupier.protocol.admission.credentials import BearerCredentials, Credentials, NoCredentials
from croupier.protocol.admission.token_keys import TokenKeys
from croupier.protocol.key_directory import ClosedKeyError, KeyFileError
from croupier.protocol.key_list import AnalyzerKey
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.receipt import ReceiptError
from croupier.protocol.superseded import SupersededPlan
from croupier.shuffler.database.store import Store, StoreError
from croupier.shuffler.handover import Handover
from croupier.shuffler.http.app import App
from croupier.shuffler.http.board import Board, Glance, look_at
from croupier.shuffler.http.metrics import Metrics
from croupier.shuffler.http.reports import Reports, RequestLimits, SenderRates
from croupier.shuffler.http.tokens import TokenCheck
from croupier.shuffler.intake.intake import Intake, IntakeLimits
from croupier.shuffler.intake.key_watch import KeyWatch
from croupier.shuffler.intake.keys import IntakeKeys
from croupier.shuffler.witness import RolledBackError, WitnessError

__all__ = ["ServedPlan", "Settings", "Worker"]

_STALE = Occurrence("stale", "the batches were last read more than 5 seconds ago")
_Look: TypeAlias = Callable[[], tuple[Occurrence, ...]]
_PATIENCE = 6.0
"""Seconds after which a connection that commits or reads batches counts as dead."""


@dataclass(frozen=True, kw_only=True)
class ServedPlan:
    """A plan and the files that its parties have signed, read again when they change.

    Attributes:
        plan: The plan of the collection.
        analyzer: The analyzer's signed key, with its statement that the plan may run.
        shuffler: The shuffler's signed list of keys.
        issuer: The issuer's signed list of token keys; None if the plan admits by credential.
    """

    plan: Plan
    analyzer: Path
    shuffler: Path
    issuer: Path | None = None

    def read(self) -> tuple[bytes, ...]:
        """Return the contents of the files.

        Raises:
            OSError: A file cannot be read.
        """
        files = [self.analyzer, self.shuffler, *([] if self.issuer is None else [self.issuer])]
        return tuple(file.read_bytes() for file in files)

    def verified(
        self, analyzer: bytes, shuffler: bytes, issuer: bytes | None = None
    ) -> tuple[AnalyzerKey, ShufflerKeys, TokenKeys | None]:
        """Return the documents in what was read.

        Raises:
            PolicyError: The statement is missing, about another policy, or negative.
            UntrustedError: A file is not what the plan's root signed.
        """
        key = AnalyzerKey.verified(analyzer, self.plan)
        key.require_policy(self.plan)
        tokens = None if issuer is None else TokenKeys.verified(issuer, self.plan)
        return key, ShufflerKeys.verified(shuffler, self.plan), tokens


@dataclass(frozen=True, kw_only=True, repr=False)
class Settings:
    """The settings of a worker. They hold secrets and have no printed form.

    Attributes:
        database: A libpq connection string or URL.
        keys: Intake's key directory.
        passphrase: Encrypts its files.
        handover: The directory in which release puts the tag keys of batches.
        credential_secret: The secret that credentials are checked with; None if all plans admit by
            token.
        revoked: A file of credentials that are no longer valid, read again when it changes.
        certificate: The certificate of the proxy that terminates TLS, to notice when it expires.
        served: The plans.
        superseded: The plans that are no longer served, each with the pointer to its successor.
        most_rows: The number of rows that a batch has room for at least; if left out, what the
            enrolled people of each plan send in one round.
        intake: Limits on what is held and written at once.
        requests: Limits per sender at this host.
        renewal: Seconds between readings of the batches.
        publication: Seconds between publications of sums.
    """

    database: str
    keys: Path
    passphrase: bytes
    handover: Path
    credential_secret: bytes | None
    served: tuple[ServedPlan, ...]
    superseded: tuple[SupersededPlan, ...] = ()
    revoked: Path | None = None
    certificate: Path | None = None
    most_rows: int | None = None
    intake: IntakeLimits = field(default_factory=IntakeLimits)
    requests: RequestLimits = field(default_factory=RequestLimits)
    renewal: float = 1.0
    publication: float = 60.0

    def board(self, served: ServedPlan) -> Board:
        """Return a plan as a worker sees it."""
        plan = served.plan
        analyzer, shuffler, tokens = served.verified(*served.read())
        return Board(
            plan=plan,
            analyzer=analyzer,
            shuffler=shuffler,
            keys=IntakeKeys(self.keys, self.passphrase),
            handover=Handover(self.handover),
            most_rows=self.most_rows or plan.population.enrolled * plan.protections.messages,
            tokens=None if tokens is None else TokenCheck(plan, tokens),
        )


_BY_KIND = (
    (RolledBackError, ("database-set-back", "the database was set back, or is another one")),
    (ReceiptError, ("database-set-back", "a receipt in the database is damaged")),
    (WitnessError, ("witness", "the witness of a plan is damaged or gone")),
    (UntrustedError, ("signed-files", "the open round does not fit the signed files of its plan")),
    (ClosedKeyError, ("passphrase", "a key of intake does not open under the passphrase")),
    (KeyFileError, ("batch-key", "the tag key of a batch is damaged, or not for this host")),
    (
        OSError,  # of the witness or the keys: reports for rounds that are known are still taken
        (
            "signing-key",
            "the key directory of intake cannot be read or written: new rounds do not start here",
        ),
    ),
)
"""Incident and cause by the error that a look at a plan's batches ends with."""


def _detail(error: Exception) -> str:
    """Say more about an error in the log; nothing about those of libraries."""
    if isinstance(error, OSError):
        return f"{Path(str(error.filename)).name}: {os.strerror(error.errno or 0)}"
    return str(error) if isinstance(error, CroupierError) else ""


def _why(error: Exception) -> str:
    """Return the reason in words that may be shown to anybody, or the kind of error."""
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return getattr(error, "cause", type(error).__name__)


def _of_database(error: StoreError) -> Occurrence:
    return Occurrence(error.incident, error.cause)


def _tell_failure(kind: str) -> None:
    log.error("intake failed", kind=kind)


class Worker(HostedWorker):
    """A worker of intake.

    Args:
        settings: The settings.
        notes: The place where it records that it has started, or why it cannot.
        rates: The sums per sender that it shares with other workers; its own if left out.
    """

    def __init__(
        self,
        settings: Settings,
        notes: Notes | None = None,
        *,
        rates: SenderRates | None = None,
    ) -> None:
        super().__init__(notes)
        self._settings = settings
        self._rates = rates or SenderRates.of(settings.requests)
        self._readiness = Readiness(_STALE)
        self._revoked = RevocationList(settings.revoked)
        self._certificate = Certificate(settings.certificate)
        self._key_watch = KeyWatch(IntakeKeys(settings.keys, settings.passphrase))
        self._boards: list[Board] = []
        self._followed: dict[str, tuple[bytes, ...]] = {}
        self._clerk: Store | None = None
        self._searcher: Store | None = None
        self._committed = False
        self._tasks: list[asyncio.Task[None]] = []

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    async def _start(self) -> None:
        """Start to answer, with or without a database.

        An error here would end the whole server, and a worker may start while the database is down.
        """
        settings = self._settings
        self._boards = [settings.board(served) for served in settings.served]
        self._intake = Intake(
            partial(Store.connect, settings.database, patience=_PATIENCE),
            settings.intake,
            told=self._tell_commit,
            failed=_tell_failure,
        )
        self._revoked.renew()
        await self._try_to_renew()
        self._intake.start()
        end_with_parent()
        reports = Reports(
            intake=self._intake,
            credentials=self._credentials(),
            lookups=lambda: self._searcher,
            limits=settings.requests,
            rates=self._rates,
        )
        self._app = App(
            self._boards,
            reports=reports,
            incidents=self._occurrences,
            superseded=settings.superseded,
        )
        self._look_at_files()
        self._metrics = Metrics()
        self._tasks = [
            asyncio.create_task(self._keep_renewing()),
            asyncio.create_task(self._keep_watching()),
            asyncio.create_task(self._keep_publishing()),
        ]
        gc.freeze()  # objects made so far stay: the collector need not check them again

    def _credentials(self) -> Credentials:
        secret = self._settings.credential_secret
        return (
            NoCredentials() if secret is None else BearerCredentials(secret, revoked=self._revoked)
        )

    async def _stop(self) -> None:
        """Commit what waits, publish the last sums. Every request has its answer by now."""
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await self._intake.close()
        self._publish()
        await self._hang_up()

    def _occurrences(self) -> tuple[Occurrence, ...]:
        """Return what the operator must act on."""
        stuck = self._intake.failure()
        self._readiness.report("intake", *([Occurrence("intake-stuck", stuck)] if stuck else []))
        return self._readiness.occurrences()

    def _tell_commit(self, error: StoreError | None) -> None:
        self._committed = error is None
        if error is not None:
            self._readiness.report("commit", _of_database(error))

    async def _renew(self) -> None:
        """Read the batches of every plan; make the connections that are missing."""
        if self._clerk is None:
            self._clerk = await Store.connect(self._settings.database, patience=_PATIENCE)
        if self._searcher is None or self._searcher.closed:
            # A search may take long, and nobody reads the batches on its connection meanwhile.
            self._searcher = await Store.connect(self._settings.database)
        for served, board in zip(self._settings.served, self._boards, strict=True):
            self._follow(served, board)
        looks = await look_at(self._boards, self._clerk)
        for board in self._boards:
            await self._look(board, self._clerk, looks.get(board.plan.digest))
        if self._readiness.failed("commit"):
            await self._try_commits(self._clerk)

    def _follow(self, served: ServedPlan, board: Board) -> None:
        """Follow signed documents that changed; those that cannot be verified change nothing."""
        plan = served.plan.digest
        part = f"files of {plan}"
        try:
            read = served.read()
            if read != self._followed.get(plan):
                board.follow(*served.verified(*read))
                self._followed[plan] = read
        except (OSError, CroupierError) as error:
            cause = "the signed files of a plan cannot be read again: those read before stay"
            occurrence = Occurrence("signed-files", cause, plan)
            self._readiness.report(part, occurrence, detail=_detail(error))
        else:
            self._readiness.report(part)

    async def _look(self, board: Board, clerk: Store, look: Glance | None) -> None:
        """Adopt one plan's batches: a fault of one plan does not affect the others."""
        plan = board.plan.digest
        try:
            await board.renew(clerk, look)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - whoever stops looking serves old rounds for ever
            unknown = ("database", f"the batches of a plan cannot be read ({type(error).__name__})")
            found = (each for kind, each in _BY_KIND if isinstance(error, kind))
            occurrence = Occurrence(*next(found, unknown), plan)
            self._readiness.report(plan, occurrence, detail=_detail(error))
        else:
            self._readiness.report(plan, *board.occurrences)

    async def _try_commits(self, clerk: Store) -> None:
        """Test whether commits work again, if none has shown it."""
        opened = [
            (known.batch, board.envelope_length)
            for board in self._boards
            for known in board.batches.values()
            if known.state == "open" and not known.full
        ]
        try:
            for batch, width in () if self._committed else opened:
                await clerk.try_to_write(batch, width)
        except StoreError as error:
            self._readiness.report("commit", _of_database(error))
        else:
            self._readiness.report("commit")

    async def _try_to_renew(self) -> None:
        """Renew, or stay not ready until that succeeds; never end because of it."""
        found = []
        try:
            await self._renew()
        except StoreError as error:
            found = [_of_database(error)]
            await self._hang_up()
        except Exception as error:  # noqa: BLE001 - as above
            cause = f"the batches cannot be read ({type(error).__name__})"
            found = [Occurrence("database", cause)]
        else:
            self._readiness.renewed()
        self._readiness.report("database", *found)

    async def _hang_up(self) -> None:
        for store in (self._clerk, self._searcher):
            if store is not None:
                await store.close()
        self._clerk = self._searcher = None

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(self._settings.renewal)
            self._look_at_files()
            await self._try_to_renew()

    def _look_at_files(self) -> None:
        """Look at the files of this host that the service needs besides the plans' own."""
        needed = frozenset(board.needed_keys for board in self._boards)
        revoked = "the list of revoked credentials cannot be read: those read before stay revoked"
        watched: dict[str, tuple[_Look, str]] = {
            "revoked-list": (self._revoked.occurrences, revoked),
            "signing-key": (
                partial(self._key_watch.occurrences, needed),
                "the key directory of intake cannot be read",
            ),
            "certificate": (
                self._certificate.occurrences,
                "the TLS certificate of the proxy cannot be read",
            ),
        }
        for name, (look, cause) in watched.items():
            try:
                found = look()
            except Exception as error:  # noqa: BLE001 - as above
                found = (Occurrence(name, f"{cause} ({_why(error)})"),)
            self._readiness.report(name, *found)
        self._app.gateway.keys = self._key_watch.gateway

    async def _keep_watching(self) -> None:
        """Log and publish why this worker is not ready, even if nobody asks."""
        while True:
            await asyncio.sleep(1)
            try:
                self._metrics.show(self._occurrences(), expires=self._certificate.expires)
            except Exception as error:  # noqa: BLE001 - as above
                log.error("incidents not published", kind=type(error).__name__)

    async def _keep_publishing(self) -> None:
        while True:
            await asyncio.sleep(self._settings.publication)
            try:
                self._publish()
                await self._measure()
            except Exception as error:  # noqa: BLE001 - the next sums may be published again
                log.error("sums not published", kind=type(error).__name__)

    def _publish(self) -> None:
        full = sum(board.full_batches for board in self._boards)
        self._metrics.publish(self._app.tally, self._intake.tally, full_batches=full)

    async def _measure(self) -> None:
        """Publish how full the open batches are, in tenths of their minimum."""
        for board in self._boards:
            if self._searcher is not None:
                self._metrics.fill(board.plan.digest, await board.fill(self._searcher))
