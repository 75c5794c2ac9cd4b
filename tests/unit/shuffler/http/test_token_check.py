"""The check of tokens at intake: which lists of the issuer's keys it follows."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.errors import UntrustedError
from croupier.protocol.admission.blind_rsa import BlindKey
from croupier.protocol.admission.token_keys import TokenKeys
from croupier.protocol.signed_document import public_half
from croupier.shuffler.http.tokens import TokenCheck
from tests.unit.parties import Parties

ROOT = Ed25519PrivateKey.generate()
KEYS = [BlindKey(2**2047 + 2 * number + 1) for number in range(12)]


def listed(plan, first, keys, earlier=None):
    return TokenKeys.make(plan, first=first, keys=keys, signing_key=ROOT, earlier=earlier)


def test_a_key_of_a_round_that_is_over_serves_no_other_round():
    plan = Parties(admission={"by": "token", "key": public_half(ROOT)}).plan
    one = listed(plan, 0, KEYS[:4])
    two = listed(plan, 4, KEYS[4:6], one)
    check = TokenCheck(plan, one)
    check.follow(two)
    with pytest.raises(UntrustedError, match="uses the key of one round for another"):
        check.follow(listed(plan, 5, [KEYS[5], KEYS[0]], two))
    assert check.keys == two
    check.follow(listed(plan, 5, KEYS[5:8], two))
