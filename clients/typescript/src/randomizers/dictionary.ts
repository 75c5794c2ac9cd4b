/** Shares of many listed answers, through a public family of hash functions. */

import { type Bytes, bigEndian } from "../bytes.js";
import { Categories } from "../domain.js";
import { ParameterError } from "../errors.js";
import type { Table } from "../json.js";
import { table } from "../table.js";
import { FamilyHashing, OF_A_FAMILY } from "./family_hashing.js";

const MOST_ANSWERS = 10_000_000;

/** Local hashing with public functions, for up to 10,000,000 answers. */
export class Dictionary extends FamilyHashing<number> {
  constructor(specification: Table) {
    const own = table("dictionary", specification, [...OF_A_FAMILY, "k", "labels"]);
    const answers = Categories.of(own);
    if (answers.size > MOST_ANSWERS) {
      throw new ParameterError("k", { must: `be at most ${MOST_ANSWERS}` });
    }
    super(own, answers, 1);
  }

  protected override message(index: number): Bytes {
    return bigEndian(index, 8);
  }
}
