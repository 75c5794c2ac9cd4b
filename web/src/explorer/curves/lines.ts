/** From points of a curve to a chart: its lines, its range, and what it says in words. */

import type { Control, PointPart, Row } from "../asking/protocol.ts";
import { rangeOf } from "../controls/scale.ts";
import type { Chart, Line } from "./chart.ts";
import type { Measure } from "./measure.ts";
import { upward } from "./numbers.ts";

export function chartOf(
  measure: Measure,
  over: Control,
  points: PointPart[],
  held: PointPart[],
  width: number,
  large: boolean,
): Chart {
  const single = measure.rows.length === 1;
  const line = (row: Row, at: number, from: PointPart[], isHeld: boolean): Line => ({
    name: row.name,
    stroke: single ? 2 : at % 8,
    strong: row.headline === true,
    held: isHeld,
    points: from.map((point) => [
      point.x,
      point.problem === null ? measure.read(point, row.rung) : null,
    ]),
    here: isHeld ? null : measure.here(row.rung),
  });
  const lines = [
    ...measure.rows.map((row, at) => line(row, at, held, true)),
    ...measure.rows.map((row, at) => line(row, at, points, false)),
  ].filter((one) => !one.held || one.points.length > 0);
  const choice = over.kind === "choice";
  return {
    width,
    height: large ? Math.min(380, Math.max(280, width * 0.45)) : 176,
    words: words(measure, over, points),
    x: {
      scale: over.scale,
      ...reach(over, [...points, ...held]),
      options: choice
        ? over.options.map(({ value, label }) => ({ value: String(value), label }))
        : [],
      label: over.unit === "" ? over.label : `${over.label} (${over.unit})`,
    },
    y: { scale: measure.scale, unit: measure.unit },
    lines,
    mark: typeof over.value === "number" || typeof over.value === "string" ? over.value : null,
    named: large && !single && width > 460,
  };
}

/** The range in which there are plans, with the present position in it. */
function reach(over: Control, points: PointPart[]): { from: number; to: number } {
  const { from, to } = rangeOf(over);
  const usable = points.filter((point) => point.problem === null).map((point) => Number(point.x));
  if (over.kind === "choice" || usable.length < 2 || usable.length === points.length)
    return { from, to };
  const here = typeof over.value === "number" ? [over.value] : [];
  return { from: Math.min(...usable, ...here), to: Math.max(...usable, ...here) };
}

/** The chart in a sentence: where the headline row starts and ends. */
function words(measure: Measure, over: Control, points: PointPart[]): string {
  const row = measure.rows.find((other) => other.headline) ?? measure.rows[0];
  const usable = points.filter(
    (point) => row !== undefined && measure.read(point, row.rung) !== null,
  );
  const [first, last] = [usable[0], usable.at(-1)];
  const title = `${measure.heading} over ${over.label}`;
  if (row === undefined || first === undefined || last === undefined) return `${title}.`;
  const at = (point: PointPart) => upward(measure.read(point, row.rung) ?? 0, measure.key);
  return `${title}. ${row.name}: ${at(first)} at ${first.x}, ${at(last)} at ${last.x}. The numbers are below the chart.`;
}
