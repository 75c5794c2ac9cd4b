/** Exact fractions of whole numbers, and doubles just above or below them. */

/** A fraction; the denominator is positive. */
export interface Ratio {
  readonly over: bigint;
  readonly under: bigint;
}

/** A finite double as the fraction that it is. */
export function exactly(value: number): Ratio {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & ((1n << 52n) - 1n);
  const mantissa = biased === 0 ? fraction : fraction | (1n << 52n);
  const exponent = Math.max(biased, 1) - 1075;
  const signed = bits >> 63n === 1n ? -mantissa : mantissa;
  return exponent < 0
    ? { over: signed, under: 1n << BigInt(-exponent) }
    : { over: signed << BigInt(exponent), under: 1n };
}

/** The quotient rounded up, of any whole number by a positive one. */
export function ceilingOf(over: bigint, under: bigint): bigint {
  const quotient = over / under;
  return over > 0n && quotient * under !== over ? quotient + 1n : quotient;
}

/** The number of binary digits of a positive whole number. */
export function bitLength(value: bigint): number {
  const digits = value.toString(16);
  return 4 * digits.length - Math.clz32(Number.parseInt(digits.charAt(0), 16)) + 28;
}

/**
 * A double that is at least a fraction of positive whole numbers, by less than 2^-52 of it.
 *
 * Zero if the fraction is zero.
 */
export function doubleAbove(over: bigint, under: bigint): number {
  if (over <= 0n) return 0;
  const shift = 53 - (bitLength(over) - bitLength(under));
  let quotient =
    shift >= 0 ? ceilingOf(over << BigInt(shift), under) : ceilingOf(over, under << BigInt(-shift));
  let exponent = -shift;
  while (quotient > 1n << 53n) {
    quotient = (quotient + 1n) >> 1n;
    exponent += 1;
  }
  return scaled(Number(quotient), exponent);
}

/** A double that is at most a fraction of positive whole numbers, by less than 2^-51 of it. */
export function doubleBelow(over: bigint, under: bigint): number {
  return doubleAbove(over, under) * (1 - 2 ** -52);
}

/** value * 2^exponent, also where 2^exponent is no double. */
function scaled(value: number, exponent: number): number {
  const half = Math.trunc(exponent / 2);
  return value * 2 ** half * 2 ** (exponent - half);
}
