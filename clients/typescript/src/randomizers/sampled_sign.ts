/** Sampled sign: one randomised coordinate of a vector of signs. */

import type { Table } from "../json.js";
import { Randomizer } from "../randomizer.js";
import { type Report, ReportFormat } from "../report.js";
import { SignVectors } from "../sign_vectors.js";
import { count, table } from "../table.js";
import { blanketWeight, COMMON, denominatorOf, maxEpsilonOf } from "./calibrated.js";
import { karyResponse } from "./k_rr.js";

const MOST_SIGNS = 2 ** 40;

/** Pick one of d coordinates at random and report it with its sign, randomised. */
export class SampledSign extends Randomizer<readonly bigint[]> {
  readonly maxEpsilonLocal: number;
  readonly domain: SignVectors;
  readonly drawBounds: readonly bigint[];
  readonly reportFormat: ReportFormat;
  /** The weight of the untrue sign. */
  readonly blanket: bigint;

  constructor(specification: Table) {
    super();
    const own = table("sampled-sign", specification, [...COMMON, "dimension"]);
    this.maxEpsilonLocal = maxEpsilonOf(own);
    this.domain = new SignVectors(count("dimension", own.dimension, 1, MOST_SIGNS));
    const [dimension, denominator] = [BigInt(this.domain.width), denominatorOf(own)];
    this.blanket = blanketWeight(denominator, this.maxEpsilonLocal, 2n);
    this.drawBounds = [dimension, denominator];
    this.reportFormat = new ReportFormat([dimension, 2n]);
  }

  respond(signs: readonly bigint[], draws: readonly bigint[]): Report {
    const [coordinate, drawn] = draws as [bigint, bigint];
    const own = signs[Number(coordinate)] as bigint;
    return [coordinate, karyResponse(own, drawn, this.blanket, 2n)];
  }
}
