"""Fetching what a server and its mirrors serve about a plan: key lists, and documents of rounds."""

from croupier.client.client import Client
from croupier.client.server import Server
from croupier.client.steps import Steps, ask_patiently, until_settled
from croupier.errors import NotOfferedError
from croupier.plan.plan import Plan
from croupier.protocol.key_list import kept_seconds
from croupier.protocol.superseded import SupersededPlan

__all__ = ["fetch", "from_everywhere", "patience"]

_GONE = 410
_TRIES, _RENEWAL = 2, 2.0
"""Tries of server and mirrors that differ; seconds in which an address shows what others show."""


def from_everywhere(
    client: Client, server: Server, path: str = "", *, seconds: float
) -> Steps[list[bytes] | None]:
    """Fetch a document from the server, then its mirrors; None if one does not answer.

    Ask all of them again if they differ, once no cache can be behind any longer. If they still do,
    return what they serve as it is; the client refuses it.
    """
    tries = yield from until_settled(
        lambda: _once_from_everywhere(client.plan, server, path, seconds=seconds),
        lambda tries: tries[-1] is None or len(set(tries[-1])) == 1,
        tries=_TRIES,
        pause=_RENEWAL + kept_seconds(client.plan),
    )
    return tries[-1]


def _once_from_everywhere(
    plan: Plan, server: Server, path: str, *, seconds: float
) -> Steps[list[bytes] | None]:
    lists = []
    for mirror in (None, *server.mirrors):
        body = yield from fetch(plan, server, path, mirror=mirror, seconds=seconds)
        if body is None:
            return None
        lists.append(body)
    return lists


def fetch(
    plan: Plan,
    server: Server,
    path: str = "",
    *,
    mirror: str | None = None,
    seconds: float | None = None,
) -> Steps[bytes | None]:
    """Return the key list of a plan, or a document below it; None if no answer comes in time.

    Args:
        plan: The plan.
        server: The address.
        path: The path of the document below the key list's.
        mirror: The address to ask instead.
        seconds: The time for which a silent server is asked again; a round if left out.

    Raises:
        SupersededError: Another plan took the place of this one.
        NotOfferedError: The server, or the mirror, does not have the document.
        UntrustedError: It says that the plan was superseded, and the plan's shuffler does not.
    """
    step = server.get(plan.digest, path, mirror=mirror)
    answer = yield from ask_patiently(step, seconds=patience(plan) if seconds is None else seconds)
    if answer is None:
        return None
    if answer.status == _GONE:
        raise SupersededPlan.verified(answer.body, digest=plan.digest).error
    if answer.status != 200:
        raise NotOfferedError(
            answer.status,
            who="server" if mirror is None else "mirror",
            what="the round of the plan" if path else "the plan",
        )
    return answer.body


def patience(plan: Plan) -> float:
    """Return the seconds after which a client gives up: the length of a round."""
    return plan.collection.every.total_seconds()
