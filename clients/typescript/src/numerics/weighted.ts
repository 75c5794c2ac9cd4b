/** Draws by lot with weights. */

/** Return the index that a draw below the sum of the weights picks. */
export function weighted(weights: readonly bigint[], draw: bigint): number {
  let end = 0n;
  return weights.findIndex((weight) => {
    end += weight;
    return draw < end;
  });
}
