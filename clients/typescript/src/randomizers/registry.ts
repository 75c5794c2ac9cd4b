/** Mechanisms by their name in a plan. */

import { ParameterError } from "../errors.js";
import type { Json, Table } from "../json.js";
import { isTable } from "../json.js";
import type { Randomizer } from "../randomizer.js";
import { KaryRandomizedResponse } from "./k_rr.js";
import { LocalHashing } from "./local_hashing.js";
import { OneBitMean } from "./one_bit_mean.js";
import { Plain } from "./plain.js";
import { OptimizedUnaryEncoding, SymmetricUnaryEncoding } from "./unary_encoding.js";

export const MECHANISMS: ReadonlyMap<unknown, new (own: Table) => Randomizer<number>> = new Map<
  unknown,
  new (
    own: Table,
  ) => Randomizer<number>
>([
  ["k-rr", KaryRandomizedResponse],
  ["symmetric-unary", SymmetricUnaryEncoding],
  ["optimized-unary", OptimizedUnaryEncoding],
  ["local-hashing", LocalHashing],
  ["one-bit-mean", OneBitMean],
  ["plain", Plain],
]);

/** Return the randomizer of a specification. */
export function build(specification: Json): Randomizer<number> {
  const own = isTable(specification) ? specification : {};
  const Mechanism = MECHANISMS.get(own.mechanism);
  if (Mechanism !== undefined) return new Mechanism(own);
  const known = [...MECHANISMS.keys()].join(", ");
  throw new ParameterError("mechanism", {
    must: `be one of ${known}`,
    hint: "The Python client has them all.",
  });
}
