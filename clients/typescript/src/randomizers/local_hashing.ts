/** Local hashing: randomized response over the bucket of a fresh hash. */

import { Categories } from "../domain.js";
import { ParameterError } from "../errors.js";
import type { Table } from "../json.js";
import { Randomizer } from "../randomizer.js";
import { type Report, ReportFormat } from "../report.js";
import { table, wholeNumber } from "../table.js";
import { bestBuckets } from "./buckets.js";
import { blanketWeight, COMMON, denominatorOf, maxEpsilonOf } from "./calibrated.js";
import { karyResponse } from "./k_rr.js";

/** The largest prime whose cube fits a 64-bit word: one draw is a seed. */
const LARGEST_PRIME = 2_642_239n;

/**
 * Hash the value into g buckets with a hash drawn afresh, report hash and randomised bucket.
 *
 *     h(x) = ((c2 x^2 + c1 x + c0) mod P) mod g,   seed = c2 P^2 + c1 P + c0.
 */
export class LocalHashing extends Randomizer<number> {
  readonly maxEpsilonLocal: number;
  readonly domain: Categories;
  readonly drawBounds: readonly bigint[];
  readonly reportFormat: ReportFormat;
  readonly blanket: bigint;
  readonly buckets: bigint;
  readonly #prime: bigint;

  constructor(specification: Table) {
    super();
    const known = [...COMMON, "k", "labels", "buckets", "prime"];
    const own = table("local-hashing", specification, known);
    this.maxEpsilonLocal = maxEpsilonOf(own);
    this.domain = Categories.of(own);
    this.#prime = primeOf(own);
    if (BigInt(this.domain.size) > this.#prime) {
      throw new ParameterError("k", { must: `be at most ${this.#prime}` });
    }
    this.buckets = bucketsOf(own, this.maxEpsilonLocal, this.#prime);
    const denominator = denominatorOf(own);
    this.blanket = blanketWeight(denominator, this.maxEpsilonLocal, this.buckets);
    this.drawBounds = [this.#prime ** 3n, denominator];
    this.reportFormat = new ReportFormat([this.#prime ** 3n, this.buckets]);
  }

  respond(index: number, draws: readonly bigint[]): Report {
    const [seed, drawn] = draws as [bigint, bigint];
    const own = this.hash(seed, BigInt(index));
    return [seed, karyResponse(own, drawn, this.blanket, this.buckets)];
  }

  hash(seed: bigint, value: bigint): bigint {
    const prime = this.#prime;
    const [square, linear, constant] = [seed / prime / prime, (seed / prime) % prime, seed % prime];
    return (((square * value + linear) * value + constant) % prime) % this.buckets;
  }
}

function primeOf({ prime }: Table): bigint {
  if (prime === undefined) return LARGEST_PRIME;
  const given = wholeNumber("prime", prime, 2n, LARGEST_PRIME);
  for (let factor = 2n; factor * factor <= given; factor += 1n) {
    if (given % factor === 0n) throw new ParameterError("prime", { must: "be a prime" });
  }
  return given;
}

/** Return the given number of buckets, or the one nearest to e^epsilon + 1. */
function bucketsOf({ buckets }: Table, epsilon: number, prime: bigint): bigint {
  if (buckets !== undefined) return wholeNumber("buckets", buckets, 2n, prime);
  return bestBuckets(epsilon, prime);
}
