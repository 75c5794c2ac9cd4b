/** Hold one version beside the next: what is kept, the settings that differ, and the way back. */

import { html, say, WAIT } from "./dom.ts";
import { versionTag } from "./quiet.ts";
import { differences, type Shown } from "./shown.ts";

export interface VersionEvents {
  hold(): void;
  letGo(): void;
  back(): void;
  undo(): void;
}

export class Versions {
  readonly buttons: HTMLElement;
  readonly element: HTMLElement;
  private readonly holding: HTMLButtonElement;
  private readonly release: HTMLButtonElement;
  private readonly back: HTMLButtonElement;
  private readonly undo: HTMLButtonElement;
  private readonly list = html("div");

  constructor(id: (name: string) => string, on: VersionEvents) {
    const button = (words: string, press: () => void) => {
      const made: HTMLButtonElement = html(
        "button",
        {
          type: "button",
          onclick: () => {
            if (made.getAttribute("aria-disabled") !== "true") press();
          },
        },
        words,
      );
      return made;
    };
    this.undo = button("Undo", on.undo);
    this.undo.title = "Undo the last change (Ctrl+Z)";
    this.holding = button("Hold this version", on.hold);
    this.holding.title = "Keep these numbers as version A, and compare what you change with them";
    this.release = button("Discard A", on.letGo);
    this.back = button("Go back to A", on.back);
    this.buttons = html(
      "div",
      { class: "ce-buttons ce-screen" },
      this.undo,
      this.holding,
      this.back,
      this.release,
    );
    this.element = html(
      "section",
      { class: "ce-section ce-differ", hidden: true },
      html("h2", { id: id("versions") }, "Two versions"),
      this.list,
    );
  }

  /** Say whether something can be held or undone; a button that is off keeps the focus. */
  allow(complete: boolean, undoable: boolean): void {
    this.holding.setAttribute("aria-disabled", String(!complete));
    this.undo.setAttribute("aria-disabled", String(!undoable));
  }

  /** What version B is set to is not known until Python has confirmed it. */
  stale(): void {
    for (const cell of this.list.querySelectorAll("td:nth-child(3)")) say(cell, WAIT);
  }

  show(now: Shown, held: Shown | null): void {
    const focused = this.buttons.ownerDocument.activeElement;
    this.offer(now, held);
    if (!(focused instanceof HTMLElement) || !this.buttons.contains(focused)) return;
    if (focused.hidden) (held === null ? this.holding : this.release).focus();
  }

  private offer(now: Shown, held: Shown | null): void {
    this.holding.hidden = held !== null;
    this.release.hidden = held === null;
    this.back.hidden = held === null;
    this.element.hidden = held === null;
    if (held === null) return;
    const changed = now.plan === null ? [] : differences(held, now);
    const rows = changed.map(([label, a, b]) =>
      html("tr", {}, html("th", { scope: "row" }, label), html("td", {}, a), html("td", {}, b)),
    );
    this.list.replaceChildren(
      html(
        "p",
        {},
        versionTag("A"),
        ` is held: plan ${(held.plan?.digest ?? "").slice(0, 8)}. `,
        versionTag("B"),
        rows.length > 0
          ? " is what the controls say now. They differ in:"
          : held.plan?.digest === now.plan?.digest
            ? " is the same so far. Move a control to change it."
            : " differs in keys of the plan that have no control here: compare the files.",
      ),
    );
    if (rows.length === 0) return;
    const head = html(
      "tr",
      {},
      html("th", { scope: "col" }, "setting"),
      html("th", { scope: "col" }, "version A"),
      html("th", { scope: "col" }, "version B"),
    );
    this.list.append(
      html(
        "div",
        { class: "ce-scroll" },
        html(
          "table",
          { class: "ce-settings-table" },
          html("thead", {}, head),
          html("tbody", {}, ...rows),
        ),
      ),
    );
  }
}
