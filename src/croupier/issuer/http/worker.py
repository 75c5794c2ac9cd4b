"""One worker process of the issuer: made when it starts, renewed while it runs."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from croupier.errors import CroupierError, UntrustedError
from croupier.hosting.database.errors import StoreError
from croupier.hosting.http.certificate import Certificate
from croupier.hosting.http.logs import log
from croupier.hosting.http.notes import Notes
from croupier.hosting.http.readiness import Readiness
from croupier.hosting.http.worker import HostedWorker, Receive, Scope, Send, end_with_parent
from croupier.hosting.incidents import Occurrence
from croupier.hosting.revocation import RevocationList
from croupier.issuer.admission import AdmissionCheck
from croupier.issuer.database.people import People
from croupier.issuer.enrolment import Enrolment
from croupier.issuer.http.app import IssuerApp, IssuerLimits
from croupier.issuer.http.metrics import IssuerMetrics
from croupier.issuer.keys import TokenKeyPlace
from croupier.issuer.openings import SilentShufflerError, newest_opening
from croupier.issuer.tokens import AHEAD, TokenPlan
from croupier.plan.plan import Plan
from croupier.protocol.admission.credentials import BearerCredentials
from croupier.protocol.admission.token_keys import TokenKeys
from croupier.protocol.signed_document import LAST_ROUND

__all__ = ["IssuedPlan", "IssuerSettings", "IssuerWorker"]

_STALE = Occurrence("stale", "the database was last read more than 5 seconds ago")
_PATIENCE = 6.0
"""Seconds after which a connection counts as dead."""
_CONNECTIONS = 4
"""Connections per worker: while one waits for its commit, others are used."""


@dataclass(frozen=True, kw_only=True)
class IssuedPlan:
    """A plan and the list of its token keys, read again when it changes.

    Attributes:
        plan: The plan of the collection.
        keys: The file of the list; None if the plan admits by credential.
    """

    plan: Plan
    keys: Path | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class IssuerSettings:
    """The settings of a worker. They hold secrets and have no printed form.

    Attributes:
        database: A libpq connection string or URL.
        credential_secret: The secret that credentials are made with.
        check: Decides who may enrol.
        most: The largest number of people.
        served: The plans.
        tokens: The private token keys; None if no plan admits by token.
        shuffler: The address of the shuffler, whose signed openings end the issuing of a round.
        revoked: A file of credentials that are no longer valid, read again when it changes.
        certificate: The certificate of the proxy that terminates TLS, to notice when it expires.
        renewal: Seconds between readings of database and files.
        look: Seconds between looks at the shuffler's key list.
        publication: Seconds between publications of sums.
    """

    database: str
    credential_secret: bytes
    check: AdmissionCheck
    most: int
    served: tuple[IssuedPlan, ...]
    tokens: TokenKeyPlace | None = None
    shuffler: str | None = None
    revoked: Path | None = None
    certificate: Path | None = None
    renewal: float = 1.0
    look: float = 5.0
    publication: float = 60.0


@dataclass
class _Connections:
    """Connections to the database, made when they are needed and dropped when they fail."""

    database: str
    _free: list[People] = field(default_factory=list)
    _room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_CONNECTIONS))

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[People]:
        """Take one for a while."""
        async with self._room:
            people = self._free.pop() if self._free else await self._connect()
            try:
                yield people
            except BaseException:
                await people.close()
                raise
            self._free.append(people)

    async def _connect(self) -> People:
        return await People.connect(self.database, patience=_PATIENCE)

    async def close(self) -> None:
        """End all of them."""
        while self._free:
            await self._free.pop().close()


class IssuerWorker(HostedWorker):
    """A worker of the issuer.

    Args:
        settings: The settings.
        limits: The limits that all workers of the host share.
        notes: The place where it records that it has started, or why it cannot.
    """

    def __init__(
        self, settings: IssuerSettings, limits: IssuerLimits, notes: Notes | None = None
    ) -> None:
        super().__init__(notes)
        self._settings = settings
        self._limits = limits
        self._readiness = Readiness(_STALE)
        self._revoked = RevocationList(settings.revoked)
        self._certificate = Certificate(settings.certificate)
        self._plans: dict[str, TokenPlan] = {}
        self._files: dict[str, bytes] = {}
        self._known: set[str] = set()
        self._advancing = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    async def _start(self) -> None:
        """Start to answer, with or without a database."""
        settings = self._settings
        self._connections = _Connections(settings.database)
        self._revoked.renew()
        self._plans = self._opened_plans()
        credentials = BearerCredentials(settings.credential_secret, revoked=self._revoked)
        origins = [each for served in settings.served for each in served.plan.admission.origins]
        self._app = IssuerApp(
            enrolment=Enrolment(
                credentials=credentials,
                check=settings.check,
                most=settings.most,
                key=blake2b(settings.credential_secret, person=b"subjects").digest(),
            ),
            credentials=credentials,
            plans=self._plans,
            origins=list(dict.fromkeys(origins)),
            sessions=self._connections,
            limits=self._limits,
            incidents=self._readiness.occurrences,
        )
        self._metrics = IssuerMetrics()
        await self._renew()
        if settings.shuffler is not None:
            await self._look()
        end_with_parent()
        self._tasks = [
            asyncio.create_task(self._keep(self._renew, settings.renewal)),
            asyncio.create_task(self._keep(self._publish, settings.publication)),
        ]
        if settings.shuffler is not None:
            self._tasks.append(asyncio.create_task(self._keep(self._look, settings.look)))

    async def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self._metrics.publish(self._app.tally, enrolled_deciles=None)
        await self._connections.close()

    def _opened_plans(self) -> dict[str, TokenPlan]:
        """Open the token keys of the plans that admit by token."""
        place = self._settings.tokens
        store = None if place is None else place.open()
        found = {}
        for served in self._settings.served:
            if store is not None and served.keys is not None:
                data = served.keys.read_bytes()
                keys = TokenKeys.verified(data, served.plan)
                found[served.plan.digest] = TokenPlan(served.plan, keys, store)
                self._files[served.plan.digest] = data
        return found

    @staticmethod
    async def _keep(work: Callable[[], Awaitable[None]], seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await work()
            except Exception as error:  # noqa: BLE001 - whoever stops looking serves old keys
                log.error("task failed", kind=type(error).__name__)

    async def _renew(self) -> None:
        """Read the database and the files; note what is wrong with them."""
        found = []
        try:
            async with self._connections.taken() as people:
                for digest, plan in self._plans.items():
                    if digest not in self._known:
                        await people.close_rounds(digest)
                        self._known.add(digest)
                    await self._advance(plan, people)
                if not self._plans:
                    await people.count()
        except StoreError as error:
            found = [Occurrence(error.incident, error.cause)]
        else:
            self._readiness.renewed()
        self._readiness.report("database", *found)
        self._readiness.report("revoked-list", *self._revoked.occurrences())
        self._readiness.report("certificate", *self._certificate.occurrences())
        for served in self._settings.served:
            self._follow(served)
        self._metrics.show(self._readiness.occurrences(), expires=self._certificate.expires)

    def _follow(self, served: IssuedPlan) -> None:
        """Follow a list that changed, and note coming rounds without a key."""
        plan = self._plans.get(served.plan.digest)
        if plan is None or served.keys is None:
            return
        digest, problem = served.plan.digest, ""
        try:
            data = served.keys.read_bytes()
            if data != self._files[digest]:
                plan.follow(TokenKeys.verified(data, served.plan))
                self._files[digest] = data
        except (OSError, UntrustedError):
            problem = "the list of token keys cannot be read again: the one read before stays"
        found = [Occurrence("signed-files", problem, digest)] if problem else []
        try:
            missing = plan.missing()
        except (CroupierError, OSError):
            missing = list(plan.coming)
        if missing or not plan.coming:
            cause = "a coming round has no token key here: nobody gets its tokens"
            found.append(Occurrence("token-keys", cause, digest))
        self._readiness.report(f"keys of {digest}", *found)

    async def _look(self) -> None:
        """Look at which rounds the shuffler has opened; their tokens are no longer given out."""
        for digest, plan in self._plans.items():
            found = []
            try:
                newest = await newest_opening(plan.plan, self._settings.shuffler or "")
                async with self._connections.taken() as people:
                    await people.close_rounds(digest, newest)
                    await self._advance(plan, people)
            except SilentShufflerError:
                cause = "the shuffler's key list cannot be read: a round may open unnoticed"
                found = [Occurrence("openings", cause, digest)]
            except StoreError:
                continue  # `_renew` says so
            self._readiness.report(f"openings of {digest}", *found)

    async def _advance(self, plan: TokenPlan, people: People) -> None:
        """Follow the newest open round that the database knows.

        If it is before the one seen last, the database was set back, and nobody knows who has
        tokens of the rounds that came next: no more of them are given out.
        """
        digest = plan.plan.digest
        async with self._advancing:  # one answer at a time: an older one must not look set back
            newest = await people.newest_open(digest)
            if newest < plan.newest_open:
                log.error("the database was set back", plan=digest)
                newest = min(plan.newest_open + AHEAD, LAST_ROUND)
                await people.close_rounds(digest, newest)
            plan.newest_open = newest

    async def _publish(self) -> None:
        deciles = None
        with suppress(StoreError):
            async with self._connections.taken() as people:
                deciles = 10 * await people.count() // self._settings.most
        self._metrics.publish(self._app.tally, enrolled_deciles=deciles)
