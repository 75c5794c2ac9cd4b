"""Release into an object store, where the first to write a name keeps it.

Rows are written to a private local directory until they are signed: nobody who lists the bucket
sees a file that may still be dropped.
"""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryFile

from croupier.errors import CroupierError, ParameterError
from croupier.protocol import durable
from croupier.protocol.object_store import LARGEST, ObjectStore, is_address
from croupier.protocol.receipt import ReleasedFile
from croupier.shuffler.release.storage import (
    OPENING,
    RECEIPT,
    ROWS,
    DirectoryStorage,
    Storage,
    TakenError,
)

__all__ = ["ObjectStorage", "UnconditionalStoreError", "open_storage", "read_storage"]

_CLAIM = "croupier-plan"
_NO_TAG = '"0"'
_AT_ONCE = 16


class UnconditionalStoreError(CroupierError):
    """An object store that overwrites what it was told to keep."""

    def __init__(self, where: str, header: str) -> None:
        self.where = where
        super().__init__(
            f"{where}: the store ignores {header}, so that two jobs could overwrite each other's "
            "files. Nothing was sealed or signed. Use a store with conditional writes, or release "
            "into a directory."
        )


class ObjectStorage(Storage):
    """The prefix of one plan in an object store.

    Args:
        store: The objects.
        unpublished: A private local directory that survives a restart of the host.
    """

    def __init__(self, store: ObjectStore, unpublished: Path) -> None:
        self.where = store.address
        self.unpublished = unpublished
        self._store = store
        self._receipts: dict[str, bytes] = {}

    def claim(self, plan: str) -> None:
        """Take the prefix for a plan; make sure that the store keeps what is there.

        Raises:
            ParameterError: The prefix is another plan's.
            UnconditionalStoreError: The store does not know conditional writes.
        """
        digest = plan.encode()
        if self._store.create(_CLAIM, digest) and self._store.create(_CLAIM, digest):
            raise UnconditionalStoreError(self.where, "If-None-Match")
        found = self.read(_CLAIM)
        if found != digest:
            raise ParameterError(
                "--output",
                must="hold the batches of one plan",
                got=f"{self.where}, with those of another",
                hint="Name another prefix. Nothing was sealed or signed.",
            )
        if self._store.replace(_CLAIM, digest, tag=_NO_TAG):
            raise UnconditionalStoreError(self.where, "If-Match")

    def receipts(self) -> dict[str, bytes]:
        """Return all receipts by their names; each is read once, since it never changes."""
        names = [name for name in self._store.sizes() if name.endswith(RECEIPT)]
        new = [name for name in names if name not in self._receipts]
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            for name, text in zip(new, threads.map(self.read, new), strict=True):
                if text is not None:
                    self._receipts[name] = text
        return {name: self._receipts[name] for name in names if name in self._receipts}

    def batches(self) -> list[str]:
        """Return the names of the published files of rows."""
        return [name for name in self._store.sizes() if name.endswith(ROWS)]

    def read(self, name: str) -> bytes | None:
        """Return a small object; None if there is none."""
        found = self._store.read(name)
        return None if found is None else found.data

    def put(self, name: str, data: bytes, *, over: bytes | None) -> bool:
        """Write a small object if it holds `over`."""
        if over is None:
            return self._store.create(name, data)
        found = self._store.read(name)
        if found is None or found.data != over:
            return False
        return self._store.replace(name, data, tag=found.tag)

    def require_fits(self, file: ReleasedFile) -> None:
        """Refuse a file that one request cannot write."""
        if file.size > LARGEST:
            raise ParameterError(
                "--output",
                must=f"be a directory for a file of more than {LARGEST:,} bytes",
                got=f"{self.where} and a file of {file.size:,}",
                hint="Nothing was signed.",
            )

    def holds(self, file: ReleasedFile) -> bool:
        """Tell whether a file is published, from all of its bytes."""
        digest = self._store.digest(file.name, size=file.size)
        if digest not in {None, file.sha256}:
            raise TakenError(file.name, self.where)
        return digest is not None

    def copy(self, file: ReleasedFile, target: Path) -> None:
        """Download a file; it has the size that was signed, or nothing is written."""
        if self._store.sizes().get(file.name) == file.size:
            self._store.download(file.name, target, size=file.size)

    def openings(self) -> dict[str, bytes]:
        """Return the openings of rounds that a second shuffler has published."""
        names = [name for name in self._store.sizes() if name.endswith(OPENING)]
        return {name: text for name in names if (text := self.read(name)) is not None}

    def publish(self, source: Path, file: ReleasedFile) -> None:
        """Upload a signed file, and read it back: its keys are destroyed afterwards."""
        self._store.upload(file.name, source)
        if not self.holds(file):
            raise CroupierError(
                f"{self.where} does not have {file.name}, which it accepted. Keys and envelopes "
                "are kept. Run again."
            )


def read_storage(address: str, home: Path) -> Storage:
    """Open a place to read what another shuffler has published there.

    Args:
        address: A directory, or s3://BUCKET/PREFIX.
        home: A local directory; nothing is written to it.
    """
    if is_address(address):
        return ObjectStorage(ObjectStore.at(address), home)
    return DirectoryStorage(Path(address))


def open_storage(address: str, *, plan: str, home: Path) -> Storage:
    """Open the place that a plan is released into, and make what is missing of it.

    Args:
        address: A directory, or s3://BUCKET/PREFIX.
        plan: The digest of the plan.
        home: For an object store, the local directory under which files wait for their signature.
    """
    if not is_address(address):
        path = Path(address)
        _make_writable(path)
        return DirectoryStorage(path)
    storage = ObjectStorage(ObjectStore.at(address), home / "unpublished" / plan)
    storage.claim(plan)
    home.mkdir(parents=True, exist_ok=True)
    for folder in (storage.unpublished.parent, storage.unpublished):
        if os.path.lexists(folder):
            _require_own(folder)
        durable.private_folder(folder)
    return storage


def _make_writable(folder: Path) -> None:
    """Make a directory if it is missing, and refuse one that no file can be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ParameterError(
            "--output",
            must="be a directory that can be written",
            got=f"{folder} ({error.strerror})",
            hint="Name another one, or let the user of release write there. Nothing was sealed or "
            "signed.",
        ) from None


def _require_own(folder: Path) -> None:
    """Refuse a folder that somebody else made: that person could enter it."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise ParameterError(
            "--scratch",
            must="be a directory in which nobody else can make folders",
            got=f"{folder}, of somebody else",
        )
