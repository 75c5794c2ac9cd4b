/**
 * One request and its whole answer, from a server that may be malicious.
 *
 * An answer that is too large, or takes too long, counts as none.
 */

import type { Bytes } from "../bytes.js";
import { ParameterError } from "../errors.js";

/** Headers for Node; browsers send their own, and count decompressed bytes as the answer. */
export const AGENT = { "User-Agent": "croupier", "Accept-Encoding": "identity" };

/** One request; a retry sends the same. */
export interface Request {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Bytes;
  /** The relay that it must go through, sealed; left out if it goes directly. */
  readonly relay?: string;
}

/** The answer of a server. */
export interface Answer {
  readonly status: number;
  readonly body: Uint8Array;
  readonly retryAfter: string | null;
}

/** The transport of requests, and a clock. */
export interface Transport {
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  readonly sleep?: (seconds: number) => Promise<void>;
  /** Seconds after which a request without a complete answer counts as silence; 30 if left out. */
  readonly timeout?: number;
  /** The way of requests that must go through a relay; set by conversations themselves. */
  readonly through?: (request: Request) => Promise<Answer | null>;
}

/** Seconds from the first attempt to connect until the last byte of an answer. */
const TIMEOUT = 30;
/** Bytes of an answer, decompressed: a key list is its plan and a few hundred per open round. */
const LARGEST_ANSWER = 2 ** 20 + 32; // with room for the seal of a gateway
/** Seconds that one timer can hold. */
const LONGEST_TIMER = 2 ** 31 / 1000 - 1;

type Explain = (error: unknown, url: string) => Error | null;
let explain: Explain = () => null;

/** Tell failures that stay from silence by a function, where the platform names their causes. */
export function explainBy(tell: Explain): void {
  explain = tell;
}

/**
 * Send one request and return its answer; null if there is no complete one in time.
 *
 * Throws a CertificateError if the server's certificate cannot be trusted, where Node tells.
 */
export async function ask(request: Request, transport: Transport): Promise<Answer | null> {
  if (request.relay !== undefined) {
    if (transport.through !== undefined) return transport.through(request);
    throw new ParameterError("relay", { must: "be left out here" });
  }
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((giveUp) => {
    const end = () => {
      controller.abort();
      giveUp(null); // a fetch that is aborted while its body is read may never settle
    };
    timer = setTimeout(end, 1000 * (transport.timeout ?? TIMEOUT));
  });
  try {
    return await Promise.race([exchange(request, transport, controller.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Send one request, without any browser data that can be suppressed. */
async function exchange(
  request: Request,
  transport: Transport,
  signal: AbortSignal,
): Promise<Answer | null> {
  const { url, ...own } = request;
  const quiet = {
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    referrerPolicy: "no-referrer",
    signal,
  } as const;
  try {
    const response = await (transport.fetch ?? fetch)(url, { ...own, ...quiet });
    const body = await wholeBody(response);
    if (body === null) return null;
    return { status: response.status, body, retryAfter: response.headers.get("Retry-After") };
  } catch (error) {
    const lasting = explain(error, url);
    if (lasting === null) return null;
    throw lasting;
  }
}

/** Read the body of an answer; null if it is larger than any legitimate one. */
async function wholeBody(response: Response): Promise<Bytes | null> {
  const body = new Uint8Array(LARGEST_ANSWER);
  let size = 0;
  const reader = response.body?.getReader();
  for (let next = await reader?.read(); next?.value; next = await reader?.read()) {
    if (size + next.value.length > LARGEST_ANSWER) {
      await reader?.cancel();
      return null;
    }
    body.set(next.value, size);
    size += next.value.length;
  }
  return body.slice(0, size);
}

/** Wait, with the transport's clock if it has one. */
export async function pause(seconds: number, transport: Transport): Promise<void> {
  await (transport.sleep ?? sleep)(seconds);
}

async function sleep(seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= LONGEST_TIMER) {
    const part = Math.min(left, LONGEST_TIMER);
    await new Promise((resolve) => setTimeout(resolve, 1000 * part));
  }
}
