/** Places for texts with numbers, which are taken away together while a new position is proved. */

import { html, say, WAIT } from "./dom.ts";

/** Keep the height of a block while its texts are away, so that the page below does not jump. */
export function hold(block: HTMLElement): void {
  if (block.style.minHeight === "") block.style.minHeight = `${block.offsetHeight}px`;
}

export function free(block: HTMLElement): void {
  block.style.minHeight = "";
}

/** A list of paragraphs that is updated in place. */
export class Paragraphs {
  readonly element: HTMLElement;

  constructor(className: string) {
    this.element = html("div", { class: className });
  }

  show(texts: string[]): void {
    while (this.element.children.length > texts.length) this.element.lastElementChild?.remove();
    texts.forEach((text, at) => {
      const known = this.element.children[at];
      if (known === undefined) this.element.append(html("p", {}, text));
      else say(known, text);
    });
  }

  stale(): void {
    for (const paragraph of this.element.children) say(paragraph, WAIT);
  }
}

/** The tag in front of what belongs to a version, with words for screen readers. */
export function versionTag(version: "A" | "B"): HTMLElement {
  const words = version === "A" ? "Version A, held: " : "Version B, now: ";
  return html(
    "span",
    { class: `ce-version ce-version-${version.toLowerCase()}` },
    html("span", { "aria-hidden": "true" }, version),
    html("span", { class: "ce-away" }, words),
  );
}
