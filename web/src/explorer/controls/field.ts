/** One control as a labelled field: its inputs, its help, its message, and how it takes a new value. */

import type { Control, Value } from "../asking/protocol.ts";
import { html, say } from "../dom.ts";
import { INPUTS } from "./inputs.ts";

export interface FieldEvents {
  move(control: Control, value: Value, delay?: number): void;
  flush(): void;
  edge(control: Control): void;
}

export interface Field {
  element: HTMLElement;
  control: Control;
  /** Show a new state of the control; an input that is in use keeps what was typed. */
  sync(control: Control, force: boolean): void;
  problem(message: string | null): void;
  note(words: string): void;
}

export function makeField(control: Control, id: (name: string) => string, on: FieldEvents): Field {
  const make = INPUTS[control.kind];
  const base = id(`control-${control.id}`);
  const help = html("p", { class: "ce-help", id: `${base}-help` });
  const message = html("p", { class: "ce-message", id: `${base}-message`, role: "alert" });
  const field: Field = {
    element: html("div"),
    control,
    sync: () => {},
    problem: () => {},
    note: () => {},
  };
  const { parts, inputs, sync } = make(field, base, on);
  const edge =
    control.edge === null
      ? null
      : html(
          "button",
          { type: "button", class: "ce-quiet ce-edge", onclick: () => on.edge(field.control) },
          `Find the ${control.edge} that meets all limits`,
        );
  const note = html("p", { class: "ce-help", role: "status" });
  field.note = (words) => say(note, words);
  field.element = html(
    "div",
    { class: `ce-field ce-${control.kind}`, "data-control": control.id },
    ...parts,
    help,
    message,
    edge,
    note,
  );
  field.sync = (next, force) => {
    field.control = next;
    say(help, next.help);
    sync(force);
  };
  field.problem = (words) => {
    say(message, words ?? "");
    for (const input of inputs) {
      if (words === null) input.removeAttribute("aria-invalid");
      else input.setAttribute("aria-invalid", "true");
      input.setAttribute(
        "aria-describedby",
        words === null ? `${base}-help` : `${base}-message ${base}-help`,
      );
    }
  };
  field.sync(control, true);
  field.problem(null);
  return field;
}
