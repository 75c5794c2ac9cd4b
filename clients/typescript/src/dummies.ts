/** Dummies: reports that a shuffler makes up, a random number of each possible report. */

import { ParameterError } from "./errors.js";
import type { Json, Table } from "./json.js";
import { list, number, table } from "./table.js";

/** The cost of one report: nats, and the chance that they do not hold. */
export interface Cost {
  readonly epsilon: number;
  readonly delta: number;
}

/**
 * Read what a report costs by the dummies of a shuffler's table; undefined if it makes none.
 *
 * Whether `weights` give that epsilon and delta is checked by whoever draws from them: an honest
 * shuffler runs no plan in which those of either shuffler do not.
 */
export function dummiesOf({ dummies, keep }: Table): Cost | undefined {
  if (keep !== undefined) between("keep", keep, Number.MIN_VALUE, 1);
  if (dummies === undefined) {
    if (keep === undefined) return undefined;
    throw new ParameterError("keep", { must: "come with dummies" });
  }
  const own = table("dummies", dummies, ["epsilon", "delta", "weights"]);
  if (own.weights !== undefined) list("weights", own.weights);
  return {
    epsilon: between("epsilon", own.epsilon, 0.01, 20),
    delta: between("delta", own.delta, 1e-15, 0.1),
  };
}

function between(name: string, value: Json | undefined, least: number, most: number): number {
  const given = number(name, value);
  if (given >= least && given <= most) return given;
  throw new ParameterError(name, { must: `be in [${least}, ${most}]` });
}
