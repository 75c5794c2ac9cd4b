"""Tokens at intake: a sender shows that it may send in a round, and nothing else about itself."""

from binascii import Error as NotHexadecimal
from binascii import unhexlify
from typing import NamedTuple

from croupier.errors import UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol.admission.blind_rsa import BlindKey
from croupier.protocol.admission.token import Token, challenge, is_spent_by_its_owner
from croupier.protocol.admission.token_keys import TokenKeys, key_id

__all__ = ["SpentToken", "TokenCheck"]


class _RoundKey(NamedTuple):
    """The issuer's key of a round, and the challenge that its tokens answer."""

    round: int
    key: BlindKey
    challenge: bytes


class SpentToken(NamedTuple):
    """A token that the issuer signed.

    Attributes:
        token: The token.
        round: The round that it admits to.
    """

    token: Token
    round: int

    def is_spent_by_owner(
        self, proof: bytes, *, plan: str, round_number: int | None, batch: bytes, body: bytes
    ) -> bool:
        """Tell whether its owner spends it on a request.

        Args:
            proof: The header of the one-time key, in hexadecimal.
            plan: The digest of the plan.
            round_number: The round of the batch; None if there is no such batch.
            batch: The name of the batch.
            body: The body of the request.
        """
        if round_number not in {None, self.round}:
            return False
        try:
            data = unhexlify(proof)
        except NotHexadecimal:
            return False
        return is_spent_by_its_owner(self.token, data, plan=plan, batch=batch, body=body)


class TokenCheck:
    """The check of tokens of one plan, by the keys that its issuer listed.

    Keys of rounds that a newer list leaves out stay valid here: their batch may still take reports.

    Args:
        plan: A plan that admits by token.
        keys: The list of the issuer's keys.

    Attributes:
        keys: The newest list.
    """

    def __init__(self, plan: Plan, keys: TokenKeys) -> None:
        self._plan = plan
        self._rounds: dict[bytes, _RoundKey] = {}
        self.keys = keys
        self._add(keys)

    def follow(self, keys: TokenKeys) -> None:
        """Follow a newer list.

        Raises:
            UntrustedError: It is older, or gives a round another key.
        """
        keys.check(self._plan)
        keys.require_after(self.keys)
        for number in keys.rounds:
            key = keys.key(number)
            known = None if key is None else self._rounds.get(key_id(key))
            if known is not None and known.round != number:
                raise UntrustedError(keys.what, "uses the key of one round for another")
        self._add(keys)

    def _add(self, keys: TokenKeys) -> None:
        issuer = TokenKeys.root(self._plan)
        for number in keys.rounds:
            key = keys.key(number)
            if key is not None:
                asked = challenge(self._plan.digest, number, issuer=issuer)
                self._rounds.setdefault(key_id(key), _RoundKey(number, key, asked))
        self.keys = keys

    def check(self, authorization: bytes) -> SpentToken | None:
        """Return the token in an Authorization header; None if the issuer did not sign it."""
        token = Token.of_header(authorization)
        known = None if token is None else self._rounds.get(token.given.key_id)
        if token is None or known is None:
            return None
        valid = token.is_valid(known.key, key_id=token.given.key_id, challenge=known.challenge)
        return SpentToken(token, known.round) if valid else None
