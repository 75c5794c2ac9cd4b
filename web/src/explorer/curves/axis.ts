/** Ticks of an axis, and how they are written. */

import { type ScaleContinuousNumeric, scaleLinear } from "d3-scale";

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/** How an axis is written: as it is, in percent, or as a chance "1 in N". */
export type Unit = "" | "percent" | "chance";

/** Text of a tick; it rounds to nearest, since it names a place on an axis and proves nothing. */
export function tick(value: number, unit: Unit = ""): string {
  if (unit === "chance" && value > 0 && value < 0.5) return `1 in ${compact.format(1 / value)}`;
  if (unit === "percent") return `${plain.format(value * 100)} %`;
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(0);
  return Math.abs(value) >= 1e4 ? compact.format(value) : plain.format(value);
}

/** Ticks of an axis; a logarithmic one has powers of ten, or more where it spans few of them. */
export function ticks(
  scale: ScaleContinuousNumeric<number, number>,
  log: boolean,
  count: number,
): number[] {
  if (!log) return scale.ticks(count);
  const [low = 1, high = 1] = scale.domain();
  if (high / low < 4) return scaleLinear([low, high], [0, 1]).ticks(Math.min(count, 4));
  const mantissas = Math.log10(high / low) * 3 <= count + 2 ? [1, 2, 5] : [1];
  const from = Math.floor(Math.log10(low));
  const to = Math.floor(Math.log10(high) + 1e-9);
  const every = mantissas.length > 1 ? 1 : Math.max(1, Math.ceil((to - from) / count));
  const found: number[] = [];
  for (let power = from; power <= to; power += 1) {
    if (power % every !== 0) continue;
    for (const mantissa of mantissas) found.push(Number(`${mantissa}e${power}`));
  }
  return found.filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
}
