/**
 * Queries: the questions of adaptive rounds, signed by the analyzer, the same for everybody.
 *
 * The digest of the query is bound into every seal of every report: a client that was shown
 * another query sends nothing that opens.
 */

import { equal, hex, sha256, utf8 } from "../bytes.js";
import { UntrustedError } from "../errors.js";
import { canonical, isTable, type Table } from "../json.js";
import type { Plan } from "../plan.js";
import {
  isWireVersion,
  onwardKeys,
  openingOf,
  QUERY,
  readServed,
  type ShufflerKey,
  shufflerKey,
} from "./key_list.js";
import type { ShufflerKeys } from "./party_keys.js";
import { requireShape, verified } from "./signed_document.js";

export interface Query {
  /** Text that the client's program understands. */
  readonly question: string;
  /** SHA-256 of the signed document, in hexadecimal: the seals are bound to it. */
  readonly digest: string;
}

const WHAT = "the round's document";

/**
 * Return what a round asks; null if the plan fixes it.
 *
 * @param rounds The documents of the round from server and mirrors; must be the same bytes.
 * @param keys The keys that sign for the shuffler, by the key list.
 */
export async function queryOf(
  plan: Plan,
  rounds: readonly Uint8Array[],
  shuffler: ShufflerKey,
  keys: ShufflerKeys,
): Promise<Query | null> {
  if (!plan.asksByQuery) return null;
  const [first, ...others] = rounds;
  if (first === undefined || others.some((other) => !equal(other, first))) {
    throw new UntrustedError(WHAT, "is missing, or not the same on every mirror");
  }
  const document = requireShape(
    WHAT,
    readServed(WHAT, first),
    { schema_version: isWireVersion, shuffler: isTable, query: isTable },
    { onward: isTable },
  );
  const opening = await openingOf(document.shuffler, plan, keys);
  const parts = document.onward === undefined ? undefined : [document.onward];
  await onwardKeys(WHAT, parts, plan, [opening]);
  const own = shufflerKey(opening);
  if (
    own.round !== shuffler.round ||
    own.batch !== shuffler.batch ||
    own.analyzer !== shuffler.analyzer ||
    own.onward[0] !== shuffler.onward[0] ||
    !equal(own.key, shuffler.key)
  ) {
    throw new UntrustedError(WHAT, "is not of the round in the key list");
  }
  const query: Table = await verified(QUERY, document.query, plan);
  if (query.round !== shuffler.round) throw new UntrustedError(QUERY.what, "is of another round");
  return { question: String(query.question), digest: hex(await sha256(utf8(canonical(query)))) };
}
