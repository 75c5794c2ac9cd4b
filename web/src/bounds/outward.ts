/** Rounding on the safe side, of doubles and of what people read. */

import { exactly } from "./ratio.ts";

/** Half the distance of 1 and the next double: the relative error of one operation. */
export const UNIT = 2 ** -53;

/**
 * The relative error that is allowed for exp, expm1, log, log1p, sin and cos, in units.
 *
 * ECMAScript leaves these functions to the engine. Those in use are ports of fdlibm or the C
 * library's, whose authors state errors below one unit in the last place; this allows four.
 */
export const FUNCTION_UNITS = 8;

/** A double at least as large as the value, if the value may be off by so many units. */
export function raised(value: number, units: number): number {
  return value + Math.abs(value) * units * UNIT;
}

/** A double at most as large as the value, if the value may be off by so many units. */
export function lowered(value: number, units: number): number {
  return value - Math.abs(value) * units * UNIT;
}

/**
 * Print an upper bound: so many significant digits, rounded up.
 *
 * Exact: the double is divided as a fraction. `ceilingDigits(0.07551)` is "0.0756".
 */
export function ceilingDigits(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "infinite";
  if (value <= 0) return "0";
  const { over, under } = exactly(value);
  let places = digits - 1 - Math.floor(Math.log10(value));
  let whole = ceilingAt(over, under, places);
  while (whole < 10n ** BigInt(digits - 1)) {
    places += 1;
    whole = ceilingAt(over, under, places);
  }
  while (whole >= 10n ** BigInt(digits)) {
    places -= 1;
    whole = ceilingAt(over, under, places);
  }
  return decimal(whole, places);
}

/** The least whole number of 10^-places that is at least a fraction. */
function ceilingAt(over: bigint, under: bigint, places: number): bigint {
  const shift = 10n ** BigInt(Math.abs(places));
  const [top, bottom] = places >= 0 ? [over * shift, under] : [over, under * shift];
  return (top + bottom - 1n) / bottom;
}

/** A whole number of 10^-places in decimal notation, or with an exponent where that is long. */
function decimal(whole: bigint, places: number): string {
  const text = whole.toString();
  if (places <= 0) return Number(text + "0".repeat(-places)).toLocaleString("en");
  if (places - text.length >= 4) {
    const exponent = text.length - 1 - places;
    return `${text.charAt(0)}.${text.slice(1)}e${exponent}`;
  }
  const padded = text.padStart(places + 1, "0");
  return `${padded.slice(0, -places)}.${padded.slice(-places)}`;
}
