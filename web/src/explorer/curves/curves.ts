/** A chart per number over the parameter that is being moved: a line per row of the ladder. */

import type { Control, PointPart, Row } from "../asking/protocol.ts";
import { arrange, html, say, svg } from "../dom.ts";
import type { Shown } from "../shown.ts";
import type { Unit } from "./axis.ts";
import { DASHES, draw } from "./chart.ts";
import { ordered, type Points } from "./feed.ts";
import { chartOf } from "./lines.ts";
import { alone, type Measure, metric } from "./measure.ts";
import { numbers, place } from "./numbers.ts";

/** One drawing: what is shown, what is held, and their points over one parameter. */
export interface View {
  now: Shown;
  held: Shown | null;
  points: Points;
  before: Points;
  over: Control;
  /** More points are being asked for. */
  under: boolean;
}

interface Panel {
  element: HTMLElement;
  button: HTMLButtonElement;
  host: HTMLElement;
  table: HTMLElement;
  details: HTMLDetailsElement;
}

export class Curves {
  readonly element: HTMLElement;
  private readonly select: HTMLSelectElement;
  private readonly progress = html("span", { class: "ce-soft ce-small", "aria-live": "off" });
  private readonly legend = html("ul", { class: "ce-legend" });
  private readonly grid = html("div", { class: "ce-charts" });
  private readonly notes = html("p", { class: "ce-soft ce-small" });
  private readonly panels = new Map<string, Panel>();
  private picked = "epsilon";
  private pending = false;
  private offered = "";
  private last: (() => void) | null = null;
  private legendKey = "";
  private unit: Unit = "";

  constructor(id: (name: string) => string, over: (control: string) => void) {
    this.select = html("select", { id: id("over"), onchange: () => over(this.select.value) });
    this.element = html(
      "section",
      { class: "ce-section ce-curves" },
      html(
        "div",
        { class: "ce-head" },
        html("h2", { id: id("curves") }, "Curves"),
        html("label", { class: "ce-over" }, html("span", {}, "over "), this.select),
      ),
      html(
        "p",
        { class: "ce-soft ce-small" },
        "The proved limit per row of the ladder, all other settings as they are. The upright line marks the present position. ",
        this.progress,
      ),
      this.legend,
      this.grid,
      this.notes,
    );
    if (typeof ResizeObserver !== "undefined") {
      let width = 0;
      new ResizeObserver(() => {
        if (this.grid.clientWidth === width) return;
        width = this.grid.clientWidth;
        this.soon();
      }).observe(this.grid);
    }
  }

  offer(controls: Control[], over: Control | undefined): void {
    const signature = controls.map((control) => `${control.id}=${control.label}`).join("|");
    if (signature !== this.offered) {
      this.offered = signature;
      this.select.replaceChildren(
        ...controls.map((control) => html("option", { value: control.id }, control.label)),
      );
    }
    if (over !== undefined) this.select.value = over.id;
    this.element.hidden = controls.length === 0;
  }

  /** Redraw in the next frame, however many points arrive before it. */
  show(view: View): void {
    this.last = () => this.render(view);
    this.soon();
  }

  private soon(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.last?.();
    });
  }

  private render({ now, held, points, before, over, under }: View): void {
    const measures = this.measures(now);
    say(this.progress, under ? `Computing: ${points.size} points so far.` : "");
    const sorted = ordered(points, over);
    const a = held === null ? [] : ordered(before, over);
    this.explain(sorted);
    this.draft(now.rows, sorted, held !== null);
    const told = measures.filter((measure) => sorted.length === 0 || tells(measure, sorted));
    const panels = told.map((measure) => {
      const panel = this.panel(measure);
      const large = measure.key === this.picked;
      panel.element.classList.toggle("ce-large", large);
      panel.button.setAttribute("aria-pressed", String(large));
      return { panel, measure, large };
    });
    arrange(
      this.grid,
      panels.map(({ panel }) => panel.element),
    );
    const widths = panels.map(({ panel }) => panel.host.clientWidth);
    panels.forEach(({ panel, measure, large }, at) => {
      const width = Math.max(220, widths[at] || 300);
      panel.host.replaceChildren(draw(chartOf(measure, over, sorted, a, width, large)));
      if (panel.details.open) panel.table.replaceChildren(numbers(measure, over, sorted));
      panel.details.ontoggle = () => {
        panel.table.replaceChildren(
          ...(panel.details.open ? [numbers(measure, over, sorted)] : []),
        );
      };
    });
  }

  private measures(now: Shown): Measure[] {
    const columns = [...now.columns.values()].map((column) => metric(column, now));
    if (now.result !== null) this.unit = now.result.unit === "%" ? "percent" : "";
    const { unit } = this;
    return [
      ...columns,
      alone(
        "error",
        "error of the result",
        "standard error of the made-up result",
        (point) => point.error,
        now.result?.error ?? null,
        unit,
      ),
      alone(
        "shift",
        "liars",
        "how far 1 % of liars move the result",
        (point) => point.shift,
        now.result?.shift ?? null,
        "percent",
      ),
    ];
  }

  private panel(measure: Measure): Panel {
    const known = this.panels.get(measure.key);
    if (known !== undefined) return known;
    const button = html(
      "button",
      { type: "button", class: "ce-pick", "aria-pressed": "false", title: measure.meaning },
      measure.heading,
    );
    button.addEventListener("click", () => {
      this.picked = this.picked === measure.key ? "" : measure.key;
      this.soon();
    });
    const host = html("div", { class: "ce-host" });
    const table = html("div", { class: "ce-scroll" });
    const details = html("details", {}, html("summary", {}, "Numbers"), table);
    const element = html(
      "figure",
      { class: "ce-panel" },
      html("figcaption", {}, button),
      host,
      details,
    );
    const panel = { element, button, host, table, details };
    this.panels.set(measure.key, panel);
    return panel;
  }

  private explain(points: PointPart[]): void {
    const problems = points.filter((point) => point.problem !== null);
    const [first] = problems;
    say(
      this.notes,
      first === undefined
        ? ""
        : `Left out where there is no plan, such as at ${typeof first.x === "number" ? place(first.x) : first.x}: ${first.problem}`,
    );
  }

  private draft(rows: Row[], points: PointPart[], two: boolean): void {
    const drawn = new Set(
      points.flatMap((point) => Object.values(point.cells).flatMap(Object.keys)),
    );
    const listed = rows.filter((row) => drawn.has(row.rung));
    const key = JSON.stringify([listed.map((row) => [row.name, row.headline]), two]);
    if (key === this.legendKey) return;
    this.legendKey = key;
    const sample = (className: string, dash: string) =>
      svg(
        "svg",
        { class: "ce-sample", viewBox: "0 0 34 10", width: 34, height: 10, "aria-hidden": "true" },
        svg("path", { d: "M1 5H33", class: className, "stroke-dasharray": dash || null }),
      );
    const items = listed.map((row) => {
      const at = rows.indexOf(row);
      return html(
        "li",
        {},
        sample(
          `ce-stroke ce-stroke-${at % 8}${row.headline ? " ce-strong" : ""}`,
          DASHES[at % 8] ?? "",
        ),
        row.name,
      );
    });
    if (two)
      items.push(html("li", {}, sample("ce-stroke ce-held", "3 3"), "version A, same colours"));
    this.legend.replaceChildren(...items);
  }
}

/** Whether anything is proved at any place; else there is nothing to draw. */
function tells(measure: Measure, points: PointPart[]): boolean {
  return (
    points.every((point) => point.problem !== null) ||
    points.some((point) => measure.rows.some((row) => measure.read(point, row.rung) !== null))
  );
}
