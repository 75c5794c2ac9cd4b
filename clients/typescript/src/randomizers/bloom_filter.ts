/** Bloom filters: the bits that each category sets, by public hashes. */

import { concat, hex, sha256, utf8 } from "../bytes.js";
import { areIndependent } from "../numerics/independence.js";
import { quoted } from "./quoted.js";

const PREFIX = utf8("croupier rappor v1");

/** Return the hashes of every category, as whole numbers of 256 bits. */
export function hashesOf(labels: Iterable<unknown>, hashes: number): Promise<bigint[][]> {
  const hash = async (text: string) => BigInt(`0x${hex(await sha256(concat(PREFIX, utf8(text))))}`);
  const own = (label: unknown) => {
    const name = quoted(label);
    return Promise.all(Array.from({ length: hashes }, (_, place) => hash(`${place} ${name}`)));
  };
  return Promise.all(Array.from(labels, own));
}

/** The filters of all categories at one size. */
export class BloomFilters {
  /** The bits that each category sets. */
  readonly set: readonly ReadonlySet<number>[];

  constructor(
    hashes: readonly (readonly bigint[])[],
    readonly bits: number,
  ) {
    this.set = hashes.map((own) => new Set(own.map((hash) => Number(hash % BigInt(bits)))));
  }

  /** Tell whether the counts of the bits determine the shares. */
  get isDetermined(): boolean {
    return areIndependent(this.set);
  }

  /** The largest number of bits in which two categories differ. */
  get distance(): number {
    let furthest = 0;
    for (const one of this.set) {
      for (const other of this.set) {
        let apart = one.size + other.size;
        for (const bit of one) if (other.has(bit)) apart -= 2;
        furthest = Math.max(furthest, apart);
      }
    }
    return furthest;
  }
}
