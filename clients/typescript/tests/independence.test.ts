/** Rows of zeros and ones are independent as rationals, not only modulo 2. */

import { expect, test } from "vitest";
import { areIndependent } from "../src/numerics/independence.js";

test.each([
  [
    [
      [0, 1],
      [1, 2],
      [0, 2],
    ],
    true,
  ], // dependent modulo 2
  [[[0, 1], [1], [0]], false],
  [[[0], [1], [2]], true],
  [
    [
      [0, 1],
      [2, 3],
      [0, 1],
    ],
    false,
  ],
  [
    [
      [0, 1],
      [2, 3],
      [0, 2],
      [1, 3],
    ],
    false,
  ],
  [
    [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
      [4, 0],
    ],
    true,
  ], // a pentagon, dependent modulo 2
  [[[]], false],
])("%j: %s", (rows, independent) => {
  expect(areIndependent(rows.map((row) => new Set(row)))).toBe(independent);
});
