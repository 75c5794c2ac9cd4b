/** The possible answers, and the index of each. No message shows the answer. */

import { DataError, ParameterError } from "./errors.js";
import type { Json, Table } from "./json.js";
import { WORD } from "./keystream.js";
import { count, list, number, table, wholeNumber } from "./table.js";
import { isOneLine } from "./words.js";

/** A set of possible values, each known to a mechanism by its index. */
export interface Domain<Index> {
  /** The number of entries if a person's value is a row of them. */
  readonly width?: number;
  encode(value: unknown): Index;
}

const MOST_CATEGORIES = 2 ** 40;
const MOST_STEPS = 1_000_000;

/** One of finitely many answers: 0, 1, …, k - 1, or one of the labels. */
export class Categories implements Domain<number> {
  readonly size: number;
  readonly #places: ReadonlyMap<unknown, number> | undefined;

  private constructor(size: number, places?: ReadonlyMap<unknown, number>) {
    this.size = size;
    this.#places = places;
  }

  static of({ k, labels }: Table): Categories {
    if ((k === undefined) === (labels === undefined)) {
      throw new ParameterError("k", { must: "be given, or `labels`, not both" });
    }
    if (labels === undefined) return new Categories(count("k", k, 2, MOST_CATEGORIES));
    const names = list("labels", labels).map((label) =>
      typeof label === "string" ? label : wholeNumber("labels", label, -WORD, WORD),
    );
    if (names.some((label) => typeof label === "string" && !isOneLine(label))) {
      throw new ParameterError("labels", { must: "be texts on one line, or whole numbers" });
    }
    const places = new Map(names.map((label, place) => [label, place]));
    if (places.size < 2 || places.size !== names.length) {
      throw new ParameterError("labels", { must: "be at least two, all different" });
    }
    return new Categories(places.size, places);
  }

  /** The labels in their order, or 0, 1, …, k - 1. */
  labels(): Iterable<unknown> {
    return this.#places?.keys() ?? Array(this.size).keys();
  }

  encode(value: unknown): number {
    const index = this.#places === undefined ? Number(whole(value)) : this.#places.get(name(value));
    if (index === undefined || !(index >= 0 && index < this.size)) {
      throw new DataError(`The value is not among the ${this.size} categories. Map it to one.`);
    }
    return index;
  }
}

/** Return a label in its lookup form: a text, or a whole number of either type. */
function name(label: unknown): unknown {
  return typeof label === "string" ? label : whole(label);
}

function whole(value: unknown): bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  throw new DataError("The value is neither a whole number nor a text. Map it to a category.");
}

/** A number on the grid low, low + step, …, high: rounded to the nearest point, clamped. */
export class Grid implements Domain<number> {
  readonly size: number;
  readonly #low: number;
  readonly #step: number;

  private constructor(low: number, step: number, size: number) {
    this.#low = low;
    this.#step = step;
    this.size = size;
  }

  static of(value: Json | undefined): Grid {
    const grid = table("grid", value, ["low", "high", "step"]);
    const [low, high, step] = [grid.low, grid.high, grid.step].map((e) => number("grid", e)) as [
      number,
      number,
      number,
    ];
    const steps = (high - low) / step;
    const uneven = Math.abs(steps - halfEven(steps)) > 1e-9 * steps;
    if (!(step > 0 && steps > 0.5 && steps <= MOST_STEPS) || uneven) {
      throw new ParameterError("grid", { must: "be divided evenly by a positive step" });
    }
    return new Grid(low, step, halfEven(steps) + 1);
  }

  encode(value: unknown): number {
    const position =
      typeof value === "number" ? halfEven((value - this.#low) / this.#step) : Number.NaN;
    if (Number.isNaN(position)) throw new DataError("The value is missing, or is not a number.");
    return Math.min(Math.max(position, 0), this.size - 1);
  }
}

/** Return the nearest whole number; of two, the even one, as in IEEE 754. */
export function halfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest === 0.5) return floor % 2 === 0 ? floor : floor + 1;
  return rest < 0.5 ? floor : floor + 1;
}

/** A row with an answer to each of several questions; those that are rows are laid out in it. */
export class Product implements Domain<readonly unknown[]> {
  readonly width: number;

  constructor(private readonly parts: readonly Domain<unknown>[]) {
    this.width = parts.reduce((sum, part) => sum + (part.width ?? 1), 0);
  }

  encode(value: unknown): readonly unknown[] {
    if (!Array.isArray(value) || value.length !== this.width) {
      throw new DataError(`The value must be a list of ${this.width} answers.`);
    }
    let end = 0;
    return this.parts.map(({ width }, place) => {
      const start = end;
      end += width ?? 1;
      const own = width === undefined ? value[start] : value.slice(start, end);
      return (this.parts[place] as Domain<unknown>).encode(own);
    });
  }
}
