"""Tokens in a client's memory: blinded before they are asked for, checked before they are held.

A token of a round is asked for before the round opens and spent while it is open. The memory holds
the one-time key and what undoes the blinding before the issuer sees anything, so that a restart
sends the same bytes. Neither ever leaves the device.
"""

import os
from collections.abc import Collection

from croupier.client.memory import HeldToken, State
from croupier.client.server import Spent
from croupier.errors import CroupierError, UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol.admission.blind_rsa import BlindKey
from croupier.protocol.admission.token import Spender, Token, TokenInput, challenge, request_of
from croupier.protocol.admission.token_keys import TokenKeys, key_id
from croupier.protocol.signed_document import LAST_ROUND, named_root

__all__ = ["NoTokenError", "admits_by_token", "begin", "finish", "follow_issuer", "forget_passed"]
__all__ += ["next_round", "require_token", "spent_on"]


class NoTokenError(CroupierError):
    """The memory holds no token for a round, so that nothing can be sent in it."""

    def __init__(self, round_number: int) -> None:
        self.round_number = round_number
        super().__init__(
            f"There is no token for round {round_number}. Nothing was randomised. Tokens of a "
            "round are given out before it opens: fetch the next one."
        )


def admits_by_token(plan: Plan) -> bool:
    """Tell whether senders spend a token per round instead of showing a credential."""
    return plan.admission.by == "token"


def follow_issuer(state: State, keys: TokenKeys) -> None:
    """Remember a list of the issuer's keys; refuse one that is older or differs from one seen."""
    seen = state.listed_issuer.get(keys.plan)
    if seen is not None:
        keys.require_not_before(seen)
    state.listed_issuer[keys.plan] = keys.seen


def next_round(keys: TokenKeys, newest: int | None) -> int | None:
    """Return the round whose token is fetched: the one after all that were seen open.

    Args:
        keys: The list of the issuer's keys.
        newest: The newest round that was ever seen open; None if there was none.

    Returns:
        None if the issuer has no key for it yet.
    """
    following = keys.first if newest is None else newest + 1
    return following if following <= LAST_ROUND and keys.key(following) is not None else None


def begin(state: State, plan: Plan, keys: TokenKeys, round_number: int) -> HeldToken:
    """Return the entry of a round's token; made once, with a one-time key of its own.

    Raises:
        UntrustedError: The issuer's key of the round was replaced.
    """
    place, key = _place(plan, round_number), _listed(keys, round_number)
    held = state.tokens.get(place)
    if held is None:
        seed = os.urandom(32)
        blinded = key.blind(_given(plan, round_number, key_id(key), seed).to_bytes())
        held = HeldToken(
            key_id=key_id(key).hex(),
            seed=seed.hex(),
            request=request_of(blinded, key_id(key)).hex(),
            inverse=f"{blinded.inverse:x}",
        )
        state.tokens[place] = held
    _require_same_key(held, key)
    return held


def finish(
    state: State, plan: Plan, keys: TokenKeys, round_number: int, *, blind_signature: bytes
) -> None:
    """Take the blinding off the issuer's answer, and hold the token if its signature is right.

    Raises:
        UntrustedError: It is not of the listed key; perhaps a key for this person alone signed.
    """
    held = begin(state, plan, keys, round_number)
    if held.inverse is None:
        return
    key = _listed(keys, round_number)
    message = _given_by(plan, round_number, held).to_bytes()
    signature = key.finalize(message, blind_signature, inverse=int(held.inverse, 16))
    state.tokens[_place(plan, round_number)] = HeldToken(
        key_id=held.key_id, seed=held.seed, signature=signature.hex()
    )


def require_token(state: State, plan: Plan, keys: TokenKeys, round_number: int) -> None:
    """Refuse to go on without a token that the key list's key of the round signed.

    Raises:
        NoTokenError: There is none.
        UntrustedError: The issuer's key of the round was replaced.
    """
    held = state.tokens.get(_place(plan, round_number))
    key = keys.key(round_number)
    if held is None or held.signature is None or key is None:
        raise NoTokenError(round_number)
    _require_same_key(held, key)


def spent_on(
    state: State, plan: Plan, *, round_number: int, batch: str, body: bytes
) -> Spent | None:
    """Return the headers that spend a round's token on a request; None if there is no token."""
    held = state.tokens.get(_place(plan, round_number))
    if held is None or held.signature is None:
        return None
    token = Token(_given_by(plan, round_number, held), bytes.fromhex(held.signature))
    spender = Spender(bytes.fromhex(held.seed))
    proof = spender.proof(plan=plan.digest, batch=bytes.fromhex(batch), body=body)
    return Spent(token.authorization, proof.hex())


def forget_passed(state: State, plan: Plan, open_rounds: Collection[int]) -> None:
    """Forget the tokens of rounds before all open ones, but for that of a report that waits."""
    sealed = state.sealed.get(plan.digest)
    waiting = sealed.round if sealed is not None and sealed.due is not None else None
    for place in list(state.tokens):
        digest, _, number = place.partition("/")
        has_passed = int(number) < min(open_rounds, default=0) and int(number) != waiting
        if digest == plan.digest and has_passed:
            del state.tokens[place]


def _place(plan: Plan, round_number: int) -> str:
    return f"{plan.digest}/{round_number}"


def _listed(keys: TokenKeys, round_number: int) -> BlindKey:
    key = keys.key(round_number)
    if key is None:
        raise UntrustedError(keys.what, f"no longer has the key of round {round_number}")
    return key


def _require_same_key(held: HeldToken, key: BlindKey) -> None:
    if held.key_id != key_id(key).hex():
        raise UntrustedError("the issuer's key of the round", "was replaced")


def _given(plan: Plan, round_number: int, key: bytes, seed: bytes) -> TokenInput:
    issuer = named_root(plan.issuer_key, "admission.key")
    asked = challenge(plan.digest, round_number, issuer=issuer)
    return TokenInput(Spender(seed).nonce, asked, key)


def _given_by(plan: Plan, round_number: int, held: HeldToken) -> TokenInput:
    return _given(plan, round_number, bytes.fromhex(held.key_id), bytes.fromhex(held.seed))
