/** The integers of every mechanism are those of the proof, and so is the law of its responses. */

import { describe, expect, test } from "vitest";
import { CroupierError } from "../src/errors.js";
import { draw, type Keystream, operatingSystem, WORD } from "../src/keystream.js";
import type { Randomizer } from "../src/randomizer.js";
import type { KaryRandomizedResponse } from "../src/randomizers/k_rr.js";
import type { LocalHashing } from "../src/randomizers/local_hashing.js";
import type { OneBitMean } from "../src/randomizers/one_bit_mean.js";
import { ParallelRandomizer } from "../src/randomizers/parallel.js";
import { build } from "../src/randomizers/registry.js";
import type { SymmetricUnaryEncoding } from "../src/randomizers/unary_encoding.js";
import { type Case, vectors } from "./vectors.js";

const VECTORS = vectors("randomizers");

function weightsOf(made: Randomizer<number>, mechanism: string): bigint[] {
  const denominator = made.drawBounds.at(-1) as bigint;
  if (mechanism === "one-bit-mean") {
    return Array.from({ length: made.domain.size }, (_, place) => (made as OneBitMean).one(place));
  }
  if (mechanism.endsWith("unary")) {
    const { own, other } = (made as SymmetricUnaryEncoding).bitWeights;
    return [own, other];
  }
  if (mechanism === "plain") return [1n, 0n];
  const { blanket } = made as KaryRandomizedResponse | LocalHashing;
  const answers = made.reportFormat.bounds.at(-1) as bigint;
  return [denominator - (answers - 1n) * blanket, blanket];
}

test.each(VECTORS.integers as Case[])("integers of $specification", (entry: Case) => {
  const made = build(entry.specification);
  expect(weightsOf(made, entry.specification.mechanism)).toEqual(entry.weights.map(BigInt));
  expect(made.drawBounds).toEqual(entry.draw_bounds.map(BigInt));
  expect(made.reportFormat.bounds).toEqual(entry.bounds.map(BigInt));
  for (const { index, draws, report } of entry.responses) {
    expect(made.respond(Number(index), draws.map(BigInt))).toEqual(report.map(BigInt));
  }
});

test.each(VECTORS.refused as Case[])("refused: $specification", (entry: Case) => {
  expect(() => build(entry.specification)).toThrow(CroupierError);
});

/** Yield every row of draws. */
function* everyDraw(bounds: readonly bigint[]): Generator<bigint[]> {
  const [first, ...rest] = bounds;
  if (first === undefined) {
    yield [];
    return;
  }
  for (let drawn = 0n; drawn < first; drawn += 1n) {
    for (const others of everyDraw(rest)) yield [drawn, ...others];
  }
}

/** Count the rows of draws that lead each value to each report. */
function law<Index>(made: Randomizer<Index>, values: readonly Index[]): Map<string, number[]> {
  const columns = new Map<string, number[]>();
  for (const draws of everyDraw(made.drawBounds)) {
    values.forEach((value, row) => {
      const report = made.respond(value, draws).join();
      const column = columns.get(report) ?? Array<number>(values.length).fill(0);
      columns.set(report, column);
      column[row] = (column[row] as number) + 1;
    });
  }
  return columns;
}

function published({ reports, weights }: Case): Map<string, number[]> {
  const column = (at: number) => weights.map((row: number[]) => row[at]);
  return new Map(reports.map((report: number[], at: number) => [report.join(), column(at)]));
}

test.each(VECTORS.laws as Case[])("every draw gives the law of $specification", (entry: Case) => {
  const made = build(entry.specification);
  expect(made.drawBounds).toEqual(entry.draw_bounds.map(BigInt));
  const values = entry.weights.map((_: unknown, index: number) => index);
  expect(law(made, values)).toEqual(published(entry));
});

test("every draw gives the law of parallel questions", () => {
  const entry = VECTORS.parallel;
  const queries = entry.queries.map(build);
  const made = new ParallelRandomizer(queries, entry.weights_of_queries.map(BigInt));
  expect(made.drawBounds).toEqual(entry.draw_bounds.map(BigInt));
  expect(law(made, entry.values)).toEqual(published(entry));
});

describe("values", () => {
  test.each(VECTORS.values as Case[])("$specification.mechanism: $value", (entry: Case) => {
    const { domain } = build(entry.specification);
    if (entry.index !== null) {
      expect(domain.encode(entry.value)).toBe(entry.index);
      return;
    }
    expect(() => domain.encode(entry.value)).toThrow(CroupierError);
  });

  test.each([undefined, null, Number.NaN, {}, "sesame", 0.123])("no error shows %s", (value) => {
    const { domain } = build({ mechanism: "k-rr", k: 10, max_epsilon_local: 1 });
    const shown = () => {
      try {
        return domain.encode(value);
      } catch (error) {
        return String(error);
      }
    };
    expect(shown()).toMatch(/^\w*Error: The value is n/);
    expect(shown()).not.toMatch(/sesame|0\.123/);
  });
});

describe("draws", () => {
  const scripted = (words: bigint[]): Keystream => ({
    words: (size) => BigUint64Array.from(words.splice(0, size)),
  });

  test("are words where the bound is 2^64", () => {
    expect(draw([WORD], scripted([WORD - 1n]))).toEqual([WORD - 1n]);
  });

  test("are rejected above the largest multiple of the bound", () => {
    const last = WORD - (WORD % 6n);
    expect(draw([6n, 6n], scripted([last, last - 1n, last + 3n, 7n]))).toEqual([1n, 5n]);
  });

  test("fill more than one request to the operating system", () => {
    const words = operatingSystem.words(20_000);
    expect(new Set(words).size).toBe(20_000);
  });
});
