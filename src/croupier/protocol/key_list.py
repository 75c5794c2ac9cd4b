"""Key lists: which public keys a client seals to, signed by the keys that the plan names.

They are the same bytes for everybody, so that a client can compare them with a second mirror.
"""

import json
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
)

from croupier.errors import CroupierError, ParameterError, PolicyError, UntrustedError
from croupier.model.judgement import Judgement
from croupier.plan.plan import Plan
from croupier.protocol.signed_document import canonical, is_signed, sign
from croupier.protocol.wire import Epoch

__all__ = ["AnalyzerKey", "Document", "KeyList", "NotAccepted", "OldRoundError", "PolicyWord"]
__all__ += ["RoundNumber", "ShufflerKey", "SignedDocument", "WireVersion", "is_current"]
__all__ += ["opening_of", "require_version", "sent_digest"]

_KEYS = "key list"
_REFUSAL = "refusal"
_FOUND = {
    Judgement.MET: "the policy is met",
    Judgement.NOT_MET: "the policy is not met",
    Judgement.NO_LIMIT: "the policy limits nothing",
}
_NAMED = {"shuffler_key": "shufflers.key", "analyzer_key": "analyzer.key"}
"""Where a plan names the keys."""
_SHAPE = "has missing, unknown or impossible entries"


Bytes16 = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
Bytes32 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Bytes64 = Annotated[str, Field(pattern="^[0-9a-f]{128}$")]
RoundNumber = Annotated[int, Field(ge=0, lt=2**32)]
WireVersion = Literal[2]
"""Of what is served: keys to which reports of one version of the wire format are sealed."""


class Document(BaseModel):
    """Entries of fixed names and types, and no others."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SignedDocument(Document):
    """A document about a plan, signed by a key that the plan names."""

    what: ClassVar[str]
    signer: ClassVar[Literal["shuffler_key", "analyzer_key"]]
    purpose: ClassVar[str] = _KEYS

    plan: Bytes32
    signature: Bytes64

    @classmethod
    def signed(cls, plan: Plan, *, signing_key: Ed25519PrivateKey, **entries: Any) -> Self:
        """The document, with a signature that the plan's clients will believe."""
        cls.require_signer(plan, signing_key)
        document = {"plan": plan.digest} | entries
        signed = sign(document, key=signing_key, purpose=cls.purpose)
        return cls.model_validate_json(canonical(signed))

    @classmethod
    def require_signer(cls, plan: Plan, signing_key: Ed25519PrivateKey) -> None:
        """Refuse a key that the plan does not name: nobody would believe its signature."""
        if signing_key.public_key().public_bytes_raw().hex() != cls._trusted(plan):
            raise ParameterError(_NAMED[cls.signer], must="be the public half of the given key")

    @classmethod
    def verified(cls, data: bytes, plan: Plan) -> Self:
        """The document behind bytes, if `check` believes it."""
        try:
            read = cls.model_validate_json(data)
        except ValidationError:
            raise UntrustedError(cls.what, _SHAPE) from None
        read.check(plan)
        return read

    def check(self, plan: Plan) -> None:
        """Check that it is of this plan and signed by the key that the plan names.

        Raises:
            UntrustedError: It is not; whoever believed it might seal to a stranger.
        """
        if self.plan != plan.digest:
            raise UntrustedError(self.what, "is of another plan")
        if not is_signed(self.model_dump(), public=self._trusted(plan), purpose=self.purpose):
            raise UntrustedError(self.what, f"is not signed by {_NAMED[self.signer]} of the plan")

    def to_bytes(self) -> bytes:
        """The document as it is stored and served."""
        return canonical(self.model_dump())

    @classmethod
    def _trusted(cls, plan: Plan) -> str:
        public: str | None = getattr(plan, cls.signer)
        if public is None:
            raise ParameterError(
                _NAMED[cls.signer],
                must="be given to deploy a plan",
                hint="Run: croupier keys create PARTY --plan FILE.",
            )
        return public


class SealingKey(SignedDocument):
    """A signed key that reports are sealed to."""

    key: Bytes32

    @property
    def public_key(self) -> X25519PublicKey:
        """What the seal is sealed to."""
        return X25519PublicKey.from_public_bytes(bytes.fromhex(self.key))

    def check(self, plan: Plan) -> None:
        """Check also that the key is one of X25519 that can be sealed to."""
        super().check(plan)
        try:
            X25519PrivateKey.generate().exchange(self.public_key)
        except ValueError:  # of low order: whatever it is exchanged with, the secret is zero
            raise UntrustedError(self.what, "has a key that nothing can be sealed to") from None


class ShufflerKey(SealingKey):
    """The signed opening of a round: its batch, the shuffler's key for it, and the analyzer's.

    A round has one key of the analyzer, this one. Every seal is bound to it, so that whoever is
    shown another sends nothing that the shuffler can open.
    """

    what = "the shuffler's key list"
    signer = "shuffler_key"

    kind: Literal["shuffler"]
    round: RoundNumber
    batch: Bytes16
    analyzer: Bytes32

    @classmethod
    def make(
        cls, epoch: Epoch, plan: Plan, *, key: X25519PrivateKey, signing_key: Ed25519PrivateKey
    ) -> Self:
        """Sign the key of a batch."""
        return cls.signed(
            plan,
            signing_key=signing_key,
            kind="shuffler",
            round=epoch.round_number,
            batch=epoch.batch.hex(),
            key=_public(key),
            analyzer=epoch.analyzer.hex(),
        )

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


def opening_of(text: str, plan: Plan) -> ShufflerKey:
    """The signed opening of a round, as the shuffler's database keeps it.

    Raises:
        OldRoundError: Version 0.1 signed it.
        UntrustedError: It is not what the plan's shuffler signed.
    """
    if not is_current(text):
        raise OldRoundError(json.loads(text)["round"])
    return ShufflerKey.verified(text.encode(), plan)


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


class AnalyzerKey(SealingKey):
    """The analyzer's public key for a plan, and its word on the plan's policy.

    Lists that were signed before 0.2 have no such word. Clients believe them; no service starts
    with them.
    """

    what = "the analyzer's key list"
    signer = "analyzer_key"

    kind: Literal["analyzer"]
    policy: PolicyWord | None = None

    @field_validator("policy", mode="before")
    @classmethod
    def _is_given_or_absent(cls, word: Any) -> Any:
        """Refuse null: what is absent has one spelling."""
        if word is None:
            raise ValueError("must be left out where there is none")
        return word

    @model_serializer(mode="wrap")
    def _without_what_is_absent(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in handler(self).items() if value is not None}

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
    signer = "shuffler_key"
    purpose = _REFUSAL

    kind: Literal["not accepted"]
    batch: Bytes16
    sent: Bytes32

    @classmethod
    def make(cls, plan: Plan, *, batch: bytes, sent: str, signing_key: Ed25519PrivateKey) -> Self:
        """Sign that a batch is closed for ever, or was never open, and has not what was `sent`."""
        return cls.signed(
            plan, signing_key=signing_key, kind="not accepted", batch=batch.hex(), sent=sent
        )


def sent_digest(authorization: bytes, body: bytes) -> str:
    """What a refusal is bound to: SHA-256 of the Authorization header's value and of the envelopes.

    SHA-256((length of the value in 2 bytes) || value || body)
    """
    return sha256(len(authorization).to_bytes(2) + authorization + body).hexdigest()


class KeyList(Document):
    """What a client needs to take part: the plan's text, the analyzer's key, the open rounds."""

    schema_version: WireVersion
    plan: str
    analyzer: AnalyzerKey
    shuffler: tuple[ShufflerKey, ...]

    @classmethod
    def of(cls, plan: Plan, *, analyzer: AnalyzerKey, shuffler: tuple[ShufflerKey, ...]) -> Self:
        """The list of a plan."""
        text = plan.canonical.decode()
        return cls(schema_version=2, plan=text, analyzer=analyzer, shuffler=shuffler)

    def to_bytes(self) -> bytes:
        """What is served: the same bytes for everybody."""
        return canonical(self.model_dump())

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
            raise UntrustedError(what, _SHAPE) from None
        if read.plan.encode() != plan.canonical:
            raise UntrustedError(what, "is of another plan")
        for entry in (read.analyzer, *read.shuffler):
            entry.check(plan)
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
        raise UntrustedError(what, _SHAPE) from None
    if isinstance(version, int) and version != get_args(WireVersion)[0]:
        raise UntrustedError(
            what, f"is of wire version {version}, which this client does not speak"
        )


def _public(key: X25519PrivateKey) -> str:
    return key.public_key().public_bytes_raw().hex()
