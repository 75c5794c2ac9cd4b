"""The routes of the issuer: enrol a device, give out a token, read the list of token keys."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from croupier.errors import CroupierError
from croupier.hosting.database.errors import StoreError
from croupier.hosting.http import answers
from croupier.hosting.http.answers import Answer, document, kept, last_refusal
from croupier.hosting.http.logs import log
from croupier.hosting.http.origins import Origins, readable
from croupier.hosting.http.rate import RateLimit
from croupier.hosting.http.requests import LENGTH_DIGITS, read_body
from croupier.hosting.http.worker import Receive, Scope, Send
from croupier.hosting.incidents import Occurrence
from croupier.issuer.database.people import Sessions
from croupier.issuer.enrolment import Enrolment
from croupier.issuer.http.openapi import description
from croupier.issuer.tokens import NoToken, TokenPlan
from croupier.protocol.admission.credentials import Credentials
from croupier.protocol.admission.enrolment import MOST_PROOF, EnrolmentAnswer, EnrolmentRequest
from croupier.protocol.admission.token import REQUEST_LENGTH

__all__ = ["IssuerApp", "IssuerLimits"]

_ENROL = "/v1/enrol"
_TOKEN = re.compile(r"/v1/plans/([0-9a-f]{64})/rounds/(0|[1-9][0-9]{0,9})/token")
_KEYS = re.compile(r"/v1/plans/([0-9a-f]{64})/token-keys")
_LONGEST_REQUEST = MOST_PROOF + 256
_KEPT_SECONDS = 60
_FOR_AN_HOUR = "max-age=3600"

_BAD_REQUEST = last_refusal(400, "Send the request that /v1/openapi.json describes.")
_NOT_ADMITTED = last_refusal(403, "The proof is not accepted. Ask whoever invited you.")
_FULL = last_refusal(403, "As many people as the plan allows are enrolled.")
_TAKEN = last_refusal(409, "Another device was enrolled with this proof.")
_OTHER = last_refusal(409, "Another token of this round was given out to you.")
_CLOSED = last_refusal(410, "Tokens of this round are given out before it opens, and only then.")
_TOO_LONG = last_refusal(413, "Send less.")
_WRONG_KIND = last_refusal(415, "Send the content type that /v1/openapi.json names.")

_NO_TOKEN: Mapping[NoToken, Answer] = {
    "unlisted": answers.NOT_FOUND,
    "malformed": _BAD_REQUEST,
    "other": _OTHER,
    "closed": _CLOSED,
    "early": _CLOSED,
}


class _NoBodyError(Exception):
    """A request whose body is not read; its sender gets an answer, or none if it is gone."""

    def __init__(self, answer: Answer | None) -> None:
        super().__init__()
        self.answer = answer


class IssuerLimits:
    """Limits over all workers of the host; workers get them when they start.

    Args:
        enrolments: Enrolments per minute, of all people together.
        tokens: Requests for tokens per minute and person.
    """

    def __init__(self, *, enrolments: int, tokens: int) -> None:
        self._all = RateLimit(enrolments, columns=1 << 6)
        self._persons = RateLimit(tokens)

    def allow_enrolment(self) -> bool:
        """Count an enrolment, unless it would exceed the limit."""
        return self._all.allows(b"", 1)

    def allow_token(self, identity: bytes) -> bool:
        """Count a request for a token, unless it would exceed the limit."""
        return self._persons.allows(identity, 1)


class IssuerApp:
    """An ASGI application.

    Args:
        enrolment: The rule by which devices are enrolled.
        credentials: The check of credentials.
        plans: The plans whose tokens are issued, by digest.
        origins: The origins whose pages may enrol.
        sessions: The connections to the database.
        limits: The limits of the host.
        incidents: Returns what the operator must act on.

    Attributes:
        tally: The number of answers by status.
    """

    def __init__(  # noqa: PLR0913 - the parts of a service, each by its name
        self,
        *,
        enrolment: Enrolment,
        credentials: Credentials,
        plans: Mapping[str, TokenPlan],
        origins: Sequence[str],
        sessions: Sessions,
        limits: IssuerLimits,
        incidents: Callable[[], tuple[Occurrence, ...]],
    ) -> None:
        self.tally: Counter[int] = Counter()
        self._enrolment = enrolment
        self._credentials = credentials
        self._plans = plans
        self._origins = Origins(origins) if origins else None
        self._sessions = sessions
        self._limits = limits
        self._incidents = incidents
        self._description = document(200, description(), cache_control=_FOR_AN_HOUR)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; only its sender learns of errors in it."""
        answer: Answer | None
        try:
            answer = await self._answer(scope, receive)
        except _NoBodyError as refused:
            answer = refused.answer
        except StoreError:
            answer = answers.BUSY
        except CroupierError as error:
            log.error("request failed", cause=str(error))
            answer = answers.FAILED
        except Exception as error:  # noqa: BLE001 - the text may quote the request
            log.error("request failed", kind=type(error).__name__)
            answer = answers.FAILED
        if answer is not None:
            self.tally[answer.status] += 1
            await self._across(answer, scope).send(send)

    def _across(self, answer: Answer, scope: Scope) -> Answer:
        """Return an answer that pages of other origins may read, if a plan lists any."""
        if self._origins is None:
            return answer
        if _is_posted_to(scope["path"]):
            return self._origins.named(answer, scope["headers"])
        return readable(answer) if _KEYS.fullmatch(scope["path"]) else answer

    async def _answer(self, scope: Scope, receive: Receive) -> Answer:
        path, method = scope["path"], scope["method"]
        if not _is_posted_to(path):
            found = self._document(path)
            reads = method in {"GET", "HEAD"} or found.status == answers.NOT_FOUND.status
            return found if reads else answers.ONLY_GET
        if method == "OPTIONS" and self._origins is not None:
            return answers.PREFLIGHT
        if method != "POST":
            return answers.ONLY_POST
        given = dict(scope["headers"])
        match = _TOKEN.fullmatch(path)
        if match is None:
            return await self._enrol(given, receive)
        return await self._issue(match[1], int(match[2]), given, receive)

    def _document(self, path: str) -> Answer:
        if path == "/healthz":
            return answers.HEALTHY
        if path == "/readyz":
            found = self._incidents()
            return answers.not_ready(found) if found else answers.READY
        if path == "/v1/openapi.json":
            return self._description
        match = _KEYS.fullmatch(path)
        plan = self._plans.get(match[1]) if match else None
        if plan is None:
            return answers.NOT_FOUND
        return kept(plan.keys.to_bytes(), seconds=_KEPT_SECONDS)

    async def _enrol(self, given: Mapping[bytes, bytes], receive: Receive) -> Answer:
        body = await _body(given, receive, kind=b"application/json", longest=_LONGEST_REQUEST)
        request = EnrolmentRequest.read(body)
        if request is None:
            return _BAD_REQUEST
        if not self._limits.allow_enrolment():
            return answers.TOO_OFTEN
        found = await self._enrolment.enrol(request, self._sessions)
        refusals = {None: _NOT_ADMITTED, "taken": _TAKEN, "full": _FULL}
        if found is None or found in refusals:
            return refusals[found]
        enrolled = EnrolmentAnswer(schema_version=1, credential=found)
        return document(200, enrolled.to_bytes())

    async def _issue(
        self, digest: str, round_number: int, given: Mapping[bytes, bytes], receive: Receive
    ) -> Answer:
        credential = self._credentials.check(given.get(b"authorization", b""))
        if credential is None or credential.relay:
            return answers.UNAUTHORISED
        plan = self._plans.get(digest)
        if plan is None:
            return answers.NOT_FOUND
        kind = b"application/private-token-request"
        body = await _body(given, receive, kind=kind, longest=REQUEST_LENGTH)
        if not self._limits.allow_token(credential.identity):
            return answers.TOO_OFTEN
        async with self._sessions.taken() as people:
            found = await plan.issue(credential.identity, round_number, body, people)
        if isinstance(found, bytes):
            return document(200, found, content_type="application/private-token-response")
        return _NO_TOKEN[found]


def _is_posted_to(path: str) -> bool:
    return path == _ENROL or _TOKEN.fullmatch(path) is not None


async def _body(
    given: Mapping[bytes, bytes], receive: Receive, *, kind: bytes, longest: int
) -> bytes:
    """Read the body of a request; nothing of it if its headers justify a refusal.

    Raises:
        _NoBodyError: They do, or the sender is gone.
    """
    length = given.get(b"content-length", b"")
    if given.get(b"content-type") != kind:
        raise _NoBodyError(_WRONG_KIND)
    if not length.isdigit():
        raise _NoBodyError(answers.LENGTH_REQUIRED)
    if len(length) > LENGTH_DIGITS or int(length) > longest:
        raise _NoBodyError(_TOO_LONG)
    body = await read_body(receive)
    if body is None:
        raise _NoBodyError(None)
    return body
