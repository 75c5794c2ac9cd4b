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
 * Words are taken in the order of Python's, so that the same words give the same integers: those of
 * equal neighbours together, and the rejected ones among them again.
 */
export function draw(bounds: readonly bigint[], rng: Keystream): bigint[] {
  const drawn: bigint[][] = [];
  let start = 0;
  bounds.forEach((below, place) => {
    if (below === bounds[place + 1]) return;
    drawn.push(integers(below, place + 1 - start, rng));
    start = place + 1;
  });
  return drawn.flat();
}

/**
 * Draw so many uniform integers below a bound.
 *
 * A word counts if it lies below the largest multiple of the bound, and is drawn again otherwise.
 */
function integers(below: bigint, size: number, rng: Keystream): bigint[] {
  const accepted = WORD - (WORD % below);
  const words = Array.from(rng.words(size));
  const isRejected = (place: number) => (words[place] as bigint) >= accepted;
  let rejected = [...words.keys()].filter(isRejected);
  while (rejected.length > 0) {
    const fresh = rng.words(rejected.length);
    rejected.forEach((place, number) => {
      words[place] = fresh[number] as bigint;
    });
    rejected = rejected.filter(isRejected);
  }
  return words.map((word) => word % below);
}

/** Draw one uniform integer below a bound. */
export const integer = (below: bigint, rng: Keystream): bigint => draw([below], rng)[0] as bigint;
