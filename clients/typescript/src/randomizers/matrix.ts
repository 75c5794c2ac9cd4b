/** A randomizer from any matrix of probabilities. */

import { Categories } from "../domain.js";
import { ParameterError } from "../errors.js";
import type { Json, Table } from "../json.js";
import { WORD } from "../keystream.js";
import { orderedSum } from "../numerics/portable.js";
import { Randomizer } from "../randomizer.js";
import { type Report, ReportFormat } from "../report.js";
import { list, number, table } from "../table.js";
import { WeightTable } from "./weight_table.js";

const TOLERANCE = 1e-9;

/**
 * Report output y for value x with the probability in row x, column y of a given matrix.
 *
 * Probabilities are rounded to integers over 2^64; a matrix of integers is taken as it is, each row
 * summing to the same denominator. A report is charged the epsilon of the integers.
 */
export class MatrixRandomizer extends Randomizer<number> {
  readonly maxEpsilonLocal: number;
  readonly domain: Categories;
  readonly drawBounds: readonly bigint[];
  readonly reportFormat: ReportFormat;
  readonly table: WeightTable;

  constructor(specification: Table) {
    super();
    const own = table("matrix", specification, ["mechanism", "matrix", "labels"]);
    const rows = list("matrix", own.matrix).map((row) => list("matrix", row));
    const columns = rows[0]?.length ?? 0;
    if (columns === 0 || rows.some((row) => row.length !== columns)) {
      throw new ParameterError("matrix", { must: "have rows and columns, all of one length" });
    }
    this.domain = Categories.of(
      own.labels === undefined ? { k: rows.length } : { labels: own.labels },
    );
    if (this.domain.size !== rows.length) {
      throw new ParameterError("labels", { must: `be ${rows.length}, one per row` });
    }
    this.table = rows.every((row) => row.every(isWhole)) ? integers(rows) : chances(rows);
    this.maxEpsilonLocal = this.table.epsilon;
    this.drawBounds = [this.table.denominator];
    this.reportFormat = new ReportFormat([BigInt(columns)]);
  }

  respond(index: number, draws: readonly bigint[]): Report {
    return [this.table.respond(index, draws[0] as bigint)];
  }
}

function isWhole(entry: Json): entry is number | bigint {
  return typeof entry === "bigint" || Number.isSafeInteger(entry);
}

function integers(rows: readonly (readonly Json[])[]): WeightTable {
  const weights = rows.map((row) => row.map((entry) => BigInt(entry as number | bigint)));
  const [first = []] = weights;
  return new WeightTable(
    weights,
    first.reduce((sum, weight) => sum + weight, 0n),
  );
}

function chances(rows: readonly (readonly Json[])[]): WeightTable {
  const made = rows.map((row) => Float64Array.from(row, (entry) => number("matrix", entry)));
  const isLaw = (row: Float64Array) =>
    row.every((entry) => entry >= 0) && Math.abs(orderedSum(row) - 1) <= TOLERANCE;
  if (!made.every(isLaw)) {
    throw new ParameterError("matrix", { must: "have chances that sum to 1 in every row" });
  }
  return WeightTable.rounded(made, WORD);
}
