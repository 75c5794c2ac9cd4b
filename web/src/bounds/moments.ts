/** The moment generating function of a sum of equal terms with three values besides zero. */

import { UNIT } from "./outward.ts";

type Three = readonly [number, number, number];

/** Exponents beyond which exponentials are not computed. */
const MOST_EXPONENT = 300;

/** Where M - 1 is below this it may have lost digits; such sums are small and left to Chernoff. */
const FAR_BELOW = -0.4;

/** A node whose moment generating function is e^-18 of the peak counts as that small, n times. */
const DEEP = 18;

const MOST_STEPS = 60;
const LONGER = 1.15;
const FACTORS = [
  ...Array.from({ length: 19 }, (_, j) => 0.05 * (j + 1)),
  ...Array.from({ length: 24 }, (_, j) => 1 + 0.05 * 1600 ** (j / 23)),
];

/**
 * The rounding error of log M(z) per |z| E|G|, in units of 2^-53.
 *
 * Each of the three parts w (e^(zG) - 1) has an error of at most 4 units from w, 8 each from the
 * exponential and from the sine that it is made of, 8 from the argument, and few from sums and
 * products: below 40 with the sums. Twice that is allowed.
 */
const NOISE = 80;

/** A logarithm of a moment and whether rounding left it meaningful. */
interface Known {
  readonly value: number;
  readonly upper: number;
  readonly known: boolean;
}

/** K(z) = n log M(z), M(z) = 1 + sum of w (e^(z v) - 1). */
export class Moments {
  readonly #weights: Three;
  readonly #values: Three;
  readonly #n: number;
  readonly #most: number;

  constructor(weights: Three, values: Three, n: number) {
    this.#weights = weights;
    this.#values = values;
    this.#n = n;
    this.#most = MOST_EXPONENT / Math.max(...values);
  }

  /** sum of w f(v). */
  #mean(f: (value: number) => number): number {
    const [w0, w1, w2] = this.#weights;
    const [v0, v1, v2] = this.#values;
    return w0 * f(v0) + w1 * f(v1) + w2 * f(v2);
  }

  #excess(theta: number): number {
    return this.#mean((value) => Math.expm1(theta * value));
  }

  /** A bound of |M| d log M per |z|, in units of 2^-53, times n. */
  #noise(theta: number): number {
    const spread = this.#mean((v) => Math.abs(v) * Math.exp(Math.max(0, theta * v)));
    return NOISE * this.#n * spread;
  }

  /** K at a real point; `upper` is an upper bound of it. */
  log(theta: number): Known {
    const excess = this.#excess(theta);
    const noise = this.#noise(theta) * theta * UNIT;
    if (excess < FAR_BELOW) {
      // M is at most 1 + FAR_BELOW here, and the rounding of log M at most twice that of M.
      const upper = this.#n * Math.log1p(FAR_BELOW) + 2 * noise;
      return { value: upper, upper, known: false };
    }
    const value = this.#n * Math.log1p(excess);
    return { value, upper: value + 2 * noise, known: noise < 1e-3 };
  }

  /** K'. */
  #slope(theta: number): number {
    const slope = this.#mean((value) => value * Math.exp(theta * value));
    return (this.#n * slope) / Math.max(1 + this.#excess(theta), UNIT);
  }

  /** A point close to where K'(theta) = 2/theta; any positive one would be valid. */
  saddlepoint(): number {
    const mean = this.#n * this.#mean((value) => value);
    const square = this.#n * this.#mean((value) => value * value);
    let theta = (Math.sqrt(mean * mean + 8 * square) - mean) / (2 * square);
    for (let turn = 0; turn < MOST_STEPS; turn += 1) {
      theta = Math.min(theta, this.#most);
      const near = theta * (1 + 1e-4);
      const here = this.#slope(theta) * theta - 2;
      const there = this.#slope(near) * near - 2;
      const newton = Math.min(1, Math.max(-1, (-1e-4 * here) / (there - here)));
      const step = there > here ? newton : here < 0 ? 1 : -1;
      theta *= Math.exp(step);
      if (Math.abs(step) < 1e-3 || theta > this.#most) break;
    }
    return Math.min(theta, this.#most);
  }

  /** The standard deviation, under the tilted law, that sets the scale of x. */
  width(theta: number): number {
    const step = 1e-3 * theta;
    const rise = this.#slope(theta + step) - this.#slope(theta - step);
    return Math.sqrt(Math.max(rise / (2 * step), 0) + 2 / theta ** 2);
  }

  /**
   * A distance at which the aliases are below that share of e^guess. It only steers sharpness.
   *
   * (s)_+ <= e^(ts)/(e t) for every t > 0: to the right t > theta, to the left t < theta, and the
   * geometric series summed.
   */
  period(theta: number, guess: number, width: number, share: number): number {
    const points = FACTORS.map((factor) => theta * factor).filter((t) => t <= this.#most);
    const bounds = points.map((t) => {
      return { t, log: this.log(t).upper - 1 - Math.log(t) };
    });
    const target = guess + Math.log(share);
    const top = this.#n * Math.max(...this.#values);
    let found = 4 * width;
    for (let turn = 0; turn < 200; turn += 1) {
      let right = Number.POSITIVE_INFINITY;
      const fall = theta * found;
      let left = Math.max(Math.log(found) - fall, guess + 0.7 - fall) + Math.LN2;
      for (const { t, log } of bounds) {
        const decay = Math.abs(t - theta) * found;
        const bound = log - decay - Math.log(-Math.expm1(-decay));
        if (t > theta) right = Math.min(right, bound);
        else if (t < theta) left = Math.min(left, bound);
      }
      if (found >= top) right = Number.NEGATIVE_INFINITY;
      if (Math.max(left, right) <= target) break;
      found *= LONGER;
    }
    return found;
  }

  /** The integrand's power e^(K(theta + iu) - K(theta)) at the nodes of a line. */
  along(theta: number, peak: number): Line {
    const tilted = this.#weights.map((weight, j) => {
      return weight * Math.exp(theta * (this.#values[j] ?? 0));
    }) as unknown as Three;
    return new Line(
      tilted,
      this.#values,
      this.#n,
      theta,
      peak,
      this.#excess(theta),
      this.#noise(theta),
    );
  }
}

/**
 * Nodes theta + iu: `at` computes one, and leaves it in the fields.
 *
 * Every e^(zv) is the real e^(theta v) turned by u v, so that M(z) - M(theta) is the sum of
 * w e^(theta v) (e^(iuv) - 1), which does not cancel.
 */
class Line {
  /** |e^(K(z) - K(theta))|. */
  power = 0;
  /** The argument of the same. */
  angle = 0;
  /** A bound of the absolute rounding error of the complex power. */
  error = 0;

  readonly #excess: number;
  readonly #n: number;
  readonly #noise: number;
  readonly #peak: number;
  readonly #theta: number;
  readonly #tilted: Three;
  readonly #values: Three;

  constructor(
    tilted: Three,
    values: Three,
    n: number,
    theta: number,
    peak: number,
    excess: number,
    noise: number,
  ) {
    this.#tilted = tilted;
    this.#values = values;
    this.#n = n;
    this.#theta = theta;
    this.#peak = peak;
    this.#excess = excess;
    this.#noise = noise;
  }

  /** Compute a node; false if the power is below e^-negligible, which is then the error. */
  at(u: number, negligible: number): boolean {
    const [t0, t1, t2] = this.#tilted;
    const [v0, v1, v2] = this.#values;
    const n = this.#n;
    const [h0, h1, h2] = [0.5 * u * v0, 0.5 * u * v1, 0.5 * u * v2];
    const [s0, s1, s2] = [Math.sin(h0), Math.sin(h1), Math.sin(h2)];
    // e^(2ih) - 1 = -2 sin(h)^2 + 2i sin(h) cos(h)
    const x = this.#excess - 2 * (t0 * s0 * s0 + t1 * s1 * s1 + t2 * s2 * s2);
    const square = 2 * x;
    const y = 2 * (t0 * s0 * Math.cos(h0) + t1 * s1 * Math.cos(h1) + t2 * s2 * Math.cos(h2));
    const log = 0.5 * Math.log1p(Math.max(square + (x * x + y * y), -1 + 1e-16));
    const floor = this.#peak / n - DEEP;
    const real = Math.max(log, floor);
    const growth = n * real - this.#peak;
    const weak = Math.exp(Math.min(Math.max(-real, -2 * real), 700));
    const noise = UNIT * (96 + this.#noise * Math.sqrt(this.#theta ** 2 + u * u) * weak);
    const deep = Math.exp(-DEEP * n);
    if (growth < -negligible) {
      const absolute = UNIT * (96 + (this.#noise / n) * Math.sqrt(this.#theta ** 2 + u * u));
      const most = n * Math.log(Math.exp(real) + absolute) - this.#peak;
      if (most < -0.9 * negligible) {
        this.error = Math.exp(-0.9 * negligible) + deep;
        return false;
      }
    }
    if (!(noise < 0.1)) {
      // Nothing is known of the node but that no node is above the peak.
      this.error = 1.01; // the peak itself is known to a five-hundredth
      return false;
    }
    // No node is above the peak: what seems so is made of rounding.
    this.power = Math.exp(Math.min(growth, 1));
    this.angle = n * Math.atan2(y, 1 + x);
    this.error = this.power * noise * 1.1 + deep;
    return true;
  }
}
