/** The numbers of a chart as a table, rounded away from what would promise too much. */

import type { Control, PointPart } from "../asking/protocol.ts";
import { html } from "../dom.ts";
import { tick } from "./axis.ts";
import type { Measure } from "./measure.ts";

/** Three significant digits, away from what would promise too much. */
export function upward(value: number, key = ""): string {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const power = Math.floor(Math.log10(Math.abs(value))) - 2;
  const unit = 10 ** power;
  const count = value / unit;
  const whole =
    key === "bayes_security" ? Math.floor(count * (1 + 1e-12)) : Math.ceil(count * (1 - 1e-12));
  return digits(Number((whole * unit).toPrecision(3)));
}

const digits = (value: number) =>
  Math.abs(value) < 1e-4
    ? value.toExponential(2)
    : value.toLocaleString("en", { maximumSignificantDigits: 3 });

export function numbers(measure: Measure, over: Control, points: PointPart[]): HTMLElement {
  const single = measure.rows.length === 1;
  const heads = measure.rows.map((row) =>
    html("th", { scope: "col" }, single ? measure.heading : row.name),
  );
  const body = points.map((point) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, placeWords(point.x, over)),
      ...measure.rows.map((row) => {
        const value = point.problem === null ? measure.read(point, row.rung) : null;
        return html("td", {}, value === null ? "-" : upward(value, measure.key));
      }),
    ),
  );
  return html(
    "table",
    { class: "ce-numbers" },
    html("caption", { class: "ce-away" }, `${measure.heading}, proved limit, over ${over.label}`),
    html("thead", {}, html("tr", {}, html("th", { scope: "col" }, over.label), ...heads)),
    html("tbody", {}, ...body),
  );
}

export const place = (value: number) =>
  value !== 0 && Math.abs(value) < 1e-4
    ? tick(value)
    : value.toLocaleString("en", { maximumSignificantDigits: 7 });

/** A place in words: the label of an option, or the number. */
function placeWords(x: number | string, over: Control): string {
  const option = over.options.find(({ value }) => String(value) === String(x));
  if (option !== undefined) return option.label;
  return typeof x === "number" ? place(x) : x;
}
