"""Object stores with the interface of Amazon S3: read, and write only what nobody else has written.

The address is `s3://BUCKET/PREFIX`. Endpoint and credentials come from the usual variables of the
environment: AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and
AWS_REGION.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from hashlib import sha256
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from croupier.errors import CroupierError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from obstore.store import RetryConfig, S3Store

__all__ = ["LARGEST", "ObjectStore", "ObjectStoreError", "Stored", "is_address"]

LARGEST = 5 << 30
"""The size in bytes of the largest object that one conditional request can write."""

_SCHEME = "s3://"
_ADDRESS = re.compile(r"s3://([a-z0-9][a-z0-9.-]+[a-z0-9])((?:/[A-Za-z0-9_=-][A-Za-z0-9._=-]*)*)/?")
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_PIECE = 1 << 20
_PATIENCE = 30
"""Seconds that a request may take, besides one per megabyte that it moves."""
_SLOWEST = 10**6
_RETRIES: "RetryConfig" = {"max_retries": 5, "retry_timeout": timedelta(seconds=60)}
_CREDENTIALS = re.compile(r"169\.254\.|/latest/(?:api|meta-data)/")
"""Requests to the services that give hosts and containers at Amazon their credentials."""


class ObjectStoreError(CroupierError):
    """An object store cannot be reached or refuses a request.

    Attributes:
        address: The address of the objects.
        cause: What is wrong, in words.
    """

    def __init__(self, address: str, cause: str, *, hint: str) -> None:
        self.address = address
        self.cause = cause
        super().__init__(f"{address}: {cause}. {hint}")


class Stored(NamedTuple):
    """The content of an object, and the tag of exactly this content."""

    data: bytes
    tag: str


def is_address(text: str) -> bool:
    """Tell whether a text names objects and not files."""
    return text.startswith(_SCHEME)


@dataclass(frozen=True)
class ObjectStore:
    """The objects of a bucket whose names begin with one prefix and have no further slash.

    Attributes:
        bucket: The name of the bucket.
        prefix: The common beginning of names, without the slash after it; may be empty.
    """

    bucket: str
    prefix: str

    @classmethod
    def at(cls, address: str) -> Self:
        """Return the objects at an address, such as s3://bucket/prefix."""
        found = _ADDRESS.fullmatch(address)
        if found is None:
            raise ParameterError(
                "address",
                must="be s3://BUCKET/PREFIX, in letters, digits and -._=",
                got=address,
            )
        return cls(found[1], found[2].removeprefix("/"))

    @property
    def address(self) -> str:
        """The address of the prefix."""
        return f"{_SCHEME}{self.bucket}/{self.prefix}".rstrip("/")

    def sizes(self) -> dict[str, int]:
        """Return the names of the objects, without the prefix, and their sizes in bytes."""
        with self._explained():
            listed = _obstore().list_with_delimiter(self._client())
            return {entry["path"]: entry["size"] for entry in listed["objects"]}

    def read(self, name: str) -> Stored | None:
        """Return a small object; None if there is none of this name."""
        try:
            with self._explained():
                found = _obstore().get(self._client(), name)
                return Stored(bytes(found.bytes()), found.meta["e_tag"] or "")
        except FileNotFoundError:
            return None

    def digest(self, name: str, *, size: int) -> str | None:
        """Return the SHA-256 of an object, read from the store; None if there is none."""
        digest = sha256()
        try:
            for piece in self._pieces(name, size=size):
                digest.update(piece)
        except FileNotFoundError:
            return None
        return digest.hexdigest()

    def download(self, name: str, target: Path, *, size: int) -> None:
        """Copy an object into a new file.

        Raises:
            ObjectStoreError: There is no such object, or it could not be read to its end.
        """
        try:
            with target.open("xb") as file:
                for piece in self._pieces(name, size=size):
                    file.write(piece)
        except FileNotFoundError:
            cause = f"{name} was removed while it was read"
            raise ObjectStoreError(self.address, cause, hint="Run again.") from None

    def create(self, name: str, data: bytes) -> bool:
        """Write an object if there is none of this name; False if there is one, which stays."""
        return self._put(name, data, "create")

    def replace(self, name: str, data: bytes, *, tag: str) -> bool:
        """Replace an object if it still has the tag; False if it has another, and stays."""
        return self._put(name, data, {"e_tag": tag})

    def upload(self, name: str, source: Path) -> bool:
        """Do the same as `create` with a file, which is not read into memory."""
        size = source.stat().st_size
        if not size:
            return self.create(name, b"")
        with source.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            return self._put(name, content, "create")

    def _put(self, name: str, data: bytes | mmap, mode: Any) -> bool:
        package = _obstore()
        taken = (package.exceptions.AlreadyExistsError, package.exceptions.PreconditionError)
        try:
            with self._explained(*taken):
                package.put(self._client(len(data)), name, data, mode=mode, use_multipart=False)
        except taken:
            return False
        except FileNotFoundError:  # there is nothing to replace
            return False
        return True

    def _pieces(self, name: str, *, size: int) -> Iterator[bytes]:
        with self._explained():
            found = _obstore().get(self._client(size), name)
            yield from map(bytes, found.stream(min_chunk_size=_PIECE))

    def _client(self, size: int = 0) -> "S3Store":
        return self._quick if size < _SLOWEST else self._made(_PATIENCE + size // _SLOWEST)

    @cached_property
    def _quick(self) -> "S3Store":
        return self._made(_PATIENCE)

    def _made(self, seconds: int) -> "S3Store":
        """Make a client whose requests may take this long; plain HTTP only if it is asked for."""
        plain = self._endpoint.startswith("http://")
        given: dict[str, Any] = {"endpoint": self._endpoint} if self._endpoint else {}
        with self._explained():
            _obstore()
            from obstore.store import S3Store  # noqa: PLC0415 - as above

            return S3Store(
                self.bucket,
                prefix=self.prefix or None,
                client_options={"allow_http": plain, "timeout": timedelta(seconds=seconds)},
                retry_config=_RETRIES,
                conditional_put="etag",
                **given,
            )

    @cached_property
    def _endpoint(self) -> str:
        """The endpoint that the environment names; empty for Amazon's own."""
        for variable in _ENDPOINTS:
            endpoint = os.environ.get(variable, "")
            if endpoint and not re.match("https?://", endpoint):
                raise ParameterError(variable, must="begin with https:// or http://", got=endpoint)
            if endpoint:
                return endpoint
        return ""

    @contextmanager
    def _explained(self, *passing: type[Exception]) -> Iterator[None]:
        """Say in words what a store or its client finds wrong; let some errors pass."""
        package = _obstore()
        try:
            yield
        except passing:
            raise
        except FileNotFoundError as error:
            if "NoSuchBucket" not in str(error):
                raise
            raise self._error(str(error)) from None
        except package.exceptions.BaseError as error:
            raise self._error(str(error)) from None

    def _error(self, text: str) -> ObjectStoreError:
        """Return the error for the description that the client gives, of which little is shown."""
        place = self._endpoint or "Amazon S3"
        status = _first(r"status code: (\d+)", text)
        code = _first(r"<Code>(\w+)</Code>", text) or _first(r"status code: \d+ (\w[\w ]*)", text)
        if _CREDENTIALS.search(text):
            cause = "no credentials were found"
            hint = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        elif code == "NoSuchBucket":
            cause = f"{place} has no bucket {self.bucket}"
            hint = "Create it, or correct its name; AWS_ENDPOINT_URL and AWS_REGION say where."
        elif status in {"401", "403"}:
            cause = f"{place} refuses the credentials ({status} {code})"
            hint = (
                "Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and that "
                "they may list and read, and for release also write."
            )
        elif not status:
            reason = _first(r'(?:message|error): "([^"]+)"', text) or "no answer"
            cause = f"{place} cannot be reached ({reason.casefold()})"
            hint = "Check AWS_ENDPOINT_URL and the network, and run again."
        else:
            cause = f"{place} answers {status} {code}"
            hint = "Check AWS_REGION and the store's log, and run again."
        return ObjectStoreError(self.address, cause, hint=hint)


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1].strip() if found else ""


def _obstore() -> Any:
    try:
        import obstore  # noqa: PLC0415 - an extra
        import obstore.exceptions  # noqa: PLC0415 - as above
    except ImportError:
        raise MissingExtraError("An s3:// address", package="obstore", extra="objects") from None
    return obstore
