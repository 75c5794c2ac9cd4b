/** Labels in quotes, the same as Python's `repr` writes them. */

import { ParameterError } from "../errors.js";

/**
 * Return a label as it enters a hash: a whole number in digits, a text in quotes.
 *
 * Signs that cannot be printed are escaped. Whether one can be depends on the version of Unicode
 * only for characters that it does not assign yet, which are refused.
 */
export function quoted(label: unknown): string {
  if (typeof label !== "string") return String(label);
  if (/\p{Cn}/u.test(label)) {
    throw new ParameterError("labels", { must: "have characters that Unicode assigns" });
  }
  const quote = label.includes("'") && !label.includes('"') ? '"' : "'";
  const signs = Array.from(label, (sign) => {
    if (sign === quote || sign === "\\") return `\\${sign}`;
    return sign !== " " && /[\p{C}\p{Z}]/u.test(sign) ? escaped(sign) : sign;
  });
  return quote + signs.join("") + quote;
}

function escaped(sign: string): string {
  const point = sign.codePointAt(0) as number;
  const digits = (size: number) => point.toString(16).padStart(size, "0");
  if (point < 0x100) return `\\x${digits(2)}`;
  return point < 0x10000 ? `\\u${digits(4)}` : `\\U${digits(8)}`;
}
