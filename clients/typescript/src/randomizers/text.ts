/** Shares of texts that nobody listed, found prefix by prefix. */

import { type Bytes, bigEndian, concat } from "../bytes.js";
import { ParameterError } from "../errors.js";
import type { Table } from "../json.js";
import { count, list, table } from "../table.js";
import { type Letters, Texts } from "../texts.js";
import { FamilyHashing, OF_A_FAMILY } from "./family_hashing.js";

const FIRST_PREFIXES = 100_000;
const CHILDREN = 1000;
const MOST_CHILDREN = 2 ** 21;
const LETTER_SIZE = 2;

/**
 * Draw a level, and answer with the prefix of the text at that level, by local hashing.
 *
 * A shorter text is its own prefix, and differs from that of a longer one. Messages of a level have
 * one length, whatever the text.
 */
export class Text extends FamilyHashing<Letters> {
  readonly #lengths: readonly number[];

  constructor(specification: Table) {
    const known = [...OF_A_FAMILY, "longest", "alphabet", "normalisation", "levels"];
    const own = table("text", specification, known);
    const texts = new Texts(own);
    const lengths = lengthsOf(own, texts);
    super(own, texts, lengths.length);
    this.#lengths = lengths;
  }

  protected override message(index: Letters, level: number): Bytes {
    const prefix = index.slice(0, this.#lengths[level]);
    return concat(...[level, ...prefix].map((letter) => bigEndian(letter, LETTER_SIZE)));
  }
}

/** Return the given lengths of the prefixes, or those that the size of the alphabet suggests. */
function lengthsOf({ levels }: Table, { longest, letters }: Texts): readonly number[] {
  if (levels !== undefined) {
    const given = list("levels", levels).map((each) => count("levels", each, 1, longest));
    const most = lettersWithin(MOST_CHILDREN, letters + 1);
    const ascend = given.every((each, place) => {
      const more = each - (given[place - 1] ?? each - 1);
      return more > 0 && more <= most;
    });
    if (given.at(-1) === longest && ascend) return given;
    const must = `be lengths of prefixes that ascend by at most ${most}, the last ${longest}`;
    throw new ParameterError("levels", { must });
  }
  const step = lettersWithin(CHILDREN, letters + 1);
  const lengths: number[] = [];
  for (let at = lettersWithin(FIRST_PREFIXES, letters + 1); at < longest; at += step) {
    lengths.push(at);
  }
  return [...lengths, longest];
}

/** Return the number of letters up to which there are at most so many texts, at least one. */
function lettersWithin(most: number, signs: number): number {
  let length = 1;
  while (signs ** (length + 1) <= most) length += 1;
  return length;
}
