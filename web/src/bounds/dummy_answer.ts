/** What a shuffler's dummies prove, and what they cost. */

import { deltaAbove, dummyTable, exceeds, type Weights } from "./dummies.ts";
import { WORD } from "./k_rr.ts";
import { raised } from "./outward.ts";
import { doubleAbove, exactly, type Ratio } from "./ratio.ts";

/** The largest number of possible reports for which dummies are made. */
export const MOST_BINS = 100_000;

/** One question about dummies. */
export interface DummyQuestion {
  /** The number of possible reports. */
  readonly k: number;
  /** The epsilon that is asked for. */
  readonly epsilon: number;
  /** The chance with which it may fail. */
  readonly delta: number;
}

/** The answer; every number is rounded up. */
export interface DummyAnswer {
  /** The epsilon that is proved at the asked delta, at most the one asked for. */
  readonly epsilon: number;
  /** The delta that is proved at the asked epsilon. */
  readonly delta: number;
  /** The expected number of dummies of one possible report. */
  readonly mean: number;
  /** The expected number of dummies of all possible reports together. */
  readonly dummies: number;
  /** The standard deviation of a count; of a share, divide by the number of people. */
  readonly standardDeviation: number;
  /** The largest number of dummies of one possible report. */
  readonly most: number;
  readonly method: "dummies";
  readonly sharp: boolean;
}

/** Entries of tables that the search for a smaller epsilon may go through. */
const MOST_WORK = 40_000;

/** The relative precision of that search. */
const SHARPNESS = 1e-3;

/**
 * Make the table for one question, and prove what it reaches.
 *
 * The table is made for the asked epsilon and has the whole number of dummies that suffices, so that
 * it may reach the asked delta at a smaller epsilon as well; that is searched for, and proved
 * wherever it is returned.
 *
 * Holds whatever the number of people, honest or not, against everybody but the shuffler that
 * added the dummies.
 * Direction: upper; the delta of each returned epsilon was computed in whole numbers.
 */
export function withDummies(question: DummyQuestion): DummyAnswer {
  const { delta, epsilon, k } = question;
  if (!(Number.isSafeInteger(k) && k >= 2 && k <= MOST_BINS)) {
    throw new RangeError("k must be a whole number from 2 to 100,000");
  }
  const { weights, delta: reached } = dummyTable(epsilon, delta);
  const { mean, variance } = moments(weights);
  const proved = least(weights, epsilon, exactly(delta));
  return {
    epsilon: proved.epsilon,
    delta: doubleAbove(reached.over, reached.under),
    mean: doubleAbove(mean.over, mean.under),
    dummies: doubleAbove(mean.over * BigInt(k), mean.under),
    standardDeviation: raised(Math.sqrt(doubleAbove(variance.over, variance.under)), 4),
    most: weights.length - 1,
    method: "dummies",
    sharp: proved.sharp,
  };
}

/** The least epsilon found at which the table has at most that delta. */
function least(weights: Weights, epsilon: number, delta: Ratio) {
  const suffices = (at: number) => !exceeds(deltaAbove(weights, at), delta);
  const close = epsilon * (1 - 2 * SHARPNESS);
  if (!suffices(close)) return { epsilon, sharp: true };
  if (suffices(0)) return { epsilon: 0, sharp: true };
  let [enough, few] = [close, 0];
  let left = Math.floor(MOST_WORK / weights.length);
  while (enough - few > SHARPNESS * enough && left > 0) {
    const middle = (enough + few) / 2;
    if (suffices(middle)) enough = middle;
    else few = middle;
    left -= 1;
  }
  return { epsilon: enough, sharp: enough - few <= SHARPNESS * enough };
}

/** The exact mean and variance. */
function moments(weights: Weights): { mean: Ratio; variance: Ratio } {
  let first = 0n;
  let second = 0n;
  for (const [u, weight] of weights.entries()) {
    first += BigInt(u) * weight;
    second += BigInt(u * u) * weight;
  }
  const variance = { over: second * WORD - first * first, under: WORD * WORD };
  return { mean: { over: first, under: WORD }, variance };
}
