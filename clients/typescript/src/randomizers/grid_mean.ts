/** Randomizers of a number on a grid by a table of weights. */

import { Grid } from "../domain.js";
import { ParameterError } from "../errors.js";
import type { Table } from "../json.js";
import { Randomizer } from "../randomizer.js";
import { type Report, ReportFormat } from "../report.js";
import { table } from "../table.js";
import { COMMON, denominatorOf, maxEpsilonOf } from "./calibrated.js";
import type { WeightTable } from "./weight_table.js";

const MOST_ENTRIES = 2 ** 21;

/** The numbers from which a table of weights follows. */
export interface GridLaw {
  readonly own: Table;
  readonly points: number;
  readonly epsilon: number;
  readonly denominator: bigint;
}

/** A mechanism for numbers, given by a row of weights for each point of the grid. */
export abstract class GridMean extends Randomizer<number> {
  readonly maxEpsilonLocal: number;
  readonly domain: Grid;
  readonly drawBounds: readonly bigint[];
  readonly reportFormat: ReportFormat;
  readonly table: WeightTable;

  constructor(
    specification: Table,
    more: readonly string[],
    tableOf: (law: GridLaw) => WeightTable,
  ) {
    super();
    const known = [...COMMON, "grid", ...more];
    const own = table(String(specification.mechanism), specification, known);
    this.maxEpsilonLocal = maxEpsilonOf(own);
    this.domain = Grid.of(own.grid);
    const denominator = denominatorOf(own);
    const [points, epsilon] = [this.domain.size, this.maxEpsilonLocal];
    this.table = tableOf({ own, points, epsilon, denominator });
    const made = this.table.epsilon;
    if (!(made > 0 && made <= epsilon)) {
      const must = `be expressible by weights over ${denominator}`;
      throw new ParameterError("max_epsilon_local", { must });
    }
    this.drawBounds = [denominator];
    this.reportFormat = new ReportFormat([BigInt((this.table.rows[0] as bigint[]).length)]);
  }

  respond(index: number, draws: readonly bigint[]): Report {
    return [this.table.respond(index, draws[0] as bigint)];
  }
}

/** Refuse a grid whose table, with this many outputs in a row, would not fit. */
export function requireCoarse(points: number, outputs: number): void {
  if (points * outputs <= MOST_ENTRIES) return;
  throw new ParameterError("grid", { must: "be coarser for this mechanism" });
}
