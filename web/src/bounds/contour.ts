/** delta of large batches of k-RR, by a contour integral of the moment generating function. */

import { masses, type Response, type Values, WORD } from "./k_rr.ts";
import { Moments } from "./moments.ts";
import { UNIT } from "./outward.ts";
import { doubleAbove } from "./ratio.ts";

/** The most nodes of one sum. */
const MOST_NODES = 40_000;

/** From this t on, in units of 1/tau, the smoothing kernel is below .1 tau^2 t^4 e^(-t^2/2). */
const FAR = 6.5;

/** The tangent, at t = 1, of 1 - t Mills(t) as a function of t^2; last digits rounded down. */
const TANGENT = [0.5 - 1e-12, 0.155679543] as const;

/** Nodes at which the integrand is e^-60 of the peak count as that large. */
const NEGLIGIBLE = 60;

/**
 * The logarithm of an upper bound of delta.
 *
 *     delta(epsilon) <= (1/n) E[S_+] = (1/2 pi n) integral M(z)^n / z^2 du,   z = theta + iu,
 *
 * S = G_1 + … + G_n, M(z) = E e^(zG), for any theta > 0; the saddlepoint makes the integrand
 * smallest. In steps:
 *
 * 1. Trapezoid. With step h the sum equals sum over m of e^(theta x_m) E[(S - x_m)_+],
 *    x_m = 2 pi m / h: m = 0 is the wanted term, all others are positive and are kept.
 * 2. Smoothing. With y = (tau z)^2 the kernel is e^(y/2) (1/z^2 - tau^2 (.5 - .1556795 (1 + y))):
 *    s_+ convolved with a normal law of deviation tau, less the tangent of the completely monotone
 *    1 - t Mills(t) in t^2. A tangent of a convex function is below it, so the kernel stays above
 *    s_+.
 * 3. Truncation at u = T/tau, T >= 6.5: at most
 *    e^(K(theta) + (tau theta)^2/2) (.1 tau / pi) (T^3 + 3 T + 3/T) e^(-T^2/2), added.
 * 4. Rounding, in `Moments`: proportional to n |z| E|G| at every node, added. A modelled allowance,
 *    not interval arithmetic.
 *
 * Where the sum is no use, Chernoff's e^(K(theta) - 1) / (theta n) or the bound s * first of one
 * person alone (delta does not grow with n) is returned, whichever is least.
 *
 * Symbols: `made` gives s and k; `values` are those of G besides zero; `smoothing` is tau theta.
 * Holds for every n; meant for those where lists are too long.
 * Direction: upper.
 * Reference: balle2019, Lemma 5.3; evaluated as in `croupier.accounting.sums.contour`.
 */
export function contourLogDelta(
  made: Response,
  n: number,
  values: Values,
  smoothing: number,
): number {
  const { each, third } = masses(made);
  const share = doubleAbove(each, WORD);
  const scale = -values.second;
  const moments = new Moments(
    [share, share, doubleAbove(third, WORD)],
    [values.first / scale, -1, values.third / scale],
    n,
  );
  const logScale = Math.log(scale) + 1e-14;
  const alone = Math.log(share * values.first) + 1e-14;
  const theta = moments.saddlepoint();
  const peak = moments.log(theta);
  const chernoff = peak.upper - 1 - Math.log(theta) - Math.log(n) + logScale + 1e-13;
  const ceiling = Math.min(alone, chernoff);
  if (!peak.known) return ceiling;
  const sum = trapezoid(moments, theta, peak.value, smoothing);
  if (!(sum > 0)) return ceiling;
  const slack = 1e-13 + 8 * UNIT * Math.abs(peak.value);
  return Math.min(ceiling, peak.value + Math.log(sum) + logScale - Math.log(n) + slack);
}

/** An upper bound of E[S_+] e^-K(theta); not a number where it takes too many nodes. */
function trapezoid(moments: Moments, theta: number, peak: number, smoothing: number): number {
  const tau = smoothing / theta;
  const accuracy = (smoothing / 2) ** 2;
  const width = moments.width(theta);
  const guess = peak - Math.log(theta ** 2 * Math.sqrt(2 * Math.PI) * width);
  const step = (2 * Math.PI) / moments.period(theta, guess, width, accuracy / 50);
  const reach = peak - guess + Math.log(tau) + Math.log(50 / accuracy) + 6;
  const far = Math.max(FAR, Math.sqrt(2 * Math.max(0, reach)));
  const last = Math.floor(far / tau / step) + 2;
  if (!(last <= MOST_NODES)) return Number.NaN;
  const line = moments.along(theta, peak);
  const square = tau * tau;
  let total = 0;
  let errors = 0;
  let absolute = 0;
  for (let node = 0; node <= last; node += 1) {
    const both = node === 0 ? 1 : 2;
    const u = step * node;
    const size = theta * theta + u * u;
    const real = square * (theta * theta - u * u);
    const decay = Math.exp(0.5 * real);
    const magnitude = 1 / size + square * (1 + square * size);
    if (!line.at(u, NEGLIGIBLE)) {
      errors += both * decay * magnitude * line.error;
      continue;
    }
    // The phases of the power and of e^(y/2) add up.
    const imaginary = 2 * square * theta * u;
    const angle = line.angle + 0.5 * imaginary;
    const kernelReal =
      (theta * theta - u * u) / (size * size) - square * (TANGENT[0] - TANGENT[1] * (1 + real));
    const kernelImaginary = (-2 * theta * u) / (size * size) + square * TANGENT[1] * imaginary;
    const turned = Math.cos(angle) * kernelReal - Math.sin(angle) * kernelImaginary;
    total += both * line.power * decay * turned;
    absolute += both * line.power * decay * magnitude;
    errors += both * decay * magnitude * line.error;
  }
  const truncation =
    ((0.1 * tau) / Math.PI) *
    (far ** 3 + 3 * far + 3 / far) *
    Math.exp(smoothing ** 2 / 2 - far ** 2 / 2);
  // One addition per node, each of which rounds by half a unit of what is summed so far.
  const additions = (last + 2) * UNIT * absolute;
  const sums = (step / (2 * Math.PI)) * (total + errors * (1 + 1e-6) + additions);
  return sums + truncation * (1 + 1e-6);
}
