/** k-ary randomised response as the integers that clients use, and its classes of answers. */

import { exponentialBelowOf } from "./exponential.ts";
import { FUNCTION_UNITS, lowered, raised, UNIT } from "./outward.ts";
import { ceilingOf, doubleAbove, exactly } from "./ratio.ts";

/** Clients draw whole numbers below 2^64. */
export const WORD = 1n << 64n;

/** What k and max_epsilon_local determine. */
export interface Response {
  /** The number of categories. */
  readonly k: number;
  /** The integer weight of every answer that is not the truth; all weights add up to 2^64. */
  readonly blanket: bigint;
  /** The epsilon of the integers, rounded up. */
  readonly epsilonLocal: number;
  /** e^epsilon_local - 1, to one unit; rounded up. */
  readonly gain: number;
  /** The chance of an answer that is not the truth. */
  readonly share: number;
}

/** The values that one term of the sum takes besides zero, each rounded up. */
export interface Values {
  /** For the answer that is the first value: e^epsilon_local - e^epsilon. */
  readonly first: number;
  /** For the answer that is the second value: 1 - e^(epsilon_local + epsilon). */
  readonly second: number;
  /** For any third answer: 1 - e^epsilon. */
  readonly third: number;
}

/**
 * Make the integers of k-RR as Python and the clients make them.
 *
 *     b = ceil(2^64 / (e^max_epsilon_local + k - 1)),   e^epsilon_local = (2^64 - (k-1) b) / b.
 *
 * Throws where no integers have an epsilon_local in (0, max_epsilon_local].
 *
 * Reference: `croupier.randomizers.k_rr.blanket_weight`.
 */
export function response(k: number, maxEpsilonLocal: number): Response {
  if (!Number.isSafeInteger(k) || k < 2) throw new RangeError("k must be a whole number from 2");
  if (!(maxEpsilonLocal > 0 && maxEpsilonLocal <= 20)) {
    throw new RangeError("epsilon_local must be above 0 and at most 20");
  }
  const low = exponentialBelowOf(maxEpsilonLocal);
  const others = BigInt(k - 1);
  const blanket = ceilingOf(WORD * low.under, low.over + others * low.under);
  const beyond = WORD - BigInt(k) * blanket;
  if (beyond <= 0n) throw new RangeError("epsilon_local is too small for this k");
  const gain = doubleAbove(beyond, blanket);
  const own = raised(Math.log1p(gain), 2 * FUNCTION_UNITS);
  return {
    k,
    blanket,
    epsilonLocal: Math.min(own, maxEpsilonLocal),
    gain,
    share: doubleAbove(blanket, WORD),
  };
}

/**
 * The values of a term at an epsilon below epsilon_local, each rounded up.
 *
 * The expectation of the positive part of a sum grows with every value, so that rounding them up
 * keeps an upper bound one. With x = e^epsilon - 1 and g = e^epsilon_local - 1 they are g - x,
 * -(g + x + g x) and -x: no difference of nearly equal numbers but the first, whose error is that
 * of g and x.
 */
export function values(made: Response, epsilon: number): Values {
  const x = Math.max(0, lowered(Math.expm1(epsilon), FUNCTION_UNITS));
  const { gain } = made;
  const beneath = lowered(gain, 4);
  return {
    first: Math.max(0, gain - x) + 4 * UNIT * gain,
    second: -lowered(beneath + x + beneath * x, 8),
    third: -x,
  };
}

/** The exact chances of k-RR's classes as pairs of whole numbers over 2^64. */
export function masses(made: Response) {
  const { blanket, k } = made;
  const third = BigInt(k - 2) * blanket;
  return { each: blanket, third, rest: WORD - BigInt(k) * blanket };
}

/** The largest whole number that is at most a double, as people are counted. */
export function wholePeople(n: number): number {
  if (!(n >= 1 && n <= 1e15)) throw new RangeError("n must be between 1 and 1e15");
  const people = Math.floor(n);
  return Number(exactly(people).over / exactly(people).under);
}
