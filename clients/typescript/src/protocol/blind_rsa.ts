/**
 * Blind RSA signatures: RFC 9474, RSABSSA-SHA384-PSS-Deterministic, the client's half.
 *
 * The issuer signs a message without seeing it. Blinding multiplies the encoded message by a random
 * number that only the client knows. Operations on BigInts do not take constant time: the numbers
 * are used once, on the device that drew them.
 */

import { type Bytes, bigEndian, concat, hex } from "../bytes.js";
import { UntrustedError } from "../errors.js";

const EXPONENT = 65_537n;
/** The length of a salt, and of SHA-384. */
const SALT = 48;
const WHAT = "the issuer's signature";
const SMALL = ["the issuer's key", "has small factors"] as const;

/** A blinded message, and the secret that takes the blinding off. */
export interface Blinded {
  /** The bytes that are sent to the issuer. */
  readonly message: Bytes;
  /** Undoes the blinding; never leaves the client. */
  readonly inverse: bigint;
}

/**
 * Blind a message for the key of a modulus.
 *
 * @param given The salt of its encoding and the random number, in test vectors only.
 */
export async function blind(
  modulus: bigint,
  message: Bytes,
  given: { salt?: Bytes; factor?: bigint } = {},
): Promise<Blinded> {
  const { salt = crypto.getRandomValues(new Uint8Array(SALT)), factor = below(modulus) } = given;
  const number = fromBytes(await encodePss(message, bitsOf(modulus) - 1, salt));
  inverseOf(number, modulus); // a modulus of small primes was made on purpose
  const hidden = (number * power(factor, modulus)) % modulus;
  return { message: bigEndian(hidden, sizeOf(modulus)), inverse: inverseOf(factor, modulus) };
}

/** Take the blinding off a signature, and return it if it is one of the message. */
export async function finalize(
  modulus: bigint,
  message: Bytes,
  blindSignature: Uint8Array,
  inverse: bigint,
): Promise<Bytes> {
  const size = sizeOf(modulus);
  if (blindSignature.length !== size) {
    throw new UntrustedError(WHAT, "has another length than its key");
  }
  const signature = bigEndian((fromBytes(blindSignature) * inverse) % modulus, size);
  if (await isSignedBy(modulus, message, signature)) return signature;
  throw new UntrustedError(WHAT, "is not of the key that the plan's issuer published");
}

/** Tell whether a signature, without blinding, is one of the message. */
export async function isSignedBy(
  modulus: bigint,
  message: Bytes,
  signature: Bytes,
): Promise<boolean> {
  const jwk = { kty: "RSA", n: base64url(bigEndian(modulus, sizeOf(modulus))), e: "AQAB" };
  const scheme = { name: "RSA-PSS", hash: "SHA-384" };
  const key = await crypto.subtle.importKey("jwk", jwk, scheme, false, ["verify"]);
  return crypto.subtle.verify({ ...scheme, saltLength: SALT }, key, signature, message);
}

/** Return EMSA-PSS of RFC 8017, section 9.1.1, with SHA-384, its MGF1 and 48 bytes of salt. */
async function encodePss(message: Bytes, bits: number, salt: Bytes): Promise<Bytes> {
  const length = Math.ceil(bits / 8);
  const digest = await sha384(concat(new Uint8Array(8), await sha384(message), salt));
  const size = length - digest.length - 1;
  const block = concat(new Uint8Array(size - salt.length - 1), Uint8Array.of(1), salt);
  const mask = await maskOf(digest, size);
  const masked = block.map((byte, place) => byte ^ (mask[place] as number));
  masked[0] = (masked[0] as number) & (0xff >> (8 * length - bits));
  return concat(masked, digest, Uint8Array.of(0xbc));
}

/** Return MGF1 of RFC 8017, appendix B.2.1. */
async function maskOf(seed: Bytes, length: number): Promise<Bytes> {
  const blocks = Array.from({ length: Math.ceil(length / SALT) }, (_, number) =>
    sha384(concat(seed, bigEndian(number, 4))),
  );
  return concat(...(await Promise.all(blocks))).slice(0, length);
}

async function sha384(data: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-384", data));
}

/** Return a number to the power of the public exponent: 16 squares, and once the number. */
function power(base: bigint, modulus: bigint): bigint {
  let result = base % modulus;
  for (let left = EXPONENT >> 1n; left > 0n; left >>= 1n) result = (result * result) % modulus;
  return (result * base) % modulus;
}

/** Return the inverse of a number, by the extended algorithm of Euclid. */
function inverseOf(number: bigint, modulus: bigint): bigint {
  let [rest, next, own, following] = [modulus, number % modulus, 0n, 1n];
  while (next > 0n) {
    const times = rest / next;
    [rest, next] = [next, rest - times * next];
    [own, following] = [following, own - times * following];
  }
  if (rest !== 1n) throw new UntrustedError(...SMALL);
  return own < 0n ? own + modulus : own;
}

/** Draw a uniform number from 1 to below the modulus. */
function below(modulus: bigint): bigint {
  for (;;) {
    const drawn = fromBytes(crypto.getRandomValues(new Uint8Array(sizeOf(modulus))));
    if (drawn > 0n && drawn < modulus) return drawn;
  }
}

const bitsOf = (modulus: bigint): number => modulus.toString(2).length;
const sizeOf = (modulus: bigint): number => Math.ceil(bitsOf(modulus) / 8);

function fromBytes(data: Uint8Array): bigint {
  return BigInt(`0x${hex(data)}`);
}

/** Return bytes in the alphabet of URLs, without padding. */
export function base64url(data: Uint8Array): string {
  const text = btoa(String.fromCharCode(...data)).replaceAll("+", "-");
  return text.replaceAll("/", "_").replaceAll("=", "");
}
