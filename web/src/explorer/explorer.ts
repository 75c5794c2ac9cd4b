/** Put the explorer together: controls on one side, what they lead to on the other. */

import type { Engine } from "./asking/engine.ts";
import { Position } from "./asking/position.ts";
import type { Control, Part, PlanPart, ProblemPart, Value } from "./asking/protocol.ts";
import { Search } from "./asking/search.ts";
import { Controls } from "./controls/controls.ts";
import { Traces } from "./curves/traces.ts";
import { html, identifiers, say, WAIT } from "./dom.ts";
import { Exports } from "./exports.ts";
import { LadderSection } from "./results/ladder.ts";
import { ResultSection } from "./results/result.ts";
import { RiskSection } from "./results/risk.ts";
import { Strip } from "./results/strip.ts";
import { VerdictSection } from "./results/verdict.ts";
import { Why } from "./results/why.ts";
import { nothing, type Section, type Shown, take } from "./shown.ts";
import { rules, settingsOf, snapshot } from "./snapshot.ts";
import { Spoken } from "./spoken.ts";
import { Versions } from "./versions.ts";

export interface Mounted {
  unmount(): void;
}

export class Explorer implements Mounted {
  private readonly names = identifiers();
  private readonly id = this.names.id;
  private readonly why = new Why(this.id);
  private readonly position: Position;
  private readonly controls: Controls;
  private readonly verdict = new VerdictSection(this.id, this.why);
  private readonly ladder = new LadderSection(this.id, this.why);
  private readonly sections: Section[];
  private readonly traces: Traces;
  private readonly search: Search;
  private readonly versions: Versions;
  private readonly exports: Exports;
  private readonly strip = new Strip();
  private readonly spoken = new Spoken();
  private readonly results: HTMLElement;
  private readonly printed = html("div", { class: "ce-printed" });
  private readonly head: HTMLElement;
  private readonly title = html("h1", {}, "croupier explore");
  private readonly subtitle = html("p", { class: "ce-subtitle" });
  private readonly proved = html("p", { class: "ce-proved" });
  private readonly failure = html("div", { class: "ce-failure", role: "alert" });
  private now: Shown = nothing();
  private held: Shown | null = null;
  private complete = false;
  private wanted: Control | null = null;
  private readonly keys = (event: KeyboardEvent) => this.shortcut(event);

  constructor(
    private readonly root: HTMLElement,
    engine: Engine,
    private readonly page: boolean,
  ) {
    this.position = new Position(engine, {
      stale: (count) => this.stale(count),
      plan: (part, restored) => this.plan(part, restored),
      problem: (part) => this.problem(part),
      part: (part) => this.part(part),
      settled: (count) => this.settled(count),
      failed: (error) => this.failed(error),
    });
    this.controls = new Controls(
      this.id,
      {
        move: (control, value, delay) => this.move(control, value, delay ?? 0),
        flush: () => this.position.flush(),
        edge: (control) => this.edge(control),
      },
      this.names.label,
      () => root.clientWidth < 860,
    );
    const result = new ResultSection(this.id);
    const risk = new RiskSection(this.id, this.why);
    this.sections = [this.verdict, this.ladder, risk, result];
    this.traces = new Traces(
      engine,
      this.id,
      this.controls,
      this.position,
      () => ({ now: this.now, held: this.held, complete: this.complete }),
      (error) => this.spoken.say(`No curves: ${error instanceof Error ? error.message : error}`),
    );
    this.search = new Search(engine, this.controls, (control, value, words) => {
      if (value !== null) this.move(control, value, 0);
      this.spoken.say(words);
    });
    this.versions = new Versions(this.id, {
      hold: () => this.hold(),
      letGo: () => this.letGo(),
      back: () => this.back(),
      undo: () => this.position.undo(),
    });
    this.exports = new Exports(
      this.id,
      engine,
      {
        document: () => this.now.plan?.document ?? null,
        held: () => this.held?.plan?.document ?? null,
        snapshot: () => this.snapshot(),
      },
      this.why,
    );
    this.head = html(
      "header",
      { class: "ce-top" },
      html("div", { class: "ce-titles" }, this.title, this.subtitle, this.proved),
      this.versions.buttons,
    );
    this.results = html(
      "div",
      {
        class: "ce-results",
        role: "region",
        "aria-label": this.names.label("What leaks to whom"),
        "aria-busy": "true",
      },
      this.versions.element,
      ...this.sections.map((section) => section.element),
      this.traces.curves.element,
    );
    root.replaceChildren(
      html(
        "div",
        { class: "ce-frame" },
        this.head,
        this.failure,
        html(
          "div",
          { class: "ce-columns" },
          this.controls.element,
          html("div", { class: "ce-right" }, this.printed, this.results, this.exports.element),
        ),
        this.strip.element,
        this.spoken.element,
        this.why.element,
      ),
    );
    root.addEventListener("keydown", this.keys);
    this.versions.show(this.now, null);
    this.position.start();
  }

  unmount(): void {
    this.position.stop();
    this.traces.stop();
    this.search.stop();
    this.spoken.stop();
    this.root.removeEventListener("keydown", this.keys);
    this.root.replaceChildren();
  }

  private move(control: Control, value: Value, delay: number): void {
    this.traces.moved(control);
    this.position.move(control.id, value, control.kind, delay);
  }

  private stale(count: number): void {
    this.mark("position", String(count));
    this.results.setAttribute("aria-busy", "true");
    this.wanted = null;
    this.search.stop();
    this.traces.stop();
    this.why.close();
    this.complete = false;
    this.now = nothing();
    for (const section of this.sections) section.stale();
    this.strip.stale();
    this.spoken.stop();
    say(this.proved, WAIT);
    this.printed.replaceChildren();
    this.failure.replaceChildren();
    this.controls.problem(null, null);
    this.controls.forget();
    this.versions.stale();
    this.allow();
    this.traces.draw();
  }

  private plan(part: PlanPart, restored: boolean): void {
    if (restored) this.traces.restored();
    take(this.now, part);
    say(this.title, part.title);
    if (this.page) this.root.ownerDocument.title = `${part.title} - croupier explore`;
    say(this.subtitle, `${part.subtitle}, plan ${part.digest.slice(0, 8)}`);
    this.subtitle.title = part.digest;
    say(this.proved, part.proved_for);
    this.controls.update(part.groups, restored || this.position.count === 1);
    this.traces.offer();
    this.versions.show(this.now, this.held);
  }

  private part(part: Part): void {
    if (!take(this.now, part)) return;
    if (part.part === "rows" || part.part === "column") this.ladder.show(this.now, this.held);
    else
      for (const section of this.sections)
        if (section !== this.ladder || part.part === "verdict") section.show(this.now, this.held);
    if (part.part === "verdict") {
      this.complete = true;
      this.strip.show(this.now);
      this.spoken.later(this.now);
      this.traces.draw();
    }
    if (this.complete && this.ladder.whole(this.now))
      this.mark("shown", String(this.position.count));
  }

  private settled(count: number): void {
    this.results.setAttribute("aria-busy", "false");
    if (this.complete) {
      this.ladder.settled(this.now);
      this.mark("shown", String(count));
    }
    this.allow();
    if (this.complete) this.printed.replaceChildren(...settingsOf(this.now, this.held));
    if (this.wanted === null) this.traces.fetch();
    else this.edge(this.wanted);
  }

  private problem(part: ProblemPart): void {
    this.controls.update(part.groups, false);
    this.controls.problem(part.control, part.message);
    this.verdict.problem("NO SUCH PLAN", part.message);
    this.ladder.problem();
    this.strip.problem("NO SUCH PLAN", part.message);
    this.spoken.say(`No such plan. ${part.message}`);
    this.mark("shown", String(this.position.count));
    say(this.proved, "");
    this.allow();
  }

  private failed(error: unknown): void {
    this.results.setAttribute("aria-busy", "false");
    const words =
      error instanceof TypeError
        ? "croupier explore does not answer. It may have ended: start it again, then reload this page."
        : error instanceof Error
          ? error.message
          : String(error);
    this.verdict.problem("NO VERDICT", "The last request failed.");
    this.ladder.problem();
    this.strip.problem("NO VERDICT", "The last request failed.");
    this.failure.replaceChildren(
      html("p", {}, words),
      html("button", { type: "button", onclick: () => this.position.start() }, "Try again"),
    );
    this.allow();
  }

  private allow(): void {
    const whole = this.complete && !this.position.busy;
    this.exports.allow(whole);
    this.versions.allow(whole, this.position.undoable);
  }

  private hold(): void {
    this.held = this.now;
    this.traces.hold();
    this.refresh();
  }

  private letGo(): void {
    this.held = null;
    this.traces.letGo();
    this.refresh();
  }

  private back(): void {
    const document = this.held?.plan?.document;
    if (document === undefined) return;
    this.held = null;
    this.traces.restored();
    this.traces.letGo();
    this.refresh();
    this.position.go(document);
  }

  private refresh(): void {
    this.versions.show(this.now, this.held);
    for (const section of this.sections) section.show(this.now, this.held);
    this.allow();
    this.traces.draw();
    if (!this.position.busy) {
      if (this.complete) this.printed.replaceChildren(...settingsOf(this.now, this.held));
      this.traces.fetch();
    }
  }

  private edge(control: Control): void {
    const { document } = this.position;
    this.wanted = null;
    if (document === null) return;
    if (this.position.changes.length > 0 && !this.position.busy) {
      this.controls.note(control.id, "First correct the setting that is refused.");
      return;
    }
    if (this.position.busy) {
      this.wanted = control; // once what is under way is shown
      return;
    }
    this.traces.stop();
    void this.search.run(control, document).then(() => this.traces.fetch());
  }

  private snapshot(): { name: string; text: string } {
    const { now, held, head, results } = this;
    const css = rules(this.root.ownerDocument.styleSheets);
    const text = snapshot({ head, results, now, held, metrics: this.ladder.shownMetrics, css });
    const file = (now.plan?.file ?? "plan.toml").replace(/^.*[\\/]/, "").replace(/\.toml$/, "");
    return {
      name: `${file}-${(now.plan?.digest ?? "").slice(0, 8)}.html`,
      text,
    };
  }

  private shortcut(event: KeyboardEvent): void {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.shiftKey)
      return;
    const target = event.target as HTMLElement;
    if (target.matches("textarea, input:not([type=range]):not([type=checkbox])")) return;
    event.preventDefault();
    this.position.undo();
  }

  /** Say on the page's element, or else on the widget's, which position is asked and which is shown. */
  private mark(name: "position" | "shown", value: string): void {
    const element = this.page ? this.root.ownerDocument.documentElement : this.root;
    element.dataset[name] = value;
  }
}
