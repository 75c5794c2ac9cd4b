"""The circumstances of a measurement, and a port for it."""

import os
import platform
import re
import secrets
import socket
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

__all__ = ["circumstances", "free_port"]

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
