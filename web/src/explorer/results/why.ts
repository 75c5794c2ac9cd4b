/** The dialog that says why a number holds: theorem, what is attained, assumptions, command. */

import type { Cell, ColumnPart } from "../asking/protocol.ts";
import { html } from "../dom.ts";

export class Why {
  readonly element: HTMLDialogElement;
  private readonly heading: HTMLHeadingElement;
  private readonly body = html("div", { class: "ce-why-body" });

  constructor(id: (name: string) => string) {
    this.heading = html("h2", { id: id("why") });
    const close = html(
      "button",
      { type: "button", class: "ce-close", onclick: () => this.close() },
      "Close",
    );
    this.element = html(
      "dialog",
      { class: "ce-why", "aria-labelledby": this.heading.id },
      html("div", { class: "ce-why-head" }, this.heading, close),
      this.body,
    );
    this.element.addEventListener("click", (event) => {
      if (event.target === this.element) this.close();
    });
  }

  close(): void {
    if (this.element.open) this.element.close();
  }

  cell(column: ColumnPart, cell: Cell, name: string): void {
    this.open(
      `${column.heading}: ${name}`,
      html("p", { class: "ce-why-number" }, cell.text),
      html("p", { class: "ce-soft" }, sentence(column.meaning)),
      facts([
        ["Not bounded", cell.reason],
        ["Theorem", cell.theorem],
        ["Attained", cell.attained],
        ["Assumes", cell.assumptions],
      ]),
      command(cell.command),
    );
  }

  words(heading: string, number: string, texts: string[]): void {
    this.open(
      heading,
      html("p", { class: "ce-why-number" }, number),
      ...texts.map((text) => html("p", {}, text)),
    );
  }

  file(heading: string, text: string): void {
    this.open(heading, command(text, ""));
  }

  private open(heading: string, ...children: (HTMLElement | null)[]): void {
    this.heading.textContent = heading;
    this.body.replaceChildren(...children.filter((child) => child !== null));
    if (!this.element.open) this.element.showModal();
  }
}

const sentence = (text: string) =>
  text === "" ? "" : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

function facts(pairs: [string, string | string[] | null][]): HTMLElement {
  const list = html("dl", { class: "ce-facts" });
  for (const [term, words] of pairs) {
    if (words === null || words.length === 0) continue;
    const several = typeof words === "string" ? [words] : words;
    list.append(html("dt", {}, term), ...several.map((text) => html("dd", {}, text)));
  }
  return list;
}

/** A command with a button that copies it; where copying is refused, the text is selected. */
function command(text: string, label = "Save the plan, then prove it again"): HTMLElement | null {
  if (text === "") return null;
  const code = html("code", { tabindex: 0 }, text);
  const done = html("span", { role: "status", class: "ce-soft" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      done.textContent = "Copied.";
    } catch {
      getSelection()?.selectAllChildren(code);
      done.textContent = "Selected: press Ctrl+C.";
    }
  };
  return html(
    "div",
    { class: "ce-command" },
    label !== "" && html("p", { class: "ce-soft" }, label),
    html("pre", {}, code),
    html("p", {}, html("button", { type: "button", onclick: copy }, "Copy"), " ", done),
  );
}
