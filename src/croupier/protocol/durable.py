"""Files that survive a crash whole or not at all, readable only by their owner unless shared."""

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["create", "locked", "partial", "private", "private_folder", "publish", "replace"]
__all__ += ["share", "sync", "update"]

_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS}
"""Errors of file systems that allow one name per file, such as that of a USB stick."""
_PRIVATE = 0o600
_PRIVATE_FOLDER = 0o700
_OTHERS = 0o077


def create(path: Path, data: bytes) -> None:
    """Write a file that must not exist yet.

    Raises:
        FileExistsError: It exists.
    """
    with locked(path.parent):  # concurrent creators share the name of the partial file
        whole = _written(path, data)
        try:
            os.link(whole, path)  # unlike a rename, this never replaces another file
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if path.exists():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
            whole.rename(path)
        finally:
            whole.unlink(missing_ok=True)
        sync(path.parent)


def replace(path: Path, data: bytes) -> None:
    """Write a file, or replace its content atomically."""
    _written(path, data).replace(path)
    sync(path.parent)


def publish(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Replace a file with one that others may read; otherwise as `replace`.

    Args:
        path: The file.
        data: Its content.
        mode: Its permissions; if left out, the default ones of the umask.
    """
    whole = _written(path, data)
    if mode is None:
        share(whole)
    else:
        whole.chmod(mode)
    whole.replace(path)
    sync(path.parent)


def partial(path: Path) -> Path:
    """Return the path of a file's new content until it is complete; a crash may leave it behind."""
    return path.with_name(f".partial-{path.name}")


def private_folder(path: Path) -> None:
    """Make a folder that only its owner can enter; close an existing one to others."""
    path.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
    if path.stat().st_mode & _OTHERS:
        path.chmod(_PRIVATE_FOLDER)


def private(path: str, flags: int) -> int:
    """Open a file, as an opener for `open`, so that only its owner can read it."""
    return os.open(path, flags, _PRIVATE)


def share(path: Path) -> None:
    """Apply the default permissions of the umask."""
    masked = os.umask(_PRIVATE)
    os.umask(masked)
    path.chmod(0o666 & ~masked)


def update(path: Path, data: bytes) -> None:
    """Replace a file's content atomically; its owner and permissions stay as they were.

    Raises:
        PermissionError: It belongs to somebody else, who would lose access.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".partial-{path.name}-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if path.exists():
                _resemble(file.fileno(), path.stat())
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync(path.parent)


@contextmanager
def locked(path: Path, flags: int = os.O_RDONLY) -> Iterator[None]:
    """Hold the lock of a file or folder; others who want it wait."""
    import fcntl  # noqa: PLC0415 - not on Windows

    descriptor = os.open(path, flags, _PRIVATE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def sync(folder: Path) -> None:
    """Make names that were added or removed survive a crash."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _written(path: Path, data: bytes) -> Path:
    """Write the content of a future file; remove what a crash left of an earlier attempt."""
    whole = partial(path)
    whole.unlink(missing_ok=True)
    # Exclusive: a symbolic link planted there is not followed.
    descriptor = private(str(whole), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return whole


def _resemble(descriptor: int, wanted: os.stat_result) -> None:
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (wanted.st_uid, wanted.st_gid):
        os.fchown(descriptor, wanted.st_uid, wanted.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(wanted.st_mode))
