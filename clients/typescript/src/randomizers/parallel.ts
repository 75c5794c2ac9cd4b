/** Parallel queries: each person answers one of several, drawn in private. */

import type { Bytes } from "../bytes.js";
import { Product } from "../domain.js";
import { ParameterError } from "../errors.js";
import { WORD } from "../keystream.js";
import { weighted } from "../numerics/weighted.js";
import type { Randomizer } from "../randomizer.js";
import { type Report, ReportFormat } from "../report.js";
import { SeveralQuestions } from "./several.js";

/**
 * Draw one of the queries in private and answer it with the whole epsilon.
 *
 * Queries share their draws: a report takes as many integers below a bound as the query that needs
 * most of them, and the drawn query ignores the others. Every report is padded with zeros.
 */
export class ParallelRandomizer extends SeveralQuestions {
  readonly maxEpsilonLocal: number;
  readonly domain: Product;
  readonly drawBounds: readonly bigint[];
  readonly reportFormat: ParallelFormat;
  override readonly variesByBatch: boolean;
  /** The draws that each query uses. */
  readonly #columns: readonly (readonly number[])[];

  constructor(
    queries: readonly Randomizer[],
    private readonly weights: readonly bigint[],
  ) {
    super(queries);
    const total = weights.reduce((sum, weight) => sum + weight, 0n);
    requireWeights(queries, weights, total);
    this.maxEpsilonLocal = Math.max(...queries.map((query) => query.maxEpsilonLocal));
    this.domain = new Product(queries.map((query) => query.domain));
    this.variesByBatch = queries.some((query) => query.variesByBatch);
    this.reportFormat = new ParallelFormat(queries.map((query) => query.reportFormat));
    const shared = sharedDraws(queries);
    this.drawBounds = [total, ...[...shared].flatMap(([bound, times]) => Array(times).fill(bound))];
    this.#columns = queries.map((query) => columnsOf(query, shared));
  }

  async respond(
    indices: readonly unknown[],
    draws: readonly bigint[],
    batch: Bytes,
  ): Promise<Report> {
    const drawn = weighted(this.weights, draws[0] as bigint);
    const query = this.queries[drawn] as Randomizer;
    const own = (this.#columns[drawn] as readonly number[]).map((place) => draws[place] as bigint);
    const answer = await query.respond(indices[drawn], own, batch);
    const padding = this.reportFormat.bounds.length - 1 - answer.length;
    return [BigInt(drawn), ...answer, ...Array<bigint>(padding).fill(0n)];
  }
}

function requireWeights(
  queries: readonly Randomizer[],
  weights: readonly bigint[],
  total: bigint,
): void {
  if (weights.length !== queries.length || total > WORD) {
    const must = "be one per query, with a sum of at most 2^64";
    throw new ParameterError("weights", { must });
  }
}

/** Count the draws below each bound that suffice for any one query. */
function sharedDraws(queries: readonly Randomizer[]): Map<bigint, number> {
  const shared = new Map<bigint, number>();
  for (const { drawBounds } of queries) {
    const own = new Map<bigint, number>();
    for (const bound of drawBounds) own.set(bound, (own.get(bound) ?? 0) + 1);
    for (const [bound, times] of own) shared.set(bound, Math.max(times, shared.get(bound) ?? 0));
  }
  return shared;
}

function columnsOf(query: Randomizer, shared: ReadonlyMap<bigint, number>): number[] {
  const free = new Map<bigint, number>();
  let start = 1;
  for (const [bound, times] of shared) {
    free.set(bound, start);
    start += times;
  }
  return query.drawBounds.map((bound) => {
    const place = free.get(bound) as number;
    free.set(bound, place + 1);
    return place;
  });
}

const greater = (first: bigint, second: bigint): bigint => {
  if (first > second) return first;
  return second;
};

/** The query, then as many integers as the longest answer has, padded with zeros. */
class ParallelFormat extends ReportFormat {
  constructor(private readonly answers: readonly ReportFormat[]) {
    const longest = Math.max(...answers.map(({ bounds }) => bounds.length));
    const largest = (place: number) =>
      answers.map(({ bounds }) => bounds[place] ?? 0n).reduce(greater);
    super([
      BigInt(answers.length),
      ...Array.from({ length: longest }, (_, place) => largest(place)),
    ]);
  }

  override fits(report: Report): boolean {
    if (!super.fits(report)) return false;
    const own = this.answers[Number(report[0])] as ReportFormat;
    const end = 1 + own.bounds.length;
    return own.fits(report.slice(1, end)) && report.slice(end).every((entry) => entry === 0n);
  }
}
