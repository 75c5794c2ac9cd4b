"""Words for who can tell which envelopes are whose: credentials or tokens, addresses, times."""

from croupier.plan.plan import Plan

__all__ = ["admission", "in_short", "linked_reports", "own_envelope", "own_report"]

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
    "A device draws apart when it fetches a token and when it sends, but both after it begins: "
    "issuer and shuffler together may match a device that begins when few others do."
)


def admission(plan: Plan) -> str:
    """Say how senders are admitted, and what each party learns of them."""
    if plan.admission.by == "credential":
        admitted = (
            "People are admitted by credential. It is a pseudonym, the same in all rounds, and "
            "whoever gave it out knows whose it is."
        )
    else:
        admitted = (
            "People are admitted by token, another one per round. The issuer knows who asked for "
            "one. Which token somebody received, not even issuer and shuffler together can tell, "
            "as long as they show everybody the same keys: tokens carry blind signatures. "
            f"{_MINTS} {_TIMES}"
        )
    return f"{admitted} {_ADDRESS if plan.admission.relay is None else _RELAY}"


def in_short(plan: Plan) -> str:
    """Say what the first shuffler learns of senders; empty if credential and address show them."""
    by, relay = plan.admission.by, plan.admission.relay
    if by == "credential":
        return "" if relay is None else "the relay hides addresses, and credentials are pseudonyms"
    if relay is None:
        return "tokens do not show the shuffler who sends, and addresses do"
    return "neither tokens nor addresses show the shuffler who sends, unless the relay helps it"


def own_envelope(plan: Plan) -> str:
    """Say what the first shuffler knows of a person's envelope, as the beginning of a sentence."""
    if plan.admission.by == "credential":
        return "The operator knows which sealed envelope is yours"
    if plan.admission.relay is None:
        return "The operator knows your sealed envelope by your address, not by its token"
    return (
        "The operator receives your sealed envelope, whose token and address do not show that it "
        "is yours unless the relay helps"
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
    return (
        "They know which report is yours if the relay helps them, or somebody who watches the "
        "network; the limits here assume it."
    )
