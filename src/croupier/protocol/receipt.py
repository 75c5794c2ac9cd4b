"""Receipts: the shuffler's signed statements about batches, each bound to the one before."""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import file_digest, sha256
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import Field, ValidationError, model_validator

from croupier.errors import CroupierError
from croupier.protocol.party_keys import Signers
from croupier.protocol.signed_document import (
    Absent,
    Bytes16,
    Bytes32,
    Document,
    RoundNumber,
    is_signed,
    sign,
)

__all__ = ["FIRST", "NO_BATCH", "Counts", "Receipt", "ReceiptError", "Recovery", "ReleasedFile"]
__all__ += ["require_chain"]

FIRST = "0" * 64
"""The digest that the first receipt of a plan names as its predecessor."""

NO_BATCH = "0" * 32
"""The batch that a receipt names which is about none."""

_PURPOSE = "receipt"
_UNSIGNED = (
    "is not signed by the shuffler of the plan: it was changed after it was signed, or another key"
    " signed it"
)
_NO_LIST = (
    "; the list of the shuffler's keys, which names the one that signs, is not here: put "
    "shuffler-keys.json beside the receipts, or name it with --shuffler"
)

_Count = Annotated[int, Field(ge=0, lt=1 << 63)]
_Change = Annotated[int, Field(gt=-(1 << 63), lt=1 << 63)]


class ReceiptError(CroupierError):
    """A receipt or a chain of them is invalid; says what is wrong and with which."""

    def __init__(self, problem: str, *, which: str = "A receipt") -> None:
        self.problem = problem
        self.which = which
        super().__init__(f"{which} {problem}. Do not use the batches that it names.")


class Counts(Document):
    """The fate of every envelope that intake acknowledged and stored, or of every row taken over.

        received + added = released + disposed + duplicate + wrong_length + cannot_open
                           + unknown_owner + wrong_owner + second_report

    Attributes:
        received: Stored envelopes, at most one per credential; or rows of the shuffler before.
        added: Dummies, less the reports that were left out, if the shuffler adds dummies: who knew
            both numbers would know more than is proved. Absent otherwise.
        released: Rows of the published file.
        disposed: Deleted unread, because too few arrived.
        duplicate: Inner ciphertexts that another envelope of the batch also holds.
        wrong_length: Envelopes whose length is not the plan's.
        cannot_open: Sealed for another plan, batch, round, query or key, of the shuffler or of the
            analyzer, or altered.
        unknown_owner: From a place that is not in the public file.
        wrong_owner: From a place that the sender's credential was not issued for.
        second_report: Another report from the same place.

    Example:
        >>> Counts(received=7, released=5, duplicate=2).explained
        '7 = 5 released + 2 duplicate'
        >>> Counts(received=7, added=90, released=97).explained
        '7 + 90 added = 97 released'
    """

    received: _Count
    added: Absent[_Change] = None
    released: _Count = 0
    disposed: _Count = 0
    duplicate: _Count = 0
    wrong_length: _Count = 0
    cannot_open: _Count = 0
    unknown_owner: _Count = 0
    wrong_owner: _Count = 0
    second_report: _Count = 0

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.received + (self.added or 0) != sum(self._parts().values()):
            raise ValueError("the counts do not add up")
        return self

    def _parts(self) -> dict[str, int]:
        return {name: count for name, count in self if name not in {"received", "added"}}

    @property
    def accepted(self) -> int:
        """The distinct rows that opened, before dummies were added and reports left out."""
        return self.released - (self.added or 0)

    @property
    def explained(self) -> str:
        """The sum in words, with the parts that are not zero."""
        parts = [f"{n:,} {name.replace('_', ' ')}" for name, n in self._parts().items() if n]
        added = "" if self.added is None else f" {'-' if self.added < 0 else '+'} "
        added += "" if self.added is None else f"{abs(self.added):,} added"
        return f"{self.received:,}{added} = {' + '.join(parts) or '0'}"


class ReleasedFile(Document):
    """The file of a batch: its name, its size in bytes and its digest."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=255)]
    size: _Count
    sha256: Bytes32

    @classmethod
    def of(cls, path: Path, *, name: str) -> Self:
        """Describe a file on disk, to be published under `name`."""
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        return cls(name=name, size=path.stat().st_size, sha256=digest)

    def is_at(self, path: Path) -> bool:
        """Tell whether that very file is at a path."""
        return path.is_file() and ReleasedFile.of(path, name=self.name) == self


class Recovery(Document):
    """The losses of a shuffler whose database was set back to an older copy, as it says itself.

    Attributes:
        lost: The rounds without a receipt that were opened before: they never get one. The last may
            never have been opened; its number is left out to be sure.
        restored: The number of receipts that the older copy lacked, put back as published.
        published: The digest of the last receipt that was published, if one more was signed and
            was not: `previous` names that one, so that there can be no other of its number.

    Example:
        >>> Recovery(lost=(4, 6, 7), restored=1).explained
        'database set back to an older copy; lost: rounds 4, 6 to 7; 1 receipt put back'
    """

    lost: Annotated[tuple[RoundNumber, ...], Field(strict=False, min_length=1)]
    restored: _Count
    published: Absent[Bytes32] = None

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if any(b <= a for a, b in pairwise(self.lost)):
            raise ValueError("the lost rounds do not rise")
        return self

    @property
    def rounds(self) -> str:
        """The lost rounds in words."""
        lost = set(self.lost)
        starts = [each for each in self.lost if each - 1 not in lost]
        ends = [each for each in self.lost if each + 1 not in lost]
        parts = [f"{a}" if a == b else f"{a} to {b}" for a, b in zip(starts, ends, strict=True)]
        return f"round{'s' if len(self.lost) > 1 else ''} {', '.join(parts)}"

    @property
    def explained(self) -> str:
        """The losses in words."""
        receipts = f"{self.restored:,} receipt{'' if self.restored == 1 else 's'} put back"
        unpublished = "" if self.published is None else "; a signed receipt was not published"
        return f"database set back to an older copy; lost: {self.rounds}; {receipts}{unpublished}"


class Receipt(Document):
    """One event of a plan: a batch was released or disposed of, or the plan was recovered.

    The receipts of a plan are numbered from 0, and each holds the SHA-256 of the one before, so
    that anybody who has seen a receipt notices if an earlier one is changed, dropped or inserted.
    The signature is Ed25519 over a label and the canonical JSON of all other entries.

    `query` is the SHA-256 of the round's query if rounds ask by query, else empty.
    `analyzer` is the public key that the round was opened for; receipts of version 0.1 have none.
    `onward` is the second shuffler's public key for the round, if there is a second shuffler.
    The analyzer needs all three, and round and batch, to open the file.
    `taken_over` is the digest of the first shuffler's receipt, in a receipt of the second one.
    `recovery` is there if a database was set back to an older copy, and the plan continues: such a
    receipt is about no batch, its round is the last one lost, and later rounds are above it.

    A receipt proves neither that the order was drawn as the plan says nor that nobody was left out.
    It proves that the shuffler committed itself to one file and these counts for the batch.

    Example:
        >>> key = Ed25519PrivateKey.from_private_bytes(bytes(32))
        >>> draft = Receipt(event="disposed", plan=FIRST, round=0, batch="0" * 32, number=0,
        ...     previous=FIRST, counts=Counts(received=3, disposed=3))
        >>> draft.signed(key).require_signed_by(key.public_key().public_bytes_raw().hex())
    """

    schema_version: Literal[1] = 1
    event: Literal["released", "disposed", "recovered"]
    plan: Bytes32
    round: RoundNumber
    batch: Bytes16
    number: _Count
    previous: Bytes32
    counts: Counts
    file: ReleasedFile | None = None
    query: Annotated[str, Field(pattern="^([0-9a-f]{64})?$")] = ""
    analyzer: Absent[Bytes32] = None
    onward: Absent[Bytes32] = None
    taken_over: Absent[Bytes32] = None
    recovery: Absent[Recovery] = None
    signature: Annotated[str, Field(pattern="^([0-9a-f]{128})?$")] = ""

    @model_validator(mode="after")
    def _fits_the_event(self) -> Self:
        released = self.event == "released"
        if released != (self.file is not None) or (self.counts.disposed > 0 and released):
            raise ValueError("the entries do not fit the event")
        if not released and self.counts.released > 0:
            raise ValueError("the entries do not fit the event")
        recovered = self.event == "recovered"
        if recovered != (self.recovery is not None) or (recovered and not self._fits_a_recovery()):
            raise ValueError("the entries do not fit the event")
        return self

    def _fits_a_recovery(self) -> bool:
        """Tell whether it says nothing about any batch, and has the round of the last one lost."""
        return (
            self.recovery is not None
            and self.round == self.recovery.lost[-1]
            and (self.batch, self.counts.received) == (NO_BATCH, 0)
            and (self.query, self.analyzer, self.onward, self.taken_over) == ("", None, None, None)
        )

    @classmethod
    def read(
        cls, text: str | bytes, *, which: str = "The receipt", signers: Signers | None = None
    ) -> Self:
        """Read a receipt from its JSON; refuse unknown, missing and repeated entries.

        Args:
            text: The document.
            which: The name of the receipt in errors.
            signers: The keys that sign for the shuffler: with them, an error distinguishes a
                changed receipt from one of another format. It does not replace `require_of`.
        """
        try:
            document = json.loads(text, object_pairs_hook=_once)
        except _RepeatedEntryError:
            raise ReceiptError("is not a receipt: an entry occurs twice", which=which) from None
        except (ValueError, RecursionError):
            raise ReceiptError("is not a receipt: it is not JSON", which=which) from None
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            detail = _misfit(error)
            if signers is not None and isinstance(document, dict):
                if not _is_signed(document, signers.of_any_round):
                    raise ReceiptError(f"{_UNSIGNED}, and {detail}", which=which) from None
                problem = f"is signed, but is not a receipt of this format: {detail}"
                raise ReceiptError(problem, which=which) from None
            problem = f"is not a receipt of this format: {detail}"
            raise ReceiptError(problem, which=which) from None

    @property
    def text(self) -> str:
        """The canonical JSON: entries in alphabetical order, no spaces."""
        return self.to_bytes().decode()

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON with its signature, which the next receipt names."""
        return sha256(self.text.encode()).hexdigest()

    def signed(self, key: Ed25519PrivateKey) -> Self:
        """Return the receipt with the shuffler's signature."""
        unsigned = self.model_dump(mode="json", exclude={"signature"})
        return self.model_validate(sign(unsigned, key=key, purpose=_PURPOSE))

    def require_signed_by(self, public: str) -> None:
        """Refuse a receipt that the holder of a key, in hexadecimal, did not sign."""
        self.require_of(Signers(plan=self.plan, root=public))

    def require_of(self, signers: Signers, *, which: str | None = None) -> None:
        """Refuse a receipt of another plan, or one that the plan's shuffler did not sign.

        Args:
            signers: The keys that sign for the plan's shuffler: the release key of the receipt's
                round, or the root, which signed receipts itself in version 0.1.
            which: The name of the receipt in errors; its number if left out.
        """
        called = f"Receipt {self.number}" if which is None else which
        signed = _is_signed(self.model_dump(mode="json"), signers.release(self.round))
        if self.plan != signers.plan:
            problem = self._of_another_plan if signed else f"names another plan, and {_UNSIGNED}"
            raise ReceiptError(problem, which=called)
        if not signed:
            missing = "" if signers.keys is not None else _NO_LIST
            raise ReceiptError(_UNSIGNED + missing, which=called)

    @property
    def _of_another_plan(self) -> str:
        """The plan it belongs to, and for receipts of version 0.1 the version that reads it."""
        if self.analyzer is not None:
            return "belongs to another plan"
        return (
            "was signed by croupier 0.1 for the digest of a plan of schema 1; verify it, and "
            "analyze its batch, with croupier 0.1 and that plan"
        )


class _RepeatedEntryError(ValueError):
    """An entry of a document occurs twice."""


def _once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    entries = list(pairs)
    if len(dict(entries)) != len(entries):
        raise _RepeatedEntryError
    return dict(entries)


def _misfit(error: ValidationError) -> str:
    """Name the part of a document that does not fit, without its value."""
    first = error.errors(include_input=False, include_url=False)[0]
    reason = first.get("ctx", {}).get("error")
    if isinstance(reason, ValueError):
        return str(reason)
    if first["type"] == "extra_forbidden":
        return "it has an unknown entry"
    place = ".".join(map(str, first["loc"]))
    return f"the entry {place} is missing or impossible" if place else "it is not a table"


def _is_signed(document: Mapping[str, Any], keys: Iterable[str]) -> bool:
    return any(is_signed(document, public=key, purpose=_PURPOSE) for key in keys)


def require_chain(receipts: Sequence[Receipt], signers: Signers) -> None:
    """Refuse receipts that are not consecutive links of one plan's chain.

    Args:
        receipts: By rising number. If a chain starts after number 0, what came before is not
            checked.
        signers: The keys that sign for the plan's shuffler.
    """
    batches: set[str] = set()
    rounds: set[int] = set()
    given_up = -1
    for place, receipt in enumerate(receipts):
        before = receipts[place - 1] if place else None
        which = f"Receipt {receipt.number}"
        receipt.require_of(signers)
        _require_link(before, receipt)
        if receipt.recovery is not None:
            _require_lost(receipt, receipts[:place])
            given_up = receipt.round
            continue
        if receipt.batch in batches or receipt.round in rounds:
            raise ReceiptError("is about the same batch as an earlier one", which=which)
        if receipt.round <= given_up:
            raise ReceiptError("is about a round that was given up before", which=which)
        batches.add(receipt.batch)
        rounds.add(receipt.round)


def _require_link(before: Receipt | None, receipt: Receipt) -> None:
    """Refuse a receipt that does not follow the one before it, if that is known.

    A recovery may follow a receipt that nobody was shown. It names that one, so that its number is
    not taken twice, and also the one before it, so that nothing else can be left out.
    """
    which = f"Receipt {receipt.number}"
    if before is None:
        named = receipt.number > 0 or receipt.previous == FIRST
    else:
        published = None if receipt.recovery is None else receipt.recovery.published
        if receipt.number == before.number + 2 and published == before.digest:
            return
        if receipt.number != before.number + 1:
            raise ReceiptError(f"does not follow receipt {before.number}", which=which)
        named = receipt.previous == before.digest
        named = named and published in {None, before.previous}
    if not named:
        raise ReceiptError("does not name the receipt before it", which=which)


def _require_lost(receipt: Receipt, before: Iterable[Receipt]) -> None:
    """Refuse a recovery that gives up a round of an earlier receipt.

    The exception is the round of a receipt that turns up although it was not published then.
    """
    recovery = receipt.recovery
    if recovery is None:
        return
    unpublished = -1 if recovery.published is None else receipt.number - 1
    if any(each.round in recovery.lost for each in before if each.number != unpublished):
        problem = "gives up a round that has a receipt"
        raise ReceiptError(problem, which=f"Receipt {receipt.number}")
