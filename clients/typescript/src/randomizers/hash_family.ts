/** A public family of hash functions, derived from the name of a batch. */

import { type Bytes, bigEndian, concat, sha256, utf8 } from "../bytes.js";

const LABEL = utf8("croupier hash family v1");
const MESSAGE = Uint8Array.of(0);
const FUNCTION = Uint8Array.of(1);
const HALF = 32n;
const LOW = (1n << HALF) - 1n;

/**
 * Return the bucket of a message under one function of the family that a batch's name gives.
 *
 * With the fingerprint x1 2^32 + x0 of the message and the words a1, a0, b of the function,
 *
 *     h(m) = (((a1 x1 + a0 x0 + b) mod 2^64) div 2^32) g div 2^32.
 */
export async function bucketOf(
  message: Bytes,
  { name, row, buckets }: { name: Bytes; row: bigint; buckets: bigint },
): Promise<bigint> {
  const seed = await sha256(concat(LABEL, name));
  const [fingerprint] = await words(seed, MESSAGE, message);
  const [first, second, constant] = await words(seed, FUNCTION, bigEndian(row, 4));
  const sum = first * (fingerprint >> HALF) + second * (fingerprint & LOW) + constant;
  return (((sum >> HALF) & LOW) * buckets) >> HALF;
}

/** Return the first three words of a digest. */
async function words(...parts: readonly Bytes[]): Promise<[bigint, bigint, bigint]> {
  const view = new DataView((await sha256(concat(...parts))).buffer);
  return [view.getBigUint64(0), view.getBigUint64(8), view.getBigUint64(16)];
}
