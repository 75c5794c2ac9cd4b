/** k-ary randomized response. */

import { Categories } from "../domain.js";
import type { Table } from "../json.js";
import { Randomizer } from "../randomizer.js";
import { type Report, ReportFormat } from "../report.js";
import { table } from "../table.js";
import { blanketWeight, COMMON, denominatorOf, maxEpsilonOf } from "./calibrated.js";

/**
 * Tell the truth, or one of the k answers at random.
 *
 * A draw below k b picks an answer blindly; any other draw reports the truth.
 */
export class KaryRandomizedResponse extends Randomizer<number> {
  readonly maxEpsilonLocal: number;
  readonly domain: Categories;
  readonly drawBounds: readonly bigint[];
  readonly reportFormat: ReportFormat;
  override readonly alphabetSize: number;
  /** The weight of every answer that is not the truth. */
  readonly blanket: bigint;

  constructor(specification: Table) {
    super();
    const own = table("k-rr", specification, [...COMMON, "k", "labels"]);
    this.maxEpsilonLocal = maxEpsilonOf(own);
    this.domain = Categories.of(own);
    this.alphabetSize = this.domain.size;
    const [k, denominator] = [BigInt(this.domain.size), denominatorOf(own)];
    this.blanket = blanketWeight(denominator, this.maxEpsilonLocal, k);
    this.drawBounds = [denominator];
    this.reportFormat = new ReportFormat([k]);
  }

  respond(index: number, draws: readonly bigint[]): Report {
    const k = BigInt(this.domain.size);
    return [karyResponse(BigInt(index), draws[0] as bigint, this.blanket, k)];
  }
}

/** Randomise an index below k with one draw. */
export function karyResponse(index: bigint, draw: bigint, blanket: bigint, k: bigint): bigint {
  const answer = draw / blanket;
  return answer < k ? answer : index;
}
