/** Shares of many listed answers, through a public family of hash functions. */

import { type Bytes, bigEndian } from "../bytes.js";
import { Categories } from "../domain.js";
import type { Table } from "../json.js";
import { table } from "../table.js";
import { FamilyHashing, OF_A_FAMILY } from "./family_hashing.js";

/** Local hashing with public functions, for up to millions of answers. */
export class Dictionary extends FamilyHashing<number> {
  constructor(specification: Table) {
    const own = table("dictionary", specification, [...OF_A_FAMILY, "k", "labels"]);
    super(own, Categories.of(own), 1);
  }

  protected override message(index: number): Bytes {
    return bigEndian(index, 8);
  }
}
