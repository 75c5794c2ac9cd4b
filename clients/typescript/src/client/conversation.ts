/** The conversation of a client with the shuffler: fetch keys, wait, send, retry, give up. */

import {
  BudgetError,
  DataError,
  NoTokenError,
  NotOfferedError,
  ParameterError,
  UntrustedError,
} from "../errors.js";
import { Plan } from "../plan.js";
import { planText } from "../protocol/key_list.js";
import { isPointer, supersededBy } from "../protocol/superseded.js";
import type { Client, Served, Submission } from "./client.js";
import { admitted } from "./enrolment.js";
import { pause, type Request, type Transport } from "./exchange.js";
import { fetchToken, requireIssuer } from "./fetch_token.js";
import { fromEverywhere, offered } from "./fetching.js";
import { askPatiently } from "./patience.js";
import type { Server } from "./server.js";
import { through } from "./through.js";

export type Outcome =
  | "accepted"
  | "not this person's turn"
  | "the batch was closed"
  | "refused"
  | "no answer in time"
  | "waiting for its time"
  | "nothing to send"
  | "no token for this round";

export const EXPIRED: Outcome = "no answer in time";
export const CLOSED: Outcome = "the batch was closed";
export const NO_TOKEN: Outcome = "no token for this round";
const ABSENT: Outcome = "not this person's turn";

const A_MINUTE = 60;
const [NOT_FOUND, GONE] = [404, 410];

/**
 * Fetch the plan of a digest, from a server that need not be trusted with it.
 *
 * Throws as `submit` does if the plan was superseded or is not offered. The server sees who asks: a
 * client that goes through a relay has its plan from the app, and reads it with `Plan.read`.
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
 * does not have the plan, a CertificateError if Node says that its certificate is not trusted, and a
 * NotAdmittedError if the issuer does not admit the device.
 *
 * If the plan admits by token, also fetch the token of the next round, before or after: both times
 * are drawn at the beginning, and neither depends on the other or on the outcome. Asking the issuer
 * must not show who answers, nor when.
 *
 * @param value The person's value, or a function of the question if rounds ask by query.
 */
export async function submit(
  client: Client,
  value: unknown,
  server: Server,
  { roundNumber, ...transport }: Transport & { roundNumber?: number } = {},
): Promise<Outcome> {
  requireIssuer(client.plan, server);
  if (client.plan.admission.by !== "token") {
    return takePart(client, value, server, roundNumber, transport);
  }
  const fetching = new Fetching(client, server, transport);
  const beside = { ...transport, sleep: (seconds: number) => fetching.sleep(seconds) };
  const ended = await takePart(client, value, server, roundNumber, beside).catch((error) => error);
  const couldNotAnswer = [BudgetError, DataError, ParameterError].some(
    (kind) => ended instanceof kind,
  );
  if (ended instanceof Error && !couldNotAnswer) throw ended;
  await fetching.end();
  if (ended instanceof Error) throw ended;
  return ended;
}

/** The fetching of a token at a time of its own, however long anything else takes. */
class Fetching {
  readonly #at: number;
  readonly #beginning: number;
  #least = 0;
  #isOver = false;
  #error: unknown;

  constructor(
    readonly client: Client,
    readonly server: Server,
    readonly transport: Transport,
  ) {
    this.#at = client.tokenDelay();
    this.#beginning = client.clock();
  }

  /** Wait, and fetch the token in between if it is time. */
  async sleep(seconds: number): Promise<void> {
    const until = this.#passed() + seconds;
    if (!this.#isOver && until >= this.#at) await this.#fetch();
    await this.#until(until);
  }

  /** Fetch the token if it was not fetched; throw what the issuer did wrong. */
  async end(): Promise<void> {
    if (!this.#isOver) await this.#fetch();
    if (this.#error !== undefined) throw this.#error;
  }

  async #fetch(): Promise<void> {
    this.#isOver = true;
    await this.#until(this.#at);
    try {
      await fetchToken(this.client, this.server, this.transport);
    } catch (error) {
      this.#error = error;
    }
  }

  /** The seconds since the beginning: by the clock, which may be set back, and no less than the waits. */
  #passed(): number {
    return Math.max(this.#least, this.client.clock() - this.#beginning);
  }

  async #until(seconds: number): Promise<void> {
    const passed = this.#passed();
    this.#least = Math.max(passed, seconds);
    await pause(this.#least - passed, this.transport);
  }
}

/** Send this round's report, and once more if its batch was closed. */
async function takePart(
  client: Client,
  value: unknown,
  address: Server,
  roundNumber: number | undefined,
  direct: Transport,
): Promise<Outcome> {
  const transport = await through(client, address, direct);
  const seconds = client.plan.roundLength;
  const server = await admitted(client, address, seconds, transport);
  if (server === null) return EXPIRED;
  const served = await serve(client, server, roundNumber, seconds, transport);
  if (served === null) return EXPIRED;
  const submission = await reported(client, value, served);
  if (submission === null) return ABSENT;
  if (typeof submission === "string") return submission;
  const sent = await send(client, server, submission, transport);
  if (sent.outcome !== CLOSED) return sent.outcome;
  const keyLists = await fromEverywhere(client, server, "", seconds, transport);
  if (keyLists === null) return sent.outcome;
  const refused = { submission, refusal: sent.body, authorization: sentAs(server, submission) };
  const again = await client.reseal(refused, { keyLists });
  return again === null ? sent.outcome : (await send(client, server, again, transport)).outcome;
}

/** Return the round's report; null if it is not this person's turn; an outcome without a token. */
export async function reported(
  client: Client,
  value: unknown,
  served: Served,
): Promise<Submission | Outcome | null> {
  try {
    return await client.report(value, served);
  } catch (error) {
    if (error instanceof NoTokenError) return NO_TOKEN;
    throw error;
  }
}

/** Return the Authorization header that a report is sent with. */
export function sentAs(server: Server, { spent }: Submission): string {
  return spent?.authorization ?? server.authorization();
}

/**
 * Fetch the key lists and, if rounds ask by query, the documents of the round.
 *
 * Return null if an address is silent or busy for so many seconds.
 */
export async function serve(
  client: Client,
  server: Server,
  roundNumber: number | undefined,
  seconds: number,
  transport: Transport,
): Promise<Served | null> {
  const keyLists = await fromEverywhere(client, server, "", seconds, transport);
  if (keyLists === null) return null;
  const served = roundNumber === undefined ? { keyLists } : { keyLists, roundNumber };
  if (!client.plan.asksByQuery) return served;
  const path = `/rounds/${await client.chosenRound(served)}`;
  const rounds = await fromEverywhere(client, server, path, seconds, transport);
  return rounds && { ...served, rounds };
}

async function send(
  client: Client,
  server: Server,
  submission: Submission,
  transport: Transport,
): Promise<Sent> {
  await pause(submission.delay, transport);
  return post(client, server, submission, client.plan.roundLength, transport);
}

/** The outcome of sending a report, and the answer. */
export interface Sent {
  readonly outcome: Outcome;
  readonly status: number;
  readonly body: Uint8Array;
}

/** Send a report, again for so many seconds, and remember if a prepared one was accepted. */
export async function post(
  client: Client,
  server: Server,
  submission: Submission,
  seconds: number,
  transport: Transport,
): Promise<Sent> {
  const missing = { status: 0, body: new Uint8Array(0) };
  // The credential is never sent in a token's place.
  const hasToken = client.plan.admission.by !== "token" || submission.spent != null;
  if (!hasToken) return { outcome: NO_TOKEN, ...missing };
  const answer = await askPatiently(server.post(submission), seconds, transport);
  if (answer === null) return { outcome: EXPIRED, ...missing };
  const { status, body } = answer;
  if (status === GONE && isPointer(body)) throw await supersededBy(body, client.plan.digest);
  if (status === NOT_FOUND) throw new NotOfferedError(status);
  const known: Record<number, Outcome> = { 202: "accepted", 409: CLOSED };
  if (status === 202 && submission.due !== undefined) await client.settle(submission, true);
  return { outcome: known[status] ?? "refused", status, body };
}
