/** The parts that Python answers with; every text and every proved number in them is shown as it came. */

export type Value = string | number | boolean | null | string[] | { [key: string]: Value };
export type Document = { [key: string]: unknown };
export type Scale = "linear" | "log";

export interface Change {
  control: string;
  value: Value;
}

export interface Control {
  id: string;
  label: string;
  help: string;
  kind: "slider" | "number" | "choice" | "text" | "list" | "button";
  value: Value;
  key: string | null;
  unit: string;
  movable: boolean;
  /** Moving it there and back may lead to another plan: points over it do not stay. */
  lossy?: boolean;
  from: number | null;
  to: number | null;
  scale: Scale;
  integer: boolean;
  edge: "smallest" | "largest" | null;
  options: { value: string | number | boolean; label: string }[];
}

export interface Group {
  name: string;
  heading: string;
  controls: Control[];
}

export interface PlanPart {
  part: "plan";
  document: Document;
  digest: string;
  title: string;
  subtitle: string;
  proved_for: string;
  file: string;
  groups: Group[];
}

export interface ProblemPart {
  part: "problem";
  control: string | null;
  message: string;
  groups: Group[];
}

export interface Cell {
  rung: string;
  text: string;
  lower: number | null;
  upper: number | null;
  bar: number | null;
  status: string;
  theorem: string;
  attained: string | null;
  assumptions: string[];
  reason: string;
  command: string;
}

export interface ColumnPart {
  part: "column";
  metric: string;
  heading: string;
  meaning: string;
  scale: Scale;
  cells: Cell[];
}

export interface Row {
  rung: string;
  name: string;
  sees: string;
  parts: string[];
  headline?: boolean;
}

export interface RowsPart {
  part: "rows";
  rows: Row[];
}

export interface Limit {
  rung: string;
  metric: string;
  heading: string;
  limit: string;
  proved: string;
  met: boolean;
  idle: string;
}

export interface VerdictPart {
  part: "verdict";
  judgement: string;
  /** How it looks, as on the officer's page: own limits are never green. */
  kind: string;
  /** The row that counts here. */
  headline: string;
  words: string[];
  limits: Limit[];
  advice: string[];
}

export interface Answer {
  label: string;
  truth: number;
  estimate: number;
  lower: number;
  upper: number;
}

export interface ResultPart {
  part: "result";
  words: string[];
  liars: string[];
  kind: string;
  unit: string;
  rows: Answer[];
  note: string;
  error: number | null;
  shift: number | null;
}

export interface Risk {
  asked: string;
  most: string;
  luck: string;
  who: string;
  why: string | null;
}

export interface RiskPart {
  part: "risk";
  risks: Risk[];
  sentences: string[];
}

export type Ends = [number | null, number | null];

export interface PointPart {
  part: "point";
  x: number | string;
  problem: string | null;
  cells: Record<string, Record<string, Ends>>;
  error: number | null;
  shift: number | null;
}

export interface EdgePart {
  part: "edge";
  value: Value;
  words: string;
}

export interface FilePart {
  part: "file";
  name: string;
  type: string;
  text: string;
}

export type Part =
  | PlanPart
  | ProblemPart
  | RowsPart
  | ColumnPart
  | VerdictPart
  | ResultPart
  | RiskPart
  | PointPart
  | EdgePart
  | FilePart
  | { part: "failure"; message: string }
  | { part: "end" };
