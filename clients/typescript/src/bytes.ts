/** Bytes: hexadecimal, big endian numbers, concatenation. */

export type Bytes = Uint8Array<ArrayBuffer>;

export const utf8 = (text: string): Bytes => new TextEncoder().encode(text);

export function hex(data: Uint8Array): string {
  return Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return the bytes of hexadecimal digits, which the caller has checked. */
export function fromHex(digits: string): Bytes {
  const pairs = digits.match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

export function bigEndian(value: number | bigint, size: number): Bytes {
  return fromHex(value.toString(16).padStart(2 * size, "0"));
}

export function concat(...parts: readonly Uint8Array[]): Bytes {
  const joined = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let start = 0;
  for (const part of parts) {
    joined.set(part, start);
    start += part.length;
  }
  return joined;
}

export function equal(first: Uint8Array, second: Uint8Array): boolean {
  return first.length === second.length && first.every((byte, place) => byte === second[place]);
}

export async function sha256(data: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", data));
}
