/** What one small chart shows: a metric of the ladder, the error of the result, or the liars' shift. */

import type { ColumnPart, Ends, PointPart, Row } from "../asking/protocol.ts";
import { cellOf, type Shown } from "../shown.ts";
import type { Unit } from "./axis.ts";

/** One small chart: what it shows of a point, row by row. */
export interface Measure {
  key: string;
  heading: string;
  meaning: string;
  scale: "linear" | "log";
  unit: Unit;
  rows: Row[];
  read: (point: PointPart, rung: string) => number | null;
  here: (rung: string) => number | null;
}

const ALONE: Row = { rung: "result", name: "result", sees: "", parts: [], headline: true };
/** Metrics that are no chance; all others are, and are written in percent. */
const NO_CHANCES = ["epsilon", "epsilon_permanent", "alpha", "bayes_security"];

/** The end that is proved: the upper one, or for Bayes security, where high is good, the lower one. */
export function proved(metric: string, ends: Ends | undefined): number | null {
  if (ends === undefined) return null;
  return metric === "bayes_security" ? (ends[0] ?? ends[1]) : ends[1];
}

function unitOf(metric: string): Unit {
  if (metric === "reidentification") return "chance";
  return NO_CHANCES.includes(metric) ? "" : "percent";
}

export function metric(column: ColumnPart, now: Shown): Measure {
  return {
    key: column.metric,
    heading: column.heading,
    meaning: column.meaning,
    scale: column.scale,
    unit: unitOf(column.metric),
    rows: now.rows,
    read: (point, rung) => proved(column.metric, point.cells[column.metric]?.[rung]),
    here: (rung) => {
      const cell = cellOf(now, column.metric, rung);
      return cell === undefined ? null : proved(column.metric, [cell.lower, cell.upper]);
    },
  };
}

export function alone(
  key: string,
  heading: string,
  meaning: string,
  read: (point: PointPart) => number | null,
  here: number | null,
  unit: Unit,
): Measure {
  return { key, heading, meaning, scale: "log", unit, rows: [ALONE], read, here: () => here };
}
