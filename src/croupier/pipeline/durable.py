"""Files that survive a crash as a whole or not at all, and that only their owner can read."""

import os
from pathlib import Path

__all__ = ["create", "replace", "sync"]

_PRIVATE = 0o600


def create(path: Path, data: bytes) -> None:
    """Write a file that must not be there yet.

    Raises:
        FileExistsError: It is.
    """
    _write(path, data, os.O_EXCL)
    sync(path.parent)


def replace(path: Path, data: bytes) -> None:
    """Write a file, or put another content in its place at once."""
    partial = path.with_name(f".partial-{path.name}")
    _write(partial, data, os.O_TRUNC)
    partial.replace(path)
    sync(path.parent)


def sync(folder: Path) -> None:
    """Make names that were added or removed survive a crash."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write(path: Path, data: bytes, flag: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | flag, _PRIVATE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
