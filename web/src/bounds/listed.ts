/** delta of small batches of k-RR, by listing how often each class of answers occurs. */

import { binomialWindow, type Window, windowWidth } from "./binomial.ts";
import { masses, type Response, type Values, WORD } from "./k_rr.ts";
import { UNIT } from "./outward.ts";
import { doubleAbove } from "./ratio.ts";

/** The longest list, in entries of tables. */
const MOST_CELLS = 600_000;

/** One number of answers of the first two classes: the laws given that number. */
interface Total {
  readonly count: number;
  readonly chance: number;
  readonly first: Window;
  /** P(C <= start + j) of the count C of the third class. */
  readonly atMost: Float64Array;
  /** The sums of the former up to and including j. */
  readonly sums: Float64Array;
  readonly start: number;
}

/**
 * Lists for one response and one number of people; `logDelta` then bounds any epsilon.
 *
 *     delta(epsilon) <= (1/n) sum over t, a of P(T = t) P(A = a | t) E[(y - x C)_+ | t],
 *     y = a first + (t - a) second,   x = -third,
 *
 * T ~ Bin(n, 2s) terms are of the first two classes, A ~ Bin(t, 1/2) of them of the first, and of
 * all others C ~ Bin(n - t, (k-2)s/(1-2s)) of the third. With m = y/x the expectation is
 *
 *     x E[(m - C)_+] = x (sum over i < J of P(C <= i) + (m - J) P(C <= J)),   J = floor(m),
 *
 * a sum of terms that are not negative.
 *
 * Holds for every number of people; counts outside the windows add at most `first` each.
 * Direction: upper. Chances are rounded up in `binomialWindow`; y is raised by 8 units of the sizes
 * of its two parts; the result by 64 units and one per term.
 * Reference: balle2019, Lemma 5.3; the same sum as `croupier.accounting.sums.enumeration`.
 */
export class Lists {
  readonly #totals: readonly Total[];
  readonly #outside: number;
  readonly #n: number;
  readonly #cells: number;

  private constructor(totals: readonly Total[], outside: number, n: number, cells: number) {
    this.#totals = totals;
    this.#outside = outside;
    this.#n = n;
    this.#cells = cells;
  }

  /** The lists, or nothing where they would be too long. Chances below `least` are left out. */
  static of(made: Response, n: number, least: number): Lists | undefined {
    const { each, third, rest } = masses(made);
    const left = WORD - 2n * each;
    const pair = doubleAbove(2n * each, WORD);
    const alone = doubleAbove(left, WORD);
    const chance = doubleAbove(third, left || 1n);
    const failure = doubleAbove(rest, left || 1n);
    const rows = windowWidth(n, pair, alone, least);
    const columns = windowWidth(n, chance, failure, least);
    const most = Math.min(n, n * pair + rows);
    const halves = windowWidth(most, 0.5, 0.5, least);
    if (!(rows * (columns + halves) <= MOST_CELLS)) return undefined;
    const window = binomialWindow(n, pair, alone, least);
    let outside = window.outside;
    let cells = 0;
    let worst = 0;
    const totals: Total[] = [];
    for (const [step, ofTotal] of window.chances.entries()) {
      const count = window.start + step;
      const first = binomialWindow(count, 0.5, 0.5, least);
      const others = binomialWindow(n - count, chance, failure, least);
      worst = Math.max(worst, first.outside + others.outside);
      cells += first.chances.length + others.chances.length;
      const atMost = runningSums(others.chances);
      const sums = runningSums(atMost);
      totals.push({ count, chance: ofTotal, first, atMost, sums, start: others.start });
    }
    outside += worst;
    return new Lists(totals, outside, n, cells);
  }

  /** The logarithm of an upper bound of delta. */
  logDelta(values: Values): number {
    let total = 0;
    for (const each of this.#totals) total += each.chance * positivePart(each, values);
    const units = 64 + this.#cells;
    const bound = (total / this.#n) * (1 + units * UNIT) + values.first * this.#outside;
    return Math.log(bound) + 1e-13;
  }
}

/** E[S_+] given how many terms are of the first two classes. */
function positivePart(given: Total, { first, second, third }: Values): number {
  const { count } = given;
  const law = given.first;
  const span = first - second;
  const least = Math.max(law.start, Math.floor((-second * count) / span) - 1);
  let total = 0;
  for (let a = least; a < law.start + law.chances.length; a += 1) {
    const gained = a * first;
    const lost = -(count - a) * second;
    const y = gained - lost + 8 * UNIT * (gained + lost);
    if (y > 0) total += (law.chances[a - law.start] ?? 0) * excess(given, y, -third);
  }
  return total;
}

/** E[(y - x C)_+]. */
function excess({ atMost, sums, start }: Total, y: number, x: number): number {
  const last = start + atMost.length - 1;
  const top = atMost[atMost.length - 1] ?? 1;
  if (!(y > x * 1e-280)) return y;
  const m = x > 0 ? (y / x) * (1 + 4 * UNIT) : Number.POSITIVE_INFINITY;
  if (m >= last + 1) {
    // Every listed count is below m: y less the mean, which is added up as what C falls short of.
    const short = sums[sums.length - 1] ?? 0;
    const beyond = y * (1 + 4 * UNIT) - x * (last + 1) * (1 - 4 * UNIT);
    return x * short + top * Math.max(0, beyond);
  }
  const whole = Math.floor(m);
  if (whole < start) return 0;
  const place = whole - start;
  const before = place > 0 ? (sums[place - 1] ?? 0) : 0;
  return x * (before + (m - whole) * (atMost[place] ?? 0)) * (1 + 8 * UNIT);
}

function runningSums(of: Float64Array): Float64Array {
  const found = new Float64Array(of.length);
  let total = 0;
  for (const [place, value] of of.entries()) {
    total += value;
    found[place] = total;
  }
  return found;
}
