"""Ordering of more rows than fit in memory, by the top bits of their keys, in encrypted files.

A sort that spills writes keys and rows to disk as they come, and the keys are the released order:
anybody who reads such a file, and the table that the rows came from, links them. Hence spilled data
is encrypted under a key that is in memory only, in files that have no name. DuckDB can encrypt
its spilled data only with an extension that has to be downloaded.
"""

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from croupier.engines.mixing import ordered
from croupier.engines.order import by_part
from croupier.engines.workers import in_order
from croupier.errors import DataError, ParameterError
from croupier.protocol.batch_file import Rows

__all__ = ["Buckets"]

_SORTERS = 2
_SHARE = 10
"""The number of copies of a bucket in memory at most: read, decrypted and ordered, by two threads,
and written while others wait."""
_QUICK = 1 << 24
"""Bytes of a bucket that is ordered quickly: larger ones exceed the processor's cache."""
_MOST_BITS = 9


class Buckets:
    """A store that takes rows in pieces and returns each distinct one once, by rising key.

    Rows with the same top bits share a bucket, so buckets follow each other in the order, and equal
    rows meet in one.

    Args:
        directory: The directory of the files without names.
        seed: The seed of `keys_of`.
        size: The expected number of bytes.
        memory: The number of bytes that may be used.
    """

    def __init__(self, directory: Path, *, seed: bytes, size: int, memory: int) -> None:
        if size * _SHARE >> _MOST_BITS > memory:
            least = f"be at least {size * _SHARE >> _MOST_BITS:,} bytes for this batch"
            raise ParameterError("memory", must=least, got=memory)
        wanted = size // min(memory // _SHARE, _QUICK)
        self._bits = min(max(1, wanted.bit_length()), _MOST_BITS)
        self._seed = seed
        self._secret = os.urandom(32)
        count = 1 << self._bits
        self._files: list[IO[bytes]] = [
            tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 - closed in close
            for _ in range(count)
        ]
        self._encryptors = [self._cipher(number) for number in range(count)]
        self._length: int | None = None
        self.rows = 0

    def add(self, rows: Rows) -> None:
        """Take rows, all of the length of the first."""
        if not len(rows):
            return
        self._length = self._length or rows.shape[1]
        if rows.shape[1] != self._length:
            raise DataError(
                len(rows), "rows have another length than the first", hint="Refuse the batch."
            )
        for place, part in enumerate(by_part(rows, seed=self._seed, bits=self._bits)):
            if len(part):
                self._files[place].write(self._encryptors[place].update(part.data))
        self.rows += len(rows)

    def ordered(self) -> Iterator[Rows]:
        """Yield the distinct rows, bucket by bucket; the stored rows are used up."""
        with ThreadPoolExecutor(_SORTERS) as pool:
            numbers = range(len(self._files))
            yield from in_order(pool, self._ordered, numbers, workers=_SORTERS)

    @property
    def length(self) -> int | None:
        """The bytes of a row; None before the first arrives."""
        return self._length

    def close(self) -> None:
        """Free the space; nothing can be read any more."""
        for file in self._files:
            file.close()

    def _ordered(self, number: int) -> Rows:
        file = self._files[number]
        file.seek(0)
        data = self._cipher(number).update(file.read())
        file.close()
        rows = np.frombuffer(data, dtype=np.uint8).reshape(-1, self._length or 1)
        return ordered(rows, seed=self._seed)

    def _cipher(self, number: int) -> CipherContext:
        """Return the keystream of a bucket: counters of two buckets never overlap."""
        counter = number.to_bytes(8) + bytes(8)
        return Cipher(algorithms.AES(self._secret), modes.CTR(counter)).encryptor()
