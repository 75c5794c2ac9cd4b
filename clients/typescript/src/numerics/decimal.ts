/** Numbers as people write them, added exactly. */

/** More decimal places than any double that is written as short as it can be has. */
const PLACES = 400;

/** A number as it is written, in units of its last possible place: 100 times 1e-8 is 1e-6. */
export function asWritten(value: number): bigint {
  const [, whole, rest = "", exponent] = /^(\d)\.?(\d*)e(.*)$/.exec(value.toExponential()) ?? [];
  return BigInt(`${whole}${rest}`) * 10n ** BigInt(PLACES - rest.length + Number(exponent));
}

/** The double nearest to the sum of some numbers as they are written: 0.1 and 0.2 are 0.3. */
export function decimalSum(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + asWritten(value), 0n);
  return Number(`${sum}e-${PLACES}`);
}
