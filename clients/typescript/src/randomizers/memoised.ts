/** Memoised response: a permanent answer, drawn once, and fresh noise on it in every report. */

import { Categories } from "../domain.js";
import { ParameterError } from "../errors.js";
import type { Table } from "../json.js";
import { draw } from "../keystream.js";
import { type Permanent, Randomizer } from "../randomizer.js";
import { type Report, ReportFormat } from "../report.js";
import { ceilingOf, exactly, expBelow } from "../rounding.js";
import { table } from "../table.js";
import { blanketWeight, COMMON, denominatorOf, maxEpsilonOf } from "./calibrated.js";
import { karyResponse } from "./k_rr.js";

/** k-RR twice: once for ever, below `max_epsilon_permanent`, and once more per report. */
export class MemoisedResponse extends Randomizer<number> {
  readonly maxEpsilonLocal: number;
  readonly domain: Categories;
  readonly drawBounds: readonly bigint[];
  readonly reportFormat: ReportFormat;
  override readonly permanent: Permanent;
  /** The weights of an untrue permanent answer, and of a report that is not the permanent answer. */
  readonly blankets: readonly [bigint, bigint];
  readonly #maxEpsilonPermanent: number;
  readonly #k: bigint;

  constructor(specification: Table) {
    super();
    const keys = [...COMMON, "k", "labels", "max_epsilon_permanent"];
    const own = table("memoised-k-rr", specification, keys);
    this.maxEpsilonLocal = maxEpsilonOf(own);
    this.#maxEpsilonPermanent = maxEpsilonOf(own, "max_epsilon_permanent");
    if (this.#maxEpsilonPermanent <= this.maxEpsilonLocal) {
      throw new ParameterError("max_epsilon_permanent", { must: "be above max_epsilon_local" });
    }
    this.domain = Categories.of(own);
    this.#k = BigInt(this.domain.size);
    const denominator = denominatorOf(own);
    this.blankets = weightsOf(
      denominator,
      this.#k,
      this.maxEpsilonLocal,
      this.#maxEpsilonPermanent,
    );
    this.drawBounds = [denominator, denominator];
    this.reportFormat = new ReportFormat([this.#k]);
    const once = (index: number, place: 0 | 1, drawn: bigint) =>
      karyResponse(BigInt(index), drawn, this.blankets[place], this.#k);
    const one = [denominator];
    this.permanent = {
      draw: (value, rng) => Number(once(this.domain.encode(value), 0, draw(one, rng)[0] as bigint)),
      report: (kept, rng) => [once(kept, 1, draw(one, rng)[0] as bigint)],
    };
  }

  override get budgetCost(): number {
    return this.#maxEpsilonPermanent;
  }

  /** Return the first report of a person. */
  respond(index: number, draws: readonly bigint[]): Report {
    const answers = this.blankets.reduce(
      (answer, blanket, place) => karyResponse(answer, draws[place] as bigint, blanket, this.#k),
      BigInt(index),
    );
    return [answers];
  }
}

/** Return b1 of the permanent answer, and b2 of what each report adds to it. */
function weightsOf(
  denominator: bigint,
  k: bigint,
  epsilon: number,
  permanent: number,
): readonly [bigint, bigint] {
  const lie = blanketWeight(denominator, permanent, k);
  const { numerator: n, denominator: d } = expBelow(exactly(epsilon));
  // The gap g = (D - (k - 1) b1 - exp(e) b1) / D, over D d, and exp(e) - 1 + k g likewise.
  const gap = (denominator - (k - 1n) * lie) * d - n * lie;
  const least = (n - d) * denominator + k * gap;
  const noise = gap > 0n ? ceilingOf(denominator * gap, least) : 0n;
  if (noise > 0n && k * noise < denominator) return [lie, noise];
  throw new ParameterError("denominator", {
    must: "be large enough for the categories and these epsilons",
    hint: "Leave it out.",
  });
}
