"""The answers to requests that bring reports, beside those that every service gives."""

from croupier.hosting.http.answers import Answer, document, last_refusal
from croupier.protocol.superseded import SupersededPlan

__all__ = ["ACCEPTED", "BAD_BATCH", "BAD_LENGTH", "GONE", "NO_TOKEN", "TOO_LARGE", "WRONG_KIND"]
__all__ += ["ONLY_BY_RELAY", "superseded"]

ACCEPTED = document(202)
BAD_LENGTH = last_refusal(400, "Send whole envelopes: as many as the plan says, relays any number.")
BAD_BATCH = last_refusal(400, "Name the batch: Croupier-Batch: 32 hexadecimal digits.")
NO_TOKEN = last_refusal(
    401, "Send the token of this round, and the proof of its owner: Croupier-Proof."
)
ONLY_BY_RELAY = last_refusal(
    403, "Send reports of this plan through its relay, sealed for /v1/ohttp (RFC 9458)."
)
GONE = last_refusal(410, "The batch is closed. If your report is not in it, give it up.")
TOO_LARGE = last_refusal(413, "Send fewer envelopes per request.")
WRONG_KIND = last_refusal(415, "Send Content-Type: application/octet-stream.")


def superseded(pointer: SupersededPlan) -> Answer:
    """Return what everybody gets who asks for a superseded plan, or sends reports for it."""
    return document(410, pointer.to_bytes(), connection="close")
