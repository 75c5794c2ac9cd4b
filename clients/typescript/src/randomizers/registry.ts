/** Mechanisms by their name in a plan. */

import { ParameterError } from "../errors.js";
import type { Json, Table } from "../json.js";
import { isTable } from "../json.js";
import { WORD } from "../keystream.js";
import type { Randomizer } from "../randomizer.js";
import { list, table, wholeNumber } from "../table.js";
import { KaryRandomizedResponse } from "./k_rr.js";
import { Plain } from "./plain.js";

type Maker = (own: Table) => Randomizer | Promise<Randomizer>;

/**
 * The mechanisms that a plan can name.
 *
 * Most are imported when a plan names them, the same for everybody who takes part in it, so that
 * no page loads one that it does not use.
 */
export const MECHANISMS: ReadonlyMap<unknown, Maker> = new Map<unknown, Maker>([
  ["k-rr", (own) => new KaryRandomizedResponse(own)],
  ["memoised-k-rr", async (own) => new (await import("./memoised.js")).MemoisedResponse(own)],
  ["symmetric-unary", async (own) => new (await unary()).SymmetricUnaryEncoding(own)],
  ["optimized-unary", async (own) => new (await unary()).OptimizedUnaryEncoding(own)],
  ["rappor", async (own) => (await import("./rappor.js")).Rappor.of(own)],
  ["local-hashing", async (own) => new (await import("./local_hashing.js")).LocalHashing(own)],
  ["dictionary", async (own) => new (await import("./dictionary.js")).Dictionary(own)],
  ["text", async (own) => new (await import("./text.js")).Text(own)],
  ["distribution", async (own) => new (await import("./distribution.js")).Distribution(own)],
  ["hadamard", async (own) => new (await import("./hadamard.js")).HadamardResponse(own)],
  ["subset-selection", async (own) => new (await subsets()).SubsetSelection(own)],
  ["laplace", async (own) => new (await import("./laplace.js")).DiscreteLaplace(own)],
  ["gaussian", async (own) => new (await import("./gaussian.js")).DiscreteGaussian(own)],
  ["one-bit-mean", async (own) => new (await import("./one_bit_mean.js")).OneBitMean(own)],
  ["sampled-sign", async (own) => new (await import("./sampled_sign.js")).SampledSign(own)],
  ["plain", (own) => new Plain(own)],
  ["matrix", async (own) => new (await import("./matrix.js")).MatrixRandomizer(own)],
  ["parallel", parallel],
  ["together", together],
]);

const unary = () => import("./unary_encoding.js");
const subsets = () => import("./subset_selection.js");

/** Return the randomizer of a specification. */
export async function build(specification: Json): Promise<Randomizer> {
  const own = isTable(specification) ? specification : {};
  const make = MECHANISMS.get(own.mechanism);
  if (make !== undefined) return make(own);
  const known = [...MECHANISMS.keys()].join(", ");
  throw new ParameterError("mechanism", { must: `be one of ${known}` });
}

async function parallel(specification: Table): Promise<Randomizer> {
  const own = table("parallel", specification, ["mechanism", "queries", "weights"]);
  const queries = await Promise.all(list("queries", own.queries).map(build));
  const given = own.weights === undefined ? [] : list("weights", own.weights);
  const weights = given.length > 0 ? given : queries.map(() => 1);
  const { ParallelRandomizer } = await import("./parallel.js");
  return new ParallelRandomizer(
    queries,
    weights.map((weight) => wholeNumber("weights", weight, 1n, WORD)),
  );
}

async function together(specification: Table): Promise<Randomizer> {
  const own = table("together", specification, ["mechanism", "queries"]);
  const { TogetherRandomizer } = await import("./together.js");
  return new TogetherRandomizer(await Promise.all(list("queries", own.queries).map(build)));
}
