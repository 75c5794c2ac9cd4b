/** The conversation of a client with the shuffler: fetch keys, wait, send, retry, give up. */

import type { Bytes } from "../bytes.js";
import { NotOfferedError, UntrustedError } from "../errors.js";
import { operatingSystem } from "../keystream.js";
import { Plan } from "../plan.js";
import { planText } from "../protocol/key_list.js";
import { isPointer, supersededBy } from "../protocol/superseded.js";
import type { Client, Served, Submission } from "./client.js";
import type { Request, Server } from "./server.js";

export type Outcome =
  | "accepted"
  | "not this person's turn"
  | "the batch was closed"
  | "refused"
  | "no answer in time";

interface Answer {
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
}

const FIRST_PAUSE = 1;
const LONGEST_PAUSE = 300;
/** Seconds from the first attempt to connect until the last byte of an answer. */
const TIMEOUT = 30;
/** Bytes of an answer, decompressed: a key list is its plan and a few hundred per open round. */
const LARGEST_ANSWER = 2 ** 20;
/** Seconds that one timer can hold. */
const LONGEST_TIMER = 2 ** 31 / 1000 - 1;
const A_MINUTE = 60;
const [NOT_FOUND, GONE] = [404, 410];

/**
 * Fetch the plan of a digest, from a server that need not be trusted with it.
 *
 * Throws as `submit` does if the plan was superseded or is not offered.
 */
export async function loadPlan(
  digest: string,
  server: Server,
  transport: Transport = {},
): Promise<Plan> {
  const [request] = server.get(digest) as [Request, ...Request[]];
  const answer = await askPatiently(request, A_MINUTE, transport);
  if (answer === null) {
    const advice = "Check the address and the plan's digest.";
    throw new UntrustedError("this server", "does not answer", advice);
  }
  return Plan.read(planText(await offered(answer, digest)), digest);
}

/**
 * Take part in the open round, from the first step to the last.
 *
 * Throws a SupersededError if another plan took the place of this one: what was sealed and spent
 * stays remembered, and nothing more is sent. Throws a NotOfferedError if the server or a mirror
 * does not have the plan.
 *
 * @param value The person's value, or a function of the question if rounds ask by query.
 */
export async function submit(
  client: Client,
  value: unknown,
  server: Server,
  { roundNumber, ...transport }: Transport & { roundNumber?: number } = {},
): Promise<Outcome> {
  const served = await serve(client, server, roundNumber, transport);
  if (served === null) return "no answer in time";
  const submission = await client.report(value, served);
  if (submission === null) return "not this person's turn";
  const sent = await send(client, server, submission, transport);
  if (sent.outcome !== "the batch was closed") return sent.outcome;
  const keyLists = await fromEverywhere(client, server, "", transport);
  if (keyLists === null) return sent.outcome;
  const refused = { submission, refusal: sent.body, authorization: server.authorization() };
  const again = await client.reseal(refused, { keyLists });
  return again === null ? sent.outcome : (await send(client, server, again, transport)).outcome;
}

/** Fetch the key lists and, if rounds ask by query, the documents of the round. */
async function serve(
  client: Client,
  server: Server,
  roundNumber: number | undefined,
  transport: Transport,
): Promise<Served | null> {
  const keyLists = await fromEverywhere(client, server, "", transport);
  if (keyLists === null) return null;
  const served = roundNumber === undefined ? { keyLists } : { keyLists, roundNumber };
  if (!client.plan.asksByQuery) return served;
  const path = `/rounds/${await client.chosenRound(served)}`;
  const rounds = await fromEverywhere(client, server, path, transport);
  return rounds && { ...served, rounds };
}

/** Fetch a document from the server, then its mirrors; null if one does not answer. */
async function fromEverywhere(
  { plan }: Client,
  server: Server,
  path: string,
  transport: Transport,
): Promise<Uint8Array[] | null> {
  const lists: Uint8Array[] = [];
  for (const [place, request] of server.get(plan.digest, path).entries()) {
    const answer = await askPatiently(request, plan.roundLength, transport);
    if (answer === null) return null;
    const who = place === 0 ? "server" : "mirror";
    const what = path === "" ? "the plan" : "the round of the plan";
    lists.push(await offered(answer, plan.digest, { who, what }));
  }
  return lists;
}

/** Return the document in an answer; throw what the answer says if there is none. */
async function offered(
  { status, body }: Answer,
  digest: string,
  names: { who?: string; what?: string } = {},
): Promise<Uint8Array> {
  if (status === GONE) throw await supersededBy(body, digest);
  if (status !== 200) throw new NotOfferedError(status, names);
  return body;
}

async function send(
  { plan }: Client,
  server: Server,
  submission: Submission,
  transport: Transport,
): Promise<{ outcome: Outcome; body: Uint8Array }> {
  await (transport.sleep ?? sleep)(submission.delay);
  const answer = await askPatiently(server.post(submission), plan.roundLength, transport);
  if (answer === null) return { outcome: "no answer in time", body: new Uint8Array(0) };
  const { status, body } = answer;
  if (status === GONE && isPointer(body)) throw await supersededBy(body, plan.digest);
  if (status === NOT_FOUND) throw new NotOfferedError(status);
  const known: Record<number, Outcome> = { 202: "accepted", 409: "the batch was closed" };
  return { outcome: known[status] ?? "refused", body };
}

/**
 * Repeat a request, byte for byte, while the server is silent or busy, and return the answer.
 *
 * Pauses double and have a random length, so that clients do not return together. Return null
 * once the pauses would add up to more than so many seconds.
 */
async function askPatiently(
  request: Request,
  seconds: number,
  transport: Transport,
): Promise<Answer | null> {
  let [waited, pause] = [0, FIRST_PAUSE];
  for (;;) {
    const answer = await ask(request, transport);
    if (answer !== null && answer.status !== 429 && answer.status < 500) return answer;
    const share = Number(operatingSystem.words(1)[0]) / 2 ** 64;
    const wait = Math.max(askedPause(answer), (pause / 2) * (1 + share));
    waited += wait;
    if (waited > seconds) return null;
    await (transport.sleep ?? sleep)(wait);
    pause = Math.min(2 * pause, LONGEST_PAUSE);
  }
}

function askedPause(answer: Answer | null): number {
  const text = answer?.retryAfter ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

/** Send one request and return its answer; null if there is no complete one in time. */
async function ask(request: Request, transport: Transport): Promise<Answer | null> {
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
  } catch {
    return null;
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

async function sleep(seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= LONGEST_TIMER) {
    const part = Math.min(left, LONGEST_TIMER);
    await new Promise((resolve) => setTimeout(resolve, 1000 * part));
  }
}
