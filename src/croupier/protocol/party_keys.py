"""The keys of a shuffler by role, in a list that its root signs.

A plan names one key of each shuffler, its root, which is kept offline. The root signs a list of
working keys: release keys, which open rounds and sign receipts, and intake keys, which sign
refusals and to which the tag keys of batches are sealed. Each key is valid from a round on, so
verifying needs no clock. A new key means a new version of the list, not a new plan.

Shufflers are counted by hops: 0 is the one that clients send to, 1 the one after it. Each has a
list of its own, and nothing that one of them signs is believed for the other.

The root stands for every key of its list, since it could name itself there. Documents that version
0.1 signed with the root are believed for that reason.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal, Protocol, Self, TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import Field, TypeAdapter, ValidationError, field_validator

from croupier.errors import ParameterError, UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol.public_keys import PublicKeys
from croupier.protocol.signed_document import (
    NAMED,
    Bytes32,
    Document,
    RootDocument,
    RoundNumber,
    is_signed,
    named_root,
    public_half,
)

__all__ = [
    "FIRST_LIST_FILE",
    "LIST_FILE",
    "TAKEN_OVER",
    "IntakeKey",
    "ReleaseKey",
    "SeenList",
    "ShufflerKeys",
    "Signers",
    "VersionedList",
]
__all__ += ["hop_of", "signers_beside"]

LIST_FILE = "shuffler-keys.json"
"""The name of the list where it is published, beside the receipts."""
FIRST_LIST_FILE = "first-shuffler-keys.json"
"""The name of the first shuffler's list where the second one publishes."""
TAKEN_OVER = "taken-over.json"
"""The ending of the first shuffler's receipts where the second one publishes."""
_VERSIONS = 2**32
_ORDINALS = ("first", "second")
_ROUND: TypeAdapter[int] = TypeAdapter(RoundNumber)


class ReleaseKey(Document):
    """The key that signs openings and receipts, from a round on."""

    from_round: RoundNumber
    key: Bytes32


class IntakeKey(Document):
    """The key that signs refusals from a round on, and the one that tag keys are sealed to."""

    from_round: RoundNumber
    key: Bytes32
    seal: Bytes32


class _KeyEntry(Protocol):
    @property
    def from_round(self) -> int: ...


E = TypeVar("E", bound=_KeyEntry)
Version = Annotated[int, Field(ge=1, lt=_VERSIONS)]


class SeenList(Document):
    """The list of the shuffler's keys seen last: an older or a different one is refused.

    Attributes:
        version: The version of the list.
        digest: SHA-256 of the signed list.
    """

    version: Version
    digest: Bytes32


class VersionedList(RootDocument):
    """A list of keys that its party signs anew when one is added: versions only rise."""

    version: Version

    @property
    def digest(self) -> str:
        """SHA-256 of the signed list, in hexadecimal: two lists of one version differ in it."""
        return sha256(self.to_bytes()).hexdigest()

    @property
    def seen(self) -> SeenList:
        """The part of the list that is remembered once it was seen."""
        return SeenList(version=self.version, digest=self.digest)

    def require_not_before(self, earlier: Self | SeenList) -> None:
        """Refuse a list with a lower version than an earlier one, or a second of its version."""
        if self.version < earlier.version:
            raise UntrustedError(
                self.what, f"is version {self.version}, and {earlier.version} was seen before"
            )
        if self.version == earlier.version and self.digest != earlier.digest:
            raise UntrustedError(self.what, f"is a second one of version {self.version}")


class ShufflerKeys(VersionedList):
    """A shuffler's keys by role and round, signed by its root."""

    what = "the list of the shuffler's keys"
    signer = "shuffler_key"
    purpose = "shuffler keys"

    kind: Literal["shuffler keys"]
    release: Annotated[tuple[ReleaseKey, ...], Field(min_length=1)]
    intake: Annotated[tuple[IntakeKey, ...], Field(min_length=1)]

    @field_validator("release", "intake")
    @classmethod
    def _rises_from_zero(cls, entries: tuple[E, ...]) -> tuple[E, ...]:
        rounds = [entry.from_round for entry in entries]
        if rounds[0] != 0 or any(b <= a for a, b in pairwise(rounds)):
            raise ValueError("rounds must rise strictly from 0")
        return entries

    @classmethod
    def verified(cls, data: bytes, plan: Plan, hop: int = 0) -> Self:
        """Return the list in some bytes if `check` accepts it."""
        read = cls.read(data)
        read.check(plan, hop)
        return read

    def check(self, plan: Plan, hop: int = 0) -> None:
        """Check that it belongs to this plan and is signed by the root of one of its shufflers.

        Raises:
            UntrustedError: It is not; the root of another shuffler does not count either.
        """
        called = f"{_root_name(plan, hop)} of the plan"
        self.require_signed(plan=plan.digest, by=[self.root(plan, hop)], called=called)

    @classmethod
    def root(cls, plan: Plan, hop: int = 0) -> str:
        """Return the public key that the plan names for a shuffler, in hexadecimal."""
        return named_root(plan.shufflers[hop].key, _root_name(plan, hop))

    @classmethod
    def require_signer(cls, plan: Plan, signing_key: Ed25519PrivateKey) -> None:
        """Refuse a key that is the root of no shuffler of the plan, or a plan that lacks a root."""
        roots = [cls.root(plan, hop) for hop in range(len(plan.shufflers))]
        if public_half(signing_key) not in roots:
            raise ParameterError(NAMED[cls.signer], must="be the public half of the given key")

    @classmethod
    def make(
        cls,
        plan: Plan,
        *,
        version: int,
        release: Sequence[ReleaseKey],
        intake: Sequence[IntakeKey],
        signing_key: Ed25519PrivateKey,
    ) -> Self:
        """Sign a list."""
        return cls.signed(
            plan,
            signing_key=signing_key,
            kind="shuffler keys",
            version=version,
            release=[entry.model_dump() for entry in release],
            intake=[entry.model_dump() for entry in intake],
        )

    @classmethod
    def first(
        cls, plan: Plan, *, release: PublicKeys, intake: PublicKeys, signing_key: Ed25519PrivateKey
    ) -> Self:
        """Sign the first list of a plan."""
        return cls.make(
            plan,
            version=1,
            release=[ReleaseKey(from_round=0, key=release.key)],
            intake=[IntakeKey(from_round=0, key=intake.key, seal=intake.seal)],
            signing_key=signing_key,
        )

    def next(
        self,
        plan: Plan,
        *,
        from_round: int,
        signing_key: Ed25519PrivateKey,
        release: PublicKeys | None = None,
        intake: PublicKeys | None = None,
    ) -> Self:
        """Sign the next version of the list, whose new keys are valid from a round on.

        Raises:
            ParameterError: No key is new, or `require_next` refuses the round.
            UntrustedError: Another key signed this list.
        """
        called = "the key that is to sign its next version"
        self.require_signed(plan=plan.digest, by=[public_half(signing_key)], called=called)
        newest = self.intake[-1]
        releases, intakes = [*self.release], [*self.intake]
        if release is not None and release.key != self.release[-1].key:
            self.require_next("release", from_round)
            releases.append(ReleaseKey(from_round=from_round, key=release.key))
        if intake is not None and (intake.key, intake.seal) != (newest.key, newest.seal):
            self.require_next("intake", from_round)
            intakes.append(IntakeKey(from_round=from_round, key=intake.key, seal=intake.seal))
        if (len(releases), len(intakes)) == (len(self.release), len(self.intake)):
            raise ParameterError(
                "public keys",
                must="have one that the list does not name",
                hint="It names them all: nothing was signed. Make another: croupier keys rotate.",
            )
        return self.make(
            plan,
            version=self.version + 1,
            release=releases,
            intake=intakes,
            signing_key=signing_key,
        )

    def require_next(self, role: Literal["release", "intake"], from_round: int) -> None:
        """Refuse a round from which a new key of a role cannot be valid.

        That is: a key of this role is already valid from it or a later round, or one of the other
        role from a later one; or it is no round number, or there can be no further version.

        Raises:
            ParameterError: The round is refused.
        """
        own, other = self.release[-1].from_round, self.intake[-1].from_round
        if role == "intake":
            own, other = other, own
        least = max(own + 1, other)
        if from_round < least:
            raise ParameterError(
                "--from-round",
                must=f"be at least {least}, by the keys that the list has, and not open yet",
                got=from_round,
            )
        try:
            _ROUND.validate_python(from_round, strict=True)
        except ValidationError:
            raise ParameterError(
                "--from-round", must="be the number of a round", got=from_round
            ) from None
        if self.version + 1 >= _VERSIONS:
            raise ParameterError(
                "--shuffler",
                must="be a list that a next version can follow",
                got=f"version {self.version}",
                hint="It is the last one: keys are replaced by a new plan.",
            )

    @property
    def counts_from(self) -> int:
        """The first round for which all its newest keys are valid."""
        return max(self.release[-1].from_round, self.intake[-1].from_round)

    def release_key(self, round_number: int) -> str:
        """Return the key that signs the opening and the receipt of a round."""
        return _of_round(self.release, round_number).key

    def intake_key(self, round_number: int) -> IntakeKey:
        """Return the intake keys of a round."""
        return _of_round(self.intake, round_number)

    def is_replaced(self, round_number: int, *, newest: int) -> bool:
        """Tell whether the release key of a round was replaced by that of a newer round."""
        own, other = _of_round(self.release, round_number), _of_round(self.release, newest)
        return own.from_round < other.from_round


@dataclass(frozen=True, kw_only=True)
class Signers:
    """The keys whose signatures are valid for one shuffler of a plan.

    Attributes:
        plan: The digest of the plan.
        root: The shuffler's `key` in the plan.
        keys: The list that the root signed; without one only the root itself is believed.
        hop: The shuffler: 0 is the first.
        shufflers: The number of shufflers of the plan.
    """

    plan: str
    root: str
    keys: ShufflerKeys | None = None
    hop: int = 0
    shufflers: int = 1

    @classmethod
    def of(cls, plan: Plan, keys: ShufflerKeys | None = None, hop: int = 0) -> Self:
        """Return the signers of a shuffler.

        Raises:
            ParameterError: The plan names no key of the shuffler.
            UntrustedError: The list is of another plan, or not signed by the shuffler's root.
        """
        if keys is not None:
            keys.check(plan, hop)
        return cls(
            plan=plan.digest,
            root=ShufflerKeys.root(plan, hop),
            keys=keys,
            hop=hop,
            shufflers=len(plan.shufflers),
        )

    @property
    def is_last(self) -> bool:
        """Tell whether no other shuffler comes after this one."""
        return self.hop == self.shufflers - 1

    def called(self, role: Literal["release", "intake"], round_number: int) -> str:
        """Name the key of a role in a round, for errors about a missing signature."""
        which = "" if self.shufflers == 1 else f"{_ORDINALS[self.hop]} "
        name = f"the {which}shuffler's {role} key of round {round_number}"
        if self.keys is None:
            return name
        entries: Sequence[_KeyEntry] = getattr(self.keys, role)
        first = _of_round(entries, round_number).from_round
        return f"{name}, which counts from round {first} on" if first else name

    def release(self, round_number: int) -> list[str]:
        """Return the keys that sign the opening and the receipt of a round."""
        return (
            [self.root] if self.keys is None else [self.keys.release_key(round_number), self.root]
        )

    @property
    def of_any_round(self) -> list[str]:
        """Return the keys that sign openings and receipts, of any round."""
        return [self.root, *(entry.key for entry in (self.keys.release if self.keys else ()))]

    def intake(self, round_number: int) -> list[str]:
        """Return the keys that sign refusals in a round."""
        if self.keys is None:
            return [self.root]
        return [self.keys.intake_key(round_number).key, self.root]


def hop_of(keys: ShufflerKeys, plan: Plan) -> int:
    """Return the shuffler whose root signed a list: 0 for the first of the plan.

    Raises:
        UntrustedError: No shuffler's root did, or it is of another plan.
    """
    roots = [ShufflerKeys.root(plan, hop) for hop in range(len(plan.shufflers))]
    called = f"any {NAMED[keys.signer]} of the plan"
    keys.require_signed(plan=plan.digest, by=roots, called=called)
    document = keys.model_dump(mode="json")
    signed = [is_signed(document, public=root, purpose=keys.purpose) for root in roots]
    return signed.index(True)


def signers_beside(plan: Plan, folders: Iterable[Path], hop: int | None = 0) -> Signers:
    """Return the signers of a plan's shuffler by the newest list found in some folders.

    Without any list, only the root itself is believed, which signed receipts in version 0.1.

    Args:
        plan: The plan.
        folders: The folders.
        hop: The shuffler, 0 is the first; None for the one whose list is there.

    Raises:
        UntrustedError: A list is not the root's, or two of one version differ.
    """
    newest: ShufflerKeys | None = None
    for file in (folder / LIST_FILE for folder in folders):
        if not file.is_file():
            continue
        read = ShufflerKeys.read(file.read_bytes())
        if read.plan != plan.digest:
            continue  # and so are the receipts beside it
        hop = hop_of(read, plan) if hop is None else hop
        read.check(plan, hop)
        if newest is None or read.version > newest.version:
            newest = read
        elif read.version == newest.version:
            read.require_not_before(newest)
    return Signers.of(plan, newest, hop or 0)


def _root_name(plan: Plan, hop: int) -> str:
    """Return the place where the plan names a shuffler's root; tables are counted if several."""
    return NAMED[ShufflerKeys.signer] if len(plan.shufflers) == 1 else f"shufflers.{hop + 1}.key"


def _of_round(entries: Sequence[E], round_number: int) -> E:
    return next(entry for entry in reversed(entries) if entry.from_round <= round_number)
