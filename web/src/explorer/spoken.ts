/** Tell screen readers the verdict and the headline numbers once the controls have come to rest. */

import { html, say } from "./dom.ts";
import { headline } from "./results/strip.ts";
import type { Shown } from "./shown.ts";

const REST = 800;

export class Spoken {
  readonly element = html("p", {
    class: "ce-away ce-screen",
    role: "status",
    "aria-live": "polite",
  });
  private timer: ReturnType<typeof setTimeout> | undefined;
  private first = true;

  /** Nothing is said about the position that a page opens with. */
  later(now: Shown): void {
    clearTimeout(this.timer);
    if (this.first) {
      this.first = false;
      return;
    }
    this.timer = setTimeout(() => {
      const words =
        now.verdict === null ? "" : `${now.verdict.judgement}. ${now.verdict.words.join(" ")}`;
      this.say(`${words} ${headline(now, ["epsilon", "reidentification"])}.`);
    }, REST);
  }

  say(words: string): void {
    say(this.element, words);
  }

  stop(): void {
    clearTimeout(this.timer);
    say(this.element, "");
  }
}
