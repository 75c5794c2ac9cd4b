/** The inputs of a form: what they may be, and how numbers of them are read and written. */

/** One input. */
export interface Field {
  /** The key in the address, and the start of the elements' ids. */
  readonly key: string;
  /** The words for it in a sentence about what is wrong. */
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly whole: boolean;
  /** The ends of the slider, which moves over logarithms. */
  readonly slider: readonly [number, number];
}

const WHOLE = { whole: true } as const;
const REAL = { whole: false } as const;

/** The inputs about a shuffled batch, in order. */
export const SHUFFLED = [
  { key: "k", name: "the number of categories", least: 2, most: 1e6, slider: [2, 1e4], ...WHOLE },
  {
    key: "max_epsilon_local",
    name: "epsilon_local",
    least: 0.01,
    most: 20,
    slider: [0.1, 12],
    ...REAL,
  },
  { key: "n", name: "the number of reports", least: 1, most: 1e15, slider: [2, 1e10], ...WHOLE },
  { key: "delta", name: "delta", least: 1e-15, most: 0.5, slider: [1e-15, 0.1], ...REAL },
] as const satisfies readonly Field[];

/** The inputs about dummies, in order. */
export const DUMMIES = [
  {
    key: "reports",
    name: "the number of possible reports",
    least: 2,
    most: 1e5,
    slider: [2, 1e4],
    ...WHOLE,
  },
  { key: "epsilon", name: "epsilon", least: 0.01, most: 20, slider: [0.05, 10], ...REAL },
  {
    key: "dummy_delta",
    name: "delta",
    least: 1e-15,
    most: 0.1,
    slider: [1e-15, 0.1],
    ...REAL,
  },
  {
    key: "people",
    name: "the number of people",
    least: 1,
    most: 1e15,
    slider: [10, 1e9],
    ...WHOLE,
  },
] as const satisfies readonly Field[];

/** What is wrong with a number, as a sentence; nothing if it is one that can be asked for. */
export function complaint(field: Field, value: number): string | undefined {
  const { least, most, name, whole } = field;
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return undefined;
  const kind = whole ? "a whole number" : "a number";
  return `Choose ${name}: ${kind} from ${written(least)} to ${written(most)}.`;
}

/** The position of a slider from 0 to 1000 for a number. */
export function position(field: Field, value: number): number {
  const [low, high] = field.slider;
  const share = Math.log(value / low) / Math.log(high / low);
  return Math.round(1000 * Math.min(1, Math.max(0, share)));
}

/** The number at a position of a slider, in two digits, or three where it is an epsilon. */
export function numberAt(field: Field, place: number): number {
  const [low, high] = field.slider;
  const value = low * (high / low) ** (place / 1000);
  const digits = field.whole || field.key.endsWith("delta") ? 2 : 3;
  const short = Number(value.toPrecision(digits));
  const chosen = field.whole ? Math.round(short) : short;
  return Math.min(high, Math.max(low, chosen));
}

/** A number as people write it: 100,000, 0.05, 1e-6. */
export function written(value: number): string {
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e12)) {
    return typed(value);
  }
  return value.toLocaleString("en", { maximumSignificantDigits: 17 });
}

/** A number as an input, a command line and an address have it: 100000, 0.05, 1e-6, 2.5e9. */
export function typed(value: number): string {
  const long = String(value).replace("e+", "e");
  const short = value.toExponential().replace("e+", "e");
  const plain = value >= 1e-3 && value < 1e6;
  return plain || long.length <= short.length ? long : short;
}

/** The numbers that an address asks for; those of other keys, or none at all, are left out. */
export function readAddress(hash: string, fields: readonly Field[]): Map<string, number> {
  const asked = new URLSearchParams(hash.replace(/^#/, ""));
  const found = new Map<string, number>();
  for (const field of fields) {
    const text = asked.get(field.key);
    if (text === null || text.trim() === "") continue;
    const value = Number(text);
    if (Number.isFinite(value)) found.set(field.key, value);
  }
  return found;
}

/** The end of an address that asks for these numbers. */
export function writeAddress(values: ReadonlyMap<string, number>): string {
  const parts = [...values].map(([key, value]) => `${key}=${typed(value)}`);
  return `#${parts.join("&")}`;
}
