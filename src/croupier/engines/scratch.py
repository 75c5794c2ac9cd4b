"""Private directories for temporary data: removed at the end, or swept after a crash."""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

if sys.platform != "win32":  # on Windows a crash leaves the directory
    import fcntl

__all__ = ["scratch_directory"]

_PREFIX = "croupier-scratch-"
_LOCK = "lock"


@contextmanager
def scratch_directory(parent: Path | None = None) -> Iterator[Path]:
    """Yield a new directory that only its owner can read, and remove it at the end.

    Directories that killed processes left in the same parent are removed first: each holds a lock
    that the system drops with the process.

    Args:
        parent: The parent; the system's temporary directory by default.
    """
    home = Path(tempfile.gettempdir()) if parent is None else parent
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    _sweep(home)
    path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=home))
    with _lock(path):
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


def _sweep(home: Path) -> None:
    for left in home.glob(f"{_PREFIX}*"):
        if _is_abandoned(left):
            shutil.rmtree(left, ignore_errors=True)


def _is_abandoned(path: Path) -> bool:
    """Tell whether it is ours and its lock is free; never wait for what others put there."""
    if sys.platform == "win32":
        return False
    try:
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            return False
        descriptor = os.open(path / _LOCK, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return False
    with os.fdopen(descriptor, "rb") as file:
        return _try_lock(file)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    # The name appears once the lock is held, so nobody takes the directory for abandoned.
    descriptor, name = tempfile.mkstemp(dir=path)
    with os.fdopen(descriptor, "wb") as file:
        _try_lock(file)
        Path(name).rename(path / _LOCK)
        yield


def _try_lock(file: IO[bytes]) -> bool:
    """Take the lock if nobody else holds it; tell whether that worked."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
