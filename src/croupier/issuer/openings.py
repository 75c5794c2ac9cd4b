"""A look at the shuffler's key list: which rounds are open, by what its parties signed.

The issuer stops giving out tokens of a round once the round has opened. The shuffler's signed
openings are its clock; it trusts nobody else's.
"""

import asyncio
from typing import TYPE_CHECKING, Any

from croupier.errors import MissingExtraError, UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol.key_list import KeyList

if TYPE_CHECKING:
    import httpx

__all__ = ["SilentShufflerError", "newest_opening"]

_SECONDS = 10.0
_LARGEST = 1 << 20
_OK = 200


class SilentShufflerError(Exception):
    """The shuffler did not answer, or not with the key list of the plan."""


async def newest_opening(
    plan: Plan, server: str, *, transport: "httpx.AsyncBaseTransport | None" = None
) -> int:
    """Return the newest round that the shuffler says is open; -1 if none is.

    Args:
        plan: The plan.
        server: The address of the shuffler, without a path.
        transport: The transport of requests; the network if left out.

    Raises:
        SilentShufflerError: There is no answer, or not one that the plan's parties signed.
    """
    library = _httpx()
    url = f"{server.rstrip('/')}/v1/plans/{plan.digest}"
    try:
        async with asyncio.timeout(_SECONDS), library.AsyncClient(transport=transport) as http:
            body = await _read(http, url)
        read = KeyList.verified(body, plan)
    except (library.HTTPError, TimeoutError, UntrustedError) as error:
        raise SilentShufflerError(type(error).__name__) from None
    return max((opening.round for opening in read.shuffler), default=-1)


async def _read(http: Any, url: str) -> bytes:
    body = b""
    async with http.stream("GET", url, headers={"Accept-Encoding": "identity"}) as answer:
        if answer.status_code != _OK:
            raise SilentShufflerError(str(answer.status_code))
        async for piece in answer.aiter_raw():
            body += piece
            if len(body) > _LARGEST:
                raise SilentShufflerError("too long")
    return body


def _httpx() -> Any:
    try:
        import httpx  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("The issuer", package="httpx", extra="issuer") from None
    return httpx
