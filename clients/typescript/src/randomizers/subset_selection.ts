/** Subset selection: report d of the k categories. */

import { Categories } from "../domain.js";
import type { Table } from "../json.js";
import { Randomizer } from "../randomizer.js";
import { type Report, ReportFormat } from "../report.js";
import { ceilingOf, exactly, expBelow, type Fraction, nearest } from "../rounding.js";
import { count, table } from "../table.js";
import { COMMON, denominatorOf, maxEpsilonOf, requireLaw } from "./calibrated.js";

const MOST_MEMBERS = 2 ** 20;

/**
 * Report a random set of d categories, more likely one that contains the value.
 *
 * The first draw decides whether the value is in the set; the others shuffle the remaining
 * categories (Fisher and Yates) as far as the set reaches.
 */
export class SubsetSelection extends Randomizer<number> {
  readonly maxEpsilonLocal: number;
  readonly domain: Categories;
  readonly drawBounds: readonly bigint[];
  readonly reportFormat: ReportFormat;
  /** The weight of a set without the value. */
  readonly miss: bigint;

  constructor(specification: Table) {
    super();
    const own = table("subset-selection", specification, [...COMMON, "k", "labels", "subset_size"]);
    this.maxEpsilonLocal = maxEpsilonOf(own);
    this.domain = Categories.of(own);
    const denominator = denominatorOf(own);
    const low = expBelow(exactly(this.maxEpsilonLocal));
    const members = membersOf(own, this.domain.size, low);
    const [k, d] = [BigInt(this.domain.size), BigInt(members)];
    this.miss = ceilingOf(
      denominator * (k - d) * low.denominator,
      d * low.numerator + (k - d) * low.denominator,
    );
    requireLaw((denominator - this.miss) * (k - d), this.miss * d);
    const places = Array.from({ length: members }, (_, place) => k - 1n - BigInt(place));
    this.drawBounds = [denominator, ...places];
    this.reportFormat = new ReportFormat(Array<bigint>(members).fill(k), true);
  }

  respond(index: number, draws: readonly bigint[]): Report {
    const [first, ...others] = draws as [bigint, ...bigint[]];
    // The other categories, in the order of their numbers; the map holds those that were moved.
    const moved = new Map<bigint, bigint>();
    const at = (place: bigint) => moved.get(place) ?? (place < index ? place : place + 1n);
    const members = others.map((draw, place) => {
      const [here, chosen] = [BigInt(place), BigInt(place) + draw];
      const member = at(chosen);
      moved.set(chosen, at(here));
      return member;
    });
    if (first >= this.miss) members[members.length - 1] = BigInt(index);
    return members.sort((one, other) => (one < other ? -1 : 1));
  }
}

/** Return the given size of the set, or the one nearest to k/(e^epsilon + 1). */
function membersOf({ subset_size }: Table, k: number, low: Fraction): number {
  const best = nearest({
    numerator: BigInt(k) * low.denominator,
    denominator: low.numerator + low.denominator,
  });
  const given = subset_size ?? (best > 0n ? best : 1n);
  return count("subset_size", given, 1, Math.min(k - 1, MOST_MEMBERS));
}
