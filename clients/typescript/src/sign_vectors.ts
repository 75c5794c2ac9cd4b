/** Vectors of signs, each -1 or +1. No message shows the value. */

import type { Domain } from "./domain.js";
import { DataError } from "./errors.js";

/** A row of so many signs; its index is a row of 0 for -1 and 1 for +1. */
export class SignVectors implements Domain<readonly bigint[]> {
  constructor(readonly width: number) {}

  encode(value: unknown): readonly bigint[] {
    if (!Array.isArray(value) || value.length !== this.width) {
      throw new DataError(`The value must be a list of ${this.width} signs.`);
    }
    if (value.some((entry) => entry !== 1 && entry !== -1)) {
      throw new DataError("The value has entries that are neither -1 nor +1. Take the sign first.");
    }
    return value.map((entry) => (entry === 1 ? 1n : 0n));
  }
}
