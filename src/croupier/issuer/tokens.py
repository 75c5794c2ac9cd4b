"""Tokens: at most one per person, plan and coming round, signed without being seen.

Tokens of a round are given out before it opens. Whoever asked while a round is open could be told
by the time: a token that was issued at noon and spent a minute later has one likely owner.
"""

from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from croupier.errors import CroupierError
from croupier.issuer.database.people import People
from croupier.issuer.keys import TokenKeyStore
from croupier.issuer.signing import BlindSigner
from croupier.plan.plan import Plan
from croupier.protocol.admission.token import read_request
from croupier.protocol.admission.token_keys import TokenKeys, key_id

__all__ = ["AHEAD", "NoToken", "TokenPlan"]

AHEAD = 2
"""The number of coming rounds whose tokens are given out. A device that is off for a day misses no
round, and a revoked credential ends within as many."""
NoToken = Literal["unlisted", "malformed", "closed", "other", "early"]


@dataclass
class TokenPlan:
    """A plan whose tokens are issued.

    Attributes:
        plan: The plan.
        keys: The list of token keys that its root signed.
        store: The private token keys.
        newest_open: The newest round that was seen open; -1 before the first.
    """

    plan: Plan
    keys: TokenKeys
    store: TokenKeyStore
    newest_open: int = -1
    _signers: dict[int, BlindSigner] = field(default_factory=dict)

    def follow(self, keys: TokenKeys) -> None:
        """Follow a newer list; rounds that both have keep their keys.

        Raises:
            UntrustedError: It is older, or gives a round another key.
        """
        keys.require_after(self.keys)
        self.keys = keys
        self._signers.clear()

    @property
    def coming(self) -> range:
        """The rounds whose tokens are given out now."""
        first = self.newest_open + 1
        return range(max(first, self.keys.first), min(first + AHEAD, self.keys.rounds.stop))

    def missing(self) -> list[int]:
        """Return the coming rounds whose private key is not here, or is another than listed."""
        return [number for number in self.coming if self._signer(number) is None]

    async def issue(
        self, identity: bytes, round_number: int, request: bytes, people: People
    ) -> bytes | NoToken:
        """Sign a blinded message for a person, the same one however often it is asked for.

        Returns:
            The blind signature; "unlisted" if the round has no key here; "closed" if it has opened,
            "early" if its turn is yet to come; "malformed" if the request is none for its key;
            "other" if another message was signed for this person.
        """
        if round_number <= self.newest_open:
            return "closed"
        if round_number >= self.newest_open + 1 + AHEAD:
            return "early"
        signer = self._signer(round_number)
        if signer is None:
            return "unlisted"
        blinded = read_request(request, key_id(signer.key))
        if blinded is None:
            return "malformed"
        # Signed before it is recorded: nothing is recorded for a message that cannot be signed.
        try:
            signature = signer.sign(blinded)
        except CroupierError:
            del self._signers[round_number]  # opened anew, or found `missing`
            raise
        if signature is None:
            return "malformed"
        recorded = await people.issue(
            identity,
            plan=self.plan.digest,
            round_number=round_number,
            blinded=sha256(blinded).digest(),
        )
        return signature if recorded == "issued" else recorded

    def _signer(self, round_number: int) -> BlindSigner | None:
        listed = self.keys.key(round_number)
        if round_number not in self._signers and listed is not None:
            found = self.store.signer(self.plan.digest, round_number)
            if found is not None and found.key == listed:
                self._signers[round_number] = found
        return self._signers.get(round_number)
