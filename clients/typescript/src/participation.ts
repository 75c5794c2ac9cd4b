/** The rule of who takes part in which round: the part of a plan that a client acts on. */

import { ParameterError } from "./errors.js";
import type { Json, Table } from "./json.js";
import { count, list, oneOf, wholeNumber } from "./table.js";

const MODELS = [
  "single",
  "divide",
  "subsample",
  "parallel",
  "together",
  "multinomial",
  "bins",
  "rectified-parallel",
  "rectified-multinomial",
  "rectified-bins",
] as const;

/** The key that belongs to each model. */
const OWN: Readonly<Record<string, string>> = {
  divide: "groups",
  subsample: "repeats",
  parallel: "weights",
  multinomial: "weights",
  bins: "bins",
};
/** Models in which the question of a round may depend on what earlier rounds published. */
const ADAPTIVE = ["divide", "subsample", "multinomial", "bins"];
const MOST_ROUNDS = 100_000;
const MOST_WEIGHT = 1n << 62n;

/**
 * A rule by which people take part in rounds, independent of their values.
 *
 * `bins` holds the chance of each round of each bin; all other models have one bin.
 */
export interface Participation {
  readonly model: (typeof MODELS)[number];
  /** The number of rounds, or questions. */
  readonly rounds: number;
  /** True if nulls fill the rounds that are not taken. */
  readonly padded: boolean;
  /** True if a round's question may depend on what earlier rounds published. */
  readonly adaptive: boolean;
  readonly bins: readonly (readonly bigint[])[];
}

/** Read the rule that a plan's table describes; by default, one round per question. */
export function participation(section: Table, questions: number): Participation {
  const model = oneOf("participation.model", section.model, MODELS);
  const plain = model.replace("rectified-", "");
  const own = OWN[plain];
  for (const name of ["groups", "repeats", "weights", "bins"]) {
    if (name !== own && section[name] !== undefined) {
      throw new ParameterError(`participation.${name}`, { must: `be left out for ${model}` });
    }
  }
  const given = own === undefined ? 1 : (section[own] ?? questions);
  if (model === "together" && questions > 1) {
    return { model, rounds: questions, padded: false, adaptive: false, bins: [[1n]] };
  }
  const bins = own === "bins" ? list("bins", given).map(weightsOf) : [weightsOf(given)];
  const rounds = bins.reduce((sum, weights) => sum + weights.length, 0);
  if (rounds < 1 || rounds > MOST_ROUNDS) {
    throw new ParameterError("participation", { must: `have up to ${MOST_ROUNDS} rounds` });
  }
  if (rounds === 1 && model !== "subsample") {
    return { model: "single", rounds, padded: false, adaptive: false, bins };
  }
  return { model, rounds, padded: model !== plain, adaptive: ADAPTIVE.includes(plain), bins };
}

/** Return the chance of each round: a list, or so many that are equally likely. */
function weightsOf(given: Json): readonly bigint[] {
  if (!Array.isArray(given)) {
    return Array<bigint>(count("participation", given, 1, MOST_ROUNDS)).fill(1n);
  }
  const weights = given.map((weight: Json) => wholeNumber("weights", weight, 1n, MOST_WEIGHT));
  if (weights.reduce((sum, weight) => sum + weight, 0n) > MOST_WEIGHT) {
    throw new ParameterError("weights", { must: `sum to at most ${MOST_WEIGHT}` });
  }
  return weights;
}
