/** The local randomizer: what a client does to its value before anything leaves the device. */

import type { Bytes } from "./bytes.js";
import type { Domain } from "./domain.js";
import { draw, type Keystream } from "./keystream.js";
import type { Report, ReportFormat } from "./report.js";

/**
 * A local mechanism whose law is a table of integers.
 *
 * One report consumes integers, the j-th uniform below `drawBounds[j]`. `respond` maps index and
 * draws to the report and has no other source of randomness: feeding it every possible row of draws
 * yields the channel of the proof, integer by integer.
 */
export abstract class Randomizer<Index = unknown> {
  /** The epsilon that may not be exceeded, in nats; a report is charged at it. */
  abstract readonly maxEpsilonLocal: number;
  abstract readonly domain: Domain<Index>;
  abstract readonly drawBounds: readonly bigint[];
  abstract readonly reportFormat: ReportFormat;
  /** The number of possible reports, if dummies can be made of them. */
  readonly alphabetSize: number | undefined = undefined;
  /** True if what a report means depends on the batch that it is for. */
  readonly variesByBatch: boolean = false;

  /**
   * Return the report of an index and its draws.
   *
   * @param batch The name of the batch, from which some mechanisms derive public functions.
   */
  abstract respond(index: Index, draws: readonly bigint[], batch: Bytes): Report | Promise<Report>;

  /** Randomise a value for a batch; the hashes of the platform are asynchronous. */
  async randomize(value: unknown, rng: Keystream, batch: Bytes): Promise<Report> {
    return this.respond(this.domain.encode(value), draw(this.drawBounds, rng), batch);
  }
}
