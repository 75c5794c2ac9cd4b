/** Randomized response over the bucket of a function that is drawn from a public family. */

import type { Bytes } from "../bytes.js";
import type { Domain } from "../domain.js";
import type { Table } from "../json.js";
import { Randomizer } from "../randomizer.js";
import { type Report, ReportFormat } from "../report.js";
import { count, wholeNumber } from "../table.js";
import { bestBuckets } from "./buckets.js";
import { blanketWeight, COMMON, denominatorOf, maxEpsilonOf } from "./calibrated.js";
import { bucketOf } from "./hash_family.js";
import { karyResponse } from "./k_rr.js";

export const OF_A_FAMILY = [...COMMON, "functions", "buckets"] as const;

const USUAL_FUNCTIONS = 1024;
const MOST_FUNCTIONS = 2 ** 16;
const MOST_ROWS = 2 ** 20;
const MOST_BUCKETS = 2n ** 16n;
const CHOSEN_BUCKETS = 2n ** 12n;
const MOST_CELLS = 2 ** 26;

/**
 * Draw a function of a public family; report it, and k-RR over the bucket of the value.
 *
 * A value is hashed at one of several levels, each with functions of its own; a row is a level and
 * one of its functions. The functions follow from the name of the batch.
 */
export abstract class FamilyHashing<Index> extends Randomizer<Index> {
  readonly maxEpsilonLocal: number;
  readonly drawBounds: readonly bigint[];
  readonly reportFormat: ReportFormat;
  override readonly variesByBatch = true;
  readonly blanket: bigint;
  readonly #functions: number;
  readonly #buckets: bigint;

  protected constructor(
    own: Table,
    readonly domain: Domain<Index>,
    levels: number,
  ) {
    super();
    this.maxEpsilonLocal = maxEpsilonOf(own);
    const { functions = USUAL_FUNCTIONS } = own;
    this.#buckets = bucketsOf(own, this.maxEpsilonLocal);
    const room = Math.min(MOST_ROWS, MOST_CELLS / Number(this.#buckets));
    const most = Math.min(MOST_FUNCTIONS, Math.floor(room / levels));
    this.#functions = count("functions", functions, 1, most);
    const rows = BigInt(levels * this.#functions);
    const denominator = denominatorOf(own);
    this.blanket = blanketWeight(denominator, this.maxEpsilonLocal, this.#buckets);
    this.drawBounds = [rows, denominator];
    this.reportFormat = new ReportFormat([rows, this.#buckets]);
  }

  /** Return what the functions of a level hash of a value. */
  protected abstract message(index: Index, level: number): Bytes;

  async respond(index: Index, draws: readonly bigint[], batch: Bytes): Promise<Report> {
    const [row, drawn] = draws as [bigint, bigint];
    const message = this.message(index, Math.floor(Number(row) / this.#functions));
    const own = await bucketOf(message, { name: batch, row, buckets: this.#buckets });
    return [row, karyResponse(own, drawn, this.blanket, this.#buckets)];
  }
}

/** Return the given number of buckets, or the one nearest to e^epsilon + 1. */
function bucketsOf({ buckets }: Table, epsilon: number): bigint {
  if (buckets !== undefined) return wholeNumber("buckets", buckets, 2n, MOST_BUCKETS);
  return bestBuckets(epsilon, CHOSEN_BUCKETS);
}
