/** Draw made-up answers: estimates with intervals, the truth they estimate, and what liars can do. */

import { scaleLinear } from "d3-scale";
import { area, line } from "d3-shape";
import type { Answer, ResultPart } from "../asking/protocol.ts";
import { ticks } from "../curves/axis.ts";
import { svg } from "../dom.ts";

/** How far liars move a share, in percent; of a mean, whose range is not told here, nothing is drawn. */
const shiftOf = (part: ResultPart) => (part.unit === "%" ? 100 * (part.shift ?? 0) : 0);

export function extentOf(parts: ResultPart[], count: number): [number, number] {
  const ends = parts.flatMap((part) => {
    const shift = shiftOf(part);
    const rows = part.kind === "curve" ? part.rows : part.rows.slice(0, count);
    return rows.flatMap((row) => [
      row.truth,
      row.lower,
      row.upper,
      row.estimate - shift,
      row.estimate + shift,
    ]);
  });
  const shares = parts.some((part) => part.unit === "%");
  const low = shares ? 0 : Math.min(...ends);
  const high = shares ? Math.min(100, Math.max(...ends)) : Math.max(...ends);
  return low < high ? [low, high] : [low - 1, high + 1];
}

const round = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

const tell = (row: Answer, unit: string) =>
  `${row.label}: estimate ${round.format(row.estimate)}${unit && ` ${unit}`}, interval ${round.format(row.lower)} to ${round.format(row.upper)}, made-up truth ${round.format(row.truth)}.`;

export function picture(
  part: ResultPart,
  count: number,
  extent: [number, number],
  width: number,
): SVGSVGElement {
  return part.kind === "curve" ? curve(part, extent, width) : dots(part, count, extent, width);
}

function frame(width: number, height: number, words: string): SVGSVGElement {
  return svg("svg", {
    class: "ce-chart",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": words,
  });
}

function dots(
  part: ResultPart,
  count: number,
  extent: [number, number],
  width: number,
): SVGSVGElement {
  const rows = part.rows.slice(0, count);
  const longest = Math.max(...rows.map((row) => row.label.length));
  const left = Math.min(width * 0.35, 14 + longest * 7);
  const fits = Math.floor((left - 10) / 6.8);
  const pitch = 24;
  const bottom = rows.length * pitch + 6;
  const element = frame(
    width,
    bottom + 24,
    `Made-up result. ${rows.map((row) => tell(row, part.unit)).join(" ")}`,
  );
  const x = scaleLinear(extent, [left, width - 16]);
  const shift = shiftOf(part);
  for (const value of ticks(x, false, Math.max(3, Math.floor(width / 110)))) {
    element.append(svg("path", { d: `M${x(value)} 4V${bottom}`, class: "ce-gridline" }));
    element.append(
      svg(
        "text",
        { x: x(value), y: bottom + 16, "text-anchor": "middle", class: "ce-tick" },
        `${round.format(value)}${part.unit && ` ${part.unit}`}`,
      ),
    );
  }
  rows.forEach((row, at) => {
    const y = at * pitch + pitch / 2 + 4;
    const label =
      row.label.length > fits ? `${row.label.slice(0, Math.max(1, fits - 1))}…` : row.label;
    element.append(
      svg("text", { x: left - 10, y: y + 4, "text-anchor": "end", class: "ce-label-text" }, label),
    );
    if (shift > 0) {
      const [from, to] = [
        Math.max(extent[0], row.estimate - shift),
        Math.min(extent[1], row.estimate + shift),
      ];
      element.append(
        svg("rect", {
          x: x(from),
          y: y - 6,
          width: Math.max(0, x(to) - x(from)),
          height: 12,
          rx: 2,
          class: "ce-liars",
        }),
      );
    }
    element.append(
      svg("path", { d: `M${x(row.lower)} ${y}H${x(row.upper)}`, class: "ce-interval" }),
      svg("circle", { cx: x(row.estimate), cy: y, r: 3.5, class: "ce-dot" }),
      svg("path", { d: `M${x(row.truth)} ${y - 7}v14`, class: "ce-truth" }),
    );
  });
  return element;
}

function curve(part: ResultPart, extent: [number, number], width: number): SVGSVGElement {
  const height = 260;
  const bottom = height - 30;
  const { rows } = part;
  const element = frame(
    width,
    height,
    `Made-up result, a distribution. ${rows
      .filter((_, at) => at % Math.ceil(rows.length / 8) === 0)
      .map((row) => tell(row, part.unit))
      .join(" ")}`,
  );
  const x = scaleLinear([0, Math.max(1, rows.length - 1)], [48, width - 16]);
  const y = scaleLinear(extent, [bottom, 8]);
  const shift = shiftOf(part);
  for (const value of ticks(y, false, 5)) {
    element.append(
      svg("path", { d: `M48 ${y(value)}H${width - 16}`, class: "ce-gridline" }),
      svg(
        "text",
        { x: 42, y: y(value) + 4, "text-anchor": "end", class: "ce-tick" },
        `${round.format(value)}${part.unit && ` ${part.unit}`}`,
      ),
    );
  }
  const band = (low: (row: Answer) => number, high: (row: Answer) => number) =>
    area<Answer>(
      (_, at) => x(at),
      (row) => y(low(row)),
      (row) => y(high(row)),
    )(rows) ?? "";
  const through = (value: (row: Answer) => number) =>
    line<Answer>(
      (_, at) => x(at),
      (row) => y(value(row)),
    )(rows) ?? "";
  const clamp = (value: number) => Math.max(extent[0], Math.min(extent[1], value));
  if (shift > 0) {
    element.append(
      svg("path", {
        d: band(
          (row) => clamp(row.estimate - shift),
          (row) => clamp(row.estimate + shift),
        ),
        class: "ce-liars",
      }),
    );
  }
  element.append(
    svg("path", {
      d: band(
        (row) => row.lower,
        (row) => row.upper,
      ),
      class: "ce-interval-band",
    }),
    svg("path", { d: through((row) => row.estimate), class: "ce-estimate-line" }),
    svg("path", { d: through((row) => row.truth), class: "ce-truth-line" }),
  );
  const every = Math.max(1, Math.ceil((rows.length * 60) / (width - 64)));
  rows.forEach((row, at) => {
    if (at % every === 0) {
      element.append(
        svg(
          "text",
          { x: x(at), y: bottom + 17, "text-anchor": "middle", class: "ce-tick" },
          row.label.slice(0, 9),
        ),
      );
    }
  });
  return element;
}
