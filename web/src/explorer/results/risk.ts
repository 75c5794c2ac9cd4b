/** What one person risks, in words. */

import type { Risk, RiskPart } from "../asking/protocol.ts";
import { html, say, WAIT } from "../dom.ts";
import { free, hold, Paragraphs, versionTag } from "../quiet.ts";
import type { Section, Shown } from "../shown.ts";
import type { Why } from "./why.ts";

interface Card {
  element: HTMLElement;
  asked: HTMLElement;
  texts: HTMLElement[];
  now: Said;
  before: Said;
}

interface Said {
  element: HTMLElement;
  most: HTMLElement;
  luck: HTMLElement;
  why: () => void;
}

export class RiskSection implements Section {
  readonly element: HTMLElement;
  private readonly grid = html("div", { class: "ce-risks" });
  private readonly sentences = new Paragraphs("ce-sentences");
  private readonly sentencesBefore = new Paragraphs("ce-sentences");
  private readonly told: HTMLElement;
  private readonly before: HTMLElement;
  private readonly body: HTMLElement;
  private cards: Card[] = [];

  constructor(
    id: (name: string) => string,
    private readonly why: Why,
  ) {
    const tag = (version: "A" | "B") => html("p", { class: "ce-pane-tag" }, versionTag(version));
    this.before = html("div", { hidden: true }, tag("A"), this.sentencesBefore.element);
    this.told = html(
      "div",
      { class: "ce-told" },
      this.before,
      html("div", {}, tag("B"), this.sentences.element),
    );
    this.body = html("div", {}, this.grid, this.told);
    this.element = html(
      "section",
      { class: "ce-section ce-risk" },
      html("h2", { id: id("risk") }, "What one person risks"),
      this.body,
    );
  }

  stale(): void {
    hold(this.body);
    this.sentences.stale();
    for (const card of this.cards) {
      for (const text of card.texts) say(text, WAIT);
      card.now.why = () => {};
    }
  }

  show(now: Shown, held: Shown | null): void {
    if (now.risk === null) return;
    this.count(now.risk);
    now.risk.risks.forEach((risk, at) => {
      const card = this.cards[at];
      if (card === undefined) return;
      say(card.asked, risk.asked);
      this.tell(card.now, risk);
      const [who] = card.texts;
      if (who !== undefined) say(who, risk.who);
      const before = held?.risk?.risks.find((other) => other.asked === risk.asked);
      card.before.element.hidden = before === undefined;
      card.element.classList.toggle("ce-two", before !== undefined);
      if (before !== undefined) this.tell(card.before, before);
    });
    const before = held?.risk ?? null;
    this.before.hidden = before === null;
    this.element.classList.toggle("ce-two", before !== null);
    this.sentencesBefore.show(before?.sentences ?? []);
    this.sentences.show(now.risk.sentences);
    free(this.body);
  }

  private tell(said: Said, risk: Risk): void {
    say(said.most, risk.most);
    say(said.luck, risk.luck);
    said.why = () =>
      this.why.words(
        risk.asked,
        risk.most,
        [risk.luck, risk.who, risk.why ?? ""].filter((text) => text !== ""),
      );
  }

  private count(part: RiskPart): void {
    while (this.cards.length > part.risks.length) this.cards.pop()?.element.remove();
    while (this.cards.length < part.risks.length) {
      const card = this.card();
      this.cards.push(card);
      this.grid.append(card.element);
    }
  }

  private card(): Card {
    const asked = html("h3");
    const who = html("p", { class: "ce-soft" });
    const before = said("A");
    const now = said("B");
    before.element.hidden = true;
    const element = html("div", { class: "ce-card" }, asked, before.element, now.element, who);
    return { element, asked, texts: [who, now.most, now.luck], now, before };
  }
}

function said(version: "A" | "B"): Said {
  const most = html("span", {}, WAIT);
  const luck = html("p", { class: "ce-soft" }, WAIT);
  const button = html(
    "button",
    { type: "button", class: "ce-number ce-most" },
    versionTag(version),
    most,
  );
  const said: Said = {
    element: html("div", { class: "ce-said" }, button, luck),
    most,
    luck,
    why: () => {},
  };
  button.addEventListener("click", () => said.why());
  return said;
}
