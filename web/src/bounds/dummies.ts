/** The two-sided geometric law of dummies, as the integers that shufflers draw from. */

import { exponentialBelow, exponentialBelowOf } from "./exponential.ts";
import { WORD } from "./k_rr.ts";
import { ceilingOf, exactly, type Ratio } from "./ratio.ts";

/** The largest number of entries of a table. */
const LONGEST = 1 << 13;

/** The precision of factors in sums of integers. */
const UNITS = 200n;

/** The weights of 0, 1, 2, … dummies, which add up to 2^64. */
export type Weights = readonly bigint[];

/** A table and the exact delta for which it was made. */
export interface DummyTable {
  readonly weights: Weights;
  /** delta at the epsilon for which the table was made, rounded up. */
  readonly delta: Ratio;
}

/**
 * Make the shortest symmetric table that suffices, as Python makes it.
 *
 *     D(u) proportional to e^(-epsilon |u - m| / 2) on 0, …, 2m, in units of 2^-64,
 *
 * with the least m whose exact delta at `epsilon` is at most `delta`.
 *
 * Throws where epsilon is outside 0.01 to 20, delta outside 1e-15 to 0.1, or the table would have
 * more than 8,192 entries.
 *
 * Reference: `croupier.shufflers.dummies.DummyTable.two_sided_geometric`; same integers.
 */
export function dummyTable(epsilon: number, delta: number): DummyTable {
  if (!(epsilon >= 0.01 && epsilon <= 20)) throw new RangeError("epsilon must be 0.01 to 20");
  if (!(delta >= 1e-15 && delta <= 0.1)) throw new RangeError("delta must be 1e-15 to 0.1");
  const most = (LONGEST - 1) >> 1;
  const limit = exactly(delta);
  const known = new Map<number, DummyTable>();
  const made = (middle: number): DummyTable => {
    let table = known.get(middle);
    if (table === undefined) {
      const weights = geometric(epsilon, middle);
      table = { weights, delta: deltaAbove(weights, epsilon) };
      known.set(middle, table);
    }
    return table;
  };
  const suffices = (middle: number) => !exceeds(made(middle).delta, limit);
  // In long tables delta is about 2 tanh(epsilon/4) e^(-epsilon m/2): a guess, checked exactly.
  const guess = Math.ceil((2 / epsilon) * Math.log((2 * Math.tanh(epsilon / 4)) / delta));
  if (1 < guess && guess <= most && suffices(guess) && !suffices(guess - 1)) return made(guess);
  let enough = 1;
  let few = 0;
  while (!suffices(enough)) {
    if (enough === most)
      throw new RangeError("the table would be too long: raise epsilon or delta");
    [enough, few] = [Math.min(2 * enough, most), enough];
  }
  while (enough - few > 1) {
    const middle = Math.floor((enough + few) / 2);
    if (suffices(middle)) enough = middle;
    else few = middle;
  }
  return made(enough);
}

/** Weights that fall on both sides of the middle, rounded up; the middle takes what is left. */
function geometric(epsilon: number, middle: number): bigint[] {
  const { over, under } = exactly(epsilon);
  const low = exponentialBelow({ over: -over, under: 2n * under });
  const factor = (low.over << UNITS) / low.under;
  let power = 1n << UNITS;
  let whole = power;
  const powers: bigint[] = [];
  for (let u = 0; u < middle; u += 1) {
    power = (power * factor) >> UNITS;
    powers.push(power);
    whole += 2n * power;
  }
  const side = powers.map((each) => ceilingOf(WORD * each, whole));
  const sides = 2n * side.reduce((sum, each) => sum + each, 0n);
  return [...[...side].reverse(), WORD - sides, ...side];
}

/**
 * Compute delta of one report among dummies at an epsilon, rounded up.
 *
 *     delta(epsilon) = sum over u, v of [D(u-1) D(v) - e^epsilon D(u) D(v-1)]_+
 *
 * One person who answers differently moves one report from one count to another; two counts change
 * and all others have the same law.
 *
 * With a = D(u-1), b = D(u) and v fixed the term is positive if a/b is above e^epsilon D(v-1)/D(v).
 * Going through v by rising D(v-1)/D(v), fewer and fewer u are left, so that two running sums do.
 *
 * Holds whatever the number of people, honest or not, if the reader does not know the dummies.
 * Direction: upper, by less than 1e-49: in whole numbers, with e^epsilon rounded down.
 * Reference: `croupier.shufflers.dummies.DummyTable.delta`; same fraction.
 */
export function deltaAbove(weights: Weights, epsilon: number): Ratio {
  const low = exponentialBelowOf(epsilon);
  const factor = (low.over << UNITS) / low.under;
  const steps = sortedSteps(weights);
  const above = [0n];
  const below = [0n];
  for (const [a, b] of steps) {
    above.push((above.at(-1) ?? 0n) + a);
    below.push((below.at(-1) ?? 0n) + b);
  }
  let total = 0n;
  let taken = steps.length;
  for (const [before, here] of [...steps].reverse()) {
    if (here === 0n) break;
    const gain = here << UNITS;
    const loss = before * factor;
    while (taken > 0) {
      const [a, b] = steps[taken - 1] ?? [0n, 0n];
      if (a * gain > b * loss) break;
      taken -= 1;
    }
    total += gain * (above[taken] ?? 0n) - loss * (below[taken] ?? 0n);
  }
  return { over: total, under: (WORD * WORD) << UNITS };
}

/** The pairs D(u-1), D(u) that are not both zero, by falling ratio. */
function sortedSteps(weights: Weights): [bigint, bigint][] {
  const ends = [0n, ...weights, 0n];
  const pairs: [bigint, bigint][] = [];
  for (let u = 1; u < ends.length; u += 1) {
    const pair: [bigint, bigint] = [ends[u - 1] ?? 0n, ends[u] ?? 0n];
    if (pair[0] + pair[1] > 0n) pairs.push(pair);
  }
  return pairs.sort(([a, b], [c, d]) => {
    const difference = c * b - a * d;
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  });
}

/** True if the first fraction is the larger one. */
export function exceeds(first: Ratio, second: Ratio): boolean {
  return first.over * second.under > second.over * first.under;
}
