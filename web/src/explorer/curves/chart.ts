/** Draw lines over one parameter as SVG: axes, a dash per line, a mark at the present position. */

import { scaleLinear, scaleLog, scalePoint } from "d3-scale";
import { line as path } from "d3-shape";
import type { Scale } from "../asking/protocol.ts";
import { svg } from "../dom.ts";
import { tick, ticks, type Unit } from "./axis.ts";

export interface Line {
  name: string;
  /** Which of the eight strokes it has. */
  stroke: number;
  strong: boolean;
  held: boolean;
  points: [number | string, number | null][];
  here: number | null;
}

export interface Chart {
  width: number;
  height: number;
  words: string;
  x: {
    scale: Scale;
    from: number;
    to: number;
    options: { value: string; label: string }[];
    label: string;
  };
  y: { scale: Scale; unit: Unit };
  lines: Line[];
  mark: number | string | null;
  named: boolean;
}

export const DASHES = ["1 3", "7 3", "", "10 3 2 3", "4 2", "12 4", "2 2", "8 2 2 2 2 2"];

/** The domain of the vertical axis; a logarithmic one leaves out zeros. */
export function domain(
  lines: Line[],
  scale: Scale,
  most = Number.POSITIVE_INFINITY,
): [number, number] {
  const values = lines
    .flatMap((line) => [...line.points.map(([, y]) => y), line.here])
    .filter((y): y is number => y !== null && Number.isFinite(y) && (scale !== "log" || y > 0));
  if (values.length === 0) return scale === "log" ? [0.1, 1] : [0, 1];
  const low = Math.min(...values);
  const high = Math.max(...values);
  if (scale === "log") {
    const room = high / low < 1.5 ? 2 : 1.15;
    return [low / room, Math.max(high, Math.min(most, high * room))];
  }
  const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  return [
    low >= 0 ? Math.max(0, low - room) : low - room,
    Math.max(high, Math.min(most, high + room)),
  ];
}

export function draw(chart: Chart): SVGSVGElement {
  const { width, height, x: across, y: up, lines } = chart;
  const right = chart.named ? 126 : 12;
  const left = up.unit === "chance" ? 60 : 46;
  const [top, bottom] = [12, height - 30];
  const element = svg("svg", {
    class: "ce-chart",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": chart.words,
  });
  const log = up.scale === "log";
  const y = (log ? scaleLog : scaleLinear)(
    domain(lines, up.scale, up.unit === "" ? undefined : 1),
    [bottom, top],
  );
  const x = horizontal(chart, left, width - right);
  const place = (value: number | null) =>
    value === null || !Number.isFinite(value) || (log && value <= 0) ? null : y(value);

  for (const value of ticks(y, log, chart.height > 220 ? 8 : 4)) {
    const at = y(value);
    element.append(svg("path", { d: `M${left} ${at}H${width - right}`, class: "ce-gridline" }));
    element.append(
      svg(
        "text",
        { x: left - 6, y: at + 3.5, "text-anchor": "end", class: "ce-tick" },
        tick(value, up.unit),
      ),
    );
  }
  xTicks(chart, x.ticks(chart.named ? 7 : 4), x.at, element, bottom, [left, width - right]);
  if (chart.mark !== null) {
    const at = x.at(chart.mark);
    if (at !== null)
      element.append(svg("path", { d: `M${at} ${top - 6}V${bottom}`, class: "ce-mark" }));
  }
  const shape = path<[number, number | null]>()
    .defined(([, at]) => at !== null)
    .x(([at]) => at)
    .y(([, at]) => at ?? 0);
  for (const line of lines) {
    const points = line.points
      .map(([at, value]): [number | null, number | null] => [x.at(at), place(value)])
      .filter((point): point is [number, number | null] => point[0] !== null);
    const className = `ce-stroke ce-stroke-${line.stroke}${line.strong ? " ce-strong" : ""}${line.held ? " ce-held" : ""}`;
    const dash = line.held ? "3 3" : DASHES[line.stroke] || null;
    if (across.options.length === 0) {
      element.append(
        svg("path", { d: shape(points) ?? "", class: className, "stroke-dasharray": dash }),
      );
    }
    for (const [at, value] of across.options.length > 0 ? points : []) {
      if (value !== null)
        element.append(
          svg("path", { d: `M${at - 9} ${value}h18`, class: className, "stroke-dasharray": dash }),
        );
    }
    const here = place(line.here);
    const now = chart.mark === null ? null : x.at(chart.mark);
    if (here !== null && now !== null && !line.held) {
      element.append(
        svg("circle", {
          cx: now,
          cy: here,
          r: line.strong ? 4 : 2.75,
          class: `ce-here ce-stroke-${line.stroke}`,
        }),
      );
    }
  }
  if (chart.named) names(lines, place, element, width - right, [top, bottom]);
  return element;
}

interface Horizontal {
  at: (value: number | string) => number | null;
  ticks: (count: number) => { value: number | string; text: string }[];
}

function horizontal(chart: Chart, left: number, right: number): Horizontal {
  const { options, from, to, scale } = chart.x;
  if (options.length > 0) {
    const values = options.map((option) => option.value);
    const points = scalePoint(values, [left, right]).padding(0.5);
    return {
      at: (value) => points(String(value)) ?? null,
      ticks: () => options.map(({ value, label }) => ({ value, text: label })),
    };
  }
  const log = scale === "log" && from > 0;
  const numbers = (log ? scaleLog : scaleLinear)([from, to], [left, right]);
  return {
    at: (value) => {
      const at = numbers(Number(value));
      return at >= left - 1 && at <= right + 1 ? at : null;
    },
    ticks: (count) => ticks(numbers, log, count).map((value) => ({ value, text: tick(value) })),
  };
}

function xTicks(
  chart: Chart,
  marks: { value: number | string; text: string }[],
  at: Horizontal["at"],
  element: SVGElement,
  bottom: number,
  [left, right]: [number, number],
): void {
  let last = Number.NEGATIVE_INFINITY;
  const room = (right - left) / Math.max(1, marks.length);
  for (const { value, text } of marks) {
    const place = at(value);
    if (place === null) continue;
    element.append(svg("path", { d: `M${place} ${bottom}v4`, class: "ce-axis" }));
    const fits = chart.x.options.length > 0 ? Math.max(4, Math.floor(room / 6)) : text.length;
    const shown = text.length > fits ? `${text.slice(0, fits - 1)}…` : text;
    const half = shown.length * 3.2;
    if (place - half < last + 6) continue;
    last = place + half;
    element.append(
      svg("text", { x: place, y: bottom + 15, "text-anchor": "middle", class: "ce-tick" }, shown),
    );
  }
  element.append(svg("path", { d: `M${left} ${bottom}H${right}`, class: "ce-axis" }));
  if (chart.named) {
    element.append(
      svg(
        "text",
        { x: (left + right) / 2, y: bottom + 28, "text-anchor": "middle", class: "ce-tick" },
        chart.x.label,
      ),
    );
  }
}

/** Names at the ends of the lines; lines that end at one place share a name. */
function names(
  lines: Line[],
  place: (value: number | null) => number | null,
  element: SVGElement,
  left: number,
  [top, bottom]: [number, number],
): void {
  const ends: { at: number; names: string[]; stroke: number; strong: boolean }[] = [];
  for (const line of lines.filter((other) => !other.held)) {
    const last = line.points.filter(([, value]) => place(value) !== null).at(-1);
    const at = last === undefined ? null : place(last[1]);
    if (at === null) continue;
    const same = ends.find((end) => Math.abs(end.at - at) < 1.5);
    if (same === undefined)
      ends.push({ at, names: [line.name], stroke: line.stroke, strong: line.strong });
    else {
      same.names.push(line.name);
      if (line.strong) Object.assign(same, { stroke: line.stroke, strong: true });
    }
  }
  ends.sort((a, b) => a.at - b.at);
  const pitch = 13;
  let free = top;
  const placed = ends.map((end) => {
    const rows = wrap(end.names);
    const y = Math.max(free, end.at - ((rows.length - 1) * pitch) / 2);
    free = y + rows.length * pitch + 2;
    return { ...end, rows, y };
  });
  const over = Math.max(0, free - 2 - pitch - bottom);
  for (const { at, rows, stroke, strong, y } of placed) {
    const from = y - over;
    const middle = from + ((rows.length - 1) * pitch) / 2;
    element.append(
      svg("path", { d: `M${left + 2} ${at}L${left + 10} ${middle}`, class: "ce-leader" }),
    );
    rows.forEach((text, row) => {
      element.append(
        svg(
          "text",
          {
            x: left + 14,
            y: from + row * pitch + 3.5,
            class: `ce-line-name ce-fill-${stroke}${strong ? " ce-strong" : ""}`,
          },
          text,
        ),
      );
    });
  }
}

function wrap(names: string[]): string[] {
  const rows: string[] = [];
  for (const name of names) {
    const last = rows.at(-1);
    if (last !== undefined && last.length + name.length < 17)
      rows[rows.length - 1] = `${last}, ${name}`;
    else rows.push(name);
  }
  return rows.map((row, at) => (at < rows.length - 1 ? `${row},` : row));
}
