/** Map a slider's track to values and back, and choose the places at which a curve is computed. */

import type { Control, PointPart, Scale } from "../asking/protocol.ts";

export const TRACK = 1000;

export interface Range {
  from: number;
  to: number;
  scale: Scale;
  integer: boolean;
}

export function rangeOf(control: Control): Range {
  const { from, to, scale, integer } = control;
  return { from: from ?? 0, to: to ?? 1, scale, integer };
}

/** Round to integers where they are meant, or else to three significant digits. */
export function settle(range: Range, value: number): number {
  const rounded = range.integer ? Math.round(value) : Number(value.toPrecision(3));
  return Math.min(range.to, Math.max(range.from, rounded));
}

/** Large integers look settled with three digits; small ones stay exact. */
function tidy(range: Range, value: number): number {
  return range.integer && Math.abs(value) >= 1000 ? Number(value.toPrecision(3)) : value;
}

export function valueAt(range: Range, track: number): number {
  const share = Math.min(1, Math.max(0, track / TRACK));
  if (share === 0) return range.from;
  if (share === 1) return range.to;
  const value =
    range.scale === "log" && range.from > 0
      ? range.from * (range.to / range.from) ** share
      : range.from + (range.to - range.from) * share;
  return settle(range, tidy(range, value));
}

export function trackAt(range: Range, value: number): number {
  if (!(range.to > range.from)) return 0;
  const share =
    range.scale === "log" && range.from > 0
      ? Math.log(Math.max(value, range.from) / range.from) / Math.log(range.to / range.from)
      : (value - range.from) / (range.to - range.from);
  return Math.min(TRACK, Math.max(0, share * TRACK));
}

/** The value that many hundredths of the track away, and never the same value unless at an end. */
export function stepped(range: Range, value: number, hundredths: number): number {
  const moved = valueAt(range, trackAt(range, value) + hundredths * (TRACK / 100));
  const least = range.integer ? 1 : Math.abs(value) * 0.01;
  const wrong = hundredths > 0 ? moved <= value : moved >= value;
  if (!wrong) return moved;
  return settle(range, value + Math.sign(hundredths) * least);
}

/** Order 0..count-1 so that ends come first, then the middle, then quarters, and so on. */
export function coarseToFine(count: number): number[] {
  if (count < 3) return Array.from({ length: count }, (_, at) => at);
  const order = [0, count - 1];
  const seen = new Set(order);
  for (let parts = 2; seen.size < count; parts *= 2) {
    for (let part = 1; part < parts; part += 2) {
      const at = Math.round((part * (count - 1)) / parts);
      if (!seen.has(at)) {
        seen.add(at);
        order.push(at);
      }
    }
    if (parts > 2 * count) {
      for (let at = 0; at < count; at += 1) if (!seen.has(at)) order.push(at);
      break;
    }
  }
  return order;
}

/** The places of a curve over a control, coarse to fine, without repetition. */
export function places(control: Control, count = 25): (number | string)[] {
  if (control.kind === "choice")
    return control.options.map(({ value }) => (typeof value === "boolean" ? String(value) : value));
  const range = rangeOf(control);
  const values = coarseToFine(count).map((at) => valueAt(range, (at * TRACK) / (count - 1)));
  return [...new Set(values)];
}

/**
 * More places where plans begin and end, so that the curve fills the range in which there are any.
 * Without a place that has no plan there is nothing to add.
 */
export function refined(control: Control, points: Iterable<PointPart>, count = 25): number[] {
  if (control.kind === "choice") return [];
  const all = [...points].sort((a, b) => Number(a.x) - Number(b.x));
  const usable = all.map((point) => point.problem === null);
  const [first, last] = [usable.indexOf(true), usable.lastIndexOf(true)];
  if (first < 0 || (first === 0 && last === all.length - 1)) return [];
  const from = Number(all[Math.max(0, first - 1)]?.x);
  const to = Number(all[Math.min(all.length - 1, last + 1)]?.x);
  const range = { ...rangeOf(control), from, to };
  const values = coarseToFine(count).map((at) => valueAt(range, (at * TRACK) / (count - 1)));
  return [...new Set(values)];
}

const NUMBER = /^[+-]?(\d{1,3}(,\d{3})+|\d+)?(\.\d*)?(e[+-]?\d+)?$/i;

/**
 * Read a number as people write it: 200,000, 200_000, 2e5; null if it is none, undefined if empty.
 * A comma stands between thousands only: whoever means 0.5 by 0,5 is told so.
 */
export function readNumber(text: string): number | null | undefined {
  const plain = text.replace(/[_\s]/g, "");
  if (plain === "") return undefined;
  const value = Number(plain.replaceAll(",", ""));
  return NUMBER.test(plain) && Number.isFinite(value) ? value : null;
}

/** Write a setting, not a proved number, so that it can be read back. */
export function writeNumber(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString("en");
  if (value !== 0 && Math.abs(value) < 1e-4) return String(value);
  return value.toLocaleString("en", { maximumSignificantDigits: 12 });
}
