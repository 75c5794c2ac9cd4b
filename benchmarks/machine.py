"""The circumstances of a measurement."""

import os
import platform
import re
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

__all__ = ["circumstances"]

_OURS = ("croupier", "numpy", "numba")


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
