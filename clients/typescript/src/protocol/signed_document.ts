/** Signed documents: their shapes, and the signatures that make them believed. */

import { UntrustedError } from "../errors.js";
import { canonical, isTable, type Json, readJson, type Table } from "../json.js";
import type { Plan } from "../plan.js";
import { isSigned } from "./signature.js";

/** A check of one entry of a document. */
export type Entry = (value: Json | undefined) => boolean;

export const digits =
  (size: number): Entry =>
  (value) =>
    typeof value === "string" && value.length === 2 * size && /^[0-9a-f]*$/.test(value);
export const exactly =
  (text: string): Entry =>
  (value) =>
    value === text;
export const whole =
  (least: number, most: number): Entry =>
  (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
export const roundNumber = whole(0, 2 ** 31 - 1);

const SHAPE = "has missing, unknown or impossible entries";
export const COMMON = { plan: digits(32), signature: digits(64) };

/** A kind of signed document: its signer, its purpose, and its entries. */
export interface Kind {
  readonly what: string;
  /** The root of the plan that signs it; left out if a key that a root has named does. */
  readonly signer?: "shufflerKey" | "analyzerKey";
  readonly purpose: string;
  readonly entries: Readonly<Record<string, Entry>>;
  /** Entries that may be absent. */
  readonly optional?: Readonly<Record<string, Entry>>;
}

/**
 * Return the document, if it belongs to this plan and is signed by a permitted key.
 *
 * @param signers The keys whose signatures are valid; the root that the plan names if left out.
 */
export async function verified(
  kind: Kind,
  document: Json | undefined,
  plan: Plan,
  signers: readonly string[] = kind.signer === undefined ? [] : [plan[kind.signer]],
): Promise<Table> {
  const own = requireShape(kind.what, document, kind.entries, kind.optional);
  if (own.plan !== plan.digest) throw new UntrustedError(kind.what, "is of another plan");
  for (const signer of signers) {
    if (await isSigned(own, signer, kind.purpose)) return own;
  }
  throw new UntrustedError(kind.what, "is not signed by the key of the plan");
}

/** Return a table with exactly these entries, and perhaps the optional ones, each valid. */
export function requireShape(
  what: string,
  document: Json | undefined,
  entries: Kind["entries"],
  optional: Kind["entries"] = {},
): Table {
  if (hasShape(document, entries, optional)) return document;
  throw new UntrustedError(what, SHAPE);
}

/** Tell whether a document is such a table. */
export function hasShape(
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

/** Read the document that a server sent: canonical JSON, so that it has one spelling. */
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

/** The newest list of keys that was seen. */
export interface Listed {
  readonly version: number;
  readonly digest: string;
  /** The newest round of the plan that was seen open; older memories have none. */
  readonly round?: number | null;
}

/** Refuse a list that is older than one that was seen, or a second one of its version. */
export function requireNotBefore(what: string, list: Listed, seen: Listed | undefined): void {
  if (seen !== undefined && list.version < seen.version) {
    throw new UntrustedError(what, "is older than one that was seen before");
  }
  if (list.version === seen?.version && list.digest !== seen.digest) {
    throw new UntrustedError(what, "is a second one of the same version");
  }
}
