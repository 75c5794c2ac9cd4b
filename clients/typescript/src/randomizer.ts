/** The local randomizer: what a client does to its value before anything leaves the device. */

import type { Bytes } from "./bytes.js";
import type { Domain } from "./domain.js";
import { draw, type Keystream } from "./keystream.js";
import type { Report, ReportFormat } from "./report.js";

/** The answer that a device keeps, and the reports that are made from it. */
export interface Permanent {
  /** Draw the answer to a value; nobody but the device sees it. */
  draw(value: unknown, rng: Keystream): number;
  /** Make a report from the answer, with noise of its own. */
  report(kept: number, rng: Keystream): Report;
}

/**
 * A local mechanism whose law is a table of integers.
 *
 * One report consumes integers, the j-th uniform below `drawBounds[j]`. `respond` maps index and
 * draws to the report and has no other source of randomness: feeding it every possible row of draws
 * yields the channel of the proof, integer by integer.
 */
export abstract class Randomizer<Index = unknown> {
  /** The epsilon that one report may not exceed, in nats. */
  abstract readonly maxEpsilonLocal: number;
  abstract readonly domain: Domain<Index>;
  abstract readonly drawBounds: readonly bigint[];
  abstract readonly reportFormat: ReportFormat;
  /** The number of possible reports, if dummies can be made of them. */
  readonly alphabetSize: number | undefined = undefined;
  /** The way to a permanent answer, if all reports of a person are made from one. */
  readonly permanent: Permanent | undefined = undefined;
  /** True if what a report means depends on the batch that it is for. */
  readonly variesByBatch: boolean = false;

  /** The nats that a report costs, or all reports together if they are made from one answer. */
  get budgetCost(): number {
    return this.maxEpsilonLocal;
  }

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
