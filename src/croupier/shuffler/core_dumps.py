"""No core dumps: what a process holds in memory must not reach a disk when it crashes."""

import sys

__all__ = ["forbid_core_dumps"]


def forbid_core_dumps() -> None:
    """Set the limit of this process, and of all that it starts, to nothing, for good."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - not there on Windows

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
