"""Enrolment: a device gets its credential from an issuer, once.

The device's name is random, made once and remembered before it is sent. The issuer gives one
credential per device, so that a retry or a restart gets the same one. A credential that is no
longer accepted is not replaced: a second one would make two senders of a person.
"""

from secrets import token_hex

from pydantic import ValidationError

from croupier.client.client import Client
from croupier.client.exchange import HEADERS, Post
from croupier.client.memory import Enrolled, Memory
from croupier.client.server import Server
from croupier.client.steps import Steps, ask_patiently
from croupier.errors import NotAdmittedError, UntrustedError
from croupier.protocol.admission.enrolment import EnrolmentAnswer, EnrolmentRequest

__all__ = ["admitted"]

_OK = 200


def admitted(client: Client, server: Server, *, seconds: float) -> Steps[Server | None]:
    """Return the server with a credential; enrol the device first if it has none.

    Call it when the app is installed, for everybody: whoever enrols at the moment of answering
    shows the issuer that it answers.

    Args:
        client: The person's client, whose memory keeps device and credential.
        server: The address, with a credential or an issuer.
        seconds: The time for which a silent or busy issuer is asked again.

    Returns:
        None if the issuer does not answer; a later call sends the same bytes.

    Raises:
        NotAdmittedError: The issuer does not admit the device.
        UntrustedError: The issuer's answer is not a credential.
        CertificateError: The issuer's certificate cannot be trusted.
    """
    if server.issuer is None or server.credential is not None:
        return server
    issuer = server.issuer.rstrip("/")
    known = _remembered(client.memory, issuer)
    if known.credential is None:
        step = _enrol(issuer, device=known.device, proof=server.proof)
        answer = yield from ask_patiently(step, seconds=seconds)
        if answer is None:
            return None
        if answer.status != _OK:
            raise NotAdmittedError(answer.status)
        known = _remembered(client.memory, issuer, credential=_credential(answer.body))
    return server.admitting(known.credential or "")


def _remembered(memory: Memory, issuer: str, *, credential: str | None = None) -> Enrolled:
    """Return what the memory has of this device, with the first credential that came.

    The name of a device is remembered before anybody sees it, so that it stays the same.
    """
    with memory.update() as state:
        known = state.enrolled.setdefault(issuer, Enrolled(device=token_hex(32)))
        if known.credential is None and credential is not None:
            known = Enrolled(device=known.device, credential=credential)
            state.enrolled[issuer] = known
    return known


def _enrol(issuer: str, *, device: str, proof: str) -> Post:
    headers = HEADERS | {"Content-Type": "application/json"}
    request = EnrolmentRequest(schema_version=1, device=device, proof=proof)
    return Post(f"{issuer}/v1/enrol", headers, request.to_bytes())


def _credential(body: bytes) -> str:
    try:
        return EnrolmentAnswer.model_validate_json(body).credential
    except ValidationError:
        raise UntrustedError("the issuer's answer", "is not a credential") from None
