/** The tables of a plan: unknown keys are refused, since a client would ignore their meaning. */

import { ParameterError } from "./errors.js";
import { isTable, type Json, type Table } from "./json.js";

/** Return a table with no other keys than these. */
export function table(name: string, value: Json | undefined, known: readonly string[]): Table {
  if (!isTable(value)) throw new ParameterError(name, { must: "be a table" });
  const unknown = Object.keys(value).find((entry) => !known.includes(entry));
  if (unknown !== undefined) {
    const hint = "The plan is newer than this client, or asks for something that it cannot do.";
    throw new ParameterError(`${name}.${unknown}`, { must: "be known to this client", hint });
  }
  return value;
}

export function wholeNumber(
  name: string,
  value: Json | undefined,
  least: bigint,
  most: bigint,
): bigint {
  if (typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value))) {
    const whole = BigInt(value);
    if (least <= whole && whole <= most) return whole;
  }
  throw new ParameterError(name, { must: `be a whole number in [${least}, ${most}]` });
}

/** Return a whole number that a double holds. */
export function count(name: string, value: Json | undefined, least: number, most: number): number {
  return Number(wholeNumber(name, value, BigInt(least), BigInt(most)));
}

export function list(name: string, value: Json | undefined): readonly Json[] {
  if (!Array.isArray(value)) throw new ParameterError(name, { must: "be a list" });
  return value;
}

export function oneOf<T extends Json>(
  name: string,
  value: Json | undefined,
  known: readonly T[],
): T {
  const found = known.find((entry) => entry === value);
  if (found === undefined)
    throw new ParameterError(name, { must: `be one of ${known.join(", ")}` });
  return found;
}

export function number(name: string, value: Json | undefined): number {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw new ParameterError(name, { must: "be a number" });
  }
  return value;
}
