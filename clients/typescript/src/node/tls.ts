/**
 * TLS errors that no retry helps against, told from silence.
 *
 * Node names the cause of a failed request. A browser hides it from pages, so that there it stays
 * silence, and no page loads this file.
 */

import { CertificateError } from "../errors.js";

const AUTHORITY =
  "Serve a certificate that this device trusts, or name its authority's in NODE_EXTRA_CA_CERTS.";
const RENEW = "Renew it, or set the clock of this device.";
const UNKNOWN = ["certificate of an unknown authority", AUTHORITY] as const;
const PORT = ["no TLS on this port", "Check the port of the address."] as const;
const OFFER = "Offer TLS 1.2 or later.";
const VERSIONS = ["no common version of TLS", OFFER] as const;
const CIPHERS = ["no common version or cipher of TLS", OFFER] as const;
const NAME = [
  "hostname mismatch",
  "Check the address; the certificate must name this host.",
] as const;
const CLIENTS = [
  "the server asks for a certificate of the client",
  "Turn that off: it would name the sender.",
] as const;

/** Reason and advice by the code of Node's error. */
const LASTING: Readonly<Record<string, readonly [string, string]>> = {
  CERT_HAS_EXPIRED: ["certificate expired", RENEW],
  CERT_NOT_YET_VALID: ["certificate not yet valid", RENEW],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["self-signed certificate", AUTHORITY],
  ERR_SSL_PACKET_LENGTH_TOO_LONG: PORT,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: CIPHERS,
  "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE": CIPHERS, // since OpenSSL 3.2
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: CLIENTS,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: VERSIONS,
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: NAME,
  ERR_SSL_UNSUPPORTED_PROTOCOL: VERSIONS,
  ERR_SSL_WRONG_VERSION_NUMBER: PORT,
  ERR_TLS_CERT_ALTNAME_INVALID: NAME,
  HOSTNAME_MISMATCH: NAME,
  SELF_SIGNED_CERT_IN_CHAIN: ["self-signed certificate in the chain", AUTHORITY],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN,
};

/** Node's other codes of a failed verification; not OUT_OF_MEM, which may pass. */
const UNVERIFIED = new Set([
  "CERT_CHAIN_TOO_LONG",
  "CERT_REJECTED",
  "CERT_REVOKED",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
  "CRL_HAS_EXPIRED",
  "CRL_NOT_YET_VALID",
  "CRL_SIGNATURE_FAILURE",
  "ERROR_IN_CERT_NOT_AFTER_FIELD",
  "ERROR_IN_CERT_NOT_BEFORE_FIELD",
  "ERROR_IN_CRL_LAST_UPDATE_FIELD",
  "ERROR_IN_CRL_NEXT_UPDATE_FIELD",
  "INVALID_CA",
  "INVALID_PURPOSE",
  "PATH_LENGTH_EXCEEDED",
  "UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY",
  "UNABLE_TO_DECRYPT_CERT_SIGNATURE",
  "UNABLE_TO_DECRYPT_CRL_SIGNATURE",
  "UNABLE_TO_GET_CRL",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNSPECIFIED",
]);

/** Return the error to throw if the cause of a failed request stays; null if it may pass. */
export function certificateError(error: unknown, url: string): CertificateError | null {
  const { code = "" } = ((error as Error | undefined)?.cause ?? {}) as { code?: string };
  const known = UNVERIFIED.has(code)
    ? ([`certificate not verified (${code})`, AUTHORITY] as const)
    : LASTING[code];
  return known === undefined ? null : new CertificateError(new URL(url).hostname, ...known);
}
