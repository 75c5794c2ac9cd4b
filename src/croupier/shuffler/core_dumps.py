"""Core dumps switched off: the memory of a process must not reach a disk when it crashes."""

import sys

__all__ = ["forbid_core_dumps"]


def forbid_core_dumps() -> None:
    """Set the core dump limit of this process, and of its children, to zero, irrevocably."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - not there on Windows

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
