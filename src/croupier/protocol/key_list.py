"""Key lists: which public keys a client seals to, signed by the parties that the plan names.

They are the same bytes for everybody, so that a client can compare them with a second mirror.
"""

import json
from hashlib import sha256
from typing import Literal, Self, get_args

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from pydantic import ValidationError

from croupier.errors import CroupierError, PolicyError, UntrustedError
from croupier.model.judgement import Judgement
from croupier.plan.plan import Plan
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

__all__ = ["AnalyzerKey", "KeyList", "NotAccepted", "OldRoundError", "PolicyWord", "ShufflerKey"]
__all__ += ["WireVersion", "is_current", "opening_of", "require_version", "sent_digest"]

_FOUND = {
    Judgement.MET: "the policy is met",
    Judgement.NOT_MET: "the policy is not met",
    Judgement.NO_LIMIT: "the policy limits nothing",
}
WireVersion = Literal[2]
"""Of what is served: keys to which reports of one version of the wire format are sealed."""


class SealingKey(SignedDocument):
    """A signed key that reports are sealed to."""

    purpose = "key list"

    key: Bytes32

    @property
    def public_key(self) -> X25519PublicKey:
        """What the seal is sealed to."""
        return X25519PublicKey.from_public_bytes(bytes.fromhex(self.key))

    def require_sealable(self) -> None:
        """Refuse a key that is none of X25519, or that nothing can be sealed to."""
        if not is_sealable(self.key):
            raise UntrustedError(self.what, "has a key that nothing can be sealed to")


class ShufflerKey(SealingKey):
    """The signed opening of a round: its batch, the shuffler's key for it, and the analyzer's.

    The release key of the round signs it. A round has one key of the analyzer, this one. Every seal
    is bound to it, so that whoever is shown another sends nothing that the shuffler can open.
    """

    what = "the opening of a round"

    kind: Literal["shuffler"]
    round: RoundNumber
    batch: Bytes16
    analyzer: Bytes32

    @classmethod
    def make(
        cls, epoch: Epoch, plan: Plan, *, key: X25519PrivateKey, signing_key: Ed25519PrivateKey
    ) -> Self:
        """Sign the key of a batch."""
        return cls.written(
            plan,
            signing_key=signing_key,
            kind="shuffler",
            round=epoch.round_number,
            batch=epoch.batch.hex(),
            key=_public(key),
            analyzer=epoch.analyzer.hex(),
        )

    @classmethod
    def verified(cls, data: bytes, signers: Signers) -> Self:
        """The opening behind bytes, if `check` believes it."""
        read = cls.read(data)
        read.check(signers)
        return read

    def check(self, signers: Signers) -> None:
        """Check that it is of the plan, signed by its round's release key, and can be sealed to.

        Raises:
            UntrustedError: It is not; whoever believed it might seal to a stranger.
        """
        called = signers.called("release", self.round)
        self.require_signed(plan=signers.plan, by=signers.release(self.round), called=called)
        self.require_sealable()

    def epoch(self, plan: Plan, *, query: bytes = b"") -> Epoch:
        """What the seals are bound to; `query` is the digest of the round's query, if any."""
        return Epoch.of(
            plan,
            round_number=self.round,
            batch=bytes.fromhex(self.batch),
            analyzer=bytes.fromhex(self.analyzer),
            query=query,
        )


class OldRoundError(CroupierError):
    """A round that version 0.1 opened: its envelopes are sealed in wire version 1."""

    def __init__(self, round_number: int) -> None:
        self.round_number = round_number
        super().__init__(
            f"Round {round_number} was opened by croupier 0.1, whose envelopes this version does "
            "not open. Release it with croupier 0.1 first, without --next-round, then start again."
        )


def opening_of(text: str, signers: Signers) -> ShufflerKey:
    """The signed opening of a round, as the shuffler's database keeps it.

    Raises:
        OldRoundError: Version 0.1 signed it.
        UntrustedError: It is not what the plan's shuffler signed.
    """
    if not is_current(text):
        raise OldRoundError(json.loads(text)["round"])
    return ShufflerKey.verified(text.encode(), signers)


def is_current(text: str) -> bool:
    """Whether a signed opening is of this version of the wire format, and not of version 1."""
    return "analyzer" in json.loads(text)


class PolicyWord(Document):
    """The analyzer's word on whether the plan keeps its policy, as it was proved when it signed.

    Attributes:
        judgement: What was proved.
        judged: The `policy_digest` of the plan that was judged.
        despite_policy: Whether the plan is to run although its policy is not met.
    """

    judgement: Judgement
    judged: Bytes32
    despite_policy: bool

    @classmethod
    def on(cls, plan: Plan, judgement: Judgement, *, despite_policy: bool = False) -> Self:
        """Write down what was found about the policy of a plan."""
        return cls(
            judgement=judgement,
            judged=plan.policy_digest,
            despite_policy=despite_policy and judgement is not Judgement.MET,
        )

    def __str__(self) -> str:
        found = _FOUND[self.judgement]
        return f"{found}; the plan runs despite that" if self.despite_policy else found


class AnalyzerKey(SealingKey, RootDocument):
    """The analyzer's public key for a plan, and its word on the plan's policy.

    Its root signs it. Another key is another document of the same plan.

    Lists that were signed before 0.2 have no such word. Clients believe them; no service starts
    with them.
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
        """Sign the key that reports are sealed to, with what was found about the policy."""
        word = {} if policy is None else {"policy": policy.model_dump()}
        return cls.signed(plan, signing_key=signing_key, kind="analyzer", key=_public(key), **word)

    def check(self, plan: Plan) -> None:
        """Check also that the key is one that can be sealed to."""
        super().check(plan)
        self.require_sealable()

    def require_policy(self, plan: Plan) -> PolicyWord:
        """Return the word on the policy, if by it the plan may run.

        Nothing is proved here: the word of whoever signed is read, and held to be about this policy
        and population.

        Raises:
            PolicyError: It says nothing, is about another policy or population, or says no.
        """
        again = "Let the analyzer sign again: croupier keys sign."
        if self.policy is None:
            raise PolicyError(
                "The analyzer's key list has no word on the plan's policy", hint=again
            )
        if self.policy.judged != plan.policy_digest:
            problem = "Policy or population of the plan are not those that the analyzer judged"
            raise PolicyError(problem, hint=f"Use the plan that was signed. {again}")
        if self.policy.judgement is not Judgement.MET and not self.policy.despite_policy:
            problem = f"The plan must not run: the analyzer signed that {self.policy}"
            raise PolicyError(problem, hint=f"Change the plan. {again}")
        return self.policy


class NotAccepted(SignedDocument):
    """The shuffler's word that a batch never has what was sent: only then may a client reseal.

    It is bound to the request, so that nobody can be shown the refusal of another's, or of the own
    report under another credential.
    """

    what = "the refusal"
    purpose = "refusal"

    kind: Literal["not accepted"]
    batch: Bytes16
    sent: Bytes32

    @classmethod
    def make(cls, plan: Plan, *, batch: bytes, sent: str, signing_key: Ed25519PrivateKey) -> Self:
        """Sign that a batch is closed for ever, or was never open, and has not what was `sent`."""
        return cls.written(
            plan, signing_key=signing_key, kind="not accepted", batch=batch.hex(), sent=sent
        )

    @classmethod
    def verified(cls, data: bytes, signers: Signers, *, round_number: int) -> Self:
        """The refusal behind bytes, if the intake key of a round signed it.

        Whoever sent something knows for which round. A key of intake that was replaced because it
        leaked refuses nothing from the round of its successor on.
        """
        read = cls.read(data)
        called = signers.called("intake", round_number)
        read.require_signed(plan=signers.plan, by=signers.intake(round_number), called=called)
        return read


def sent_digest(authorization: bytes, body: bytes) -> str:
    """What a refusal is bound to: SHA-256 of the Authorization header's value and of the envelopes.

    SHA-256((length of the value in 2 bytes) || value || body)
    """
    return sha256(len(authorization).to_bytes(2) + authorization + body).hexdigest()


class KeyList(Document):
    """What a client needs to take part: the plan's text, the parties' keys, the open rounds."""

    schema_version: WireVersion
    plan: str
    analyzer: AnalyzerKey
    keys: ShufflerKeys
    shuffler: tuple[ShufflerKey, ...]

    @classmethod
    def of(
        cls,
        plan: Plan,
        *,
        analyzer: AnalyzerKey,
        keys: ShufflerKeys,
        shuffler: tuple[ShufflerKey, ...],
    ) -> Self:
        """The list of a plan."""
        text = plan.canonical.decode()
        return cls(schema_version=2, plan=text, analyzer=analyzer, keys=keys, shuffler=shuffler)

    @classmethod
    def verified(cls, data: bytes, plan: Plan) -> Self:
        """The list behind bytes, every part of it checked against the plan.

        Raises:
            UntrustedError: A part is of another plan, not signed, or signed by another key; or a
                round was opened for another key of the analyzer.
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
        return read

    def require_one_analyzer(self) -> None:
        """Refuse a key of the analyzer that an open round was not opened for."""
        if any(entry.analyzer != self.analyzer.key for entry in self.shuffler):
            raise UntrustedError(
                "the key list", "shows another key of the analyzer than its round was opened for"
            )


def require_version(what: str, data: bytes) -> None:
    """Refuse a served document of another version of the wire format, and say so."""
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
