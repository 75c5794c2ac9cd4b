/**
 * The keys of a shuffler by role, in a list that its root signs.
 *
 * The plan names the root. The list names the release keys, which open rounds, and the intake keys,
 * which sign refusals, each valid from a round on. The root stands for each of them.
 *
 * Shufflers are counted by hops: 0 is the one that clients send to, 1 the one after it. Nothing that
 * one of them signs is believed for the other.
 */

import { hex, sha256, utf8 } from "../bytes.js";
import { canonical, type Json } from "../json.js";
import type { Plan } from "../plan.js";
import {
  COMMON,
  digits,
  type Entry,
  exactly,
  hasShape,
  type Kind,
  roundNumber,
  verified,
  whole,
} from "./signed_document.js";

/** The list, once its root's signature is checked. */
export interface ShufflerKeys {
  /** The shuffler whose list it is. */
  readonly hop: number;
  readonly version: number;
  /** SHA-256 of the signed document: two lists of one version differ in it. */
  readonly digest: string;
  readonly release: readonly Key[];
  readonly intake: readonly Key[];
}

interface Key {
  readonly from_round: number;
  readonly key: string;
}

const RELEASE = { from_round: roundNumber, key: digits(32) };
const INTAKE = { ...RELEASE, seal: digits(32) };

/** Entries of one shape, whose rounds rise from 0. */
const rising =
  (entries: Kind["entries"]): Entry =>
  (value) => {
    if (!Array.isArray(value) || !value.every((entry) => hasShape(entry, entries))) return false;
    const rounds = (value as unknown as readonly Key[]).map(({ from_round }) => from_round);
    return rounds[0] === 0 && rounds.every((round, place) => round > (rounds[place - 1] ?? -1));
  };

export const SHUFFLER_KEYS: Kind = {
  what: "the list of the shuffler's keys",
  signer: "shufflerKey",
  purpose: "shuffler keys",
  entries: {
    ...COMMON,
    kind: exactly("shuffler keys"),
    version: whole(1, 2 ** 32 - 1),
    release: rising(RELEASE),
    intake: rising(INTAKE),
  },
};

/** Return the list in a document, if the root of the plan's shuffler signed it. */
export async function shufflerKeys(
  document: Json | undefined,
  plan: Plan,
  hop = 0,
): Promise<ShufflerKeys> {
  const root = plan.shufflerKeys[hop] as string;
  const read = await verified(SHUFFLER_KEYS, document, plan, [root]);
  const { version, release, intake } = read as unknown as ShufflerKeys;
  return { hop, version, release, intake, digest: hex(await sha256(utf8(canonical(read)))) };
}

/** Return the keys that may sign for a role in a round: the list's key, and the root. */
export function signersOf(
  role: "release" | "intake",
  round: number,
  plan: Plan,
  keys: ShufflerKeys,
): readonly string[] {
  const own = keyOf(keys[role], round);
  const root = plan.shufflerKeys[keys.hop] as string;
  return own === undefined ? [root] : [own.key, root];
}

/** Tell whether the release key of a round was replaced by that of a newer round. */
export function isReplaced(round: number, newest: number, { release }: ShufflerKeys): boolean {
  return (keyOf(release, round)?.from_round ?? 0) < (keyOf(release, newest)?.from_round ?? 0);
}

function keyOf(entries: readonly Key[], round: number): Key | undefined {
  return entries.filter(({ from_round }) => from_round <= round).at(-1);
}
