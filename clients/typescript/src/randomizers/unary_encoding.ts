/** Unary encoding: one noisy bit per category. */

import { Categories } from "../domain.js";
import { ParameterError } from "../errors.js";
import type { Table } from "../json.js";
import { Randomizer } from "../randomizer.js";
import { type Report, ReportFormat } from "../report.js";
import { ceilingOf, exactly, expBelow } from "../rounding.js";
import { table } from "../table.js";
import { COMMON, denominatorOf, maxEpsilonOf, requireLaw } from "./calibrated.js";

const MOST_BITS = 2 ** 20;

/** The weights of setting the own bit and any other. */
interface BitWeights {
  readonly own: bigint;
  readonly other: bigint;
}

/** Report k bits: bit j is set if its draw is below the weight of the own bit, or of any other. */
abstract class UnaryEncoding extends Randomizer<number> {
  readonly maxEpsilonLocal: number;
  readonly domain: Categories;
  readonly drawBounds: readonly bigint[];
  readonly reportFormat: ReportFormat;
  readonly bitWeights: BitWeights;

  constructor(specification: Table, weights: (denominator: bigint, epsilon: number) => BitWeights) {
    super();
    const own = table(String(specification.mechanism), specification, [...COMMON, "k", "labels"]);
    this.maxEpsilonLocal = maxEpsilonOf(own);
    this.domain = Categories.of(own);
    const k = this.domain.size;
    if (k > MOST_BITS) throw new ParameterError("k", { must: `be at most ${MOST_BITS}` });
    const denominator = denominatorOf(own);
    this.bitWeights = weights(denominator, this.maxEpsilonLocal);
    requireLaw(this.bitWeights.own, this.bitWeights.other);
    requireLaw(denominator, this.bitWeights.own);
    this.drawBounds = Array<bigint>(k).fill(denominator);
    this.reportFormat = new ReportFormat(Array<bigint>(k).fill(2n));
  }

  respond(index: number, draws: readonly bigint[]): Report {
    const { own, other } = this.bitWeights;
    return draws.map((draw, place) => (draw < (place === index ? own : other) ? 1n : 0n));
  }
}

/** Flip every bit with the same probability: b = ceil(D / (e^(epsilon/2) + 1)), a = D - b. */
export class SymmetricUnaryEncoding extends UnaryEncoding {
  constructor(specification: Table) {
    super(specification, (denominator, epsilon) => {
      const whole = exactly(epsilon);
      const low = expBelow({ ...whole, denominator: 2n * whole.denominator });
      const flip = ceilingOf(denominator * low.denominator, low.numerator + low.denominator);
      return { own: denominator - flip, other: flip };
    });
  }
}

/**
 * Set the own bit with probability one half, any other as rarely as epsilon allows.
 *
 * At an odd denominator one half is rounded up and the rest follows from the ratio that remains.
 */
export class OptimizedUnaryEncoding extends UnaryEncoding {
  constructor(specification: Table) {
    super(specification, (denominator, epsilon) => {
      const own = (denominator + 1n) / 2n;
      const low = expBelow(exactly(epsilon));
      const odds = own * low.denominator;
      const other = ceilingOf(denominator * odds, odds + (denominator - own) * low.numerator);
      return { own, other };
    });
  }
}
