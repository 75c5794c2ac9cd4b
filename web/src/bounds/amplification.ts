/** epsilon after shuffling of k-RR, from above. */

import { contourLogDelta } from "./contour.ts";
import { crossing } from "./crossing.ts";
import { type Response, response, values, wholePeople } from "./k_rr.ts";
import { Lists } from "./listed.ts";
import { UNIT } from "./outward.ts";

/** One question. */
export interface Question {
  /** The number of categories. */
  readonly k: number;
  /** The ceiling of epsilon_local that clients are given. */
  readonly maxEpsilonLocal: number;
  /** The number of people whose reports are in the batch. */
  readonly n: number;
  /** The chance with which the bound may fail. */
  readonly delta: number;
}

/** An upper bound of epsilon, and how it was found. */
export interface Answer {
  /** An epsilon at which the bound of delta was seen to be at most the asked one. */
  readonly epsilon: number;
  /** The epsilon of one report, rounded up. */
  readonly epsilonLocal: number;
  /** The bound that gave it. */
  readonly method: "none" | "listed" | "contour" | "epsilon_local";
  /** False if less smoothing than was affordable would still have changed the result. */
  readonly sharp: boolean;
}

/** tau theta of the contour, one after the other until the result stays. */
const SMOOTHINGS = [0.2, 0.03, 0.006, 0.0015];

/** The relative change of epsilon from one smoothing to the next that ends the search. */
const STAYS = 2e-3;

/** The relative distance of the returned epsilon to one at which the bound is too large. */
const SHARPNESS = 1e-4;

/** Down to here an epsilon is found to its relative precision; below, the search ends early. */
const NEAR_ZERO = 1e-11;

/**
 * The least epsilon found at which a batch of n reports of k-RR is proved to have `delta`.
 *
 *     delta(epsilon) <= (1/n) E[(G_1 + … + G_n)_+]
 *
 * for every dataset, where a term G is e^epsilon_local - e^epsilon and 1 - e^(epsilon_local +
 * epsilon) with chance s each, 1 - e^epsilon with chance (k-2) s, and zero otherwise, s being the
 * chance of each answer that is not the truth: the privacy blanket.
 *
 * Holds when all use this randomizer with fresh noise, the order is uniform, and n honest reports
 * are in the batch, none dropped. Replace-one: it hides the value, not participation.
 * Direction: upper; never above epsilon_local, where delta is zero whatever the shuffler does.
 * Reference: balle2019, Lemma 5.3; `croupier.accounting.blanket.upper_curve`.
 */
export function amplified(question: Question): Answer {
  const { delta, k, maxEpsilonLocal } = question;
  if (!(delta > 0 && delta < 1)) throw new RangeError("delta must be between 0 and 1");
  const n = wholePeople(question.n);
  const made = response(k, maxEpsilonLocal);
  const cap = made.epsilonLocal;
  const target = Math.log(delta) - (8 + 8 * Math.abs(Math.log(delta))) * UNIT;
  const near = Math.min(cap, 0.9 * guess(made, n, delta));
  const said = (epsilon: number, method: Answer["method"], sharp: boolean): Answer => {
    const none = method !== "none" && epsilon >= cap;
    return { epsilon, epsilonLocal: cap, method: none ? "epsilon_local" : method, sharp };
  };
  const solve = (bound: (epsilon: number) => number, start: number) =>
    crossing((epsilon) => bound(epsilon) - target, {
      near: start,
      cap,
      sharpness: SHARPNESS,
    });
  const lists = Lists.of(made, n, leastChance(made, delta));
  if (lists !== undefined) {
    const found = solve((epsilon) => lists.logDelta(values(made, epsilon)), near);
    return said(found, found === 0 ? "none" : "listed", found === 0 || found > NEAR_ZERO);
  }
  let found = Number.POSITIVE_INFINITY;
  let sharp = false;
  for (const smoothing of SMOOTHINGS) {
    const bound = (epsilon: number) => contourLogDelta(made, n, values(made, epsilon), smoothing);
    const next = solve(bound, Number.isFinite(found) ? found : near);
    sharp = next >= found * (1 - STAYS);
    found = Math.min(found, next);
    if (sharp || found === 0) break;
  }
  if (found === 0) return said(0, "none", true);
  return said(found, "contour", sharp && found > NEAR_ZERO);
}

/** The epsilon of the central limit; it only starts the search. */
function guess(made: Response, n: number, delta: number): number {
  return Math.sqrt((4 * Math.log(1 / delta) * made.share * made.gain ** 2) / n);
}

/** Chances that matter little to delta, even if a term is as large as it can be. */
function leastChance(made: Response, delta: number): number {
  return Math.min(1e-12, (delta * 1e-9) / Math.max(1, made.gain));
}
