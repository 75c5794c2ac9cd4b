/** JSON without loss: whole numbers beyond 2^53 are BigInts; canonical text has one spelling. */

export type Json = string | number | bigint | boolean | null | readonly Json[] | Table;
export interface Table {
  readonly [name: string]: Json;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MARK = "\u0000whole number ";

/** Read a text. Whole numbers that a double may not hold exactly become BigInts. */
export function readJson(text: string): Json {
  const marked = text.replace(TOKEN, (token) => {
    if (token.startsWith(JSON.stringify(MARK).slice(0, -1)))
      throw new SyntaxError("a reserved text");
    return isLarge(token) ? JSON.stringify(MARK + token) : token;
  });
  return JSON.parse(marked, (_, value) =>
    typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}

function isLarge(token: string): boolean {
  return /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token));
}

/** Return the one spelling of a value: keys in order, no spaces, ASCII. Numbers must be whole. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).sort(([first], [second]) => (first < second ? -1 : 1));
    return `{${entries.map(([name, entry]) => `${ascii(name)}:${canonical(entry)}`).join(",")}}`;
  }
  return typeof value === "string" ? ascii(value) : String(value);
}

function ascii(text: string): string {
  const escaped = (character: string) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, escaped);
}

export function isTable(value: Json | undefined): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
