"""The gateway's keys as one plan's clients fetch them: signed once per list and set of keys."""

from collections.abc import Sequence

from croupier.hosting.http.answers import NOT_FOUND, Answer, kept
from croupier.plan.plan import Plan
from croupier.protocol.key_list import kept_seconds
from croupier.protocol.oblivious.capsule import GatewayKey
from croupier.protocol.oblivious.gateway_keys import GatewayKeys, ListedGateway
from croupier.shuffler.http.followed_list import Usable

__all__ = ["SignedGateway"]


class SignedGateway:
    """The answer to requests for the gateway's keys, the same bytes from every worker.

    Args:
        plan: The plan.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._made: tuple[Usable, Sequence[GatewayKey], Answer] | None = None

    def answer(self, used: Usable, keys: Sequence[GatewayKey]) -> Answer:
        """Return the keys, signed by intake's newest key in the list that is followed."""
        if not keys:
            return NOT_FOUND
        if self._made is None or self._made[0] is not used or self._made[1] is not keys:
            signer = used.signing[used.shuffler.intake[-1].key]
            signed = GatewayKeys.make(self._plan, keys=keys, signing_key=signer)
            document = ListedGateway(keys=used.shuffler, gateway=signed)
            answer = kept(document.to_bytes(), seconds=kept_seconds(self._plan))
            self._made = used, keys, answer
        return self._made[2]
