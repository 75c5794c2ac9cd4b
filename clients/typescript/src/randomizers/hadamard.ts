/** Hadamard response. */

import { Categories } from "../domain.js";
import type { Table } from "../json.js";
import { Randomizer } from "../randomizer.js";
import { type Report, ReportFormat } from "../report.js";
import { table } from "../table.js";
import { blanketWeight, COMMON, denominatorOf, maxEpsilonOf } from "./calibrated.js";

/**
 * Report a column of a Hadamard matrix, more likely one where the value's row is positive.
 *
 * Category x owns row x + 1; column y is positive there if (x + 1) AND y has an even number of
 * ones. The column is drawn uniformly; on the wrong side, its bit at the row's lowest set bit is
 * flipped.
 */
export class HadamardResponse extends Randomizer<number> {
  readonly maxEpsilonLocal: number;
  readonly domain: Categories;
  readonly drawBounds: readonly bigint[];
  readonly reportFormat: ReportFormat;
  /** The weight of the wrong side. */
  readonly miss: bigint;

  constructor(specification: Table) {
    super();
    const own = table("hadamard", specification, [...COMMON, "k", "labels"]);
    this.maxEpsilonLocal = maxEpsilonOf(own);
    this.domain = Categories.of(own);
    const columns = 1n << BigInt(this.domain.size.toString(2).length);
    const denominator = denominatorOf(own);
    this.miss = blanketWeight(denominator, this.maxEpsilonLocal, 2n);
    this.drawBounds = [denominator, columns];
    this.reportFormat = new ReportFormat([columns]);
  }

  respond(index: number, draws: readonly bigint[]): Report {
    const [side, column] = draws as [bigint, bigint];
    const row = BigInt(index) + 1n;
    const isWrong = side < this.miss;
    return [isWrong === isOdd(row & column) ? column : column ^ (row & -row)];
  }
}

/** Tell whether the number of ones is odd. */
function isOdd(word: bigint): boolean {
  let odd = false;
  for (let rest = word; rest > 0n; rest >>= 1n) odd = odd !== ((rest & 1n) === 1n);
  return odd;
}
