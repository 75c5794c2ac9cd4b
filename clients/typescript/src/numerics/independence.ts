/** Linear independence of rows of zeros and ones, decided in integers. */

type Row = Map<number, bigint>;

/**
 * Tell whether rows, each given by the places of its ones, are independent as rationals.
 *
 * Rows that are independent modulo 2 have an odd minor, which is not zero. Otherwise, as for the
 * three sides of a triangle, the rationals decide.
 */
export function areIndependent(rows: readonly ReadonlySet<number>[]): boolean {
  return moduloTwo(rows) || rationally(rows);
}

function moduloTwo(rows: readonly ReadonlySet<number>[]): boolean {
  const pivots = new Map<number, ReadonlySet<number>>();
  return rows.every((row) => {
    const rest = new Set(row);
    for (let least = first(rest); least !== undefined; least = first(rest)) {
      const pivot = pivots.get(least);
      if (pivot === undefined) {
        pivots.set(least, rest);
        return true;
      }
      for (const place of pivot) if (!rest.delete(place)) rest.add(place);
    }
    return false;
  });
}

function rationally(rows: readonly ReadonlySet<number>[]): boolean {
  const pivots = new Map<number, Row>();
  return rows.every((row) => {
    let rest: Row = new Map(Array.from(row, (place) => [place, 1n]));
    for (let least = first(rest.keys()); least !== undefined; least = first(rest.keys())) {
      const pivot = pivots.get(least);
      if (pivot === undefined) {
        pivots.set(least, rest);
        return true;
      }
      rest = eliminated(rest, pivot, least);
    }
    return false;
  });
}

/** Return a multiple of a row less one of a pivot, such that a place becomes zero. */
function eliminated(row: Row, pivot: Row, place: number): Row {
  const [own, other] = [row.get(place) as bigint, pivot.get(place) as bigint];
  const made: Row = new Map();
  for (const at of new Set([...row.keys(), ...pivot.keys()])) {
    const entry = (row.get(at) ?? 0n) * other - (pivot.get(at) ?? 0n) * own;
    if (entry !== 0n) made.set(at, entry);
  }
  const shared = [...made.values()].reduce(divisor, 0n);
  return new Map(Array.from(made, ([at, entry]) => [at, entry / shared]));
}

/** Return the greatest common divisor, up to its sign. */
function divisor(one: bigint, other: bigint): bigint {
  return other === 0n ? one : divisor(other, one % other);
}

function first(places: Iterable<number>): number | undefined {
  let least: number | undefined;
  for (const place of places) if (least === undefined || place < least) least = place;
  return least;
}
