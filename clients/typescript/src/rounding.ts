/** Rounding outward: the integers of a mechanism are those of the proof, digit for digit. */

export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Digits of a decimal exponential, as in the proof. */
const DIGITS = 60;
/** The inverse of the share by which results are moved outward. */
export const SLACK = 10n ** 50n;
/** Bits of the fixed point in which the exponential is summed: twice what its digits need. */
export const POINT = 480n;
const HALVINGS = 12n;

/** Return a double that is not negative as an exact fraction. */
export function exactly(value: number): Fraction {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const exponent = bits >> 52n;
  const fraction = bits & ((1n << 52n) - 1n);
  const numerator = exponent === 0n ? fraction : fraction | (1n << 52n);
  const shift = (exponent === 0n ? 1n : exponent) - 1075n;
  return shift >= 0n
    ? { numerator: numerator << shift, denominator: 1n }
    : { numerator, denominator: 1n << -shift };
}

/** Return a rational number just below e^exponent, by less than 2e-50 of it, the same as in Python. */
export function expBelow(exponent: Fraction): Fraction {
  const { numerator, denominator } = exponential(exponent);
  return { numerator: numerator * (SLACK - 1n), denominator: denominator * SLACK };
}

/** Return a rational number just above e^exponent, as `expBelow` does below it. */
export function expAbove(exponent: Fraction): Fraction {
  const { numerator, denominator } = exponential(exponent);
  return { numerator: numerator * (SLACK + 1n), denominator: denominator * SLACK };
}

/**
 * Return the exponential in 60 digits of the exponent in 60 digits.
 *
 * The sum is exact to some 130 digits, so rounding it to 60 gives the correctly rounded exponential.
 */
function exponential(exponent: Fraction): Fraction {
  const { numerator, denominator } = rounded(exponent);
  const reduced = (numerator << POINT) / (denominator << HALVINGS);
  let term = 1n << POINT;
  let sum = term;
  for (let n = 1n; term !== 0n; n += 1n) {
    term = (term * reduced) / (n << POINT);
    sum += term;
  }
  for (let n = 0n; n < HALVINGS; n += 1n) sum = (sum * sum) >> POINT;
  return rounded({ numerator: sum, denominator: 1n << POINT });
}

/** Return the nearest number of 60 digits; of two, the even one. */
export function rounded({ numerator, denominator }: Fraction): Fraction {
  if (numerator < 0n) {
    const positive = rounded({ numerator: -numerator, denominator });
    return { ...positive, numerator: -positive.numerator };
  }
  let shift = DIGITS - (numerator.toString().length - denominator.toString().length);
  if (scaled(numerator, shift) >= 10n ** BigInt(DIGITS) * scaled(denominator, -shift)) shift -= 1;
  const dividend = scaled(numerator, shift);
  const divisor = scaled(denominator, -shift);
  let digits = dividend / divisor;
  const rest = 2n * (dividend % divisor);
  if (rest > divisor || (rest === divisor && digits % 2n === 1n)) digits += 1n;
  return { numerator: scaled(digits, -shift), denominator: scaled(1n, shift) };
}

const scaled = (value: bigint, shift: number): bigint =>
  shift > 0 ? value * 10n ** BigInt(shift) : value;

/** Return the least whole number that is at least the quotient of two positive ones. */
export function ceilingOf(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}

/** Return the nearest whole number; of two, the even one. */
export function nearest({ numerator, denominator }: Fraction): bigint {
  const floor = numerator / denominator;
  const rest = 2n * (numerator % denominator);
  const up = rest > denominator || (rest === denominator && floor % 2n === 1n);
  return up ? floor + 1n : floor;
}
