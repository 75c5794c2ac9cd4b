/** The format of a report: a row of integers, each below its bound. */

import type { Bytes } from "./bytes.js";
import { DataError } from "./errors.js";

export type Report = readonly bigint[];

const BITS_A_BYTE = 8;

/**
 * The number of integers of a report, and the bound of each.
 *
 * In bytes the integers follow each other with as many bits as their bound needs, most significant
 * first, and zeros up to the next full byte.
 */
export class ReportFormat {
  readonly #widths: readonly number[];
  /** The bytes of every report, whatever its content. */
  readonly size: number;

  constructor(
    readonly bounds: readonly bigint[],
    readonly ascending = false,
  ) {
    this.#widths = bounds.map((bound) => (bound > 2n ? (bound - 1n).toString(2).length : 1));
    this.size = Math.ceil(this.#widths.reduce((sum, width) => sum + width, 0) / BITS_A_BYTE);
  }

  /** Tell whether a row of integers is a report. */
  fits(report: Report): boolean {
    if (report.length !== this.bounds.length) return false;
    return report.every((entry, place) => {
      const ascends = !this.ascending || place === 0 || (report[place - 1] as bigint) < entry;
      return entry >= 0n && entry < (this.bounds[place] as bigint) && ascends;
    });
  }

  toBytes(report: Report): Bytes {
    if (!this.fits(report)) throw new DataError("A report does not fit the plan.");
    const data = new Uint8Array(this.size);
    let bit = 0;
    for (const [place, width] of this.#widths.entries()) {
      for (let shift = width - 1; shift >= 0; shift -= 1, bit += 1) {
        const set = Number(((report[place] as bigint) >> BigInt(shift)) & 1n);
        (data[bit >> 3] as number) |= set << (7 - (bit & 7));
      }
    }
    return data;
  }

  /** Read the report in some bytes; refuse wrong lengths, high integers and stray bits. */
  fromBytes(data: Uint8Array): Report {
    if (data.length !== this.size) throw new DataError("A report has another length.");
    let bit = 0;
    const report = this.#widths.map((width) => {
      let entry = 0n;
      for (const end = bit + width; bit < end; bit += 1) {
        entry = (entry << 1n) | BigInt(((data[bit >> 3] as number) >> (7 - (bit & 7))) & 1);
      }
      return entry;
    });
    for (; bit < data.length * BITS_A_BYTE; bit += 1) {
      if (((data[bit >> 3] as number) >> (7 - (bit & 7))) & 1) throw new DataError("A stray bit.");
    }
    if (!this.fits(report)) throw new DataError("A report does not fit the plan.");
    return report;
  }
}
