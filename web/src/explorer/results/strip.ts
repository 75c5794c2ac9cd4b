/** On phones, the verdict and the headline number in one line that stays in sight. */

import { html, say, WAIT } from "../dom.ts";
import type { Shown } from "../shown.ts";
import { lookOf } from "./verdict.ts";

export class Strip {
  readonly element: HTMLElement;
  private readonly judgement = html("strong");
  private readonly number = html("span");

  constructor() {
    this.element = html(
      "div",
      { class: "ce-strip ce-screen", "aria-hidden": "true" },
      this.judgement,
      this.number,
    );
  }

  stale(): void {
    this.element.dataset.kind = "wait";
    say(this.judgement, WAIT);
    say(this.number, "proving …");
  }

  problem(judgement: string, words: string): void {
    this.element.dataset.kind = "not-met";
    say(this.judgement, judgement);
    say(this.number, words);
  }

  show(now: Shown): void {
    if (now.verdict === null) return;
    this.element.dataset.kind = lookOf(now.verdict.kind);
    say(this.judgement, now.verdict.judgement);
    say(this.number, headline(now, ["epsilon"]));
  }
}

/** The numbers of the row that counts, in words. */
export function headline(now: Shown, metrics: string[]): string {
  const row = now.rows.find((other) => other.headline);
  if (row === undefined) return "";
  const numbers = metrics.flatMap((metric) => {
    const column = now.columns.get(metric);
    const cell = column?.cells.find((other) => other.rung === row.rung);
    return column === undefined || cell === undefined ? [] : [`${column.heading} ${cell.text}`];
  });
  return `${row.name}: ${numbers.join(", ")}`;
}
