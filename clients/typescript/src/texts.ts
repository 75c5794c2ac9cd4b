/** Short texts, letter by letter. No message shows the text. */

import { utf8 } from "./bytes.js";
import type { Domain } from "./domain.js";
import { DataError, ParameterError } from "./errors.js";
import type { Table } from "./json.js";
import { count, oneOf } from "./table.js";

/** The letters of a text, by their number in the alphabet from 1, then zeros. */
export type Letters = readonly number[];

const BYTES = 256;
/** A letter is written in two bytes. */
const MOST_LETTERS = 2 ** 16 - 1;
/** The bits of all letters together, so that the number of texts is a double. */
const MOST_BITS = 1000;
const HALF_A_CHARACTER = /\p{Cs}/u;

const NORMALISED: Readonly<Record<string, (text: string) => string>> = {
  none: (text) => text,
  lower: (text) => stripped(text).replace(/[A-Z]/g, (sign) => sign.toLowerCase()),
  nfc: (text) => stripped(text).normalize("NFC"),
};

/** Texts of at most so many letters of an alphabet; what goes beyond is cut off. */
export class Texts implements Domain<Letters> {
  readonly longest: number;
  /** The number of letters of the alphabet. */
  readonly letters: number;
  readonly #normalised: (text: string) => string;
  readonly #places: ReadonlyMap<string, number> | undefined;

  constructor({ longest, alphabet, normalisation = "none" }: Table) {
    const known = oneOf("normalisation", normalisation, Object.keys(NORMALISED));
    this.#normalised = NORMALISED[known] as (text: string) => string;
    if (alphabet !== undefined) this.#places = placesOf(alphabet, this.#normalised);
    this.letters = this.#places?.size ?? BYTES;
    const bits = (this.letters + 1).toString(2).length;
    this.longest = count("longest", longest, 1, Math.floor(MOST_BITS / bits));
  }

  encode(value: unknown): Letters {
    const codes = typeof value === "string" ? this.#codes(this.#normalised(value)) : [undefined];
    return Array.from({ length: this.longest }, (_, place) => {
      const code = place < codes.length ? codes[place] : 0;
      if (code !== undefined) return code;
      throw new DataError(
        "The value is not a text of the alphabet. " +
          "Map other letters to one of the alphabet, or leave the alphabet out.",
      );
    });
  }

  #codes(text: string): readonly (number | undefined)[] {
    const places = this.#places;
    if (places !== undefined) return Array.from(text, (letter) => places.get(letter));
    if (HALF_A_CHARACTER.test(text)) return [undefined];
    return Array.from(utf8(text), (byte) => byte + 1);
  }
}

/** Return a text without the spaces at its ends. */
function stripped(text: string): string {
  let [start, end] = [0, text.length];
  while (text[start] === " ") start += 1;
  while (end > start && text[end - 1] === " ") end -= 1;
  return text.slice(start, end);
}

/** Return the number of each letter, from 1. */
function placesOf(
  alphabet: unknown,
  normalised: (text: string) => string,
): ReadonlyMap<string, number> {
  const letters = typeof alphabet === "string" ? [...alphabet] : [];
  const places = new Map(letters.map((letter, place) => [letter, place + 1]));
  const hasHalves = letters.some((letter) => HALF_A_CHARACTER.test(letter));
  if (places.size < 1 || places.size < letters.length || places.size > MOST_LETTERS || hasHalves) {
    const must = `be at most ${MOST_LETTERS} letters that all differ, or be left out for bytes`;
    throw new ParameterError("alphabet", { must });
  }
  if (letters.some((letter) => letter !== " " && normalised(letter) !== letter)) {
    const must = "have letters that the normalisation leaves as they are";
    throw new ParameterError("alphabet", { must });
  }
  return places;
}
