/** The binomial law around its mode, with a bound of what is left out. */

import { UNIT } from "./outward.ts";

/** Chances of consecutive counts. */
export interface Window {
  /** The first count. */
  readonly start: number;
  /** Upper bounds of the chances of the counts from there on. */
  readonly chances: Float64Array;
  /** An upper bound of the chance of every other count together. */
  readonly outside: number;
}

/** About how many counts have a chance above `least` of the mode's. */
export function windowWidth(trials: number, chance: number, failure: number, least: number) {
  const log = -Math.log(least);
  const deviation = Math.sqrt(trials * chance * failure);
  return Math.min(trials + 1, 2 * Math.sqrt(2 * log) * deviation + log + 8);
}

/**
 * Upper bounds of the chances of Bin(trials, chance), but for the counts that are very unlikely.
 *
 *     P(j + 1) / P(j) = (trials - j)/(j + 1) * chance/failure
 *
 * from near the mode outwards, until a chance is below `least` of the largest. Dividing by the sum
 * of those that are listed makes all of them too large, by what is left out; that is at most a
 * geometric series, because the ratios fall.
 *
 * Holds when `failure` is 1 - chance, both to some units in the last place.
 * Direction: upper. A ratio is off by at most 8 units, so that a chance relative to another one is
 * off by 8 units per step between them; all are raised by twice that for the whole window.
 */
export function binomialWindow(
  trials: number,
  chance: number,
  failure: number,
  least: number,
): Window {
  if (trials <= 0 || chance <= 0) {
    return { start: 0, chances: new Float64Array([1]), outside: 0 };
  }
  const odds = chance / failure;
  const mode = Math.min(trials, Math.floor((trials + 1) * chance));
  const right = run(mode, trials, least, (j) => ((trials - j) / (j + 1)) * odds, 1);
  const left = run(mode, 0, least, (j) => j / ((trials - j + 1) * odds), -1);
  const start = mode - left.found.length;
  const chances = new Float64Array(left.found.length + 1 + right.found.length);
  for (const [step, value] of left.found.entries()) chances[left.found.length - 1 - step] = value;
  chances[left.found.length] = 1;
  chances.set(right.found, left.found.length + 1);
  let total = 0;
  for (const value of chances) total += value;
  const factor = (1 + 16 * UNIT * (chances.length + 16)) / total;
  for (let j = 0; j < chances.length; j += 1) chances[j] = (chances[j] ?? 0) * factor;
  return { start, chances, outside: (left.rest + right.rest) * factor };
}

/** Chances relative to the start, step by step to one side, and a bound of the sum of the rest. */
function run(
  start: number,
  end: number,
  least: number,
  ratio: (count: number) => number,
  side: 1 | -1,
) {
  const found: number[] = [];
  let value = 1;
  let most = 1;
  for (let j = start; j !== end; j += side) {
    const step = ratio(j);
    if (step < 0.999999 && value * step < least * most) {
      return { found, rest: (1.001 * value * step) / (1 - step) };
    }
    value *= step;
    most = Math.max(most, value);
    found.push(value);
  }
  return { found, rest: 0 };
}
