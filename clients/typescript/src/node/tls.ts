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
const VERSIONS = ["no common version of TLS", "Offer TLS 1.2 or later."] as const;

/** Reason and advice by the code of Node's error. */
const LASTING: Readonly<Record<string, readonly [string, string]>> = {
  CERT_HAS_EXPIRED: ["certificate expired", RENEW],
  CERT_NOT_YET_VALID: ["certificate not yet valid", RENEW],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["self-signed certificate", AUTHORITY],
  ERR_SSL_PACKET_LENGTH_TOO_LONG: PORT,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: VERSIONS,
  ERR_SSL_UNSUPPORTED_PROTOCOL: VERSIONS,
  ERR_SSL_WRONG_VERSION_NUMBER: PORT,
  ERR_TLS_CERT_ALTNAME_INVALID: [
    "hostname mismatch",
    "Check the address; the certificate must name this host.",
  ],
  SELF_SIGNED_CERT_IN_CHAIN: ["self-signed certificate in the chain", AUTHORITY],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN,
};

/** Return the error to throw if the cause of a failed request stays; null if it may pass. */
export function certificateError(error: unknown, url: string): CertificateError | null {
  const { code } = ((error as Error | undefined)?.cause ?? {}) as { code?: string };
  const known = LASTING[code ?? ""];
  return known === undefined ? null : new CertificateError(new URL(url).hostname, ...known);
}
