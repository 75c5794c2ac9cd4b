/**
 * Key lists: which public keys a client seals to, signed by the keys that the plan names.
 *
 * They are the same bytes for everybody, so that a client can compare them with a second mirror.
 */

import { type Bytes, bigEndian, concat, fromHex, hex, sha256, utf8 } from "../bytes.js";
import { UntrustedError } from "../errors.js";
import { canonical, isTable, type Json, readJson, type Table } from "../json.js";
import type { Plan } from "../plan.js";
import { isSigned } from "./signature.js";
import type { Opening } from "./wire.js";

type Entry = (value: Json | undefined) => boolean;

const digits =
  (size: number): Entry =>
  (value) =>
    typeof value === "string" && value.length === 2 * size && /^[0-9a-f]*$/.test(value);
const exactly =
  (text: string): Entry =>
  (value) =>
    value === text;
const roundNumber: Entry = (value) =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 32;

const question: Entry = (value) =>
  typeof value === "string" && value.length > 0 && [...value].length <= MOST_CHARACTERS;

const MOST_CHARACTERS = 4096;
const WIRE_VERSION = 2;
const SHAPE = "has missing, unknown or impossible entries";
const COMMON = { plan: digits(32), signature: digits(64) };

/** A kind of signed document: who signs it, for what purpose, and what its entries must be. */
interface Kind {
  readonly what: string;
  readonly signer: "shufflerKey" | "analyzerKey";
  readonly purpose: string;
  readonly entries: Readonly<Record<string, Entry>>;
  /** Entries that may be absent. */
  readonly optional?: Readonly<Record<string, Entry>>;
}

export const SHUFFLER: Kind = {
  what: "the shuffler's key list",
  signer: "shufflerKey",
  purpose: "key list",
  entries: {
    ...COMMON,
    kind: exactly("shuffler"),
    round: roundNumber,
    batch: digits(16),
    key: digits(32),
    analyzer: digits(32),
  },
};

const JUDGEMENTS: readonly (Json | undefined)[] = ["met", "not met", "no limit set"];
const POLICY: Kind["entries"] = {
  judgement: (value) => JUDGEMENTS.includes(value),
  judged: digits(32),
  despite_policy: (value) => typeof value === "boolean",
};

/** The analyzer's key, with its word on the plan's policy; lists of version 0.1 have no such word. */
export const ANALYZER: Kind = {
  what: "the analyzer's key list",
  signer: "analyzerKey",
  purpose: "key list",
  entries: { ...COMMON, kind: exactly("analyzer"), key: digits(32) },
  optional: { policy: (value) => hasShape(value, POLICY) },
};

/** What a round asks, where the plan does not say it. */
export const QUERY: Kind = {
  what: "the query",
  signer: "analyzerKey",
  purpose: "query",
  entries: { ...COMMON, kind: exactly("query"), round: roundNumber, question },
};

/** The shuffler's word that a batch has not taken what was sent: only then may a client reseal. */
export const NOT_ACCEPTED: Kind = {
  what: "the refusal",
  signer: "shufflerKey",
  purpose: "refusal",
  entries: { ...COMMON, kind: exactly("not accepted"), batch: digits(16), sent: digits(32) },
};

/** What a refusal is bound to: the Authorization header's value and the envelopes. */
export async function sentDigest(authorization: string, body: Bytes): Promise<string> {
  const value = utf8(authorization);
  return hex(await sha256(concat(bigEndian(value.length, 2), value, body)));
}

/** The document, if it is of this plan and signed by the key that the plan names. */
export async function verified(kind: Kind, document: Json | undefined, plan: Plan): Promise<Table> {
  const own = requireShape(kind.what, document, kind.entries, kind.optional);
  if (own.plan !== plan.digest) throw new UntrustedError(kind.what, "is of another plan");
  if (!(await isSigned(own, plan[kind.signer], kind.purpose))) {
    throw new UntrustedError(kind.what, "is not signed by the key of the plan");
  }
  return own;
}

/** A table with exactly these entries, and perhaps the optional ones, each as it must be. */
export function requireShape(
  what: string,
  document: Json | undefined,
  entries: Kind["entries"],
  optional: Kind["entries"] = {},
): Table {
  if (hasShape(document, entries, optional)) return document;
  throw new UntrustedError(what, SHAPE);
}

function hasShape(
  document: Json | undefined,
  entries: Kind["entries"],
  optional: Kind["entries"] = {},
): document is Table {
  if (!isTable(document)) return false;
  const given = Object.keys(optional).filter((name) => Object.hasOwn(document, name));
  const names = [...Object.keys(entries), ...given];
  const all = { ...optional, ...entries };
  return (
    names.every((name) => all[name]?.(document[name])) &&
    Object.keys(document).length === names.length
  );
}

/** Whether a served document is of this version of the wire format. */
export function isWireVersion(value: Json | undefined): boolean {
  return value === WIRE_VERSION;
}

/** As `readDocument`, of what names its version; another version is refused, and said so. */
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

/** The document that a server sent: canonical JSON, so that it has one spelling. */
export function readDocument(what: string, data: Uint8Array): Json {
  const text = new TextDecoder().decode(data);
  let document: Json | undefined;
  try {
    document = readJson(text);
  } catch {
    throw new UntrustedError(what, SHAPE);
  }
  if (canonical(document) !== text) throw new UntrustedError(what, "is not in its canonical text");
  return document;
}

/** The signed opening of a round: its batch, the shuffler's key for it, and the analyzer's. */
export interface ShufflerKey extends Opening {
  readonly key: Bytes;
}

/** The text of the plan inside a key list; whoever asks compares its digest. */
export function planText(data: Uint8Array): string {
  return String(parts(data).plan);
}

/** The open rounds of the list behind bytes, every part of it checked against the plan. */
export async function openRounds(data: Uint8Array, plan: Plan): Promise<readonly ShufflerKey[]> {
  const list = parts(data);
  if (list.plan !== plan.canonical) throw new UntrustedError(WHAT, "is of another plan");
  const analyzer = await verified(ANALYZER, list.analyzer, plan);
  const shuffler = await Promise.all(
    (list.shuffler as readonly Json[]).map((entry) => verified(SHUFFLER, entry, plan)),
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
  return shuffler.map(shufflerKey);
}

const WHAT = "the key list";
const PARTS: Kind["entries"] = {
  schema_version: isWireVersion,
  plan: (value) => typeof value === "string",
  analyzer: isTable,
  shuffler: Array.isArray,
};

function parts(data: Uint8Array): Table {
  return requireShape(WHAT, readServed(WHAT, data), PARTS);
}

export function shufflerKey({ round, batch, key, analyzer }: Table): ShufflerKey {
  return {
    round: Number(round),
    batch: String(batch),
    key: fromHex(String(key)),
    analyzer: String(analyzer),
  };
}
