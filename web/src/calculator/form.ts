/** A form on the page: pairs of a number and a slider that show the same number. */

import { complaint, type Field, numberAt, position, typed, written } from "./fields.ts";

/** What a form shows now. */
export interface Reading {
  readonly values: ReadonlyMap<string, number>;
  /** What is wrong, if anything is. */
  readonly complaints: readonly string[];
}

interface Pair {
  readonly field: Field;
  readonly number: HTMLInputElement;
  readonly slider: HTMLInputElement;
}

/** The element with an id; the page and this script are made for each other. */
export function element<Kind extends Element>(id: string): Kind {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element "${id}"`);
  return found as unknown as Kind;
}

/** A form; `onChange` is called whenever a number may have changed. */
export class Form {
  readonly #pairs: readonly Pair[];

  constructor(fields: readonly Field[], onChange: () => void) {
    this.#pairs = fields.map((field) => ({
      field,
      number: element<HTMLInputElement>(`calculator-${field.key}`),
      slider: element<HTMLInputElement>(`calculator-${field.key}-slider`),
    }));
    for (const pair of this.#pairs) {
      pair.number.addEventListener("input", () => {
        this.#follow(pair);
        onChange();
      });
      pair.slider.addEventListener("input", () => {
        pair.number.value = typed(numberAt(pair.field, Number(pair.slider.value)));
        this.#say(pair);
        onChange();
      });
      this.#follow(pair);
    }
  }

  /** Show other numbers. */
  show(values: ReadonlyMap<string, number>): void {
    for (const pair of this.#pairs) {
      const value = values.get(pair.field.key);
      if (value === undefined) continue;
      pair.number.value = typed(value);
      this.#follow(pair);
    }
  }

  /** Read the numbers and mark those that cannot be asked for. */
  read(): Reading {
    const values = new Map<string, number>();
    const complaints: string[] = [];
    for (const { field, number } of this.#pairs) {
      const value = number.value.trim() === "" ? Number.NaN : Number(number.value);
      const wrong = complaint(field, value);
      number.setAttribute("aria-invalid", String(wrong !== undefined));
      if (wrong === undefined) values.set(field.key, value);
      else complaints.push(wrong);
    }
    return { values, complaints };
  }

  /** Move a slider to its number. */
  #follow({ field, number, slider }: Pair): void {
    const value = Number(number.value);
    if (value > 0) slider.value = String(position(field, value));
    this.#say({ field, number, slider });
  }

  /** Say the number of a slider, not its position. */
  #say({ number, slider }: Pair): void {
    slider.setAttribute("aria-valuetext", written(Number(number.value)));
  }
}
