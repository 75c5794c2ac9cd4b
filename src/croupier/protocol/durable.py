"""Files that survive a crash as a whole or not at all, readable by their owner unless shared."""

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
"""What a file system says that has one name per file, such as that of a USB stick."""
_PRIVATE = 0o600
_PRIVATE_FOLDER = 0o700
_OTHERS = 0o077


def create(path: Path, data: bytes) -> None:
    """Write a file that must not be there yet.

    Raises:
        FileExistsError: It is.
    """
    with locked(path.parent):  # two who create it have one name for what becomes it
        whole = _written(path, data)
        try:
            os.link(whole, path)  # unlike a rename, never in the place of another file
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
    """Write a file, or put another content in its place at once."""
    _written(path, data).replace(path)
    sync(path.parent)


def publish(path: Path, data: bytes) -> None:
    """Replace a file by one that others may read; as `replace` otherwise."""
    whole = _written(path, data)
    share(whole)
    whole.replace(path)
    sync(path.parent)


def partial(path: Path) -> Path:
    """Where the new content of a file is until it is whole: what a crash may leave."""
    return path.with_name(f".partial-{path.name}")


def private_folder(path: Path) -> None:
    """Make a folder that only its owner can enter; one that is there is closed to others."""
    path.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
    if path.stat().st_mode & _OTHERS:
        path.chmod(_PRIVATE_FOLDER)


def private(path: str, flags: int) -> int:
    """An opener for `open`, of files that only their owner can read."""
    return os.open(path, flags, _PRIVATE)


def share(path: Path) -> None:
    """Apply the default permissions of the umask."""
    masked = os.umask(_PRIVATE)
    os.umask(masked)
    path.chmod(0o666 & ~masked)


def update(path: Path, data: bytes) -> None:
    """Put another content into a file at once; whoever owned and could read it still does.

    Raises:
        PermissionError: It belongs to somebody else, who would lose it.
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
    """Write what is to become a file; what a crash left of an earlier try goes."""
    whole = partial(path)
    whole.unlink(missing_ok=True)
    # Exclusive: a link that somebody puts there is not followed.
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
