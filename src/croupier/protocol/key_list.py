"""Key lists: the public keys that clients seal to, signed by the parties that the plan names.

Everybody gets the same bytes, so that a client can compare them with a second mirror.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Literal, Self, get_args

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from pydantic import ValidationError

from croupier.errors import CroupierError, ParameterError, PolicyError, UntrustedError
from croupier.model.judgement import Judgement
from croupier.plan.plan import Plan
from croupier.protocol.admission.token_keys import TokenKeys
from croupier.protocol.party_keys import ShufflerKeys, Signers
from croupier.protocol.public_keys import is_sealable
from croupier.protocol.signed_document import (
    SHAPE,
    Absent,
    Bytes16,
    Bytes32,
    Document,
    RootDocument,
    RoundNumber,
    SignedDocument,
)
from croupier.protocol.wire import Epoch

__all__ = ["AnalyzerKey", "KeyList", "NotAccepted", "OldRoundError", "Onward", "PolicyWord"]
__all__ += ["ShufflerKey", "WireVersion", "is_current", "kept_seconds", "opening_of"]
__all__ += ["require_onward", "require_version", "sent_digest"]

_FOUND = {
    Judgement.MET: "the policy is met",
    Judgement.NOT_MET: "the policy is not met",
    Judgement.NO_LIMIT: "the policy limits nothing",
}
WireVersion = Literal[2]
"""The version of what is served: keys for reports of one version of the wire format."""
_SECOND = "the second shuffler's opening"


class SealingKey(SignedDocument):
    """A signed key that reports are sealed to."""

    purpose = "key list"

    key: Bytes32

    @property
    def public_key(self) -> X25519PublicKey:
        """The public key that reports are sealed to."""
        return X25519PublicKey.from_public_bytes(bytes.fromhex(self.key))

    def require_sealable(self) -> None:
        """Refuse a key that is not an X25519 key, or that nothing can be sealed to."""
        if not is_sealable(self.key):
            raise UntrustedError(self.what, "has a key that nothing can be sealed to")


class ShufflerKey(SealingKey):
    """The signed opening of a round: its batch, the shuffler's key for it, and all later keys.

    It is signed by the round's release key. A round has one analyzer key, this one. Every seal is
    bound to it, so a client that was shown another key sends nothing that the shuffler can open.
    So it is with the key of a second shuffler, which opens the same round and batch with a document
    of its own.

    Attributes:
        next: The next shuffler's key for the batch; absent if there is none.
    """

    what = "the opening of a round"

    kind: Literal["shuffler"]
    round: RoundNumber
    batch: Bytes16
    analyzer: Bytes32
    next: Absent[Bytes32] = None

    @classmethod
    def make(
        cls,
        epoch: Epoch,
        plan: Plan,
        *,
        key: X25519PrivateKey,
        signing_key: Ed25519PrivateKey,
        hop: int = 0,
    ) -> Self:
        """Sign the key of a batch.

        Args:
            epoch: Plan, round and batch, with the keys of everybody after the first shuffler.
            plan: The plan of the collection.
            key: The shuffler's key for the batch.
            signing_key: Its release key of the round.
            hop: The shuffler: 0 is the first.
        """
        if hop and epoch.onward[hop - 1 : hop] != (key.public_key().public_bytes_raw(),):
            raise ParameterError("key", must="be the one that the epoch names for this shuffler")
        later = {"next": epoch.onward[hop].hex()} if hop < len(epoch.onward) else {}
        return cls.written(
            plan,
            signing_key=signing_key,
            kind="shuffler",
            round=epoch.round_number,
            batch=epoch.batch.hex(),
            key=_public(key),
            analyzer=epoch.analyzer.hex(),
            **later,
        )

    @classmethod
    def verified(cls, data: bytes, signers: Signers) -> Self:
        """Return the opening in some bytes if `check` accepts it."""
        read = cls.read(data)
        read.check(signers)
        return read

    def check(self, signers: Signers) -> None:
        """Check that it belongs to the plan, is signed by its round's release key and is sealable.

        It must name the next shuffler's key if there is one, and only then.

        Raises:
            UntrustedError: It fails a check; a client that believed it might seal to a stranger.
        """
        called = signers.called("release", self.round)
        self.require_signed(plan=signers.plan, by=signers.release(self.round), called=called)
        if (self.next is None) != signers.is_last:
            problem = "has no key of the next shuffler" if self.next is None else "names a next one"
            raise UntrustedError(self.what, f"{problem}, unlike the plan")
        self.require_sealable()

    def epoch(self, plan: Plan, *, query: bytes = b"") -> Epoch:
        """Return what seals are bound to; the openings of both shufflers give the same.

        Args:
            plan: The plan of the collection.
            query: The digest of the round's query, if any.
        """
        # An opening without a next key is that of the last shuffler.
        onward = [self.next or self.key for _ in plan.shufflers[1:]]
        return Epoch.of(
            plan,
            round_number=self.round,
            batch=bytes.fromhex(self.batch),
            analyzer=bytes.fromhex(self.analyzer),
            query=query,
            onward=tuple(bytes.fromhex(key) for key in onward),
        )


class Onward(Document):
    """The second shuffler's part in a round: the list of its keys, and its opening.

    Both openings must agree on everything: an honest shuffler among the two opens only what was
    sealed with the keys in its own.
    """

    keys: ShufflerKeys
    opening: ShufflerKey

    @classmethod
    def verified(cls, data: bytes, plan: Plan, first: ShufflerKey) -> Self:
        """Return what is in some bytes if `check` accepts it."""
        try:
            read = cls.model_validate_json(data)
        except ValidationError:
            raise UntrustedError(_SECOND, SHAPE) from None
        read.check(plan, first)
        return read

    def check(self, plan: Plan, first: ShufflerKey) -> None:
        """Check that the second shuffler signed it, for the round that the first one opened.

        Args:
            plan: A plan with two shufflers.
            first: The first shuffler's opening, checked already.

        Raises:
            UntrustedError: It is not the second shuffler's, or both openings differ.
        """
        self.opening.check(Signers.of(plan, self.keys, hop=1))
        own, other = self.opening, first
        if (own.round, own.batch) != (other.round, other.batch):
            raise UntrustedError(_SECOND, "is of another round or batch than the first one's")
        if own.analyzer != other.analyzer:
            raise UntrustedError(_SECOND, "has another key of the analyzer than the first one's")
        if own.key != other.next:
            raise UntrustedError(_SECOND, "has another key than the one that the first one's names")


def require_onward(
    what: str, onward: Sequence[Onward] | None, plan: Plan, openings: Sequence[ShufflerKey]
) -> None:
    """Refuse a document without the second shuffler's part in each round, or with one too many.

    Args:
        what: The name of the document, for errors.
        onward: The second shuffler's part, one per opening and in their order; None if absent.
        plan: The plan of the collection.
        openings: The first shuffler's openings, checked already.

    Raises:
        UntrustedError: A part is missing, superfluous, or not what `Onward.check` accepts.
    """
    if len(plan.shufflers) == 1:
        if onward is not None:
            raise UntrustedError(what, "has keys of a second shuffler, and the plan has one")
        return
    if onward is None or len(onward) != len(openings):
        raise UntrustedError(what, "does not have the second shuffler's opening of every round")
    for entry, first in zip(onward, openings, strict=True):
        entry.check(plan, first)


class OldRoundError(CroupierError):
    """A round that version 0.1 opened: its envelopes are sealed in wire version 1."""

    def __init__(self, round_number: int) -> None:
        self.round_number = round_number
        super().__init__(
            f"Round {round_number} was opened by croupier 0.1, whose envelopes this version does "
            "not open. Release it with croupier 0.1 first, without --next-round, then start again."
        )


def opening_of(text: str, signers: Signers, *, round_number: int, batch: bytes) -> ShufflerKey:
    """Return the signed opening of a round, as the shuffler's database keeps it.

    Args:
        text: The document.
        signers: The keys that sign for the plan's shuffler.
        round_number: The round that the database has it for.
        batch: The batch that the database has it for.

    Raises:
        OldRoundError: Version 0.1 signed it.
        UntrustedError: It is not what the plan's shuffler signed, or not for this round.
    """
    if not is_current(text):
        raise OldRoundError(json.loads(text)["round"])
    read = ShufflerKey.verified(text.encode(), signers)
    if (read.round, read.batch) != (round_number, batch.hex()):
        problem = f"is that of round {read.round}, and the database has it for round {round_number}"
        raise UntrustedError(read.what, problem)
    return read


def is_current(text: str) -> bool:
    """Tell whether a signed opening has this version of the wire format, not version 1."""
    return "analyzer" in json.loads(text)


def kept_seconds(plan: Plan) -> int:
    """Return the seconds for which a cache may keep a key list or a round's document.

    So much later a new round or a replaced key is seen: a hundredth of a round, so that nobody
    misses more of it; at least a second, in which workers renew theirs; at most a minute.
    """
    return min(max(int(plan.collection.every.total_seconds()) // 100, 1), 60)


class PolicyWord(Document):
    """The analyzer's statement on whether the plan meets its policy, as proved when it signed.

    Attributes:
        judgement: The result of the proof.
        judged: The `policy_digest` of the plan that was judged.
        despite_policy: True if the plan should run although its policy is not met.
        organisation: The digest of the organisation's policy that was judged as well, if any.
    """

    judgement: Judgement
    judged: Bytes32
    despite_policy: bool
    organisation: Absent[Bytes32] = None

    @classmethod
    def on(
        cls,
        plan: Plan,
        judgement: Judgement,
        *,
        despite_policy: bool = False,
        organisation: str | None = None,
    ) -> Self:
        """Record the judgement on a plan's policy."""
        return cls(
            judgement=judgement,
            judged=plan.policy_digest,
            despite_policy=despite_policy and judgement is not Judgement.MET,
            **({} if organisation is None else {"organisation": organisation}),
        )

    def __str__(self) -> str:
        found = _FOUND[self.judgement]
        if self.organisation is not None:
            found += f", that of an organisation with digest {self.organisation[:8]} included"
        return f"{found}; the plan runs despite that" if self.despite_policy else found


class AnalyzerKey(SealingKey, RootDocument):
    """The analyzer's public key for a plan, and its statement on the plan's policy.

    The analyzer's root signs it. Another key is another document of the same plan.

    Lists that were signed before 0.2 have no such statement. Clients believe them; no service
    starts with them.
    """

    what = "the analyzer's key list"
    signer = "analyzer_key"

    kind: Literal["analyzer"]
    policy: Absent[PolicyWord] = None

    @classmethod
    def make(
        cls,
        plan: Plan,
        *,
        key: X25519PrivateKey,
        signing_key: Ed25519PrivateKey,
        policy: PolicyWord | None = None,
    ) -> Self:
        """Sign the key that reports are sealed to, with the judgement on the policy."""
        word = {} if policy is None else {"policy": policy.model_dump()}
        return cls.signed(plan, signing_key=signing_key, kind="analyzer", key=_public(key), **word)

    def check(self, plan: Plan) -> None:
        """Check also that something can be sealed to the key."""
        super().check(plan)
        self.require_sealable()

    def require_policy(self, plan: Plan) -> PolicyWord:
        """Return the statement on the policy if it allows the plan to run.

        Nothing is proved here: the signed statement is read, and must be about this policy and
        population.

        Raises:
            PolicyError: There is none, it is about another policy or population, or it says no.
        """
        again = "Let the analyzer sign again: croupier keys sign."
        if self.policy is None:
            raise PolicyError(
                "The analyzer's key list has no statement on the plan's policy", hint=again
            )
        if self.policy.judged != plan.policy_digest:
            problem = "The plan's policy or population is not the one that the analyzer judged"
            raise PolicyError(problem, hint=f"Use the plan that was signed. {again}")
        if self.policy.judgement is not Judgement.MET and not self.policy.despite_policy:
            problem = f"The plan must not run: the analyzer signed that {self.policy}"
            raise PolicyError(problem, hint=f"Change the plan. {again}")
        return self.policy


class NotAccepted(SignedDocument):
    """The shuffler's signed refusal: a batch will never hold a report, so it may be resealed.

    It is bound to the request: nobody can be shown the refusal of another person's report, or of
    their own under another credential.
    """

    what = "the refusal"
    purpose = "refusal"

    kind: Literal["not accepted"]
    batch: Bytes16
    sent: Bytes32

    @classmethod
    def make(cls, plan: Plan, *, batch: bytes, sent: str, signing_key: Ed25519PrivateKey) -> Self:
        """Sign that a batch is closed for ever, or was never open, and does not hold `sent`."""
        return cls.written(
            plan, signing_key=signing_key, kind="not accepted", batch=batch.hex(), sent=sent
        )

    @classmethod
    def verified(cls, data: bytes, signers: Signers, *, round_number: int) -> Self:
        """Return the refusal in some bytes, if the intake key of a round signed it.

        The sender knows the round. An intake key that was replaced because it leaked cannot sign
        refusals from its successor's round on.
        """
        read = cls.read(data)
        called = signers.called("intake", round_number)
        read.require_signed(plan=signers.plan, by=signers.intake(round_number), called=called)
        return read


def sent_digest(authorization: bytes, body: bytes) -> str:
    """Return what a refusal is bound to: SHA-256 of the Authorization header and the envelopes.

    SHA-256((length of the value in 2 bytes) || value || body)
    """
    return sha256(len(authorization).to_bytes(2) + authorization + body).hexdigest()


class KeyList(Document):
    """The facts a client needs to take part: the plan's text, the keys, the open rounds.

    Attributes:
        onward: The second shuffler's part, one per entry of `shuffler` and in their order; absent
            if the plan has one shuffler.
        tokens: The list of the issuer's keys; absent if the plan admits by credential.
    """

    schema_version: WireVersion
    plan: str
    analyzer: AnalyzerKey
    keys: ShufflerKeys
    shuffler: tuple[ShufflerKey, ...]
    onward: Absent[tuple[Onward, ...]] = None
    tokens: Absent[TokenKeys] = None

    @classmethod
    def of(  # noqa: PLR0913 - keyword-only parts of one document
        cls,
        plan: Plan,
        *,
        analyzer: AnalyzerKey,
        keys: ShufflerKeys,
        shuffler: tuple[ShufflerKey, ...],
        onward: tuple[Onward, ...] | None = None,
        tokens: TokenKeys | None = None,
    ) -> Self:
        """Return the list of a plan.

        With two shufflers, `onward` has an entry per open round; `tokens` is given if the plan
        admits by token.
        """
        given: dict[str, Any] = {"onward": onward, "tokens": tokens}
        later = {name: part for name, part in given.items() if part is not None}
        return cls(
            schema_version=2,
            plan=plan.canonical.decode(),
            analyzer=analyzer,
            keys=keys,
            shuffler=shuffler,
            **later,
        )

    @classmethod
    def verified(cls, data: bytes, plan: Plan) -> Self:
        """Return the list in some bytes, with every part checked against the plan.

        Raises:
            UntrustedError: A part belongs to another plan, is not signed, or by another key; or a
                round was opened for another key of the analyzer; or the shufflers disagree.
        """
        what = "the key list"
        require_version(what, data)
        try:
            read = cls.model_validate_json(data)
        except ValidationError:
            raise UntrustedError(what, SHAPE) from None
        if read.plan.encode() != plan.canonical:
            raise UntrustedError(what, "is of another plan")
        read.analyzer.check(plan)
        signers = Signers.of(plan, read.keys)
        for entry in read.shuffler:
            entry.check(signers)
        if len({entry.round for entry in read.shuffler}) != len(read.shuffler):
            raise UntrustedError(what, "names two batches for one round")
        read.require_one_analyzer()
        require_onward(what, read.onward, plan, read.shuffler)
        read.require_tokens(plan)
        return read

    def require_one_analyzer(self) -> None:
        """Refuse an analyzer key that differs from the one an open round was opened for."""
        if any(entry.analyzer != self.analyzer.key for entry in self.shuffler):
            raise UntrustedError(
                "the key list", "shows another key of the analyzer than its round was opened for"
            )

    def require_tokens(self, plan: Plan) -> None:
        """Refuse a list of the issuer's keys that is missing, superfluous or not its root's."""
        if plan.admission.by != "token":
            if self.tokens is not None:
                raise UntrustedError("the key list", "has keys of an issuer, unlike the plan")
            return
        if self.tokens is None:
            raise UntrustedError("the key list", "has no keys of the issuer, unlike the plan")
        self.tokens.check(plan)


def require_version(what: str, data: bytes) -> None:
    """Refuse a served document of another version of the wire format, and name the version."""
    try:
        version = json.loads(data).get("schema_version")
    except (ValueError, AttributeError, RecursionError):
        raise UntrustedError(what, SHAPE) from None
    if isinstance(version, int) and version != get_args(WireVersion)[0]:
        raise UntrustedError(
            what, f"is of wire version {version}, which this client does not speak"
        )


def _public(key: X25519PrivateKey) -> str:
    return key.public_key().public_bytes_raw().hex()
