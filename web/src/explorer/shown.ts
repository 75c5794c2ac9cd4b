/** What is proved about one position, as far as Python has answered. */

import type {
  Cell,
  ColumnPart,
  Control,
  Part,
  PlanPart,
  ResultPart,
  RiskPart,
  Row,
  VerdictPart,
} from "./asking/protocol.ts";
import { writeNumber } from "./controls/scale.ts";

export interface Shown {
  plan: PlanPart | null;
  rows: Row[];
  columns: Map<string, ColumnPart>;
  verdict: VerdictPart | null;
  result: ResultPart | null;
  risk: RiskPart | null;
}

export const nothing = (): Shown => ({
  plan: null,
  rows: [],
  columns: new Map(),
  verdict: null,
  result: null,
  risk: null,
});

/** Take in one part; true if it belongs to a position. */
export function take(shown: Shown, part: Part): boolean {
  if (part.part === "plan") shown.plan = part;
  else if (part.part === "rows") shown.rows = part.rows;
  else if (part.part === "column") shown.columns.set(part.metric, part);
  else if (part.part === "verdict") {
    shown.verdict = part;
    shown.rows = shown.rows.map((row) => ({ ...row, headline: row.rung === part.headline }));
  } else if (part.part === "result") shown.result = part;
  else if (part.part === "risk") shown.risk = part;
  else return false;
  return true;
}

export function cellOf(shown: Shown | null, metric: string, rung: string): Cell | undefined {
  return shown?.columns.get(metric)?.cells.find((cell) => cell.rung === rung);
}

export function controlsOf(shown: Shown): Control[] {
  return shown.plan?.groups.flatMap((group) => group.controls) ?? [];
}

export function controlOf(shown: Shown | null, id: string): Control | undefined {
  return shown === null ? undefined : controlsOf(shown).find((control) => control.id === id);
}

/** A setting in words, with its unit unless the words have it already. */
export function setting(control: Control): string {
  const words = valueWords(control);
  return control.unit === "" || words.endsWith(control.unit) ? words : `${words} ${control.unit}`;
}

function valueWords({ value, options }: Control): string {
  const option = options.find((other) => other.value === value);
  if (option !== undefined) return option.label;
  if (typeof value === "number") return writeNumber(value);
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.join(", ");
  return value === null || value === "" ? "none" : String(value);
}

/** The settings that are no buttons, as pairs of label and words. */
export function settings(shown: Shown): [string, string][] {
  return controlsOf(shown)
    .filter((control) => control.kind !== "button")
    .filter((control) => !["limit_who", "limit_what", "limit_value"].includes(control.id))
    .map((control) => [control.label, setting(control)]);
}

/** The settings in which two versions differ: label, words in A, words in B. */
export function differences(a: Shown, b: Shown): [string, string, string][] {
  const before = new Map(settings(a));
  const after = new Map(settings(b));
  const labels = [...new Set([...before.keys(), ...after.keys()])];
  return labels
    .map((label): [string, string, string] => [
      label,
      before.get(label) ?? "none",
      after.get(label) ?? "none",
    ])
    .filter(([, a, b]) => a !== b);
}

/** One part of the page that shows a position, beside the held one if there is one. */
export interface Section {
  element: HTMLElement;
  /** Take every number away at once; the layout may stay. */
  stale(): void;
  show(now: Shown, held: Shown | null): void;
}
