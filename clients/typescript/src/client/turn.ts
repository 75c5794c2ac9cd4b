/**
 * The turns of people: rounds in which they answer, send a null, or stay away.
 *
 * Nothing here sees a value. Each turn is drawn once per collection and remembered.
 */

import { ParameterError } from "../errors.js";
import { integer, type Keystream } from "../keystream.js";
import { weighted } from "../numerics/weighted.js";
import type { Plan } from "../plan.js";

/** A person's turn in one collection: an answer in one round, nulls from the first to the last. */
export interface Turn {
  readonly answers: number;
  readonly first: number;
  readonly last: number;
}

/** Refuse a plan whose proof relies on a secret sample of people: nobody draws one here. */
export function requireDeployable({ protocol }: Plan): void {
  if (protocol.model === "subsample") {
    const must = "not be subsample where a plan is run: nobody draws the sample here";
    throw new ParameterError("participation.model", { must });
  }
}

/** Return the number of rounds in one collection, of which a person answers one. */
export function roundsOfACollection(plan: Plan): number {
  return plan.everybodyAnswers ? 1 : plan.protocol.rounds;
}

/** Draw a person's turn, independently of the value; the bin is the given one, or drawn. */
export function drawTurn(plan: Plan, group: number | undefined, rng: Keystream): Turn {
  const { model, bins, rounds } = plan.protocol;
  if (model.endsWith("bins")) {
    const drawn = () => Number(integer(BigInt(bins.length), rng));
    const chosen = group === undefined ? drawn() : required(group, bins.length);
    const start = bins.slice(0, chosen).reduce((sum, weights) => sum + weights.length, 0);
    return turn(plan, start, bins[chosen] as readonly bigint[], rng);
  }
  if (model === "divide") {
    const own = required(group, rounds);
    return { answers: own, first: own, last: own };
  }
  if (group !== undefined) throw new ParameterError("group", { must: `be left out for ${model}` });
  if (model.endsWith("multinomial")) return turn(plan, 0, bins[0] as readonly bigint[], rng);
  return { answers: 0, first: 0, last: 0 };
}

function turn(plan: Plan, start: number, weights: readonly bigint[], rng: Keystream): Turn {
  const total = weights.reduce((sum, weight) => sum + weight, 0n);
  const answers = start + weighted(weights, integer(total, rng));
  if (!plan.protocol.padded) return { answers, first: answers, last: answers };
  return { answers, first: start, last: start + weights.length - 1 };
}

function required(group: number | undefined, groups: number): number {
  if (group !== undefined && Number.isInteger(group) && group >= 0 && group < groups) return group;
  throw new ParameterError("group", { must: `be in [0, ${groups - 1}]` });
}
