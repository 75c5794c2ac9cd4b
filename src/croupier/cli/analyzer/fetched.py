"""Released files in an object store, copied to a private folder and read from there."""

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

from croupier.errors import ParameterError
from croupier.protocol.object_store import ObjectStore, is_address
from croupier.protocol.party_keys import FIRST_LIST_FILE, LIST_FILE, TAKEN_OVER

__all__ = ["BATCH", "RECEIPT", "fetched"]

BATCH, RECEIPT = ".parquet", ".receipt.json"
_TAKEN_OVER = f".{TAKEN_OVER}"
_PUBLISHED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@contextmanager
def fetched(
    named: Sequence[str], kind: str, *, scratch: Path | None = None
) -> Iterator[list[Path]]:
    """Return the paths of released files; copies, which are removed at the end, of objects.

    An address names one object, those that a pattern fits (`s3://bucket/prefix/2026-*.parquet`), or
    all of the kind under a prefix (`s3://bucket/prefix`). What they are checked with is copied with
    them: the lists of keys, with batches all receipts, and with receipts their batches. Receipts
    that a second shuffler took over are named by their ending: `s3://bucket/*.taken-over.json`.

    Args:
        named: Paths and addresses.
        kind: The ending of the files: that of batches or of receipts.
        scratch: The directory for the copies; by default the system's for temporary files.

    Raises:
        ParameterError: No object has such a name.
        ObjectStoreError: The store does not answer, or refuses.
    """
    by_prefix: dict[str, list[str]] = {}
    for address in filter(is_address, named):
        prefix, pattern = _split(address, kind)
        by_prefix.setdefault(prefix, []).append(pattern)
    with ExitStack() as held:
        paths = [Path(name) for name in named if not is_address(name)]
        for prefix, patterns in by_prefix.items():
            folder = held.enter_context(TemporaryDirectory(prefix="croupier-", dir=scratch))
            paths += _copied(ObjectStore.at(prefix), patterns, kind, Path(folder))
        yield paths


def _split(address: str, kind: str) -> tuple[str, str]:
    """Return the prefix and the pattern of the names under it."""
    head, _, last = address.rstrip("/").rpartition("/")
    if last.endswith(_ending(last, kind)) or any(sign in last for sign in "*?["):
        return head, last
    return address, f"*{kind}"


def _ending(pattern: str, kind: str) -> str:
    """Return how the files end that a pattern names."""
    return _TAKEN_OVER if kind == RECEIPT and pattern.endswith(_TAKEN_OVER) else kind


def _copied(store: ObjectStore, patterns: list[str], kind: str, folder: Path) -> list[Path]:
    sizes = {name: size for name, size in store.sizes().items() if _PUBLISHED.fullmatch(name)}
    chosen: dict[str, None] = {}
    for pattern in patterns:
        ending = _ending(pattern, kind)
        found = [name for name in sizes if name.endswith(ending) and fnmatchcase(name, pattern)]
        if not found:
            raise ParameterError(
                "BATCH" if kind == BATCH else "FILE",
                must=f"name an object that ends in {ending}",
                got=f"{store.address}/{pattern}",
                hint=f"{store.address} has {len(sizes)} objects, and none of this name.",
            )
        chosen |= dict.fromkeys(sorted(found))
    for name in sorted({*chosen, *_beside(chosen, sizes, kind)}):
        store.download(name, folder / name, size=sizes[name])
    return [folder / name for name in chosen]


def _beside(chosen: dict[str, None], sizes: dict[str, int], kind: str) -> Iterator[str]:
    """Yield the names of what the chosen files are checked with."""
    for name in sizes:
        other = name.removesuffix(BATCH) + RECEIPT
        if (
            name in {LIST_FILE, FIRST_LIST_FILE}
            or (kind == BATCH and name.endswith((RECEIPT, _TAKEN_OVER)))
            or (kind == RECEIPT and name.endswith(BATCH) and other in chosen)
        ):
            yield name
