/** Gaussians that are cut at both ends and centred so that each has a given mean. */

import { orderedSum, portableExp } from "./portable.js";

/** The number of grid points, the outputs beyond each end, and the standard deviation in steps. */
export interface CutLaw {
  readonly points: number;
  readonly reach: number;
  readonly sigma: number;
}

const MOST_STEPS = 200;
const TOLERANCE = 1e-14;

/**
 * Return the chances of the outputs -reach, …, points - 1 + reach, one row per mean.
 *
 * Newton's method on the centres, of all rows together until each has its mean. Every operation is
 * in the order of Python's, so that every double is the same.
 */
export function cutGaussians(means: readonly number[], law: CutLaw): Float64Array[] {
  const outputs = Float64Array.from({ length: law.points + 2 * law.reach }, (_, place) => {
    return place - law.reach;
  });
  const centers = [...means];
  let rows: Float64Array[] = [];
  for (let step = 0; step < MOST_STEPS; step += 1) {
    rows = centers.map((center) => cutGaussian(outputs, center, law.sigma));
    const found = rows.map((row) => orderedSum(row.map((chance, y) => chance * at(outputs, y))));
    const errors = found.map((mean, place) => at(means, place) - mean);
    if (errors.every((error) => Math.abs(error) <= TOLERANCE * outputs.length)) break;
    rows.forEach((row, place) => {
      const mean = at(found, place);
      const squares = row.map((chance, y) => chance * (at(outputs, y) * at(outputs, y)));
      const spread = orderedSum(squares) - mean * mean;
      const move = (at(errors, place) / spread) * (law.sigma * law.sigma);
      centers[place] = at(centers, place) + Math.min(Math.max(move, -law.sigma), law.sigma);
    });
  }
  return rows;
}

function cutGaussian(outputs: Float64Array, center: number, sigma: number): Float64Array {
  const exponents = outputs.map((output) => {
    const distance = (output - center) / sigma;
    return -0.5 * (distance * distance);
  });
  const greatest = exponents.reduce((most, exponent) => Math.max(most, exponent));
  const weights = exponents.map((exponent) => portableExp(exponent - greatest));
  const total = orderedSum(weights);
  return weights.map((weight) => weight / total);
}

const at = (entries: ArrayLike<number>, place: number): number => entries[place] as number;
