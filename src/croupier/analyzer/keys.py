"""The keys of the analyzer: its root, and the keys that open reports."""

from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.protocol.key_directory import RoleKeys, passphrase
from croupier.protocol.public_keys import PublicKeys

__all__ = ["ANALYZER", "AnalyzerKeys", "KeySource"]

ANALYZER = "analyzer"


@dataclass(frozen=True, repr=False)
class AnalyzerKeys(RoleKeys):
    """The key directory of the analyzer.

    analyzer.pem                                the root, which signs and which the plan names
    analyzer.hpke.pem, analyzer-2.hpke.pem, …   keys that open reports
    lists/PLAN.json                             the newest list of the shuffler's keys that was seen
    """

    role = ANALYZER
    is_sealed_to = True

    def rotate(self) -> PublicKeys:
        """Make another key to seal reports to; earlier ones stay, to open theirs."""
        self.add_sealing_key(ANALYZER)
        return self.publish()


@dataclass(frozen=True)
class KeySource:
    """The place of the analyzer's keys: read where they are needed, never sent.

    A process that receives this finds the encrypted files on its own disk and the passphrase in
    its own environment or file.

    Attributes:
        directory: The analyzer's key directory.
        passphrase_file: Its first line opens the keys; if left out, CROUPIER_PASSPHRASE does.
    """

    directory: Path
    passphrase_file: Path | None = None

    def load(self, public: bytes | None = None) -> X25519PrivateKey:
        """Return the key that opens reports: the newest, or the one with a public half."""
        keys = AnalyzerKeys(self.directory, passphrase(self.passphrase_file))
        return keys.sealing_key(ANALYZER, None if public is None else public.hex())
