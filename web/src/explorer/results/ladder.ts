/** Who is looking: one row per adversary, with a picture of what they see and a number per metric. */

import type { ColumnPart, Row } from "../asking/protocol.ts";
import { html, say, WAIT } from "../dom.ts";
import { cellOf, type Section, type Shown } from "../shown.ts";
import { Figure } from "./figure.ts";
import { pictogram, pictogramKey, stations } from "./pictogram.ts";
import type { Why } from "./why.ts";

const USUAL = ["epsilon", "reidentification", "guess_of_two", "guess_informed"];

interface Drawn {
  metric: string;
  row: Row;
  now: Figure;
  before: Figure | null;
}

export class LadderSection implements Section {
  readonly element: HTMLElement;
  private readonly key = html("div", { class: "ce-key" });
  private readonly table = html("table", { class: "ce-ladder" });
  private readonly picker = html("div", { class: "ce-picks" });
  private readonly metrics = new Set(USUAL);
  private drawn: Drawn[] = [];
  private signature = "";
  private waiting = WAIT;
  private heads = new Map<string, HTMLElement>();
  private late: ReturnType<typeof setTimeout> | undefined;
  private again: () => void = () => {};

  constructor(
    id: (name: string) => string,
    private readonly why: Why,
  ) {
    this.element = html(
      "section",
      { class: "ce-section ce-looking" },
      html(
        "div",
        { class: "ce-head" },
        html("h2", { id: id("looking") }, "Who is looking"),
        html(
          "details",
          { class: "ce-columns-menu ce-screen" },
          html("summary", {}, "Choose numbers"),
          this.picker,
        ),
      ),
      this.key,
      this.table,
      html(
        "p",
        { class: "ce-soft ce-small ce-screen" },
        "Press a number to see why it holds. Arrow keys move between numbers. A bar shows how much is given away; hatched means that nothing is proved.",
      ),
    );
    this.table.addEventListener("keydown", (event) => this.rove(event));
    this.table.addEventListener("focusin", (event) => this.mark(event.target));
  }

  get shownMetrics(): Set<string> {
    return this.metrics;
  }

  stale(): void {
    this.waiting = WAIT;
    for (const { now } of this.drawn) now.stale(WAIT);
    clearTimeout(this.late);
    this.late = setTimeout(() => this.say("proving …"), 400);
  }

  problem(): void {
    clearTimeout(this.late);
    this.say("-");
  }

  show(now: Shown, held: Shown | null): void {
    this.again = () => this.show(now, held);
    if (now.rows.length === 0) return;
    this.pick(now);
    const metrics = this.picked(now, held);
    const rows = now.rows.map(({ rung, name, sees, parts }) => [rung, name, sees, parts]);
    const signature = JSON.stringify([rows, metrics, held === null]);
    if (signature !== this.signature) {
      this.signature = signature;
      this.build(now, metrics, held !== null);
    }
    for (const { metric, row, now: figure, before } of this.drawn) {
      figure.show(
        cellOf(now, metric, row.rung),
        now.columns.get(metric),
        row,
        this.why,
        this.waiting,
      );
      before?.show(cellOf(held, metric, row.rung), held?.columns.get(metric), row, this.why, WAIT);
    }
    for (const row of now.rows) this.count(row);
    for (const metric of metrics)
      this.head(metric, now.columns.get(metric) ?? held?.columns.get(metric));
    if (this.whole(now)) clearTimeout(this.late);
  }

  /** Whether every picked number is there; some come late. */
  whole(now: Shown): boolean {
    return this.drawn.every(({ metric }) => now.columns.has(metric));
  }

  /** Python has answered in full: a metric that did not come belongs to another plan. */
  settled(now: Shown): void {
    clearTimeout(this.late);
    this.order = this.order.filter((metric) => now.columns.has(metric));
    this.again();
  }

  private say(text: string): void {
    this.waiting = text;
    for (const { now } of this.drawn) {
      if (now.button.textContent?.endsWith(WAIT)) now.stale(text);
    }
  }

  /** Before the first column arrives, the usual metrics stand in for the picked ones. */
  private picked(now: Shown, held: Shown | null): string[] {
    const known = [
      ...new Set([...this.order, ...now.columns.keys(), ...(held?.columns.keys() ?? [])]),
    ];
    this.order = known.length > 0 ? known : USUAL;
    return this.order.filter((metric) => this.metrics.has(metric));
  }
  private order: string[] = [];

  private pick(now: Shown): void {
    for (const column of now.columns.values()) {
      if (this.picker.querySelector(`[value="${column.metric}"]`) !== null) continue;
      const box = html("input", {
        type: "checkbox",
        value: column.metric,
        checked: this.metrics.has(column.metric),
        onchange: () => {
          if (box.checked) this.metrics.add(column.metric);
          else this.metrics.delete(column.metric);
          this.again();
        },
      });
      this.picker.append(
        html("label", {}, box, html("span", {}, column.heading, html("small", {}, column.meaning))),
      );
    }
  }

  private build(now: Shown, metrics: string[], two: boolean): void {
    const line = stations(now.rows);
    this.key.replaceChildren(pictogramKey(line));
    this.drawn = [];
    this.heads = new Map(metrics.map((metric) => [metric, html("th", { scope: "col" }, WAIT)]));
    const body = html("tbody");
    for (const row of now.rows) {
      const cells = metrics.map((metric) => {
        const figure = new Figure(two ? "B" : null);
        const before = two ? new Figure("A") : null;
        this.drawn.push({ metric, row, now: figure, before });
        return html(
          "td",
          { "data-metric": metric, "data-rung": row.rung },
          html("span", { class: "ce-card-label" }, WAIT),
          html("div", { class: "ce-figures" }, before?.element, figure.element),
        );
      });
      body.append(html("tr", { "data-row": row.rung }, this.rowHead(row, line), ...cells));
    }
    this.table.replaceChildren(
      html("caption", { class: "ce-away" }, "What each adversary can learn at most"),
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          html(
            "th",
            { scope: "col" },
            pictogramKey(line),
            html("span", { class: "ce-away" }, "who is looking"),
          ),
          ...this.heads.values(),
        ),
      ),
      body,
    );
    this.table.classList.toggle("ce-two", two);
    const [first] = this.buttons()[0] ?? [];
    if (first !== undefined) first.tabIndex = 0;
  }

  private rowHead(row: Row, line: ReturnType<typeof stations>): HTMLElement {
    return html(
      "th",
      { scope: "row" },
      html(
        "span",
        { class: "ce-who" },
        html("span", { class: "ce-name" }, row.name),
        html("span", { class: "ce-counts", hidden: true }, "this row counts here"),
      ),
      row.sees !== row.name && html("span", { class: "ce-sees" }, row.sees),
      pictogram(line, row.parts),
    );
  }

  /** Mark the row that counts; which one it is may come with the verdict. */
  private count(row: Row): void {
    for (const line of this.table.tBodies[0]?.rows ?? []) {
      if (line.dataset.row !== row.rung) continue;
      line.classList.toggle("ce-headline", row.headline === true);
      const tag = line.querySelector<HTMLElement>(".ce-counts");
      if (tag !== null) tag.hidden = row.headline !== true;
    }
  }

  private head(metric: string, column: ColumnPart | undefined): void {
    const head = this.heads.get(metric);
    if (head === undefined || column === undefined || head.title === column.meaning) return;
    head.title = column.meaning;
    head.replaceChildren(column.heading, html("small", {}, column.meaning));
    for (const label of this.table.querySelectorAll(`td[data-metric="${metric}"] .ce-card-label`)) {
      say(label, column.heading);
    }
  }

  private buttons(): HTMLButtonElement[][] {
    return [...this.table.querySelectorAll("tbody tr")].map((row) => [
      ...row.querySelectorAll("button"),
    ]);
  }

  private mark(target: EventTarget | null): void {
    if (!(target instanceof HTMLButtonElement)) return;
    for (const button of this.buttons().flat()) button.tabIndex = button === target ? 0 : -1;
  }

  private rove(event: KeyboardEvent): void {
    const grid = this.buttons();
    const y = grid.findIndex((row) => row.includes(event.target as HTMLButtonElement));
    if (y < 0) return;
    const row = grid[y] ?? [];
    const x = row.indexOf(event.target as HTMLButtonElement);
    const to = {
      ArrowRight: row[x + 1],
      ArrowLeft: row[x - 1],
      ArrowDown: grid[y + 1]?.[x],
      ArrowUp: grid[y - 1]?.[x],
      Home: row[0],
      End: row.at(-1),
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    to.focus();
  }
}
