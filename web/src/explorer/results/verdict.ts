/** Whether the plan keeps its limits: in words first, limit by limit, with what to try. */

import type { Limit, Row, VerdictPart } from "../asking/protocol.ts";
import { html, say, WAIT } from "../dom.ts";
import { free, hold, Paragraphs, versionTag } from "../quiet.ts";
import { cellOf, type Section, type Shown } from "../shown.ts";
import type { Why } from "./why.ts";

/** Green, red, or neither: where the plan sets its limits itself, or none, or not all is bounded. */
export const lookOf = (kind: string) => (["met", "not-met"].includes(kind) ? kind : "open");

class Judgement {
  readonly element: HTMLElement;
  private readonly judgement = html("strong", { class: "ce-judgement" }, WAIT);
  private readonly words = new Paragraphs("ce-verdict-words");
  private readonly table = html("tbody");
  private readonly advice = new Paragraphs("ce-advice");
  private readonly limits: HTMLElement;

  constructor(
    version: "A" | "B" | null,
    private readonly why: Why,
  ) {
    const heads = ["who is looking", "limit on", "limit", "proved", ""].map((head) =>
      html("th", { scope: "col" }, head === "" ? html("span", { class: "ce-away" }, "kept") : head),
    );
    this.limits = html(
      "div",
      { class: "ce-scroll" },
      html(
        "table",
        { class: "ce-limits" },
        html("caption", { class: "ce-away" }, "The limits of this plan"),
        html("thead", {}, html("tr", {}, ...heads)),
        this.table,
      ),
    );
    this.limits.hidden = true;
    this.element = html(
      "div",
      { class: "ce-verdict" },
      html(
        "p",
        { class: "ce-verdict-line" },
        version !== null && versionTag(version),
        this.judgement,
      ),
      this.words.element,
      this.limits,
      this.advice.element,
    );
  }

  stale(): void {
    hold(this.element);
    this.element.dataset.kind = "wait";
    say(this.judgement, "proving …");
    this.words.stale();
    this.advice.stale();
    for (const cell of this.table.querySelectorAll("[data-number]")) say(cell, WAIT);
    for (const row of this.table.rows) row.removeAttribute("data-kept");
  }

  problem(judgement: string, words: string): void {
    this.element.dataset.kind = "not-met";
    say(this.judgement, judgement);
    this.words.show([words]);
    this.advice.show([]);
    this.table.replaceChildren();
    this.limits.hidden = true;
    free(this.element);
  }

  show(verdict: VerdictPart, shown: Shown): void {
    this.element.dataset.kind = lookOf(verdict.kind);
    say(this.judgement, verdict.judgement);
    this.words.show(verdict.words);
    this.advice.show(verdict.advice);
    this.limits.hidden = verdict.limits.length === 0;
    this.table.replaceChildren(...verdict.limits.map((limit) => this.row(limit, shown)));
    free(this.element);
  }

  private row(limit: Limit, shown: Shown): HTMLElement {
    const row: Row | undefined = shown.rows.find((other) => other.rung === limit.rung);
    const column = shown.columns.get(limit.metric);
    const cell = cellOf(shown, limit.metric, limit.rung);
    const proved =
      cell !== undefined && column !== undefined
        ? html(
            "button",
            {
              type: "button",
              class: "ce-number",
              "data-number": true,
              onclick: () => this.why.cell(column, cell, row?.name ?? limit.rung),
            },
            limit.proved,
          )
        : html("span", { "data-number": true }, limit.proved);
    return html(
      "tr",
      { "data-kept": limit.met ? "yes" : "no" },
      html("th", { scope: "row" }, row?.name ?? limit.rung),
      html(
        "td",
        {},
        limit.heading,
        limit.idle !== "" && html("span", { class: "ce-idle", "data-number": true }, limit.idle),
      ),
      html("td", { "data-number": true }, limit.limit),
      html("td", {}, proved),
      html("td", { class: "ce-kept", "data-number": true }, limit.met ? "met" : "not met"),
    );
  }
}

export class VerdictSection implements Section {
  readonly element: HTMLElement;
  private readonly now: Judgement;
  private readonly single: Judgement;
  private readonly before: Judgement;

  constructor(id: (name: string) => string, why: Why) {
    this.single = new Judgement(null, why);
    this.now = new Judgement("B", why);
    this.before = new Judgement("A", why);
    this.element = html(
      "section",
      { class: "ce-section ce-verdicts" },
      html("h2", { id: id("verdict"), class: "ce-away" }, "Limits"),
      this.single.element,
    );
  }

  stale(): void {
    this.single.stale();
    this.now.stale();
  }

  /** There is no verdict, and why. */
  problem(judgement: string, words: string): void {
    this.single.problem(judgement, words);
    this.now.problem(judgement, words);
  }

  show(now: Shown, held: Shown | null): void {
    const wanted = held === null ? [this.single.element] : [this.before.element, this.now.element];
    const [heading] = this.element.children;
    if (this.element.children[1] !== wanted[0]) {
      this.element.replaceChildren(...(heading ? [heading] : []), ...wanted);
    }
    this.element.classList.toggle("ce-two", held !== null);
    if (held?.verdict) this.before.show(held.verdict, held);
    const complete = now.columns.size > 0 && now.verdict !== null;
    if (complete && now.verdict) (held === null ? this.single : this.now).show(now.verdict, now);
  }
}
