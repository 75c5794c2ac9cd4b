/** Fetching what a server and its mirrors serve about a plan: key lists, and documents of rounds. */

import { equal } from "../bytes.js";
import { NotOfferedError } from "../errors.js";
import { supersededBy } from "../protocol/superseded.js";
import type { Client } from "./client.js";
import { type Answer, pause, type Transport } from "./exchange.js";
import { askPatiently } from "./patience.js";
import type { Server } from "./server.js";

const A_MINUTE = 60;
/** Tries of server and mirrors that differ; seconds in which an address shows what others show. */
const [TRIES, RENEWAL] = [2, 2];
const GONE = 410;

/**
 * Fetch a document from the server, then its mirrors; null if one does not answer.
 *
 * Ask all of them again if they differ, once no cache can be behind any longer. If they still do,
 * return what they serve as it is; the client refuses it.
 */
export async function fromEverywhere(
  { plan }: Client,
  server: Server,
  path: string,
  seconds: number,
  transport: Transport,
): Promise<Uint8Array[] | null> {
  for (let left = TRIES; ; left--) {
    const lists: Uint8Array[] = [];
    for (const [place, request] of server.get(plan.digest, path).entries()) {
      const answer = await askPatiently(request, seconds, transport);
      if (answer === null) return null;
      const who = place === 0 ? "server" : "mirror";
      const what = path === "" ? "the plan" : "the round of the plan";
      lists.push(await offered(answer, plan.digest, { who, what }));
    }
    const [first] = lists as [Uint8Array];
    if (left === 1 || lists.every((list) => equal(list, first))) return lists;
    const kept = Math.min(Math.max(Math.floor(plan.roundLength / 100), 1), A_MINUTE);
    await pause(RENEWAL + kept, transport);
  }
}

/** Return the document in an answer; throw what the answer says if there is none. */
export async function offered(
  { status, body }: Answer,
  digest: string,
  names: { who?: string; what?: string } = {},
): Promise<Uint8Array> {
  if (status === GONE) throw await supersededBy(body, digest);
  if (status !== 200) throw new NotOfferedError(status, names);
  return body;
}
