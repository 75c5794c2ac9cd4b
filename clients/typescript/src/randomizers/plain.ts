/** The value itself, without noise: for plans whose shufflers add dummies. */

import { Categories } from "../domain.js";
import type { Table } from "../json.js";
import { Randomizer } from "../randomizer.js";
import { type Report, ReportFormat } from "../report.js";
import { table } from "../table.js";

/**
 * Report the value itself.
 *
 * The report alone protects nothing. A plan is refused where no shuffler adds dummies.
 */
export class Plain extends Randomizer<number> {
  readonly maxEpsilonLocal = Number.POSITIVE_INFINITY;
  readonly domain: Categories;
  /** One draw, always 0: nothing is random. */
  readonly drawBounds = [1n];
  readonly reportFormat: ReportFormat;
  override readonly alphabetSize: number;

  constructor(specification: Table) {
    super();
    this.domain = Categories.of(table("plain", specification, ["mechanism", "k", "labels"]));
    this.alphabetSize = this.domain.size;
    this.reportFormat = new ReportFormat([BigInt(this.domain.size)]);
  }

  respond(index: number): Report {
    return [BigInt(index)];
  }
}
