"""The one suite of HPKE (RFC 9180) that everything here is sealed with.

Reference: barnes2022, base mode, single shot.
"""

from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

__all__ = ["SEAL_SIZE", "SUITE"]

SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
SEAL_SIZE = 48
"""Bytes that one seal adds: the ephemeral public key and the tag."""
