/** The distribution of a number: the nodes of a tree that have it, from coarse to fine. */

import type { Bytes } from "../bytes.js";
import { Grid } from "../domain.js";
import { ParameterError } from "../errors.js";
import type { Table } from "../json.js";
import { Randomizer } from "../randomizer.js";
import type { Report, ReportFormat } from "../report.js";
import { count, table } from "../table.js";
import { bestBuckets } from "./buckets.js";
import { COMMON, denominatorOf, maxEpsilonOf } from "./calibrated.js";
import { KaryRandomizedResponse } from "./k_rr.js";
import { LocalHashing } from "./local_hashing.js";
import { ParallelRandomizer } from "./parallel.js";
import { Plain } from "./plain.js";

const MOST_NUMBERS = 4096;
const USUAL_FANOUT = 4;

/**
 * Draw a level of a tree over the grid, and report which node has the number.
 *
 * The law is that of parallel questions, one per level: k-RR over few nodes, local hashing over
 * many. Without an epsilon the report is the number's place on the grid, and shufflers add dummies.
 */
export class Distribution extends Randomizer<number> {
  readonly maxEpsilonLocal: number;
  readonly domain: Grid;
  readonly drawBounds: readonly bigint[];
  readonly reportFormat: ReportFormat;
  override readonly alphabetSize: number | undefined;
  /** The mechanism of each level; none without an epsilon. */
  readonly levels: readonly Randomizer[];
  readonly #inner: Randomizer;
  readonly #inputOf: (index: number) => unknown;

  constructor(specification: Table) {
    super();
    const own = table("distribution", specification, [...COMMON, "grid", "fanout"]);
    this.domain = Grid.of(own.grid);
    const { size } = this.domain;
    if (size > MOST_NUMBERS) {
      throw new ParameterError("grid", { must: `have at most ${MOST_NUMBERS} numbers` });
    }
    denominatorOf(own); // refuses what is none, without an epsilon as well
    const fanout = count("fanout", own.fanout ?? USUAL_FANOUT, 2, MOST_NUMBERS);
    if (own.max_epsilon_local === undefined) {
      this.levels = [];
      this.#inner = new Plain({ k: size });
      this.#inputOf = (index) => index;
    } else {
      const sizes = sizesOf(size, fanout);
      const widths = sizes.map((_, level) => fanout ** (sizes.length - 1 - level));
      this.levels = levelsOf(sizes, own);
      this.#inner = new ParallelRandomizer(this.levels, Array<bigint>(sizes.length).fill(1n));
      this.#inputOf = (index) => widths.map((width) => Math.floor(index / width));
    }
    this.maxEpsilonLocal = this.#inner.maxEpsilonLocal;
    this.drawBounds = this.#inner.drawBounds;
    this.reportFormat = this.#inner.reportFormat;
    this.alphabetSize = this.#inner.alphabetSize;
  }

  respond(index: number, draws: readonly bigint[], batch: Bytes): Report | Promise<Report> {
    return this.#inner.respond(this.#inputOf(index), draws, batch);
  }
}

/** Return the number of nodes of each level, the coarsest first. */
function sizesOf(size: number, fanout: number): readonly number[] {
  if (size <= 2 * fanout) return [size];
  return [...sizesOf(Math.ceil(size / fanout), fanout), size];
}

/** Return the mechanism of each level: k-RR over few nodes, local hashing over many. */
function levelsOf(
  sizes: readonly number[],
  { grid: _grid, fanout: _fanout, ...own }: Table,
): readonly Randomizer[] {
  const few = 3n * bestBuckets(maxEpsilonOf(own), BigInt(MOST_NUMBERS));
  return sizes.map((k) =>
    k <= few ? new KaryRandomizedResponse({ ...own, k }) : new LocalHashing({ ...own, k }),
  );
}
