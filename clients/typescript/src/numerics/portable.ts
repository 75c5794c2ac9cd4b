/**
 * Arithmetic of doubles that gives the same bits on every machine and in every language.
 *
 * It uses additions, multiplications and divisions alone, which IEEE 754 rounds correctly, in an
 * order that is fixed. `Math.exp` differs in the last bits from one engine to the next.
 */

import { halfEven } from "../domain.js";

/** The first 33 bits of ln 2: products with whole numbers below 2^20 are exact. */
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;
const TERMS = 14;
const LEAST = -690;

/** The powers 2^0, 2^-1, …, by halving, which is exact. */
const HALVES = Float64Array.from({ length: 1000 }, () => 1);
for (let place = 1; place < HALVES.length; place += 1) {
  HALVES[place] = (HALVES[place - 1] as number) / 2;
}

/** Return e^x for x <= 0, to two units in the last place; 0 below -690. */
export function portableExp(exponent: number): number {
  if (exponent < LEAST) return 0;
  const halvings = halfEven(-exponent * Math.LOG2E);
  const rest = exponent + halvings * LN2_HIGH + halvings * LN2_LOW;
  let series = 1;
  for (let term = TERMS; term > 0; term -= 1) series = 1 + (rest * series) / term;
  return series * (HALVES[halvings] as number);
}

/** Add numbers from left to right. */
export function orderedSum(entries: Float64Array): number {
  let sum = 0;
  for (const entry of entries) sum += entry;
  return sum;
}
