/** Bounded discrete Laplace noise. */

import type { Table } from "../json.js";
import { ceilingOf, exactly, expAbove, expBelow, type Fraction } from "../rounding.js";
import { type GridLaw, GridMean, requireCoarse } from "./grid_mean.js";
import { WeightTable } from "./weight_table.js";

/**
 * Add two-sided geometric noise to the grid point, then clamp the result to the grid.
 *
 * On the grid 0, …, m with r = e^(-epsilon/m), the noise has the tails, on either side,
 *
 *     S_j = ceil(D r^j / (1 + r)),   j = 1, …, m.
 */
export class DiscreteLaplace extends GridMean {
  constructor(specification: Table) {
    super(specification, [], laplaceTable);
  }
}

function laplaceTable(law: GridLaw): WeightTable {
  const { points, denominator } = law;
  requireCoarse(points, points);
  const last = points - 1;
  const tails = tailsOf(law);
  const tail = (at: number) => tails[at] as bigint;
  const inside = (at: number) => (at === 0 ? denominator - 2n * tail(1) : tail(at) - tail(at + 1));
  const end = (distance: number) => (distance === 0 ? denominator - tail(1) : tail(distance));
  const row = (x: number) =>
    Array.from({ length: points }, (_, y) => {
      if (y === 0) return end(x);
      return y === last ? end(last - x) : inside(Math.abs(y - x));
    });
  return new WeightTable(
    Array.from({ length: points }, (_, x) => row(x)),
    denominator,
  );
}

/** The weights S_0, …, S_m; the first is not used. */
function tailsOf({ points, epsilon, denominator }: GridLaw): bigint[] {
  const whole = exactly(epsilon);
  const power = (at: number): Fraction => ({
    numerator: -whole.numerator * BigInt(at),
    denominator: whole.denominator * BigInt(points - 1),
  });
  const low = expBelow(power(1));
  return Array.from({ length: points }, (_, at) => {
    const high = expAbove(power(at));
    return ceilingOf(
      denominator * high.numerator * low.denominator,
      high.denominator * (low.numerator + low.denominator),
    );
  });
}
