/** A table of integer weights, and sampling from its rows. */

import { ParameterError } from "../errors.js";
import { WORD } from "../keystream.js";
import { logAbove } from "../numerics/logarithm.js";
import { orderedSum } from "../numerics/portable.js";
import { weighted } from "../numerics/weighted.js";

/** Rows of whole numbers that are not negative, each summing to the denominator. */
export class WeightTable {
  constructor(
    readonly rows: readonly (readonly bigint[])[],
    readonly denominator: bigint,
  ) {
    const isLaw = rows.every(
      (row) => row.every((weight) => weight >= 0n) && sum(row) === denominator,
    );
    if (!isLaw || denominator < 1n || denominator > WORD) {
      throw new ParameterError("weights", { must: `sum to ${denominator} in every row` });
    }
  }

  /** Round rows of doubles down; what remains goes to the first of each row's largest entries. */
  static rounded(rows: readonly Float64Array[], denominator: bigint): WeightTable {
    const scale = Number(denominator);
    const made = rows.map((row) => {
      const total = orderedSum(row);
      const weights = Array.from(row, (entry) => BigInt(Math.floor((entry / total) * scale)));
      const largest = row.reduce(
        (best, entry, place) => (entry > (row[best] as number) ? place : best),
        0,
      );
      weights[largest] = (weights[largest] as bigint) + denominator - sum(weights);
      return weights;
    });
    return new WeightTable(made, denominator);
  }

  /** The epsilon of the integers, rounded up; infinite if a row excludes what another allows. */
  get epsilon(): number {
    let worst = { numerator: 1n, denominator: 1n };
    for (const place of (this.rows[0] ?? []).keys()) {
      let [most, least] = [0n, this.denominator];
      for (const row of this.rows) {
        const weight = row[place] as bigint;
        if (weight > most) most = weight;
        if (weight < least) least = weight;
      }
      if (most > 0n && least === 0n) return Number.POSITIVE_INFINITY;
      if (most * worst.denominator > worst.numerator * least) {
        worst = { numerator: most, denominator: least };
      }
    }
    return logAbove(worst);
  }

  /** Return the output of a row at a draw below the denominator. */
  respond(row: number, draw: bigint): bigint {
    return BigInt(weighted(this.rows[row] as readonly bigint[], draw));
  }
}

const sum = (row: readonly bigint[]): bigint => row.reduce((total, weight) => total + weight, 0n);
