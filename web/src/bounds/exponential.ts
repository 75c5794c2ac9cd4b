/** The exponential function in sixty decimal digits, as Python's decimal module rounds it. */

import { bitLength, exactly, type Ratio } from "./ratio.ts";

const DIGITS = 60;

/** Binary places of the computation; some twenty of them are lost in squarings. */
const PLACES = 512n;

/** The exponent is divided by 2^HALVINGS, and the result squared as many times. */
const HALVINGS = 24n;

/** The part of the sixty digits that is given away, so that the result is below the truth. */
const SLACK = 10n ** 50n;

/**
 * A fraction just below e^x.
 *
 *     e^x = (sum over j of (x/2^24)^j / j!)^(2^24)
 *
 * in 512 binary places, rounded to sixty digits and lowered by 1e-50 of itself. Python's
 * `exp_enclosure` does the same; the result is the same fraction, so that tables of integers made
 * from it are the same.
 *
 * Holds when |x| <= 40: then the computed value is right to more than 400 binary digits.
 * Direction: lower.
 */
export function exponentialBelow(x: Ratio): Ratio {
  const exponent = rounded(x);
  const power = exponential(exponent);
  const value = rounded({ over: power, under: 1n << PLACES });
  return { over: value.over * (SLACK - 1n), under: value.under * SLACK };
}

/** The same of a double. */
export function exponentialBelowOf(x: number): Ratio {
  return exponentialBelow(exactly(x));
}

/** e^x in units of 2^-512. */
function exponential(x: Ratio): bigint {
  const guarded = PLACES + 64n;
  const step = (x.over << (guarded - HALVINGS)) / x.under;
  const one = 1n << guarded;
  let term = one;
  let total = one;
  for (let j = 1n; term !== 0n && j < 200n; j += 1n) {
    term = (term * step) / (one * j);
    total += term;
  }
  for (let turn = 0n; turn < HALVINGS; turn += 1n) total = (total * total) >> guarded;
  return total >> 64n;
}

/** A fraction rounded to sixty significant decimal digits, half to even. */
function rounded(value: Ratio): Ratio {
  if (value.over === 0n) return { over: 0n, under: 1n };
  const negative = value.over < 0n;
  const over = negative ? -value.over : value.over;
  const magnitude = (bitLength(over) - bitLength(value.under)) * Math.log10(2);
  let places = BigInt(DIGITS - 2 - Math.floor(magnitude));
  let digits = quotient(over, value.under, places);
  while (digits.whole >= 10n ** BigInt(DIGITS)) {
    places -= 1n;
    digits = quotient(over, value.under, places);
  }
  while (digits.whole < 10n ** BigInt(DIGITS - 1)) {
    places += 1n;
    digits = quotient(over, value.under, places);
  }
  const twice = 2n * digits.rest - digits.by;
  const up = twice > 0n || (twice === 0n && digits.whole % 2n === 1n);
  const whole = (digits.whole + (up ? 1n : 0n)) * (negative ? -1n : 1n);
  return places >= 0n
    ? { over: whole, under: 10n ** places }
    : { over: whole * 10n ** -places, under: 1n };
}

function quotient(over: bigint, under: bigint, places: bigint) {
  const [top, by] = places >= 0n ? [over * 10n ** places, under] : [over, under * 10n ** -places];
  return { whole: top / by, rest: top % by, by };
}
