/**
 * Fetching a token: the next round's, before it opens, from an issuer that does not see it.
 *
 * Everybody asks once per round, whether they will answer or not, so that asking says nothing about
 * taking part.
 */

import { fromHex } from "../bytes.js";
import { ParameterError } from "../errors.js";
import type { Plan } from "../plan.js";
import { tokenKeyOf } from "../protocol/token_keys.js";
import type { Client } from "./client.js";
import { admitted } from "./enrolment.js";
import type { Transport } from "./exchange.js";
import { fromEverywhere } from "./fetching.js";
import { askPatiently } from "./patience.js";
import type { Server } from "./server.js";
import { through } from "./through.js";
import { begin, finish } from "./tokens.js";

export type TokenOutcome =
  | "the token of the next round is held"
  | "the issuer has no key for the next round yet"
  | "the issuer gives no tokens for the round now"
  | "refused"
  | "no answer in time";

/** Seconds for which a silent or busy server is asked again; then the next call does. */
const PATIENCE = 30;
const GONE = 410;
const HELD: TokenOutcome = "the token of the next round is held";

/**
 * Fetch the token of the next round, at once, unless the memory holds it.
 *
 * `submit` does so by itself. A page that prepares reports calls this once per round, for
 * everybody, at a random time (`client.tokenDelay()`) that depends neither on the value nor on
 * whether the person answers. Throws as `submit` does; after "no answer in time" and "the issuer
 * gives no tokens for the round now" a later call sends the same bytes.
 */
export async function fetchToken(
  client: Client,
  address: Server,
  direct: Transport = {},
): Promise<TokenOutcome> {
  const { plan, memory } = client;
  if (plan.admission.by !== "token") {
    throw new ParameterError("admission.by", { must: 'be "token" to fetch tokens' });
  }
  requireIssuer(plan, address);
  const transport = await through(client, address, direct);
  const server = await admitted(client, address, PATIENCE, transport);
  const lists = server && (await fromEverywhere(client, server, "", PATIENCE, transport));
  if (server === null || lists === null) return "no answer in time";
  const { tokens, newest } = await client.followed(lists);
  const round = newest === null ? (tokens?.first ?? 0) : newest + 1;
  const key = tokens && (await tokenKeyOf(tokens, round));
  if (key === null) return "the issuer has no key for the next round yet";
  // Remembered before anybody sees it, so that a restart sends the same bytes.
  const { request } = await memory.update((state) => begin(state, plan, key, round));
  if (request == null) return HELD;
  const step = server.askForToken(plan.digest, round, fromHex(request));
  const answer = await askPatiently(step, PATIENCE, transport);
  if (answer === null) return "no answer in time";
  if (answer.status !== 200) {
    return answer.status === GONE ? "the issuer gives no tokens for the round now" : "refused";
  }
  await memory.update((state) => finish(state, plan, key, round, answer.body));
  return HELD;
}

/** Refuse an address without an issuer if the plan admits by token. */
export function requireIssuer({ admission }: Plan, { issuer }: Server): void {
  if (admission.by === "token" && issuer === undefined) {
    throw new ParameterError("issuer", { must: "be given: the plan admits by token" });
  }
}
