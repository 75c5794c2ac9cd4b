"""The circumstances of a measurement, a port for it, and the processes that are measured."""

import os
import platform
import re
import secrets
import socket
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

__all__ = ["circumstances", "cpu_seconds", "free_port", "worker_processes"]

_OURS = ("croupier", "numpy", "numba")
_PORTS = range(20_000, 32_768)
"""Below those that a system gives to outgoing connections, which come and go."""


def circumstances() -> dict[str, str | int | float]:
    """The machine, how busy it is before anything is measured, the date and our versions."""
    pages, page = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    found: dict[str, str | int | float] = {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "memory_gb": round(pages * page / 1e9, 1),
        "load": round(os.getloadavg()[0], 2),
        "niceness": os.nice(0),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    return found | {package: _version(package) for package in _OURS}


def free_port() -> int:
    """Return a port that is free, and stays so unless another program asks for it by number."""
    while True:
        port = secrets.choice(_PORTS)
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process has used, in seconds."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def worker_processes(server: int) -> list[int]:
    """Return the workers of a server, by the number of its process."""
    try:
        children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
        return [int(pid) for pid in children if _is_worker(pid)]
    except OSError:  # one has just ended
        return []


def _is_worker(pid: str) -> bool:
    return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()


def _processor() -> str:
    try:
        about = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or "unknown"
    found = re.search(r"^model name\s*: (.*)$", about, re.MULTILINE)
    return found[1] if found else "unknown"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
