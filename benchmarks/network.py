"""A network of several hosts on one machine: namespaces, joined by a bridge in one of them.

Nothing is added to the network of the machine itself, so any addresses may be used; those of RFC
2544, section C.2.2, are for benchmarks. Needs root and iproute2.
"""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from benchmarks.faults.result import Skipped

__all__ = ["Network", "network"]

_PREFIX, _BITS = "198.18.0", 24
_BRIDGE = "bridge"
_NEW_NETWORK = 0x40000000
"""CLONE_NEWNET of the kernel."""


class Network:
    """Hosts by name, with an address each.

    Args:
        hosts: The names. The first has the bridge.
    """

    def __init__(self, hosts: Sequence[str]) -> None:
        self._group = f"croupier-{token_hex(4)}"
        self._hosts = list(hosts)

    @property
    def subnet(self) -> str:
        """The addresses of all hosts."""
        return f"{_PREFIX}.0/{_BITS}"

    def address(self, host: str) -> str:
        """Return the address of a host."""
        return f"{_PREFIX}.{1 + self._hosts.index(host)}"

    def on(self, host: str) -> list[str]:
        """Return the beginning of a command that runs on a host."""
        return ["ip", "netns", "exec", self._name(host)]

    def make(self) -> None:
        """Make all hosts, and join them."""
        first, *others = self._hosts
        for host in self._hosts:
            _ip("netns", "add", self._name(host))
            self._set(host, "link", "set", "lo", "up")
        self._set(first, "link", "add", _BRIDGE, "type", "bridge")
        self._give_address(first, _BRIDGE)
        for host in others:
            cable = f"to-{self._hosts.index(host)}"
            peer = ("peer", "name", "cable", "netns", self._name(host))
            self._set(first, "link", "add", cable, "type", "veth", *peer)
            self._set(first, "link", "set", cable, "master", _BRIDGE, "up")
            self._give_address(host, "cable")

    def remove(self) -> None:
        """Remove all hosts; what still runs on them keeps running, without a name."""
        for host in self._hosts:
            _ip("netns", "delete", self._name(host))

    @contextmanager
    def entered(self, host: str) -> Iterator[None]:
        """Let this thread, and those that it starts, connect from a host."""
        with Path("/proc/thread-self/ns/net").open("rb") as before:
            with Path("/run/netns", self._name(host)).open("rb") as inside:
                _enter(inside.fileno())
            try:
                yield
            finally:
                _enter(before.fileno())

    def _name(self, host: str) -> str:
        return f"{self._group}-{host}"

    def _set(self, host: str, *arguments: str) -> None:
        _ip("-netns", self._name(host), *arguments)

    def _give_address(self, host: str, device: str) -> None:
        self._set(host, "address", "add", f"{self.address(host)}/{_BITS}", "dev", device)
        self._set(host, "link", "set", device, "up")


@contextmanager
def network(*hosts: str) -> Iterator[Network]:
    """A network that is removed at the end.

    Raises:
        Skipped: None can be made here.
    """
    if os.getuid() or shutil.which("ip") is None:
        raise Skipped("needs root and iproute2, for network namespaces")
    made = Network(hosts)
    try:
        made.make()
    except subprocess.CalledProcessError as error:
        made.remove()
        raise Skipped(f"no network namespaces here: {error.stderr.strip()}") from None
    try:
        yield made
    finally:
        made.remove()


def _ip(*arguments: str) -> None:
    check = "delete" not in arguments  # what was never made need not be removed
    subprocess.run(["ip", *arguments], check=check, capture_output=True, text=True)  # noqa: S603, S607


def _enter(namespace: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, _NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "a network namespace cannot be entered")
