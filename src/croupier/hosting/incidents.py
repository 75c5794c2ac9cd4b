"""Incidents: what an operator must act on, each with a name, a first step and a page.

Readiness, the log, the metrics, the alerts, `croupier status` and the page docs/incidents/NAME.md
all use the name. A cause is a sentence without names or values: it may be shown to anybody who can
reach the service.
"""

from dataclasses import dataclass
from errno import EDQUOT, ENOSPC

__all__ = ["INCIDENTS", "MET_BY_RELEASE", "Incident", "Occurrence", "incident_of", "see"]


@dataclass(frozen=True)
class Incident:
    """A kind of incident.

    Attributes:
        name: The name of its page and the label of its alert.
        summary: What has happened.
        step: The first step of the operator.
        stops_host: True if this host cannot store reports while another one may. A balancer takes
            the host out then, and only then.
        refuses_reports: True if reports are refused meanwhile, of one plan or of all.
    """

    name: str
    summary: str
    step: str
    stops_host: bool = False
    refuses_reports: bool = True

    @property
    def page(self) -> str:
        """The page that says what to do."""
        return f"incidents/{self.name}"


@dataclass(frozen=True)
class Occurrence:
    """An incident that is happening.

    Attributes:
        name: The kind of incident.
        cause: The cause in a sentence that may be shown to anybody.
        plan: The digest of the plan that it concerns; None if it concerns all.
    """

    name: str
    cause: str
    plan: str | None = None

    @property
    def incident(self) -> Incident:
        """The kind of incident."""
        return INCIDENTS[self.name]

    @property
    def sentence(self) -> str:
        """The cause as a sentence."""
        return f"{self.cause[0].upper()}{self.cause[1:].removesuffix('.')}."


_ALL = (
    Incident(
        "batch-key",
        "A key of an open batch is missing",
        "Put the key file back: the tag key into the hand-over directory of serve, the batch's key "
        "into the key directory of release.",
        stops_host=True,
    ),
    Incident(
        "passphrase",
        "A key file does not open under the passphrase",
        "Put back the key file, or the passphrase that it was encrypted with.",
        refuses_reports=False,
    ),
    Incident(
        "signing-key",
        "A key of intake or release is missing",
        "Put the file back into the key directory.",
        refuses_reports=False,
    ),
    Incident(
        "disk-full",
        "A disk is full",
        "Free space on the host of PostgreSQL, or on that of release if it names a file.",
    ),
    Incident(
        "database-down",
        "The database does not answer",
        "Start PostgreSQL, or repair the network to it.",
        stops_host=True,
    ),
    Incident(
        "database-read-only",
        "The database is read-only",
        "Name the primary server in --database.",
        stops_host=True,
    ),
    Incident(
        "database-connections",
        "The database has no connection left",
        "Raise max_connections, or start fewer workers: each takes three.",
        stops_host=True,
    ),
    Incident(
        "database",
        "The database cannot be used",
        "Read the log line of the service, and the log of PostgreSQL.",
        stops_host=True,
    ),
    Incident(
        "batch-full",
        "A batch has reached its cap",
        "Release it, or start serve with a larger --maximum-batch.",
    ),
    Incident(
        "clock",
        "Clocks disagree, or were set back",
        "Set the clock right, on this host or on that of the database.",
        refuses_reports=False,
    ),
    Incident(
        "release-late",
        "Release has not run for two rounds",
        "Run croupier release, and repair its timer.",
        refuses_reports=False,
    ),
    Incident(
        "release-failed",
        "A run of release failed",
        "Read what it printed, and do what it says.",
        refuses_reports=False,
    ),
    Incident(
        "hand-over",
        "The first shuffler hands over what it must not",
        "Compare the files at --from with those of the first shuffler.",
        refuses_reports=False,
    ),
    Incident(
        "batch-old",
        "A batch is older than its disposal age",
        "Run croupier release, and read why it holds the batch.",
        refuses_reports=False,
    ),
    Incident(
        "batch-disposed",
        "A batch was disposed of because too few people reported",
        "Publish its receipt, and find out why people stayed away.",
        refuses_reports=False,
    ),
    Incident(
        "revoked-list",
        "The list of revoked credentials cannot be read",
        "Put the file back; credentials that were revoked before stay revoked.",
        refuses_reports=False,
    ),
    Incident(
        "certificate",
        "A TLS certificate has expired or cannot be read",
        "Renew it, and reload the proxy.",
        stops_host=True,
    ),
    Incident(
        "no-round",
        "No round has been opened",
        "Run croupier release --next-round --analyzer analyzer.json.",
    ),
    Incident(
        "database-set-back",
        "The database was set back",
        "Name the right database; if it was restored from a backup, run croupier recover.",
    ),
    Incident(
        "witness",
        "The witness is damaged or gone",
        "Put back the newest copy of witness/ in the key directory.",
        stops_host=True,
    ),
    Incident(
        "signed-files",
        "A signed file cannot be read or does not fit",
        "Put back the newest shuffler.json and analyzer.json.",
    ),
    Incident(
        "token-keys",
        "A coming round has no token key",
        "Make the keys of the next rounds, have their list signed, and put it in place.",
        refuses_reports=False,
    ),
    Incident(
        "openings",
        "The issuer cannot see which rounds are open",
        "Repair the way from the issuer to the shuffler's key list.",
        refuses_reports=False,
    ),
    Incident(
        "intake-stuck",
        "Reports wait, but none is committed",
        "Look for locks and load in PostgreSQL.",
        stops_host=True,
    ),
    Incident(
        "stale",
        "A worker has not read its batches for five seconds",
        "Look at the load of the host.",
        stops_host=True,
    ),
    Incident(
        "service-down",
        "The service does not answer",
        "Start croupier serve, and read its last log lines.",
        stops_host=True,
    ),
)

INCIDENTS = {incident.name: incident for incident in _ALL}
"""All kinds of incidents, by name."""


MET_BY_RELEASE = (
    "batch-key",
    "clock",
    "passphrase",
    "signing-key",
    "witness",
    "disk-full",
    "database",
    "database-down",
    "database-read-only",
    "database-connections",
    "database-set-back",
    "hand-over",
    "release-failed",
)
"""The incidents that a run of release tells through its metrics file."""


def incident_of(error: Exception) -> str:
    """Return the incident that an error is, as release tells it."""
    full = isinstance(error, OSError) and error.errno in {ENOSPC, EDQUOT}
    name = "disk-full" if full else getattr(error, "incident", "")
    return name if name in MET_BY_RELEASE else "release-failed"


def see(name: str) -> str:
    """Name the page of an incident at the end of an error's text."""
    return f"See docs/{INCIDENTS[name].page}.md."
