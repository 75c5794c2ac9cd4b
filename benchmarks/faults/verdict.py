"""Compare acknowledged with released reports, over all files and receipts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psycopg
import pyarrow.parquet

from benchmarks.house import House
from benchmarks.senders import Notes
from croupier.errors import CroupierError
from croupier.plan.plan import Plan
from croupier.protocol.party_keys import signers_beside
from croupier.protocol.receipt import Receipt, require_chain

__all__ = ["MUST_BE_ZERO", "Shuffler", "Verdict", "judge"]

MUST_BE_ZERO = ("lost", "doubled", "never_sent", "in_two_batches", "unexplained", "unfinished")
MUST_BE_ZERO += ("leftovers",)


@dataclass
class Verdict:
    """The fate of the reports.

    Attributes:
        batches: The number of receipts.
        acknowledged: Reports that a client was told are stored.
        released: Rows of released files.
        disposed: Reports that receipts say were deleted.
        lost: Acknowledged reports in no file, and in no receipt of a disposal that was due.
        doubled: Reports that are in files more than once.
        never_sent: Reports in a file that nobody sent.
        in_two_batches: People with a row in more than one place.
        unexplained: Reports acknowledged after the batch's key was destroyed.
        unfinished: Batches between two states, or shredded ones with keys or tables left.
        leftovers: Files without a name in the output directories.
        violations: Other forbidden findings, in words.
    """

    batches: int = 0
    acknowledged: int = 0
    released: int = 0
    disposed: int = 0
    lost: int = 0
    doubled: int = 0
    never_sent: int = 0
    in_two_batches: int = 0
    unexplained: int = 0
    unfinished: int = 0
    leftovers: int = 0
    violations: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """True if nothing forbidden happened."""
        return not self.violations and not any(getattr(self, name) for name in MUST_BE_ZERO)

    @property
    def faults(self) -> list[str]:
        """All forbidden findings, in words."""
        counts = {name: getattr(self, name) for name in MUST_BE_ZERO}
        return self.violations + [f"{n} {name}" for name, n in counts.items() if n]

    def add(self, other: "Verdict") -> None:
        """Add the counts of another verdict."""
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass(frozen=True)
class Shuffler:
    """The places where a shuffler stores and publishes.

    Attributes:
        plan: The plan of the collection.
        database: The connection string.
        house: Its key directories.
        outputs: Every directory that was ever released into.
        hop: The shuffler that it is: 0 is the first.
        made_up: The number of dummies that the released files must have.
    """

    plan: Plan
    database: str
    house: House
    outputs: Sequence[Path]
    hop: int = 0
    made_up: int = 0


def judge(notes: Notes, shuffler: Shuffler, *, disposal_due: bool = False) -> Verdict:
    """Compare the clients' notes with the released reports.

    Args:
        notes: The notes of the clients.
        shuffler: The shuffler whose tables, keys and files are read.
        disposal_due: True if a batch was too small for too long, so that it had to be deleted.
    """
    found = Verdict(acknowledged=notes.told, unexplained=notes.unexplained)
    rows = _released(found, shuffler)
    people = Counter(notes.person[inner] for inner in rows.elements() if inner in notes.person)
    found.released = rows.total()
    found.lost = notes.lost(rows.keys())
    if disposal_due:
        found.lost -= found.disposed
    elif found.disposed:
        found.violations.append(f"{found.disposed} reports were disposed of")
    found.doubled = sum(times > 1 for times in rows.values())
    found.never_sent = abs(len(rows.keys() - notes.person.keys()) - shuffler.made_up)
    found.in_two_batches = sum(times > 1 for times in people.values())
    found.unfinished = _unfinished(shuffler)
    found.leftovers = sum(len(list(output.glob(".*"))) for output in shuffler.outputs)
    return found


def _released(found: Verdict, shuffler: Shuffler) -> Counter[bytes]:
    """Every released row; the receipts must form one chain, and each file match its receipt."""
    rows: Counter[bytes] = Counter()
    receipts: dict[str, Receipt] = {}
    for output in shuffler.outputs:
        for path in output.glob("[!.]*.receipt.json"):
            receipt = Receipt.read(path.read_bytes())
            if receipt.digest in receipts:
                continue
            receipts[receipt.digest] = receipt
            found.disposed += receipt.counts.disposed
            if receipt.file is None:
                continue
            file = output / receipt.file.name
            here = pyarrow.parquet.read_table(file)["inner"].to_pylist() if file.exists() else []
            if not receipt.file.is_at(file) or len(here) != receipt.counts.released:
                found.violations.append(f"{file.name} is not what its receipt says")
            rows.update(here)
    found.batches = len(receipts)
    chain = sorted(receipts.values(), key=lambda receipt: receipt.number)
    try:
        require_chain(chain, signers_beside(shuffler.plan, shuffler.outputs, shuffler.hop))
    except CroupierError as error:
        numbers = Counter(receipt.number for receipt in chain)
        forks = [number for number, times in numbers.items() if times > 1]
        found.violations.append(f"receipts fork at {forks}" if forks else str(error))
    return rows


def _unfinished(shuffler: Shuffler) -> int:
    """Count unfinished batches; open ones are allowed, but their reports count as lost."""
    with psycopg.connect(shuffler.database) as connection:
        rows = connection.execute(
            "SELECT batch, state, to_regclass('croupier.env_' || encode(batch, 'hex')) IS NOT NULL "
            "FROM croupier.batches WHERE state <> 'open'"
        ).fetchall()
    handed_over = {
        bytes.fromhex(tag.stem) for tag in shuffler.house.handover.path.glob("[!.]*.tag")
    }
    here = handed_over.union(shuffler.house.release.batches())
    return sum(state != "shredded" or bytes(b) in here or table for b, state, table in rows)
