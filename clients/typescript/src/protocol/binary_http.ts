/** Binary HTTP messages (RFC 9292) of known length: requests are written, answers are read. */

import { type Bytes, bigEndian, concat, utf8 } from "../bytes.js";

/** A request as it is sealed; names of headers are in lower case. */
export interface BinaryRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Bytes;
}

/** An answer, without the headers that nobody reads. */
export interface BinaryResponse {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Bytes;
}

const [REQUEST, RESPONSE] = [0, 1];

/** Write a request, with zeros up to a length; null if it is longer. */
export function writeRequest(request: BinaryRequest, length: number): Bytes | null {
  const { protocol, host, pathname } = new URL(request.url);
  const control = [request.method, protocol.slice(0, -1), host, pathname].map(text);
  const fields = request.headers.flatMap(([name, value]) => [text(name), text(value)]);
  const parts = [number(REQUEST), ...control, prefixed(concat(...fields)), prefixed(request.body)];
  const written = concat(...parts, number(0));
  return written.length > length ? null : concat(written, new Uint8Array(length - written.length));
}

/** Read an answer; null if the bytes are none. */
export function readResponse(data: Bytes): BinaryResponse | null {
  const reader = new Reader(data);
  try {
    if (reader.number() !== RESPONSE) return null;
    const status = reader.number();
    const fields = new Reader(reader.section());
    let retryAfter: string | null = null;
    while (!fields.isOver) {
      const [name, value] = [fields.prefixed(), fields.prefixed()].map(latin);
      if (name === "retry-after") retryAfter = value ?? null;
    }
    const body = reader.section();
    reader.section();
    const isFinal = status >= 200 && status < 600 && reader.isPadding;
    return isFinal ? { status, retryAfter, body } : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Bytes that are read from front to back. */
class Reader {
  #at = 0;

  constructor(readonly data: Bytes) {}

  get isOver(): boolean {
    return this.#at === this.data.length;
  }

  get isPadding(): boolean {
    return this.data.subarray(this.#at).every((byte) => byte === 0);
  }

  /** Read a section; empty ones may be missing at the end (RFC 9292, section 3.8). */
  section(): Bytes {
    return this.isOver ? new Uint8Array(0) : this.prefixed();
  }

  /** Read bytes after their number. */
  prefixed(): Bytes {
    return this.#take(this.number());
  }

  /** Read a number of 1, 2, 4 or 8 bytes (RFC 9000, section 16). */
  number(): number {
    const [first] = this.#take(1) as unknown as [number];
    const more = this.#take(2 ** (first >> 6) - 1);
    return more.reduce((value, byte) => 256 * value + byte, first & 0x3f);
  }

  #take(size: number): Bytes {
    const taken = this.data.slice(this.#at, this.#at + size);
    if (taken.length < size) throw new RangeError();
    this.#at += size;
    return taken;
  }
}

const text = (value: string) => prefixed(utf8(value));
const latin = (value: Bytes) => String.fromCharCode(...value);
const prefixed = (data: Bytes) => concat(number(data.length), data);

/** Write a number below 2^30 in as few bytes as possible. */
function number(value: number): Bytes {
  if (value < 2 ** 6) return bigEndian(value, 1);
  return value < 2 ** 14 ? bigEndian(0x4000 + value, 2) : bigEndian(0x80000000 + value, 4);
}
