/**
 * The list of the issuer's token keys: one per round, signed by the root that the plan names.
 *
 * Everybody gets the same list, with the shuffler's key list: a key for one person would link that
 * person to a report.
 */

import { type Bytes, fromHex, hex, sha256, utf8 } from "../bytes.js";
import { canonical, type Json } from "../json.js";
import type { Plan } from "../plan.js";
import {
  COMMON,
  type Entry,
  exactly,
  type Kind,
  roundNumber,
  verified,
  whole,
} from "./signed_document.js";

/** The list, once its root's signature is checked. */
export interface TokenKeys {
  readonly version: number;
  /** SHA-256 of the signed document: two lists of one version differ in it. */
  readonly digest: string;
  /** The round of the first key. */
  readonly first: number;
  /** The modulus of every round's key, in hexadecimal. */
  readonly keys: readonly string[];
}

const MOST_KEYS = 64;
const MODULUS = /^[89a-f][0-9a-f]{510}[13579bdf]$/;
/** SubjectPublicKeyInfo of an RSA key as RFC 9578 writes it, before and after the modulus. */
const HEAD =
  "30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202" +
  "a11a301806092a864886f70d010108300b0609608648016503040202a2030201300382010f00" +
  "3082010a0282010100";
const TAIL = "0203010001";

const moduli: Entry = (value) =>
  Array.isArray(value) &&
  value.length >= 1 &&
  value.length <= MOST_KEYS &&
  new Set(value).size === value.length &&
  value.every((key) => typeof key === "string" && MODULUS.test(key));

export const TOKEN_KEYS: Kind = {
  what: "the list of the issuer's keys",
  purpose: "token keys",
  entries: {
    ...COMMON,
    kind: exactly("token keys"),
    version: whole(1, 2 ** 32 - 1),
    first: roundNumber,
    keys: moduli,
  },
};

/** Return the list in a document, if the root of the plan's issuer signed it. */
export async function tokenKeys(document: Json | undefined, plan: Plan): Promise<TokenKeys> {
  const read = await verified(TOKEN_KEYS, document, plan, [String(plan.admission.key)]);
  const { version, first, keys } = read as unknown as TokenKeys;
  return { version, first, keys, digest: hex(await sha256(utf8(canonical(read)))) };
}

/** The issuer's key of a round. */
export interface TokenKey {
  readonly modulus: bigint;
  /** The id by which tokens name the key. */
  readonly id: Bytes;
}

/** Return the key of a round; null if the list has none. */
export async function tokenKeyOf(
  { first, keys }: TokenKeys,
  round: number,
): Promise<TokenKey | null> {
  const modulus = keys[round - first];
  if (modulus === undefined) return null;
  const id = await sha256(fromHex(HEAD + modulus + TAIL));
  return { modulus: BigInt(`0x${modulus}`), id };
}
