/** The inputs of a field, by the kind of its control. */

import type { Control, Value } from "../asking/protocol.ts";
import { html, say } from "../dom.ts";
import type { Field, FieldEvents } from "./field.ts";
import { rangeOf, readNumber, stepped, TRACK, trackAt, valueAt, writeNumber } from "./scale.ts";

/** How long typing may pause before it is sent; Enter and leaving the field send at once. */
const TYPING = 250;

export interface Inside {
  parts: HTMLElement[];
  inputs: HTMLElement[];
  sync(force: boolean): void;
}

const inUse = (input: HTMLElement) => input.ownerDocument.activeElement === input;

function labelled(field: Field, base: string, input: HTMLElement): HTMLLabelElement {
  input.id = base;
  return html("label", { for: base, class: "ce-label" }, field.control.label);
}

/** A text input for a number, because "200,000" reads better than 200000. */
function exact(field: Field, on: FieldEvents, empty: boolean): HTMLInputElement {
  const input = html("input", {
    class: "ce-exact",
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: empty ? "none" : null,
  });
  const read = (delay: number) => {
    const value = readNumber(input.value);
    if (value === null || (value === undefined && !empty)) {
      if (delay === 0)
        field.problem("This is no number, and nothing has changed. Try 0.5 or 1,000.");
      return;
    }
    if (input.getAttribute("aria-invalid") === "true") field.problem(null);
    if ((value ?? null) !== field.control.value) {
      field.control = { ...field.control, value: value ?? null };
      on.move(field.control, value ?? null, delay);
    } else if (delay === 0) on.flush();
  };
  input.addEventListener("input", () => read(TYPING));
  input.addEventListener("change", () => {
    read(0);
    write(input, field.control.value);
  });
  return input;
}

function write(input: HTMLInputElement, value: Value): void {
  input.value = typeof value === "number" ? writeNumber(value) : "";
}

function slider(field: Field, base: string, on: FieldEvents): Inside {
  const range = html("input", { type: "range", min: 0, max: TRACK, step: "any" });
  const number = exact(field, on, false);
  const unit = html("span", { class: "ce-unit" }, field.control.unit);
  const label = labelled(field, base, range);
  label.id = `${base}-label`;
  number.setAttribute("aria-labelledby", label.id);
  const place = (value: number) => {
    range.value = String(trackAt(rangeOf(field.control), value));
    const { unit: words } = field.control;
    range.setAttribute(
      "aria-valuetext",
      words ? `${writeNumber(value)} ${words}` : writeNumber(value),
    );
    const share = trackAt(rangeOf(field.control), value) / TRACK;
    range.style.setProperty("--ce-share", String(share));
  };
  const move = (value: number) => {
    if (value === field.control.value) return;
    field.control = { ...field.control, value };
    write(number, value);
    range.style.setProperty("--ce-share", String(trackAt(rangeOf(field.control), value) / TRACK));
    on.move(field.control, value);
  };
  range.addEventListener("input", () => move(valueAt(rangeOf(field.control), Number(range.value))));
  range.addEventListener("change", () => on.flush());
  range.addEventListener("keydown", (event) => {
    const hundredths = {
      ArrowRight: 0.25,
      ArrowUp: 0.25,
      ArrowLeft: -0.25,
      ArrowDown: -0.25,
      PageUp: 5,
      PageDown: -5,
    }[event.key];
    if (hundredths === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const value = stepped(rangeOf(field.control), Number(field.control.value), hundredths);
    move(value);
    place(value);
  });
  number.addEventListener("input", () => place(Number(field.control.value)));
  return {
    parts: [
      html("div", { class: "ce-line" }, label, html("span", { class: "ce-value" }, number, unit)),
      range,
    ],
    inputs: [range, number],
    sync(force) {
      const { control } = field;
      say(label, control.label);
      say(unit, control.unit);
      unit.hidden = control.unit === "";
      if (typeof control.value !== "number") return;
      if (force || !inUse(number)) write(number, control.value);
      if (force || !range.matches(":active")) place(control.value);
    },
  };
}

function number(field: Field, base: string, on: FieldEvents): Inside {
  const input = exact(field, on, true);
  const label = labelled(field, base, input);
  const unit = html("span", { class: "ce-unit" }, field.control.unit);
  const limit = field.control.id.startsWith("limit.");
  const drop = html(
    "button",
    {
      type: "button",
      class: "ce-quiet",
      "aria-label": `Remove the limit: ${field.control.label}`,
      onclick: () => on.move(field.control, null),
    },
    "Remove",
  );
  return {
    parts: [
      html(
        "div",
        { class: "ce-line" },
        label,
        html("span", { class: "ce-value" }, input, unit, limit && drop),
      ),
    ],
    inputs: [input],
    sync(force) {
      say(label, field.control.label);
      say(unit, field.control.unit);
      unit.hidden = field.control.unit === "";
      if (force || !inUse(input)) write(input, field.control.value);
    },
  };
}

function choice(field: Field, base: string, on: FieldEvents): Inside {
  const select = html("select", {
    onchange: () => {
      const chosen = field.control.options.find((option) => String(option.value) === select.value);
      field.control = { ...field.control, value: chosen?.value ?? select.value };
      on.move(field.control, field.control.value);
    },
  });
  const label = labelled(field, base, select);
  let offered = "";
  return {
    parts: [label, select],
    inputs: [select],
    sync() {
      const { options, value } = field.control;
      const signature = JSON.stringify(options);
      if (signature !== offered) {
        offered = signature;
        select.replaceChildren(
          ...options.map((option) => html("option", { value: String(option.value) }, option.label)),
        );
      }
      say(label, field.control.label);
      select.value = String(value ?? "");
    },
  };
}

function text(field: Field, base: string, on: FieldEvents): Inside {
  const input = html("input", { type: "text", autocomplete: "off" });
  const send = (delay: number) => {
    if (input.value !== field.control.value) {
      field.control = { ...field.control, value: input.value };
      on.move(field.control, input.value, delay);
    } else if (delay === 0) on.flush();
  };
  input.addEventListener("input", () => send(TYPING));
  input.addEventListener("change", () => send(0));
  const label = labelled(field, base, input);
  return {
    parts: [label, input],
    inputs: [input],
    sync(force) {
      say(label, field.control.label);
      if (force || !inUse(input)) input.value = String(field.control.value ?? "");
    },
  };
}

function list(field: Field, base: string, on: FieldEvents): Inside {
  const area = html("textarea", { rows: 4, spellcheck: "false" });
  const label = labelled(field, base, area);
  const lines = () =>
    area.value
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
  area.addEventListener("change", () => {
    const value = lines();
    if (JSON.stringify(value) === JSON.stringify(field.control.value)) return;
    field.control = { ...field.control, value };
    on.move(field.control, value);
  });
  return {
    parts: [label, area],
    inputs: [area],
    sync(force) {
      say(label, field.control.label);
      const { value } = field.control;
      if (force || !inUse(area)) area.value = Array.isArray(value) ? value.join("\n") : "";
      area.rows = Math.min(8, Math.max(2, Array.isArray(value) ? value.length : 2));
    },
  };
}

function button(field: Field, base: string, on: FieldEvents): Inside {
  const press = html(
    "button",
    { type: "button", id: base, onclick: () => on.move(field.control, true) },
    field.control.label,
  );
  return { parts: [press], inputs: [press], sync: () => say(press, field.control.label) };
}

type Make = (field: Field, base: string, on: FieldEvents) => Inside;

export const INPUTS: Record<Control["kind"], Make> = {
  slider,
  number,
  choice,
  text,
  list,
  button,
};
