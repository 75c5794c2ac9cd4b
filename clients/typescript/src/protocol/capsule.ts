/** Encapsulation (RFC 9458), the client's half, with X25519, HKDF-SHA256 and AES-128-GCM. */

import { type Bytes, concat, equal, fromHex, utf8 } from "../bytes.js";
import { UntrustedError } from "../errors.js";
import { hmac, hpkeSender } from "./hpke.js";

export const PATH = "/v1/ohttp";
export const KEYS_PATH = "/v1/ohttp-keys";
export const REQUEST_TYPE = "message/ohttp-req";
/** The type of the problem that a request is sealed to a key which is not in use. */
export const UNKNOWN_KEY = "https://iana.org/assignments/http-problem-types#ohttp-key";

/** A key that requests are sealed to. */
export interface Configuration {
  /** Its number, in one byte. */
  readonly id: number;
  readonly key: Bytes;
}

/** A sealed request, and what opens its answer. */
export interface SealedRequest {
  readonly body: Bytes;
  /** Return the message in an answer; null if it is not the gateway's. */
  readonly opened: (answer: Bytes) => Promise<Bytes | null>;
}

const KEM = fromHex("0020");
const SUITE = fromHex("00010001");
const [KEY_SIZE, NONCE_SIZE] = [32, 16];

/** Read the keys of a document that can be used here; none if it is no such document. */
export function readConfigurations(data: Bytes): Configuration[] {
  const found: Configuration[] = [];
  for (let at = 0; at < data.length; ) {
    const size = uint16(data, at);
    const entry = data.slice(at + 2, at + 2 + size);
    if (size === 0 || entry.length < size) return [];
    const read = configuration(entry);
    if (read !== null) found.push(read);
    at += 2 + size;
  }
  return found;
}

/** Read a key; null if it does not offer the suite that is spoken here. */
function configuration(entry: Bytes): Configuration | null {
  const suites = entry.subarray(5 + KEY_SIZE);
  const isWhole = suites.length === uint16(entry, 3 + KEY_SIZE) && suites.length % 4 === 0;
  if (!isWhole || !equal(entry.subarray(1, 3), KEM)) return null;
  for (let at = 0; at < suites.length; at += 4) {
    const isSpoken = equal(suites.subarray(at, at + 4), SUITE);
    if (isSpoken) return { id: entry[0] as number, key: entry.slice(3, 3 + KEY_SIZE) };
  }
  return null;
}

function uint16(data: Bytes, at: number): number {
  return 256 * (data[at] ?? 0) + (data[at + 1] ?? 0);
}

/**
 * Seal a request.
 *
 * @param ephemeral For tests only.
 */
export async function sealRequest(
  { id, key }: Configuration,
  request: Bytes,
  ephemeral?: CryptoKeyPair,
): Promise<SealedRequest> {
  const head = concat(Uint8Array.of(id), KEM, SUITE);
  const info = concat(utf8("message/bhttp request\0"), head);
  const sender = await hpkeSender(key, info, ephemeral).catch(() => {
    throw new UntrustedError("the gateway's key", "is no key that hides anything");
  });
  const body = concat(head, sender.enc, await sender.seal(request));
  return {
    body,
    opened: async (answer) => {
      const nonce = answer.slice(0, NONCE_SIZE);
      const secret = await sender.exported(utf8("message/bhttp response"), NONCE_SIZE);
      const random = await hmac(concat(sender.enc, nonce), secret);
      const [own, iv] = await Promise.all([
        hmac(random, concat(utf8("key"), Uint8Array.of(1))),
        hmac(random, concat(utf8("nonce"), Uint8Array.of(1))),
      ]);
      const algorithm = { name: "AES-GCM", iv: iv.slice(0, 12) };
      const cipher = await crypto.subtle.importKey("raw", own.slice(0, 16), "AES-GCM", false, [
        "decrypt",
      ]);
      try {
        const sealed = answer.slice(NONCE_SIZE);
        return new Uint8Array(await crypto.subtle.decrypt(algorithm, cipher, sealed));
      } catch {
        return null;
      }
    },
  };
}
