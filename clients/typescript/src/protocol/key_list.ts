/**
 * Key lists: the public keys that clients seal to, signed by the parties that the plan names.
 *
 * Everybody gets the same bytes, so that a client can compare them with a second mirror.
 */

import { type Bytes, bigEndian, concat, fromHex, hex, sha256, utf8 } from "../bytes.js";
import { UntrustedError } from "../errors.js";
import { isTable, type Json, type Table } from "../json.js";
import type { Plan } from "../plan.js";
import { type ShufflerKeys, shufflerKeys, signersOf } from "./party_keys.js";
import {
  COMMON,
  digits,
  type Entry,
  exactly,
  hasShape,
  type Kind,
  readDocument,
  requireShape,
  roundNumber,
  verified,
} from "./signed_document.js";
import { type TokenKeys, tokenKeys } from "./token_keys.js";
import type { Opening } from "./wire.js";

const question: Entry = (value) =>
  typeof value === "string" && value.length > 0 && [...value].length <= MOST_CHARACTERS;

const MOST_CHARACTERS = 4096;
const WIRE_VERSION = 2;

/** The opening of a round, signed by the release key of the round. */
export const SHUFFLER: Kind = {
  what: "the opening of a round",
  purpose: "key list",
  entries: {
    ...COMMON,
    kind: exactly("shuffler"),
    round: roundNumber,
    batch: digits(16),
    key: digits(32),
    analyzer: digits(32),
  },
  optional: { next: digits(32) },
};

const JUDGEMENTS: readonly (Json | undefined)[] = ["met", "not met", "no limit set"];
const POLICY: Kind["entries"] = {
  judgement: (value) => JUDGEMENTS.includes(value),
  judged: digits(32),
  despite_policy: (value) => typeof value === "boolean",
};

/** The analyzer's key, with its statement on the plan's policy, which lists of 0.1 do not have. */
export const ANALYZER: Kind = {
  what: "the analyzer's key list",
  signer: "analyzerKey",
  purpose: "key list",
  entries: { ...COMMON, kind: exactly("analyzer"), key: digits(32) },
  optional: { policy: (value) => hasShape(value, POLICY, { organisation: digits(32) }) },
};

/** The question of a round, if the plan does not fix it. */
export const QUERY: Kind = {
  what: "the query",
  signer: "analyzerKey",
  purpose: "query",
  entries: { ...COMMON, kind: exactly("query"), round: roundNumber, question },
};

/**
 * The shuffler's signed refusal: a batch will never hold a report, so it may be resealed.
 *
 * The intake key of the round that it was sent for signs it.
 */
export const NOT_ACCEPTED: Kind = {
  what: "the refusal",
  purpose: "refusal",
  entries: { ...COMMON, kind: exactly("not accepted"), batch: digits(16), sent: digits(32) },
};

/** Return what a refusal is bound to: the Authorization header's value and the envelopes. */
export async function sentDigest(authorization: string, body: Bytes): Promise<string> {
  const value = utf8(authorization);
  return hex(await sha256(concat(bigEndian(value.length, 2), value, body)));
}

/** Tell whether a served document has this version of the wire format. */
export function isWireVersion(value: Json | undefined): boolean {
  return value === WIRE_VERSION;
}

/** Read a document that names its version, as `readDocument`; refuse another version by name. */
export function readServed(what: string, data: Uint8Array): Json {
  const document = readDocument(what, data);
  const version = isTable(document) ? document.schema_version : undefined;
  if (typeof version === "number" && !isWireVersion(version)) {
    throw new UntrustedError(
      what,
      `is of wire version ${version}, which this client does not speak`,
    );
  }
  return document;
}

/** The signed opening of a round: its batch, the shuffler's key for it, and all later keys. */
export interface ShufflerKey extends Opening {
  readonly key: Bytes;
  readonly onward: readonly string[];
}

/** Return the text of the plan inside a key list; the caller compares its digest. */
export function planText(data: Uint8Array): string {
  return String(parts(data).plan);
}

/** The content of a key list, once every part of it is checked. */
export interface KeyList {
  /** The first shuffler's keys by role. */
  readonly keys: ShufflerKeys;
  readonly openRounds: readonly ShufflerKey[];
  /** The second shuffler's keys in each open round; empty if the plan has one shuffler. */
  readonly onward: readonly ShufflerKeys[];
  /** The issuer's keys; null if the plan admits by credential. */
  readonly tokens: TokenKeys | null;
}

/** Read a key list, with every part checked against the plan. */
export async function readKeyList(data: Uint8Array, plan: Plan): Promise<KeyList> {
  const list = parts(data);
  if (list.plan !== plan.canonical) throw new UntrustedError(WHAT, "is of another plan");
  const analyzer = await verified(ANALYZER, list.analyzer, plan);
  const keys = await shufflerKeys(list.keys, plan);
  const shuffler = await Promise.all(
    (list.shuffler as readonly Json[]).map((entry) => openingOf(entry, plan, keys)),
  );
  if (new Set(shuffler.map(({ round }) => round)).size !== shuffler.length) {
    throw new UntrustedError(WHAT, "names two batches for one round");
  }
  if (shuffler.some((entry) => entry.analyzer !== analyzer.key)) {
    throw new UntrustedError(
      WHAT,
      "shows another key of the analyzer than its round was opened for",
    );
  }
  const onward = await onwardKeys(WHAT, list.onward, plan, shuffler);
  const tokens = await issuerKeys(list.tokens, plan);
  return { keys, openRounds: shuffler.map(shufflerKey), onward, tokens };
}

/** Return the issuer's keys, which must be there exactly if the plan admits by token. */
async function issuerKeys(document: Json | undefined, plan: Plan): Promise<TokenKeys | null> {
  const isThere = document !== undefined;
  if (isThere !== (plan.admission.by === "token")) {
    const has = isThere ? "has keys of an issuer" : "has no keys of the issuer";
    throw new UntrustedError(WHAT, `${has}, unlike the plan`);
  }
  return isThere ? tokenKeys(document, plan) : null;
}

/**
 * Return the opening of a round, if the release key of that round signed it.
 *
 * It must name the next shuffler's key if there is one, and only then.
 */
export async function openingOf(
  document: Json | undefined,
  plan: Plan,
  keys: ShufflerKeys,
): Promise<Table> {
  const round = isTable(document) ? Number(document.round) : 0;
  const signers = signersOf("release", round, plan, keys);
  const opening = await verified(SHUFFLER, document, plan, signers);
  if ((opening.next === undefined) !== (keys.hop === plan.shufflerKeys.length - 1)) {
    throw new UntrustedError(SHUFFLER.what, "names a next shuffler, or none, unlike the plan");
  }
  return opening;
}

/**
 * Return the second shuffler's keys in each round, if it opened what the first one did.
 *
 * An honest shuffler among the two opens only what was sealed with the keys in its own opening.
 *
 * @param parts The second shuffler's part in each round; undefined if absent.
 * @param openings The first shuffler's openings, checked already.
 */
export async function onwardKeys(
  what: string,
  parts: Json | undefined,
  plan: Plan,
  openings: readonly Table[],
): Promise<readonly ShufflerKeys[]> {
  if (plan.shufflerKeys.length === 1) {
    if (parts === undefined) return [];
    throw new UntrustedError(what, "has keys of a second shuffler, and the plan has one");
  }
  if (!Array.isArray(parts) || parts.length !== openings.length) {
    throw new UntrustedError(what, "lacks the second shuffler's opening of a round");
  }
  return Promise.all(openings.map((first, place) => secondKeys(parts[place], plan, first)));
}

async function secondKeys(part: Json, plan: Plan, first: Table): Promise<ShufflerKeys> {
  const { keys, opening } = requireShape(SECOND, part, { keys: isTable, opening: isTable });
  const listed = await shufflerKeys(keys, plan, 1);
  const own = await openingOf(opening, plan, listed);
  const same = (["round", "batch", "analyzer"] as const).every((name) => own[name] === first[name]);
  if (same && own.key === first.next) return listed;
  throw new UntrustedError(SECOND, "differs from the first one's");
}

const WHAT = "the key list";
const SECOND = "the second shuffler's opening";
const PARTS: Kind["entries"] = {
  schema_version: isWireVersion,
  plan: (value) => typeof value === "string",
  analyzer: isTable,
  keys: isTable,
  shuffler: Array.isArray,
};

function parts(data: Uint8Array): Table {
  return requireShape(WHAT, readServed(WHAT, data), PARTS, {
    onward: Array.isArray,
    tokens: isTable,
  });
}

export function shufflerKey({ round, batch, key, analyzer, next }: Table): ShufflerKey {
  return {
    onward: next === undefined ? [] : [String(next)],
    round: Number(round),
    batch: String(batch),
    key: fromHex(String(key)),
    analyzer: String(analyzer),
  };
}
