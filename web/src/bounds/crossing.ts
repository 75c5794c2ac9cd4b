/** The point at which a falling function that is costly to evaluate crosses zero. */

/** Below this a point counts as zero for the search, which then ends. */
const TINY = 1e-13;

const MOST_TURNS = 120;

/** Where to look, and how closely. */
export interface Search {
  /** A guess. */
  readonly near: number;
  /** The largest point; the function need not be evaluated there, it is returned as it is. */
  readonly cap: number;
  /** The relative distance to a point where the function is positive. */
  readonly sharpness: number;
}

/**
 * A point at which the function was seen to be at most zero, or the cap.
 *
 * Zero if it is so at zero. A function that does not quite fall makes the result less sharp, never
 * wrong: only evaluated points are returned.
 */
export function crossing(excess: (point: number) => number, search: Search): number {
  const { cap, near, sharpness } = search;
  const atZero = excess(0);
  if (atZero <= 0) return 0;
  let above = { point: 0, value: atZero };
  let below = { point: cap, value: Number.NEGATIVE_INFINITY };
  let next = near;
  let spread = 0.02;
  let side = 0;
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    if (below.point - above.point <= sharpness * below.point || below.point < TINY) break;
    const point = within(next, above.point, below.point);
    const value = excess(point);
    if (value <= 0) {
      below = { point, value };
      side = Math.min(side, 0) - 1;
    } else {
      above = { point, value };
      side = Math.max(side, 0) + 1;
    }
    spread = Math.min(2, spread * 2);
    next = proposal(above, below, { cap, side, sharpness, spread, turn });
  }
  return below.point;
}

interface Point {
  readonly point: number;
  readonly value: number;
}

/** Where to look next: by a line through both ends, a stride, or the middle. */
function proposal(
  above: Point,
  below: Point,
  now: { cap: number; side: number; sharpness: number; spread: number; turn: number },
): number {
  const width = below.point - above.point;
  if (now.turn > 30) return middle(above.point, below.point);
  if (below.point >= now.cap && !Number.isFinite(below.value)) {
    const stride = above.point * Math.exp(now.spread);
    return stride < now.cap ? stride : middle(above.point, below.point);
  }
  if (above.point === 0 && below.value < -0.5 * above.value) {
    // Zero is far away, and delta is not a line that far.
    return below.point * Math.exp(-now.spread);
  }
  if (!Number.isFinite(below.value)) return middle(above.point, below.point);
  // One end that stays counts less each time, so that both ends move (Illinois).
  const lessAbove = now.side < -1 ? above.value * 0.5 ** (-now.side - 1) : above.value;
  const lessBelow = now.side > 1 ? below.value * 0.5 ** (now.side - 1) : below.value;
  const line = above.point + (width * lessAbove) / (lessAbove - lessBelow);
  // A little to the side that is returned, so that the next interval is short.
  return line + 0.3 * now.sharpness * below.point * (now.side > 0 ? 1 : -1);
}

function middle(low: number, high: number): number {
  return low > 0 && high > 4 * low ? Math.sqrt(low * high) : low + (high - low) / 2;
}

/** The point, or the middle where it is not strictly between two others. */
function within(point: number, low: number, high: number): number {
  return point > low && point < high ? point : middle(low, high);
}
