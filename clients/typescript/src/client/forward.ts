/**
 * Store and forward: a report is prepared at one time and delivered at another.
 *
 * `submit` waits for the drawn time inside the call. A page that is not open for that long prepares
 * a report, which stores it with its time, and calls `deliver` now and then. Between any two steps
 * the page may be closed: memory then holds either nothing or the sealed bytes with their time, and
 * a retry sends the same bytes.
 */

import type { Client } from "./client.js";
import {
  CLOSED,
  EXPIRED,
  NO_TOKEN,
  type Outcome,
  post,
  reported,
  sentAs,
  serve,
} from "./conversation.js";
import { admitted } from "./enrolment.js";
import type { Transport } from "./exchange.js";
import { requireIssuer } from "./fetch_token.js";
import { fromEverywhere } from "./fetching.js";
import type { Server } from "./server.js";
import { through } from "./through.js";

/** A report that waits for its time in the client's memory. */
export interface Prepared {
  /** The round that it answers. */
  readonly roundNumber: number;
  /** The time at which `deliver` sends it, in seconds since 1970. */
  readonly due: number;
  /** True if an earlier report was never delivered, its batch is closed, and this one replaces it. */
  readonly isReplacing: boolean;
}

/** Seconds for which a silent or busy server is asked again; then the next call does. */
const PATIENCE = 30;
const GONE = 410;

/**
 * Randomise, seal and store a report with the time at which it is due, and send nothing.
 *
 * A report that waits already, for a batch that is still open, stays as it is, whatever the value
 * is by then. Throws as `submit` does. If the plan admits by token, call `fetchToken` as well, at a
 * time of its own.
 *
 * @param value The person's value, or a function of the question if rounds ask by query.
 * @returns The report that waits; "not this person's turn"; "nothing to send" if the round's report
 *   was delivered before; "no answer in time"; "no token for this round".
 */
export async function prepare(
  client: Client,
  value: unknown,
  server: Server,
  { roundNumber, ...direct }: Transport & { roundNumber?: number } = {},
): Promise<Prepared | Outcome> {
  requireIssuer(client.plan, server);
  const transport = await through(client, server, direct);
  const enrolled = await admitted(client, server, PATIENCE, transport);
  const served = enrolled && (await serve(client, enrolled, roundNumber, PATIENCE, transport));
  if (served === null) return EXPIRED;
  const made = await reported(client, value, { ...served, isPrepared: true });
  if (made === null) return "not this person's turn";
  if (typeof made === "string") return made;
  const { due, isReplacing = false } = made;
  return due === undefined
    ? "nothing to send"
    : { roundNumber: made.roundNumber, due, isReplacing };
}

/**
 * Send the prepared report if its time has come, and remember what became of it.
 *
 * Throws as `submit` does; the report then stays stored.
 *
 * @returns "waiting for its time" before it (`client.due()` are the seconds left), also if the batch
 *   was closed and the report is sealed for the next one; "nothing to send" if nothing is prepared.
 *   After "no answer in time" and "refused" the next call sends it again, after "accepted" and "the
 *   batch was closed" none does.
 */
export async function deliver(
  client: Client,
  address: Server,
  direct: Transport = {},
): Promise<Outcome> {
  const transport = await through(client, address, direct);
  const submission = await client.waiting();
  if (submission === null) return "nothing to send";
  if (submission.delay > 0) return "waiting for its time";
  const byToken = client.plan.admission.by === "token";
  const server = byToken ? address : await admitted(client, address, PATIENCE, transport);
  if (server === null) return EXPIRED;
  const { outcome, status, body } = await post(client, server, submission, PATIENCE, transport);
  if (outcome === CLOSED) {
    const keyLists = await fromEverywhere(client, server, "", PATIENCE, transport);
    if (keyLists === null) return EXPIRED;
    const refused = { submission, refusal: body, authorization: sentAs(server, submission) };
    if ((await client.reseal(refused, { keyLists })) !== null) return "waiting for its time";
  } else if (outcome === NO_TOKEN) {
    await client.settle(submission, false);
    return outcome;
  } else if (status !== GONE) return outcome;
  await client.settle(submission, false);
  return CLOSED;
}
