/** Bounded discrete Gaussian noise. */

import { ParameterError } from "../errors.js";
import type { Table } from "../json.js";
import { type CutLaw, cutGaussians } from "../numerics/cut_gaussian.js";
import { portableExp } from "../numerics/portable.js";
import { exactly, expBelow } from "../rounding.js";
import { number } from "../table.js";
import { type GridLaw, GridMean, requireCoarse } from "./grid_mean.js";
import { WeightTable } from "./weight_table.js";

const USUAL_TAIL = 3;
const MOST_REACH = 2 ** 16;
/** Margins below the ceiling, tried in turn until the rounded law stays below it. */
const SLACKS = [0, ...Array.from({ length: 14 }, (_, place) => Number(`1e${place - 14}`))];

/**
 * Report a grid point with Gaussian weights around the value, on a bounded, longer grid.
 *
 * For the value i on the grid 0, …, m and outputs y = -reach, …, m + reach, the weight of y is
 * proportional to exp(-(y - c_i)^2 / (2 sigma^2)), with c_i such that the mean is i, and the least
 * sigma at which the two ends of the grid stay below epsilon.
 */
export class DiscreteGaussian extends GridMean {
  constructor(specification: Table) {
    super(specification, ["tail"], gaussianTable);
  }
}

function gaussianTable(law: GridLaw): WeightTable {
  const { points, epsilon, denominator } = law;
  const cut = lawOf(law);
  const rows = cutGaussians(
    Array.from({ length: points }, (_, place) => place),
    cut,
  );
  const [low, high] = ends(cut);
  rows[0] = low;
  rows[points - 1] = high;
  const weights = WeightTable.rounded(rows, denominator).rows.map((row) => [...row]);
  const [first, last] = [weights[0], weights[points - 1]] as [bigint[], bigint[]];
  raiseEnd(last, first, first.length - 1, -1, epsilon);
  raiseEnd(first, last, 0, 1, epsilon);
  return new WeightTable(weights, denominator);
}

/** Return the least sigma that keeps below epsilon, and the reach. */
function lawOf({ own, points, epsilon, denominator }: GridLaw): CutLaw {
  const tail = own.tail === undefined ? USUAL_TAIL : number("tail", own.tail);
  if (!(tail >= 2 && tail <= 5)) throw new ParameterError("tail", { must: "be in [2, 5]" });
  const uncut = (points - 1) / (Math.sqrt(tail * tail + 2 * epsilon) - tail);
  const reach = Math.ceil(tail * uncut);
  requireCoarse(points, points + 2 * reach);
  if (reach > MOST_REACH) {
    throw new ParameterError("grid", { must: "be coarser for an epsilon this small" });
  }
  let law: CutLaw = { points, reach, sigma: uncut };
  for (const slack of SLACKS) {
    law = leastSigma(law, epsilon * (1 - slack));
    if (WeightTable.rounded(ends(law), denominator).epsilon <= epsilon) break;
  }
  return law;
}

/** Return the law with the least sigma at which the ends, before rounding, stay below a target. */
function leastSigma(law: CutLaw, target: number): CutLaw {
  const least = portableExp(-target);
  const isSafe = (sigma: number) => {
    const [low, high] = ends({ ...law, sigma });
    return low.every((one, place) => {
      const other = high[place] as number;
      return one >= other * least && other >= one * least;
    });
  };
  const scale = law.sigma;
  let [safe, unsafe] = [100 * scale, scale / 100];
  if (!isSafe(safe)) throw new ParameterError("grid", { must: "have a law at this epsilon" });
  while (Math.abs(unsafe - safe) > 1e-15 * scale) {
    const middle = safe + (unsafe - safe) / 2;
    if (middle === safe || middle === unsafe) break;
    if (isSafe(middle)) safe = middle;
    else unsafe = middle;
  }
  return { ...law, sigma: safe };
}

function ends(law: CutLaw): [Float64Array, Float64Array] {
  return cutGaussians([0, law.points - 1], law) as [Float64Array, Float64Array];
}

/**
 * Raise the weight of the outermost output as far as epsilon allows.
 *
 * The weight comes from the next output; the same amount moves the other way at the centre, so that
 * the mean stays where it is.
 */
function raiseEnd(
  row: bigint[],
  other: readonly bigint[],
  end: number,
  inward: number,
  epsilon: number,
): void {
  const low = expBelow(exactly(epsilon));
  const at = (place: number) => row[place] as bigint;
  const room = ((other[end] as bigint) * low.numerator) / low.denominator - at(end);
  const center = row.reduce((best, weight, place) => (weight > at(best) ? place : best), 0);
  if (room <= 0n || room >= at(end + inward) || room >= at(center)) return;
  row[end] = at(end) + room;
  row[end + inward] = at(end + inward) - room;
  row[center] = at(center) - room;
  row[center + inward] = at(center + inward) + room;
}
