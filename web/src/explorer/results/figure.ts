/** One number of one version: a button with its text, and a bar for how much is given away. */

import type { Cell, ColumnPart, Row } from "../asking/protocol.ts";
import { html, say, WAIT } from "../dom.ts";
import { versionTag } from "../quiet.ts";
import type { Why } from "./why.ts";

export class Figure {
  readonly element: HTMLElement;
  readonly button: HTMLButtonElement;
  private readonly text = html("span", { class: "ce-text" }, WAIT);
  private readonly bar = html("span", { class: "ce-bar", "aria-hidden": "true" });
  private asked: (() => void) | null = null;

  constructor(version: "A" | "B" | null) {
    this.button = html(
      "button",
      { type: "button", class: "ce-number", tabindex: -1, onclick: () => this.asked?.() },
      version !== null && versionTag(version),
      this.text,
    );
    this.element = html("div", { class: "ce-figure" }, this.button, this.bar);
  }

  show(
    cell: Cell | undefined,
    column: ColumnPart | undefined,
    row: Row,
    why: Why,
    waiting: string,
  ): void {
    if (cell === undefined || column === undefined) {
      this.stale(waiting);
      return;
    }
    say(this.text, cell.text);
    this.element.dataset.status = cell.status;
    this.bar.style.setProperty("--ce-given", String(cell.bar ?? 1));
    this.bar.dataset.bounded = cell.bar === null ? "no" : "yes";
    this.button.title = `Why? ${cell.theorem === "" ? cell.reason : cell.theorem}`;
    this.asked = () => why.cell(column, cell, row.name);
  }

  stale(text: string): void {
    say(this.text, text);
    this.asked = null;
    this.button.title = "";
    this.bar.style.setProperty("--ce-given", "0");
    this.bar.dataset.bounded = "yes";
  }
}
