"""Database connections that fall silent, as if a firewall had dropped them; new ones work.

Counts the seconds until reports are acknowledged again, by every worker. Nothing resets the old
connections, so that only the service's own deadlines help.
"""

import time

from benchmarks.faults.proxy import Proxy
from benchmarks.faults.result import Result, timed
from benchmarks.faults.rig import MINIMUM, Site, site
from croupier.client.conversation import Outcome

__all__ = ["run"]

_STREAK = 12
"""Requests in a row, each to a random worker, so that a hanging one is found."""
_PROMPT = 5.0


def run(*, limit: float = 60.0) -> Result:
    """Silence the connections of a running service, and send until it has recovered."""
    proxies: list[Proxy] = []

    def proxied(port: int) -> int:
        proxies.append(Proxy([port]))
        return proxies[-1].port

    with timed("silent") as result, site(proxied=proxied) as where:
        (proxy,) = proxies
        where.open_round()
        where.serve()
        where.is_ready()
        _connect_every_writer(where, proxy)
        proxy.silence()
        result.faults = proxy.connections
        waited = _seconds_until_well(where, limit=limit)
        if waited is None:
            result.verdict.violations.append(f"some worker stores nothing after {limit:.0f} s")
        else:
            result.remarks.append(f"reports are stored again after {waited:.1f} s")
        where.stop("server")
        proxy.drop()
        where.age(days=1)
        where.release()
        result.verdict.add(where.judge())
    for proxy in proxies:
        proxy.close()
    return result


def _connect_every_writer(where: Site, proxy: Proxy) -> None:
    """Keep all writers busy until no more connections are made."""
    where.fill(MINIMUM)
    where.senders.start()
    before = -1
    while before < proxy.connections:
        before = proxy.connections
        time.sleep(3)
    where.senders.stop()


def _seconds_until_well(where: Site, *, limit: float) -> float | None:
    """Wait until a streak of requests is answered promptly; None if that takes too long."""
    start = well = time.monotonic()
    streak = 0
    while streak < _STREAK:
        if time.monotonic() > start + limit:
            return None
        before = time.monotonic()
        outcome = where.senders.relay(1)
        streak += 1
        if outcome is not Outcome.ACCEPTED or time.monotonic() > before + _PROMPT:
            streak, well = 0, time.monotonic()
    return well - start
