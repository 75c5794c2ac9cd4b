/** Randomizers whose integers are chosen to stay below a requested epsilon. */

import { ParameterError } from "../errors.js";
import type { Table } from "../json.js";
import { WORD } from "../keystream.js";
import { ceilingOf, exactly, expBelow } from "../rounding.js";
import { number, wholeNumber } from "../table.js";

export const COMMON = ["mechanism", "max_epsilon_local", "denominator"] as const;

const LARGEST_EPSILON = 20;

export function maxEpsilonOf(own: Table, name = "max_epsilon_local"): number {
  const epsilon = number(name, own[name]);
  if (epsilon > 0 && epsilon <= LARGEST_EPSILON) return epsilon;
  throw new ParameterError(name, { must: "be in (0, 20]" });
}

/** Return the sum of the weights. Small ones are for tests, which try every draw. */
export function denominatorOf({ denominator }: Table): bigint {
  return denominator === undefined ? WORD : wholeNumber("denominator", denominator, 2n, WORD);
}

/** Refuse weights that express no law: the likelier one must be above the other. */
export function requireLaw(likely: bigint, rare: bigint): void {
  if (likely > rare && rare > 0n) return;
  throw new ParameterError("max_epsilon_local", {
    must: "be expressible by the weights",
    hint: "Raise it, or the denominator.",
  });
}

/** Return the least weight of an untrue answer of k that keeps the truth below e^epsilon of it. */
export function blanketWeight(denominator: bigint, epsilon: number, k: bigint): bigint {
  const low = expBelow(exactly(epsilon));
  const blanket = ceilingOf(
    denominator * low.denominator,
    low.numerator + (k - 1n) * low.denominator,
  );
  requireLaw(denominator - (k - 1n) * blanket, blanket);
  return blanket;
}
