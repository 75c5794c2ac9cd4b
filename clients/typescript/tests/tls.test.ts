/** Certificates that cannot be trusted are named at once; silence is waited for. */

import { expect, test } from "vitest";
import { CertificateError, loadPlan, Server, UntrustedError } from "../src/node/main.js";

const server = new Server({ url: "https://reports.example:8443", credential: "sesame" });

/** A network on which every request fails with a cause. */
function failing(cause?: unknown) {
  const pauses: number[] = [];
  const fetch = () => Promise.reject(new TypeError("fetch failed", { cause }));
  return { pauses, fetch, sleep: async (seconds: number) => void pauses.push(seconds) };
}

/** The other codes of a verification that fails in Node. */
const UNVERIFIED = [
  ...["CERT_CHAIN_TOO_LONG", "CERT_REJECTED", "CERT_REVOKED", "CERT_SIGNATURE_FAILURE"],
  ...["CERT_UNTRUSTED", "CRL_HAS_EXPIRED", "CRL_NOT_YET_VALID", "CRL_SIGNATURE_FAILURE"],
  ...["ERROR_IN_CERT_NOT_AFTER_FIELD", "ERROR_IN_CERT_NOT_BEFORE_FIELD"],
  ...["ERROR_IN_CRL_LAST_UPDATE_FIELD", "ERROR_IN_CRL_NEXT_UPDATE_FIELD"],
  ...["INVALID_CA", "INVALID_PURPOSE", "PATH_LENGTH_EXCEEDED"],
  ...["UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY", "UNABLE_TO_DECRYPT_CERT_SIGNATURE"],
  ...["UNABLE_TO_DECRYPT_CRL_SIGNATURE", "UNABLE_TO_GET_CRL", "UNABLE_TO_GET_ISSUER_CERT"],
  "UNSPECIFIED",
];

test.each([
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "self-signed certificate in the chain"],
  ["CERT_HAS_EXPIRED", "certificate expired"],
  ["CERT_NOT_YET_VALID", "certificate not yet valid"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "hostname mismatch"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "certificate of an unknown authority"],
  ["HOSTNAME_MISMATCH", "hostname mismatch"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "no TLS on this port"],
  ["ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE", "no common version or cipher of TLS"],
  ["ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE", "no common version or cipher of TLS"],
  ["ERR_SSL_TLSV1_UNRECOGNIZED_NAME", "hostname mismatch"],
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "the server asks for a certificate of the client"],
  ...UNVERIFIED.map((code): [string, string] => [code, `certificate not verified (${code})`]),
])("%s is named at once", async (code, reason) => {
  const there = failing({ code });
  const error = await loadPlan("00".repeat(32), server, there).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(CertificateError);
  expect([error.host, error.reason]).toEqual(["reports.example", reason]);
  expect(error.message).toMatch(`The connection to reports.example cannot be trusted: ${reason}. `);
  expect(there.pauses).toEqual([]);
});

test.each([
  ["a browser, which hides the cause", undefined],
  ["a closed port", { code: "ECONNREFUSED" }],
  ["a name that is not found for now", { code: "EAI_AGAIN" }],
  ["a device short of memory", { code: "OUT_OF_MEM" }],
  ["a strange code", { code: 7 }],
])("%s is silence", async (_, cause) => {
  const there = failing(cause);
  await expect(loadPlan("00".repeat(32), server, there)).rejects.toThrow(UntrustedError);
  expect(there.pauses.length).toBeGreaterThan(2);
});
