/** The logarithm, rounded up: the epsilon of a table of integers, the same as in Python. */

import { ceilingOf, type Fraction, POINT, rounded, SLACK } from "../rounding.js";

const ONE = 1n << POINT;
/** Bits of a double's significand. */
const SIGNIFICAND = 53;

/**
 * Return the least double above ln(value), up to 1e-50 relative to 1 + ln(value); value >= 1.
 *
 * It is the logarithm in 60 digits of the value in 60 digits, plus that slack, rounded up.
 */
export function logAbove(value: Fraction): number {
  if (value.numerator === value.denominator) return 0;
  const { numerator, denominator } = rounded({
    numerator: logarithm(rounded(value)),
    denominator: ONE,
  });
  return doubleAbove({
    numerator: numerator * SLACK + denominator + numerator,
    denominator: denominator * SLACK,
  });
}

/** Return ln(value) in fixed point: ln(m 2^e) = ln(m) + e ln(2) with m in [1, 2). */
function logarithm({ numerator, denominator }: Fraction): bigint {
  const halvings = (numerator / denominator).toString(2).length - 1;
  const scale = denominator << BigInt(halvings);
  return twiceArtanh(numerator - scale, numerator + scale) + BigInt(halvings) * twiceArtanh(1n, 3n);
}

/** Return 2 artanh(z) = ln((1 + z)/(1 - z)) = 2 (z + z^3/3 + z^5/5 + …) in fixed point. */
function twiceArtanh(numerator: bigint, denominator: bigint): bigint {
  const ratio = (numerator << POINT) / denominator;
  const square = (ratio * ratio) >> POINT;
  let power = ratio;
  let sum = ratio;
  for (let n = 3n; power > 0n; n += 2n) {
    power = (power * square) >> POINT;
    sum += power / n;
  }
  return 2n * sum;
}

/** Return the least double that is at least a number in (2^-900, 2^53). */
function doubleAbove({ numerator, denominator }: Fraction): number {
  let shift = SIGNIFICAND - (numerator.toString(2).length - denominator.toString(2).length);
  if (ceilingOf(numerator << BigInt(shift), denominator) > 1n << BigInt(SIGNIFICAND)) shift -= 1;
  // Both are exact: a whole number of up to 53 bits, and a power of two.
  return Number(ceilingOf(numerator << BigInt(shift), denominator)) / Number(1n << BigInt(shift));
}
