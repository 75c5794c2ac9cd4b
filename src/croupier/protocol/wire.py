"""The wire format: reports of one length, sealed to the analyzer, then to each shuffler.

`docs/wire.md` specifies it for other languages; `tests/vectors/wire.json` has examples.

Reference: barnes2022, base mode, single shot.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

from croupier.errors import MalformedReportError, ParameterError
from croupier.numerics.arrays import np
from croupier.numerics.validate import whole_number
from croupier.protocol.hpke import SEAL_SIZE, SUITE
from croupier.protocol.signed_document import LAST_ROUND, canonical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from croupier.model.randomizer import Randomizer
    from croupier.plan.plan import Plan

__all__ = ["BATCH_SIZE", "OWNER_SIZE", "Decoded", "Epoch", "Seal"]
__all__ += ["asks_by_query", "decode_report", "decode_reports", "encode_report", "envelope_length"]
__all__ += ["question", "question_index", "seal_after", "seal_inner", "seal_outer", "seal_report"]
__all__ += ["seal_second"]

BATCH_SIZE = 16
_VERSION = b"\x02"
_NULL, _DATA = b"\x00", b"\x01"
_HEAD = len(_VERSION + _DATA)
_KEY_SIZE = 32
OWNER_SIZE = 8


class Seal(StrEnum):
    """The kinds of seals: to the analyzer, to the second shuffler if there is one, to the first."""

    INNER = "inner"
    SECOND = "second"
    OUTER = "outer"


@dataclass(frozen=True, kw_only=True)
class Epoch:
    """One round of a plan and its batch: what every seal is bound to, and its length.

    Attributes:
        plan: The digest of the plan, 64 hexadecimal digits.
        round_number: The round of the collection, from 0.
        batch: The 16 bytes that name the batch.
        analyzer: The public key of the analyzer, 32 bytes, that the round was opened with.
        report_size: The bytes of a report before it is sealed.
        owned: True if the shuffler learns the sender's public place, because it mixes by groups.
        query: The digest of the analyzer's signed query; empty if the plan fixes the question.
        onward: The public keys, 32 bytes each, of the shufflers after the first for this batch.
    """

    plan: str
    round_number: int
    batch: bytes
    analyzer: bytes
    report_size: int
    owned: bool = False
    query: bytes = b""
    onward: tuple[bytes, ...] = ()

    def __post_init__(self) -> None:
        whole_number("round_number", self.round_number, least=0, most=LAST_ROUND)
        if len(bytes.fromhex(self.plan)) != sha256().digest_size:
            raise ParameterError("plan", must="be a digest of 64 hexadecimal digits")
        if len(self.batch) != BATCH_SIZE:
            raise ParameterError("batch", must=f"be {BATCH_SIZE} bytes", got=len(self.batch))
        if len(self.analyzer) != _KEY_SIZE:
            raise ParameterError("analyzer", must=f"be {_KEY_SIZE} bytes", got=len(self.analyzer))
        if len(self.onward) > 1 or any(len(key) != _KEY_SIZE for key in self.onward):
            raise ParameterError("onward", must=f"be at most one key of {_KEY_SIZE} bytes")

    @classmethod
    def of(  # noqa: PLR0913 - keyword-only facts about one round
        cls,
        plan: Plan,
        *,
        round_number: int,
        batch: bytes,
        analyzer: bytes,
        query: bytes = b"",
        onward: tuple[bytes, ...] = (),
    ) -> Self:
        """Return the epoch of a plan's round."""
        if len(onward) != len(plan.shufflers) - 1:
            raise ParameterError(
                "onward",
                must="be one key per shuffler of the plan after the first",
                got=f"{len(onward)} for {len(plan.shufflers)} shufflers",
            )
        size = sha256().digest_size if asks_by_query(plan) else 0
        if len(query) != size:
            raise ParameterError(
                "query",
                must="be the digest of the round's query"
                if size
                else "be left out: the plan says what its rounds ask",
            )
        return cls(
            plan=plan.digest,
            round_number=round_number,
            batch=batch,
            analyzer=analyzer,
            report_size=plan.protections.report_size,
            owned=plan.shuffling.groups is not None,
            query=query,
            onward=onward,
        )

    @property
    def seals(self) -> tuple[Seal, ...]:
        """The seals of an envelope, from the outermost: shuffler `hop` opens `seals[hop]`."""
        return (Seal.OUTER, *(Seal.SECOND for _ in self.onward), Seal.INNER)

    @property
    def inner_length(self) -> int:
        """The bytes of a report sealed to the analyzer."""
        return self.report_size + SEAL_SIZE

    @property
    def second_length(self) -> int:
        """The bytes of a report sealed to the analyzer and then to the second shuffler."""
        return self.inner_length + SEAL_SIZE

    @property
    def envelope_length(self) -> int:
        """The bytes of an envelope, whatever its content."""
        return self.report_size + OWNER_SIZE * self.owned + SEAL_SIZE * len(self.seals)

    @property
    def name(self) -> bytes:
        """The name of the batch, 32 bytes, from which mechanisms derive public functions.

        The digest of plan, batch, round, query and the public keys of all parties after the first
        shuffler, which draws the batch's 16 bytes: with two shufflers both have their part in it.
        """
        return _listed(self, (*self.onward, self.analyzer))

    def length(self, seal: Seal) -> int:
        """Return the bytes of what a kind of seal yields."""
        if seal is Seal.OUTER:
            return self.envelope_length
        return self.second_length if seal is Seal.SECOND else self.inner_length

    def info(self, seal: Seal, key: X25519PublicKey) -> bytes:
        """Return the bytes that a seal is bound to: its kind, and all that must agree.

        The list names plan, batch, round, query and the public keys of the receiver and of
        everybody after it. A client that was shown another list, even if only one later key
        differs, seals what an honest shuffler cannot open and therefore drops. The list enters the
        seal as a full SHA-256: the owner of a key could make a second one with the same short name.

        Every field follows its length in two bytes, so that no other fields give the same bytes.
        """
        return _info(self, seal, key.public_bytes_raw())


@lru_cache(maxsize=16)  # saves a tenth of the time per seal when many are for one epoch
def _info(epoch: Epoch, seal: Seal, key: bytes) -> bytes:
    onward = epoch.onward if seal is Seal.OUTER else ()
    later = () if seal is Seal.INNER else (*onward, epoch.analyzer)
    fields = [b"croupier", _VERSION, seal.encode(), _listed(epoch, (key, *later))]
    return b"".join(len(field).to_bytes(2) + field for field in fields)


def _listed(epoch: Epoch, keys: tuple[bytes, ...]) -> bytes:
    """Return the digest of the list of plan, batch, round, query and some public keys."""
    listed = canonical(
        {
            "batch": epoch.batch.hex(),
            "keys": [raw.hex() for raw in keys],
            "plan": epoch.plan,
            "query": epoch.query.hex(),
            "round": epoch.round_number,
        }
    )
    return sha256(listed).digest()


class Decoded(NamedTuple):
    """The content of many reports.

    Attributes:
        reports: Those with an answer, as `Randomizer.tally` takes them, in order.
        nulls: The number without an answer.
        malformed: The number that are not reports of the plan, by `MalformedReportError` reason.
    """

    reports: NDArray[Any]
    nulls: int
    malformed: Counter[str]


def envelope_length(plan: Plan) -> int:
    r"""Return the bytes of every envelope of a plan.

    >>> from croupier.plan.plan import Plan
    >>> envelope_length(Plan.from_toml('schema = 2\nrandomizer = {mechanism = "k-rr", k = 2, '
    ...     'max_epsilon_local = 1}\npopulation.enrolled = 9\nprotections.minimum_batch = 5'))
    128
    """
    owner = OWNER_SIZE * (plan.shuffling.groups is not None)
    return plan.protections.report_size + owner + SEAL_SIZE * (len(plan.shufflers) + 1)


def asks_by_query(plan: Plan) -> bool:
    """Tell whether rounds ask what the analyzer signs for them; the plan says so."""
    return plan.asks_by_query


def question_index(plan: Plan, round_number: int) -> int:
    """Return the question that a round asks: they take turns, but those of one batch are one."""
    return 0 if _is_one_batch(plan) else round_number % len(plan.randomizers)


def question(plan: Plan, round_number: int) -> Randomizer:
    """Return the randomizer that a client applies to its value in a round."""
    if _is_one_batch(plan):
        return plan.randomizer
    return plan.randomizers[question_index(plan, round_number)]


def _is_one_batch(plan: Plan) -> bool:
    return plan.participation_model.one_batch


def encode_report(plan: Plan, report: Any, *, round_number: int) -> bytes:
    """Encode a report, or None for a null, as the bytes that are sealed.

    Args:
        plan: The plan of the collection.
        report: A row of integers, or one integer, as `Randomizer.randomize` returns it.
        round_number: The round of the report.
    """
    if report is None:
        return (_VERSION + _NULL).ljust(plan.protections.report_size, b"\0")
    randomizer = question(plan, round_number)
    plain = report.tolist() if hasattr(report, "tolist") else report
    body = randomizer.to_bytes_of_one(plain if isinstance(plain, (list, tuple)) else (plain,))
    return (_VERSION + _DATA + body).ljust(plan.protections.report_size, b"\0")


def decode_report(plan: Plan, data: bytes, *, round_number: int) -> Any:
    """Decode the report in some bytes: a row of integers, or one integer; None for a null.

    Raises:
        MalformedReportError: They differ from what `encode_report` writes, even in padding only.
    """
    row = np.frombuffer(data, dtype=np.uint8).reshape(1, len(data))
    decoded = decode_reports(plan, row, round_number=round_number)
    for reason in decoded.malformed:
        raise MalformedReportError(reason)
    return None if decoded.nulls else decoded.reports[0]


def decode_reports(plan: Plan, rows: NDArray[np.uint8], *, round_number: int) -> Decoded:
    """Decode many reports of one length; count those that `encode_report` would not write.

    Args:
        plan: The plan of the collection.
        rows: What was sealed, one report per row.
        round_number: The round of the reports.
    """
    randomizer = question(plan, round_number)
    form = randomizer.report_format
    if rows.shape[1] != plan.protections.report_size:
        wrong = Counter(length=len(rows)) if len(rows) else Counter[str]()
        return Decoded(form.empty(0), 0, wrong)
    versioned = rows[rows[:, 0] == _VERSION[0]]
    nulls, data = (versioned[versioned[:, 1] == kind[0]] for kind in (_NULL, _DATA))
    end = _HEAD + form.size
    blank = nulls[~nulls[:, _HEAD:].any(axis=1)]
    padded = data[~data[:, end:].any(axis=1)]
    reports, refused = form.read_rows(padded[:, _HEAD:end])
    well_formed = reports[~(refused | randomizer.refused(reports))]
    malformed = Counter(
        version=len(rows) - len(versioned),
        kind=len(versioned) - len(nulls) - len(data),
        padding=len(nulls) - len(blank) + len(data) - len(padded),
        body=len(padded) - len(well_formed),
    )
    return Decoded(well_formed, len(blank), +malformed)


def seal_report(
    report: bytes, *, key: X25519PublicKey, epoch: Epoch, owner: int | None = None
) -> bytes:
    """Seal an encoded report to every party, into the envelope that a client sends.

    Args:
        report: The output of `encode_report`.
        key: The first shuffler's public key for the batch.
        epoch: Plan, round and batch.
        owner: The sender's public place, only for plans that mix by groups.
    """
    return seal_outer(seal_after(report, hop=0, epoch=epoch), key=key, epoch=epoch, owner=owner)


def seal_after(report: bytes, *, hop: int, epoch: Epoch) -> bytes:
    """Seal an encoded report to every party after a shuffler, as it leaves that shuffler.

    Args:
        report: The output of `encode_report`.
        hop: The shuffler: 0 is the first.
        epoch: Plan, round and batch.
    """
    whole_number("hop", hop, least=0, most=len(epoch.onward))
    inner = seal_inner(report, epoch=epoch)
    return seal_second(inner, epoch=epoch) if hop < len(epoch.onward) else inner


def seal_inner(report: bytes, *, epoch: Epoch) -> bytes:
    """Seal a report so that only the analyzer can open it."""
    _require_length("report", report, epoch.report_size)
    key = X25519PublicKey.from_public_bytes(epoch.analyzer)
    return SUITE.encrypt(report, key, epoch.info(Seal.INNER, key))


def seal_second(inner: bytes, *, epoch: Epoch) -> bytes:
    """Seal the output of `seal_inner`, and nothing else, to the second shuffler of this batch."""
    _require_length("inner", inner, epoch.inner_length)
    if not epoch.onward:
        raise ParameterError("epoch", must="have a second shuffler")
    key = X25519PublicKey.from_public_bytes(epoch.onward[0])
    return SUITE.encrypt(inner, key, epoch.info(Seal.SECOND, key))


def seal_outer(
    inner: bytes, *, key: X25519PublicKey, epoch: Epoch, owner: int | None = None
) -> bytes:
    """Seal an envelope that only the first shuffler of this batch can open.

    Args:
        inner: The output of `seal_inner`; with a second shuffler, that of `seal_second`.
        key: The batch's public key.
        epoch: Plan, round and batch.
        owner: The sender's public place, only for plans that mix by groups.
    """
    _require_length("inner", inner, epoch.length(epoch.seals[1]))
    return SUITE.encrypt(inner + _place(owner, epoch), key, epoch.info(Seal.OUTER, key))


def _place(owner: int | None, epoch: Epoch) -> bytes:
    if epoch.owned and owner is None:
        raise ParameterError("owner", must="be given: this plan mixes by groups")
    if owner is None:
        return b""
    if not epoch.owned:
        raise ParameterError("owner", must="be left out: this plan mixes everybody")
    return whole_number("owner", owner, least=0, most=2**64 - 1).to_bytes(OWNER_SIZE)


def _require_length(name: str, data: bytes, length: int) -> None:
    if len(data) != length:
        raise ParameterError(name, must=f"be {length} bytes", got=len(data))
