"""Sealed batches of any size from a known truth, as Parquet files.

`--inner` makes a released batch: reports sealed to the analyzer, with a signed receipt, the plan
and the keys. `--envelopes` makes a batch as it is before release: each report is also sealed to the
shuffler, in segments. `--random` quickly writes noise of the right length, for ordering, which
ignores the content.

The truth is a histogram that is written beside the batch: the numbers of people who hold each
value, and of null, malformed and repeated rows. Each row is sealed separately: only rows that are
counted as repeated are copies.

Run: python -m benchmarks.generate DIRECTORY --rows N [--inner | --envelopes | --random]
     [--malformed 0.01] [--null 0.05] [--duplicate 0.03] [--processes P]
"""

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

from benchmarks.house import House
from croupier.engines.mixing import rows_of
from croupier.engines.workers import map_pieces
from croupier.numerics.keystream import Keystream
from croupier.plan.plan import Plan
from croupier.protocol.batch_file import Rows, write_pieces
from croupier.protocol.party_keys import LIST_FILE
from croupier.protocol.receipt import FIRST, Counts, Receipt, ReleasedFile
from croupier.protocol.wire import Epoch, encode_report, question, seal_inner, seal_outer

ROWS_A_PIECE = 1 << 12
ROWS_A_SEGMENT = 1 << 20
PASSPHRASE = b"of the benchmarks"  # for keys that protect nothing
SHARES = np.array([0.3, 0.2, 0.15, 0.1, 0.08, 0.06, 0.05, 0.03, 0.02, 0.01])
PLAN = {
    "schema": 2,
    "name": "benchmark",
    "randomizer": {"mechanism": "k-rr", "k": len(SHARES), "max_epsilon_local": 2.0},
    "population": {"enrolled": 10**9},
    "protections": {"minimum_batch": 50},
}


@dataclass(frozen=True)
class Recipe:
    """The recipe for rows; picklable.

    Attributes:
        plan: The plan, as TOML.
        epoch: The epoch that the rows are bound to.
        shuffler: The public key that outer seals are for; None leaves them out.
        malformed: The share of rows that open but are not reports.
        null: The share of nulls.
        duplicate: The share of rows that repeat another row of their piece.
    """

    plan: str
    epoch: Epoch
    shuffler: bytes | None
    malformed: float
    null: float
    duplicate: float

    def __call__(self, task: tuple[int, int]) -> tuple[Rows, Counter[str]]:
        """Make a piece of rows, with its true counts."""
        number, count = task
        rng = np.random.default_rng([7, number])
        kinds = rng.choice(
            4,
            count,
            p=[
                1 - self.malformed - self.null - self.duplicate,
                self.malformed,
                self.null,
                self.duplicate,
            ],
        )
        kinds[0] = 0  # so that there is something to repeat
        values = rng.choice(len(SHARES), count, p=SHARES)
        truth = Counter({"malformed": 0, "null": 0, "duplicate": 0})
        truth |= Counter(f"value {value}" for value in values[kinds == 0].tolist())
        for name, kind in [("malformed", 1), ("null", 2), ("duplicate", 3)]:
            truth[name] = int((kinds == kind).sum())
        inner = self._inner(kinds, values)
        for place in np.flatnonzero(kinds == 3):
            inner[place] = inner[rng.integers(place)]
        rows = self._outer(inner) if self.shuffler else inner
        return rows_of(rows, length=len(rows[0])), truth

    def _inner(self, kinds: np.ndarray, values: np.ndarray) -> list[bytes]:
        plan = Plan.from_toml(self.plan)
        asked = question(plan, self.epoch.round_number).in_batches((self.epoch.name,))
        reports = asked.randomize(values, rng=Keystream())
        made = []
        for kind, report in zip(kinds.tolist(), reports.tolist(), strict=True):
            if kind == 3:
                made.append(b"")
                continue
            body = os.urandom(self.epoch.report_size)
            if kind != 1:
                told = None if kind == 2 else report
                body = encode_report(plan, told, round_number=self.epoch.round_number)
            made.append(seal_inner(body, epoch=self.epoch))
        return made

    def _outer(self, inner: list[bytes]) -> list[bytes]:
        key = X25519PublicKey.from_public_bytes(self.shuffler or b"")
        return [seal_outer(row, key=key, epoch=self.epoch) for row in inner]


def noise(rows: int, length: int) -> Iterator[Rows]:
    """Random rows."""
    stream = Keystream()
    for start in range(0, rows, 1 << 16):
        count = min(1 << 16, rows - start)
        words = stream.words(-(-count * length // 8)).view(np.uint8)
        yield words[: count * length].reshape(count, length)


def deploy(directory: Path) -> tuple[Plan, House]:
    """A plan and the keys of all roles."""
    house = House.at(directory, PASSPHRASE)
    plan = Plan.from_document(PLAN | house.create())
    listed = house.sign(plan)
    (directory / LIST_FILE).write_bytes(listed.to_bytes())
    return plan, house


def generate(  # noqa: PLR0913 - keyword-only facts about one batch
    directory: Path,
    *,
    rows: int,
    kind: str,
    malformed: float = 0.0,
    null: float = 0.0,
    duplicate: float = 0.0,
    processes: int = 2,
) -> dict[str, object]:
    """Write a batch and its true counts into an empty directory."""
    directory.mkdir(parents=True, exist_ok=True)
    if kind == "random":
        write_pieces(noise(rows, 128), directory / "random.parquet", length=128)
        return {"rows": rows, "files": ["random.parquet"]}
    plan, house = deploy(directory)
    batch = os.urandom(16)
    analyzer = house.analyzer.sealing_key("analyzer").public_key().public_bytes_raw()
    epoch = Epoch.of(plan, round_number=0, batch=batch, analyzer=analyzer)
    secrets = house.release.create_batch(batch, plan=plan.digest)
    recipe = Recipe(
        plan.to_toml(),
        epoch,
        secrets.outer.public_key().public_bytes_raw() if kind == "envelopes" else None,
        malformed,
        null,
        duplicate,
    )
    truth: Counter[str] = Counter()
    tasks = [
        (number, min(ROWS_A_PIECE, rows - start))
        for number, start in enumerate(range(0, rows, ROWS_A_PIECE))
    ]
    made = map_pieces(recipe, tasks, processes=processes)

    def pieces(many: int) -> Iterator[Rows]:
        for _ in range(many):
            piece, found = next(made)
            truth.update(found)
            yield piece

    per_file = ROWS_A_SEGMENT // ROWS_A_PIECE if kind == "envelopes" else len(tasks)
    length = epoch.envelope_length if kind == "envelopes" else epoch.inner_length
    files = []
    for number, start in enumerate(range(0, len(tasks), per_file)):
        name = f"segment-{number}.parquet" if kind == "envelopes" else "batch.parquet"
        many = min(per_file, len(tasks) - start)
        write_pieces(pieces(many), directory / name, length=length)
        files.append(name)
    if kind == "inner":
        sign(directory, epoch, rows=rows, key=house.release.signing_key("release"))
    return {"rows": rows, "files": files, "batch": batch.hex(), "truth": dict(truth)}


def sign(directory: Path, epoch: Epoch, *, rows: int, key: Ed25519PrivateKey) -> None:
    """The receipt that the shuffler would have given for the file."""
    receipt = Receipt(
        event="released",
        plan=epoch.plan,
        round=epoch.round_number,
        batch=epoch.batch.hex(),
        analyzer=epoch.analyzer.hex(),
        number=0,
        previous=FIRST,
        counts=Counts(received=rows, released=rows),
        file=ReleasedFile.of(directory / "batch.parquet", name="batch.parquet"),
    )
    (directory / "batch.receipt.json").write_text(receipt.signed(key).text + "\n")


def main() -> None:
    """Generate a batch and print its summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rows", type=lambda text: int(float(text)), required=True)
    kind = parser.add_mutually_exclusive_group()
    for name in ("inner", "envelopes", "random"):
        kind.add_argument(f"--{name}", dest="kind", action="store_const", const=name)
    for name, share in {"malformed": 0.01, "null": 0.05, "duplicate": 0.03}.items():
        parser.add_argument(f"--{name}", type=float, default=share)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = vars(parser.parse_args())
    start = time.monotonic()
    made = generate(**given | {"kind": given["kind"] or "inner"})
    made["seconds"] = round(time.monotonic() - start, 1)
    (given["directory"] / "truth.json").write_text(json.dumps(made, indent=1) + "\n")
    print(json.dumps(made))


if __name__ == "__main__":
    main()
