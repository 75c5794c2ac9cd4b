"""Places that a plan is released into: a directory, or a prefix of an object store."""

import shutil
from abc import ABC, abstractmethod
from pathlib import Path

from croupier.errors import CroupierError
from croupier.protocol import durable
from croupier.protocol.receipt import ReleasedFile

__all__ = ["OPENING", "RECEIPT", "ROWS", "DirectoryStorage", "Storage", "TakenError"]

RECEIPT, ROWS, OPENING = ".receipt.json", ".parquet", ".opening.json"


class TakenError(CroupierError):
    """The name of a signed file or receipt is taken by something else.

    Attributes:
        name: The name.
        where: The place that has it.
    """

    def __init__(self, name: str, where: str) -> None:
        self.name = name
        self.where = where
        super().__init__(
            f"{where} has another {name} than the one that was signed. Keys and envelopes are "
            "kept. Find out who wrote it, move it away and run again."
        )


class Storage(ABC):
    """A place with one plan's batches and receipts.

    Attributes:
        where: The place, in errors.
        unpublished: The local directory of files without a public name.
    """

    where: str
    unpublished: Path

    @abstractmethod
    def receipts(self) -> dict[str, bytes]:
        """Return all receipts by their names."""

    @abstractmethod
    def batches(self) -> list[str]:
        """Return the names of the published files of rows."""

    @abstractmethod
    def read(self, name: str) -> bytes | None:
        """Return a small file; None if there is none."""

    @abstractmethod
    def put(self, name: str, data: bytes, *, over: bytes | None) -> bool:
        """Write a small file whole if it holds `over`, or if it is None and there is none.

        Returns:
            False if it holds something else, which stays.
        """

    @abstractmethod
    def require_fits(self, file: ReleasedFile) -> None:
        """Refuse a file that could not be published, before it is signed."""

    @abstractmethod
    def holds(self, file: ReleasedFile) -> bool:
        """Tell whether a file is published.

        Raises:
            TakenError: Another one is, under its name.
        """

    @abstractmethod
    def copy(self, file: ReleasedFile, target: Path) -> None:
        """Copy a published file to a path; copy nothing if it is not there.

        The copy may differ from what was signed: compare it.
        """

    @abstractmethod
    def openings(self) -> dict[str, bytes]:
        """Return the openings of rounds that a second shuffler has published, by their names."""

    @abstractmethod
    def publish(self, source: Path, file: ReleasedFile) -> None:
        """Publish a signed file, which is at `source`, under its name.

        Raises:
            TakenError: Another one is there.
        """


class DirectoryStorage(Storage):
    """A directory; files without a public name are in it, with a dot before their names."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self.unpublished = path
        self._path = path

    def receipts(self) -> dict[str, bytes]:
        """Return all receipts by their names."""
        return {path.name: path.read_bytes() for path in self._path.glob(f"[!.]*{RECEIPT}")}

    def batches(self) -> list[str]:
        """Return the names of the published files of rows."""
        return [path.name for path in self._path.glob(f"[!.]*{ROWS}")]

    def read(self, name: str) -> bytes | None:
        """Return a small file; None if there is none."""
        path = self._path / name
        return path.read_bytes() if path.exists() else None

    def put(self, name: str, data: bytes, *, over: bytes | None) -> bool:
        """Write a small file if it holds `over`."""
        if self.read(name) != over:
            return False
        durable.publish(self._path / name, data)
        return True

    def require_fits(self, file: ReleasedFile) -> None:
        """Accept every file: it is in the directory already."""

    def holds(self, file: ReleasedFile) -> bool:
        """Tell whether a file is published."""
        final = self._path / file.name
        if not final.exists():
            return False
        if not file.is_at(final):
            raise TakenError(file.name, self.where)
        return True

    def copy(self, file: ReleasedFile, target: Path) -> None:
        """Copy a published file to a path, for its owner only."""
        source = self._path / file.name
        if source.is_file():
            with source.open("rb") as read, open(target, "xb", opener=durable.private) as written:
                shutil.copyfileobj(read, written)

    def openings(self) -> dict[str, bytes]:
        """Return the openings of rounds that a second shuffler has published."""
        return {path.name: path.read_bytes() for path in self._path.glob(f"[!.]*{OPENING}")}

    def publish(self, source: Path, file: ReleasedFile) -> None:
        """Give a signed file its name, which nothing else has."""
        durable.share(source)
        source.rename(self._path / file.name)
