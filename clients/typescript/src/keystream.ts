/** Uniform integers below any bound up to 2^64, exactly, without modulo bias. */

export const WORD = 1n << 64n;

/** A source of random words: every draw is compared with integers, nothing is a float. */
export interface Keystream {
  /** Draw so many uniform 64-bit words. */
  words(size: number): BigUint64Array;
}

/** The words that one call of `getRandomValues` may fill. */
const MOST_AT_ONCE = 8192;

/** The randomness of the operating system. */
export const operatingSystem: Keystream = {
  words(size) {
    const words = new BigUint64Array(size);
    for (let start = 0; start < size; start += MOST_AT_ONCE) {
      crypto.getRandomValues(words.subarray(start, start + MOST_AT_ONCE));
    }
    return words;
  },
};

/**
 * Draw a uniform integer below each of the bounds.
 *
 * A word counts if it lies below the largest multiple of the bound, and is drawn again otherwise.
 */
export function draw(bounds: readonly bigint[], rng: Keystream): bigint[] {
  const words = rng.words(bounds.length);
  return bounds.map((below, place) => {
    const accepted = WORD - (WORD % below);
    let word = words[place] as bigint;
    while (word >= accepted) word = rng.words(1)[0] as bigint;
    return word % below;
  });
}

/** Draw one uniform integer below a bound. */
export const integer = (below: bigint, rng: Keystream): bigint => draw([below], rng)[0] as bigint;
