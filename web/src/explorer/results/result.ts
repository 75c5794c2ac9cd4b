/** The result as it might come out: made-up answers with estimates and intervals, and what liars do. */

import { html, svg } from "../dom.ts";
import { free, hold, Paragraphs, versionTag } from "../quiet.ts";
import type { Section, Shown } from "../shown.ts";
import { extentOf, picture } from "./mock.ts";

const FEW = 12;

export class ResultSection implements Section {
  readonly element: HTMLElement;
  private readonly note = html("p", { class: "ce-soft ce-small" });
  private readonly panes: {
    element: HTMLElement;
    words: Paragraphs;
    liars: Paragraphs;
    host: HTMLElement;
  }[];
  private readonly body: HTMLElement;
  private readonly more: HTMLButtonElement;
  private readonly key: HTMLElement;
  private all = false;
  private again: () => void = () => {};

  constructor(id: (name: string) => string) {
    this.panes = ["A", "B"].map((version) => pane(version as "A" | "B"));
    this.body = html("div", { class: "ce-panes" }, ...this.panes.map(({ element }) => element));
    this.more = html("button", { type: "button", class: "ce-quiet", hidden: true });
    this.more.addEventListener("click", () => {
      this.all = !this.all;
      this.again();
    });
    this.key = legend();
    this.element = html(
      "section",
      { class: "ce-section ce-result" },
      html("h2", { id: id("result") }, "The result"),
      this.note,
      this.key,
      this.body,
      this.more,
    );
    if (typeof ResizeObserver !== "undefined") {
      let width = 0;
      new ResizeObserver(() => {
        if (this.body.clientWidth === width) return;
        width = this.body.clientWidth;
        this.again();
      }).observe(this.body);
    }
  }

  stale(): void {
    hold(this.body);
    this.again = () => {};
    const now = this.panes[1];
    now?.words.stale();
    now?.liars.stale();
    now?.host.replaceChildren();
  }

  show(now: Shown, held: Shown | null): void {
    const [before, present] = this.panes;
    if (now.result === null || before === undefined || present === undefined) return;
    const { result } = now;
    this.again = () => this.show(now, held);
    const a = held?.result ?? null;
    before.element.hidden = a === null;
    this.element.classList.toggle("ce-two", a !== null);
    this.note.textContent = result.note;
    this.key.hidden = result.rows.length === 0;
    const liars = this.key.lastElementChild;
    if (liars instanceof HTMLElement) liars.hidden = result.shift === null || result.unit !== "%";
    const length = Math.max(result.rows.length, a?.rows.length ?? 0);
    const count = this.all || result.kind === "curve" ? length : Math.min(FEW, length);
    const extent = extentOf([result, ...(a === null ? [] : [a])], count);
    this.more.hidden = length <= FEW || result.kind === "curve";
    this.more.textContent = this.all ? `Show the first ${FEW}` : `Show all ${length}`;
    const width = Math.max(240, present.host.clientWidth || 600);
    for (const [target, part] of [
      [present, result],
      ...(a === null ? [] : [[before, a] as const]),
    ] as const) {
      target.words.show(part.words);
      target.liars.show(part.liars);
      target.host.replaceChildren(
        ...(part.rows.length > 0 ? [picture(part, count, extent, width)] : []),
      );
    }
    free(this.body);
  }
}

function pane(version: "A" | "B") {
  const words = new Paragraphs("ce-result-words");
  const liars = new Paragraphs("ce-result-words");
  const host = html("div", { class: "ce-host" });
  const tag = html("p", { class: "ce-pane-tag" }, versionTag(version));
  const element = html("div", { class: "ce-pane" }, tag, words.element, liars.element, host);
  element.hidden = version === "A";
  return { element, words, liars, host };
}

function legend(): HTMLElement {
  const sample = (...marks: SVGElement[]) =>
    svg(
      "svg",
      { viewBox: "0 0 34 14", width: 34, height: 14, class: "ce-sample", "aria-hidden": "true" },
      ...marks,
    );
  return html(
    "ul",
    { class: "ce-legend" },
    html("li", {}, sample(svg("path", { d: "M17 2V12", class: "ce-truth" })), "made-up truth"),
    html(
      "li",
      {},
      sample(
        svg("path", { d: "M3 7H31", class: "ce-interval" }),
        svg("circle", { cx: 17, cy: 7, r: 3.5, class: "ce-dot" }),
      ),
      "estimate and 95 % interval",
    ),
    html(
      "li",
      {},
      sample(svg("rect", { x: 1, y: 3, width: 32, height: 8, class: "ce-liars" })),
      "where 1 % of liars can move the estimate",
    ),
  );
}
