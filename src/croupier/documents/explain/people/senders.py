"""Words for who can tell which envelopes are whose: credentials or tokens, addresses, times."""

from collections.abc import Iterator

from croupier.plan.plan import Plan

__all__ = ["admission", "in_short", "linked_reports", "own_envelope", "own_report"]

_HELPERS = "the relay, the issuer (by times) or somebody who watches the network"

_ADDRESS = "The shuffler sees the addresses of devices."
_RELAY = (
    "Clients send through a relay. The shuffler sees its address and no device's, the relay sees "
    "sealed requests of one length, and together they see who sent which envelope."
)
_MINTS = (
    "An issuer that works with the shuffler can invent people and surround you with them. Tokens "
    "do not help against that; the dummies of another shuffler do."
)
_TIMES = (
    "A device draws the time at which it fetches a token and the time at which it sends "
    "independently, but both after it begins: issuer and shuffler together may match a device that "
    "begins when few others do."
)
_ONE_OPERATOR = {
    "credential": "The plan names one operator for the shuffler and for whoever admits people: it "
    "knows whose each credential is.",
    "token": "The plan names one operator for issuer and shuffler: it sees both times, and can "
    "invent people.",
}


def admission(plan: Plan) -> Iterator[str]:
    """Yield how senders are admitted, and what each party learns of them; a paragraph each."""
    if plan.admission.by == "credential":
        yield (
            "People are admitted by credential. It is a pseudonym, the same in all rounds, and "
            "whoever gave it out knows whose it is."
        )
    else:
        yield (
            "People are admitted by token, another one per round. The issuer knows who asked for "
            "one. Which token somebody received, not even issuer and shuffler together can tell, "
            "as long as they show everybody the same keys: tokens carry blind signatures."
        )
        yield f"{_MINTS} {_TIMES}"
    yield _ADDRESS if plan.admission.relay is None else _RELAY
    if plan.issuer_mixes:
        yield _ONE_OPERATOR[plan.admission.by]


def in_short(plan: Plan) -> str:
    """Say what the first shuffler learns of senders; empty if credential and address show them."""
    by, relay = plan.admission.by, plan.admission.relay
    if by == "credential":
        return "" if relay is None else "the relay hides addresses, and credentials are pseudonyms"
    if relay is None:
        return "the shuffler learns who sends from addresses, not from tokens"
    if plan.issuer_mixes:
        return (
            "neither tokens nor addresses show the shuffler who sends; times may, since one "
            "operator runs issuer and shuffler"
        )
    return f"neither tokens nor addresses show the shuffler who sends, unless {_HELPERS} helps it"


def own_envelope(plan: Plan) -> str:
    """Say what the first shuffler knows of a person's envelope, as the beginning of a sentence."""
    if plan.admission.by == "credential":
        return "The operator knows your sealed envelope by your credential"
    if plan.admission.relay is None:
        return "The operator knows your sealed envelope by your address, not by its token"
    return (
        "The operator receives your sealed envelope, whose token and address do not show that it "
        f"is yours unless {_HELPERS} helps"
    )


def linked_reports(plan: Plan) -> str:
    """Say how the first shuffler can tell that envelopes of several rounds are one person's."""
    if plan.admission.by == "credential":
        return "Your credential shows which envelopes are yours."
    if plan.admission.relay is None:
        return (
            "Your address shows which envelopes are yours, as long as you keep it; tokens do not."
        )
    return (
        "If the relay helps, your address shows which envelopes are yours. Otherwise only the "
        "times at which you send may."
    )


def own_report(plan: Plan) -> str:
    """Say what those who see every report know of a person's."""
    if plan.admission.by == "credential":
        return "They know which report is yours."
    if plan.admission.relay is None:
        return "They know which report is yours, by your address; the token does not tell."
    return f"They know which report is yours if {_HELPERS} helps them; the limits here assume it."
