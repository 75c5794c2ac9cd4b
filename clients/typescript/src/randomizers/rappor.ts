/** One-time RAPPOR: a Bloom filter with noisy bits. */

import { Categories } from "../domain.js";
import { ParameterError } from "../errors.js";
import type { Table } from "../json.js";
import { Randomizer } from "../randomizer.js";
import { type Report, ReportFormat } from "../report.js";
import { ceilingOf, exactly, expBelow } from "../rounding.js";
import { count, table } from "../table.js";
import { BloomFilters, hashesOf } from "./bloom_filter.js";
import { COMMON, denominatorOf, maxEpsilonOf, requireLaw } from "./calibrated.js";

const MOST_CATEGORIES = 1000;
const MOST_BITS = 2 ** 16;
const MOST_HASHES = 1000;
const USUAL_HASHES = 2;

/** Write the value into a Bloom filter, then flip every bit with the same probability. */
export class Rappor extends Randomizer<number> {
  readonly maxEpsilonLocal: number;
  readonly drawBounds: readonly bigint[];
  readonly reportFormat: ReportFormat;
  /** The weight of flipping a bit. */
  readonly flip: bigint;

  private constructor(
    own: Table,
    readonly domain: Categories,
    private readonly filters: BloomFilters,
  ) {
    super();
    this.maxEpsilonLocal = maxEpsilonOf(own);
    const denominator = denominatorOf(own);
    const whole = exactly(this.maxEpsilonLocal);
    const distance = BigInt(filters.distance);
    const low = expBelow({ ...whole, denominator: distance * whole.denominator });
    this.flip = ceilingOf(denominator * low.denominator, low.numerator + low.denominator);
    requireLaw(denominator - this.flip, this.flip);
    this.drawBounds = Array<bigint>(filters.bits).fill(denominator);
    this.reportFormat = new ReportFormat(Array<bigint>(filters.bits).fill(2n));
  }

  /** Make it; the hashes of the platform are asynchronous. */
  static async of(specification: Table): Promise<Rappor> {
    const known = [...COMMON, "k", "labels", "bits", "hashes"];
    const own = table("rappor", specification, known);
    const domain = Categories.of(own);
    if (domain.size > MOST_CATEGORIES) {
      throw new ParameterError("k", { must: `be at most ${MOST_CATEGORIES} for rappor` });
    }
    const { hashes = USUAL_HASHES } = own;
    const made = await hashesOf(domain.labels(), count("hashes", hashes, 1, MOST_HASHES));
    return new Rappor(own, domain, filtersOf(own, made));
  }

  respond(index: number, draws: readonly bigint[]): Report {
    const own = this.filters.set[index] as ReadonlySet<number>;
    return draws.map((draw, bit) => (own.has(bit) === draw < this.flip ? 0n : 1n));
  }
}

/** Return filters of the given size, or of the least power of two from 4k on that is enough. */
function filtersOf({ bits }: Table, hashes: readonly (readonly bigint[])[]): BloomFilters {
  if (bits !== undefined) {
    const given = new BloomFilters(hashes, count("bits", bits, 1, MOST_BITS));
    if (given.isDetermined) return given;
    throw new ParameterError("bits", { must: "be enough to tell the categories apart" });
  }
  let size = 2 ** (4 * hashes.length - 1).toString(2).length;
  for (; size <= MOST_BITS; size *= 2) {
    const made = new BloomFilters(hashes, size);
    if (made.isDetermined) return made;
  }
  throw new ParameterError("hashes", { must: "be fewer to tell the categories apart" });
}
