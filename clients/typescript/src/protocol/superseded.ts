/**
 * Pointers from a plan that is no longer served to the plan that took its place.
 *
 * The root that the old plan names for its first shuffler signs the pointer. It comes with the text
 * of the old plan, so that a page that knows only the digest can check it.
 */

import { SupersededError, UntrustedError } from "../errors.js";
import { isTable, readJson } from "../json.js";
import { Plan } from "../plan.js";
import { isWireVersion, readServed } from "./key_list.js";
import {
  COMMON,
  digits,
  type Entry,
  exactly,
  type Kind,
  requireShape,
  verified,
} from "./signed_document.js";

const day: Entry = (value) =>
  typeof value === "string" && /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(value);

export const POINTER: Kind = {
  what: "the pointer to the plan's successor",
  signer: "shufflerKey",
  purpose: "superseded",
  entries: { ...COMMON, kind: exactly("superseded"), successor: digits(32) },
  optional: { date: day },
};

const PARTS: Kind["entries"] = {
  schema_version: isWireVersion,
  plan: (value) => typeof value === "string",
  superseded: isTable,
};

/** Return the error that tells what happened to a plan, if its shuffler's root signed that. */
export async function supersededBy(data: Uint8Array, digest: string): Promise<SupersededError> {
  const parts = requireShape(POINTER.what, readServed(POINTER.what, data), PARTS);
  const plan = await Plan.read(String(parts.plan), digest);
  const { successor, date } = await verified(POINTER, parts.superseded, plan);
  if (successor === digest) throw new UntrustedError(POINTER.what, "leads to the same plan");
  return new SupersededError(String(successor), date === undefined ? undefined : String(date));
}

/** Tell whether an answer claims to be a pointer, true or not. */
export function isPointer(data: Uint8Array): boolean {
  try {
    const document = readJson(new TextDecoder().decode(data));
    return isTable(document) && Object.hasOwn(document, "superseded");
  } catch {
    return false;
  }
}
