/** One-bit mean: a number becomes one biased coin. */

import { Grid } from "../domain.js";
import type { Table } from "../json.js";
import { Randomizer } from "../randomizer.js";
import { type Report, ReportFormat } from "../report.js";
import { ceilingOf, exactly, expBelow } from "../rounding.js";
import { table } from "../table.js";
import { COMMON, denominatorOf, maxEpsilonOf, requireLaw } from "./calibrated.js";

/**
 * Report 1 with a probability that grows linearly from the low to the high end of the grid.
 *
 *     P(1 | point i of 0, …, m) = [b + (i/m)(D - 2b)]/D, rounded,   b = ceil(D / (e^epsilon + 1)).
 */
export class OneBitMean extends Randomizer<number> {
  readonly maxEpsilonLocal: number;
  readonly domain: Grid;
  readonly drawBounds: readonly bigint[];
  readonly reportFormat = new ReportFormat([2n]);
  readonly #denominator: bigint;
  readonly #least: bigint;

  constructor(specification: Table) {
    super();
    const own = table("one-bit-mean", specification, [...COMMON, "grid"]);
    this.maxEpsilonLocal = maxEpsilonOf(own);
    this.domain = Grid.of(own.grid);
    this.#denominator = denominatorOf(own);
    this.drawBounds = [this.#denominator];
    const low = expBelow(exactly(this.maxEpsilonLocal));
    this.#least = ceilingOf(this.#denominator * low.denominator, low.numerator + low.denominator);
    requireLaw(this.#denominator - this.#least, this.#least);
  }

  /** The weight of a 1 at a grid point. */
  one(index: number): bigint {
    const last = BigInt(this.domain.size - 1);
    const span = this.#denominator - 2n * this.#least;
    return this.#least + (2n * BigInt(index) * span + last) / (2n * last);
  }

  respond(index: number, draws: readonly bigint[]): Report {
    return [(draws[0] as bigint) >= this.#denominator - this.one(index) ? 1n : 0n];
  }
}
