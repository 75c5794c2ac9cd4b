/** The controls that Python offers, in groups that fold, and the message of a plan that cannot be. */

import type { Control, Group, Value } from "../asking/protocol.ts";
import { arrange, html, say } from "../dom.ts";
import { type Field, type FieldEvents, makeField } from "./field.ts";
import { readNumber } from "./scale.ts";

const ADDING = ["limit_who", "limit_what", "limit_value", "limit_add"];
const FOCUSABLE = "input, select, textarea, button";

interface Fold {
  element: HTMLDetailsElement;
  heading: HTMLElement;
  body: HTMLElement;
  order: string;
}

export class Controls {
  readonly element: HTMLFormElement;
  private readonly message: HTMLElement;
  private readonly folds = new Map<string, Fold>();
  private readonly fields = new Map<string, Field>();
  private readonly body: HTMLElement;
  private readonly adding = new Map<string, Value>();
  private readonly inputs = html("div", { class: "ce-group" });
  private readonly form = html(
    "fieldset",
    { class: "ce-add" },
    html("legend", {}, "Add a limit"),
    this.inputs,
  );
  private groups: Group[] = [];

  constructor(
    private readonly id: (name: string) => string,
    private readonly on: FieldEvents,
    label: (words: string) => string,
    private readonly folded: () => boolean,
  ) {
    this.message = html("p", { class: "ce-message", role: "alert" });
    this.body = html("div", { class: "ce-groups" });
    this.element = html(
      "form",
      {
        class: "ce-controls",
        "aria-label": label("Settings of the plan"),
        novalidate: true,
        onsubmit: (event: Event) => event.preventDefault(),
      },
      this.message,
      this.body,
    );
  }

  get all(): Control[] {
    return this.groups
      .flatMap((group) => group.controls)
      .filter((control) => !ADDING.includes(control.id));
  }

  find(id: string): Control | undefined {
    return this.fields.get(id)?.control ?? this.all.find((control) => control.id === id);
  }

  /** Show new groups; what has the focus keeps it, or gives it to what stands nearest. */
  update(groups: Group[], force: boolean): void {
    const focused = this.element.ownerDocument.activeElement;
    const inside = focused instanceof HTMLElement && this.element.contains(focused);
    const own = inside
      ? focused.closest<HTMLElement>("[data-control]")?.dataset.control
      : undefined;
    const fold = inside ? focused.closest("details") : null;
    this.arrange(groups, force);
    if (!inside || this.element.ownerDocument.activeElement === focused) return;
    const again = this.fields.get(own ?? "")?.element.querySelector<HTMLElement>(FOCUSABLE);
    const next = focused.isConnected ? focused : (again ?? fold?.querySelector("summary"));
    next?.focus({ preventScroll: true });
  }

  private arrange(groups: Group[], force: boolean): void {
    this.groups = groups;
    const kept = new Set<string>();
    const elements = groups.map((group, at) => {
      const fold = this.fold(group, at);
      const children = group.controls.map((control) => {
        kept.add(control.id);
        return this.field(control, force).element;
      });
      const order = group.controls.map((control) => `${control.id}:${control.kind}`).join(" ");
      if (order !== fold.order) {
        fold.order = order;
        const own = group.controls.map((control) => control.id);
        const adding = children.filter((_, index) => ADDING.includes(own[index] ?? ""));
        const others = children.filter((child) => !adding.includes(child));
        if (adding.length > 0) arrange(this.inputs, adding);
        arrange(fold.body, adding.length > 0 ? [...others, this.form] : others);
      }
      return fold.element;
    });
    for (const id of this.fields.keys()) if (!kept.has(id)) this.fields.delete(id);
    arrange(this.body, elements);
  }

  problem(control: string | null, words: string | null): void {
    for (const field of this.fields.values()) field.problem(null);
    const field = control === null ? undefined : this.fields.get(control);
    say(this.message, field === undefined ? (words ?? "") : "");
    field?.problem(words);
    field?.element.closest("details")?.setAttribute("open", "");
  }

  /** What was found for a control holds for the position at which it was looked for. */
  forget(): void {
    for (const field of this.fields.values()) field.note("");
  }

  /** Say at a control what was found for it. */
  note(control: string, words: string): void {
    this.fields.get(control)?.note(words);
  }

  private fold(group: Group, at: number): Fold {
    const known = this.folds.get(group.name);
    if (known !== undefined) {
      say(known.heading, group.heading);
      return known;
    }
    const heading = html("h2", {}, group.heading);
    const body = html("div", { class: "ce-group" });
    const open = !this.folded() || at === 0;
    const element = html(
      "details",
      { open, "data-group": group.name },
      html("summary", {}, heading),
      body,
    );
    const fold = { element, heading, body, order: "" };
    this.folds.set(group.name, fold);
    return fold;
  }

  private field(control: Control, force: boolean): Field {
    const known = this.fields.get(control.id);
    if (
      known !== undefined &&
      known.control.kind === control.kind &&
      known.control.edge === control.edge
    ) {
      const value = this.adding.get(control.id);
      known.sync(value === undefined ? control : { ...control, value }, force);
      return known;
    }
    const field = makeField(
      control,
      this.id,
      ADDING.includes(control.id) ? this.composing() : this.on,
    );
    this.fields.set(control.id, field);
    const fold = [...this.folds.values()].find((other) => other.order.includes(`${control.id}:`));
    if (fold !== undefined) fold.order = "";
    return field;
  }

  /** The inputs of a limit that is being written change no plan until it is added. */
  private composing(): FieldEvents {
    return {
      flush: () => {},
      edge: () => {},
      move: (control, value) => {
        if (control.id !== "limit_add") {
          this.adding.set(control.id, value);
          return;
        }
        const read = (id: string) =>
          this.adding.get(id) ?? this.fields.get(id)?.control.value ?? null;
        const input = this.fields.get("limit_value");
        const typed = readNumber(input?.element.querySelector("input")?.value ?? "");
        if (typed === undefined || typed === null) {
          input?.problem("A limit is a number. Write one, such as 0.1, then add it.");
          return;
        }
        input?.problem(null);
        this.adding.set("limit_value", null);
        this.on.move(control, { who: read("limit_who"), what: read("limit_what"), value: typed });
      },
    };
  }
}
