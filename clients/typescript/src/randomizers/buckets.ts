/** The number of buckets at which hashing has the least error. */

import { exactly, expBelow, nearest } from "../rounding.js";

/** Return the whole number nearest to e^epsilon + 1, but at most so many. */
export function bestBuckets(epsilon: number, most: bigint): bigint {
  const low = expBelow(exactly(epsilon));
  const best = nearest({ ...low, numerator: low.numerator + low.denominator });
  return best < most ? best : most;
}
