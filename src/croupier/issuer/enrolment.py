"""Enrolment: from the proof that a device sends to its credential."""

from dataclasses import dataclass
from hashlib import blake2b

from croupier.issuer.admission import AdmissionCheck
from croupier.issuer.database.people import Enrolled, Sessions
from croupier.protocol.admission.credentials import BearerCredentials
from croupier.protocol.admission.enrolment import EnrolmentRequest

__all__ = ["Enrolment"]


@dataclass(frozen=True)
class Enrolment:
    """The rule by which devices are enrolled.

    Nothing that a device proves is stored: of an invitation or an account, a keyed hash.

    Attributes:
        credentials: Makes the credentials.
        check: Decides who is admitted.
        most: The largest number of people.
        key: Hashes what the check says of a person.
    """

    credentials: BearerCredentials
    check: AdmissionCheck
    most: int
    key: bytes

    async def enrol(self, request: EnrolmentRequest, sessions: Sessions) -> str | Enrolled | None:
        """Return the credential of a device, always the same one.

        Returns:
            The credential; None if the check refuses the proof; "taken" or "full" as in `People`.
        """
        # A check may take seconds. No connection is held meanwhile: others need it.
        admitted = await self.check.admit(request.proof)
        if admitted is None:
            return None
        subject = None
        if admitted.subject is not None:
            subject = blake2b(admitted.subject, digest_size=32, key=self.key).digest()
        device = bytes.fromhex(request.device)
        async with sessions.taken() as people:
            found = await people.enrol(self.credentials.identity(device), subject, most=self.most)
        return self.credentials.issue_to(device) if found == "enrolled" else found
