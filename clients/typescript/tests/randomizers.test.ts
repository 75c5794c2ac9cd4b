/** The integers of every mechanism are those of the proof, and so is the law of its responses. */

import { describe, expect, test } from "vitest";
import { type Bytes, fromHex, hex, sha256, utf8 } from "../src/bytes.js";
import { CroupierError } from "../src/errors.js";
import { canonical, type Json } from "../src/json.js";
import { draw, type Keystream, operatingSystem, WORD } from "../src/keystream.js";
import type { Randomizer } from "../src/randomizer.js";
import { Distribution } from "../src/randomizers/distribution.js";
import type { DiscreteGaussian } from "../src/randomizers/gaussian.js";
import { HadamardResponse } from "../src/randomizers/hadamard.js";
import type { KaryRandomizedResponse } from "../src/randomizers/k_rr.js";
import type { DiscreteLaplace } from "../src/randomizers/laplace.js";
import type { LocalHashing } from "../src/randomizers/local_hashing.js";
import type { MatrixRandomizer } from "../src/randomizers/matrix.js";
import { MemoisedResponse } from "../src/randomizers/memoised.js";
import { OneBitMean } from "../src/randomizers/one_bit_mean.js";
import { Plain } from "../src/randomizers/plain.js";
import { Rappor } from "../src/randomizers/rappor.js";
import { build } from "../src/randomizers/registry.js";
import type { SampledSign } from "../src/randomizers/sampled_sign.js";
import { SubsetSelection } from "../src/randomizers/subset_selection.js";
import { Text } from "../src/randomizers/text.js";
import {
  OptimizedUnaryEncoding,
  SymmetricUnaryEncoding,
} from "../src/randomizers/unary_encoding.js";
import { type Case, vectors } from "./vectors.js";

const VECTORS = vectors("randomizers");

/** Return the integers of a mechanism that is not a table. */
function weightsOf(made: Randomizer): bigint[] {
  if (made instanceof Plain) return [1n, 0n];
  if (made instanceof OneBitMean) {
    return Array.from({ length: made.domain.size }, (_, place) => made.one(place));
  }
  if (made instanceof SymmetricUnaryEncoding || made instanceof OptimizedUnaryEncoding) {
    return [made.bitWeights.own, made.bitWeights.other];
  }
  const [first, last] = [made.drawBounds[0] as bigint, made.drawBounds.at(-1) as bigint];
  if (made instanceof HadamardResponse || made instanceof SubsetSelection) {
    return [first - made.miss, made.miss];
  }
  if (made instanceof Distribution) {
    return made.levels.length > 0 ? made.levels.flatMap(weightsOf) : [1n, 0n];
  }
  if (made instanceof MemoisedResponse) return [...made.blankets];
  if (made instanceof Rappor) return [first - made.flip, made.flip];
  const { blanket } = made as KaryRandomizedResponse | LocalHashing | SampledSign | Text;
  const answers = made.reportFormat.bounds.at(-1) as bigint;
  return [last - (answers - 1n) * blanket, blanket];
}

/** Return the index of a vector: a number, a row of signs or a row of letters. */
function indexOf(index: Json, made: Randomizer): unknown {
  if (!Array.isArray(index)) return Number(index);
  return made instanceof Text ? index.map(Number) : index.map(BigInt);
}

/** Return the name of the batch, if reports vary by it. */
const batchOf = ({ batch = "" }: Case): Bytes => fromHex(batch);

test.each(VECTORS.integers as Case[])("integers of $specification", async (entry: Case) => {
  const made = await build(entry.specification);
  if (entry.table === undefined) {
    expect(weightsOf(made)).toEqual(entry.weights.map(BigInt));
  } else {
    const { table } = made as DiscreteLaplace | DiscreteGaussian | MatrixRandomizer;
    expect(hex(await sha256(utf8(canonical(table.rows))))).toBe(entry.table);
    expect(table.epsilon).toBe(entry.epsilon);
  }
  expect(made.drawBounds).toEqual(entry.draw_bounds.map(BigInt));
  expect(made.reportFormat.bounds).toEqual(entry.bounds.map(BigInt));
  for (const { index, draws, report } of entry.responses) {
    const given = [indexOf(index, made), draws.map(BigInt), batchOf(entry)] as const;
    expect(await made.respond(...given)).toEqual(report.map(BigInt));
  }
});

test("parallel questions are asked in the batch of the report", async () => {
  const queries = [
    { mechanism: "dictionary", k: 1000, functions: 8, max_epsilon_local: 2 },
    { mechanism: "text", longest: 4, functions: 8, levels: [4], max_epsilon_local: 2 },
  ];
  const parallel = await build({ mechanism: "parallel", queries });
  expect(parallel.drawBounds).toEqual([2n, 8n, WORD]);
  const indices = parallel.domain.encode([7, "word"]) as unknown[];
  const found = new Set<string>();
  for (const batch of ["one", "two", "three", "four"].map(utf8)) {
    for (const [place, query] of queries.entries()) {
      const own = await (await build(query)).respond(indices[place], [5n, WORD - 1n], batch);
      const draws = [BigInt(place), 5n, WORD - 1n];
      expect(await parallel.respond(indices, draws, batch)).toEqual([BigInt(place), ...own]);
      found.add(own.join());
    }
  }
  expect(found.size).toBeGreaterThan(4);
});

test.each(VECTORS.refused as Case[])("refused: $specification", async (entry: Case) => {
  await expect(build(entry.specification)).rejects.toThrow(CroupierError);
});

test("too many functions for the levels and buckets are refused with how many fit", async () => {
  const own = { mechanism: "text", longest: 24, max_epsilon_local: 8 };
  await expect(build(own)).rejects.toThrow(/^`functions` must be a whole number in \[1, 978\]\./);
  expect((await build({ ...own, functions: 978 })).drawBounds[0]).toBe(23n * 978n);
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
async function law<Index>(
  made: Randomizer<Index>,
  values: readonly Index[],
  batch: Bytes,
): Promise<Map<string, number[]>> {
  const columns = new Map<string, number[]>();
  for (const draws of everyDraw(made.drawBounds)) {
    for (const [row, value] of values.entries()) {
      const report = (await made.respond(value, draws, batch)).join();
      const column = columns.get(report) ?? Array<number>(values.length).fill(0);
      columns.set(report, column);
      column[row] = (column[row] as number) + 1;
    }
  }
  return columns;
}

function published({ reports, weights }: Case): Map<string, number[]> {
  const column = (at: number) => weights.map((row: number[]) => row[at]);
  return new Map(reports.map((report: number[], at: number) => [report.join(), column(at)]));
}

test.each(VECTORS.laws as Case[])(
  "every draw gives the law of $specification",
  async (entry: Case) => {
    const made = await build(entry.specification);
    expect(made.drawBounds).toEqual(entry.draw_bounds.map(BigInt));
    const values = entry.values.map((index: Json) => indexOf(index, made));
    expect(await law(made, values, batchOf(entry))).toEqual(published(entry));
  },
);

test("every draw gives the law of parallel questions", async () => {
  const entry = VECTORS.parallel;
  const { queries, weights_of_queries: weights } = entry;
  const made = await build({ mechanism: "parallel", queries, weights });
  expect(made.drawBounds).toEqual(entry.draw_bounds.map(BigInt));
  expect(await law(made, entry.values, batchOf(entry))).toEqual(published(entry));
});

test("every draw gives the law of questions together", async () => {
  const { queries, ...entry } = VECTORS.together;
  const made = await build({ mechanism: "together", queries });
  expect(made.drawBounds).toEqual(entry.draw_bounds.map(BigInt));
  expect(made.maxEpsilonLocal).toBe(entry.cost);
  expect(await law(made, entry.values, batchOf(entry))).toEqual(published(entry));
});

test.each(VECTORS.costs as Case[])("costs of $specification", async ({ specification, cost }) => {
  expect((await build(specification)).maxEpsilonLocal).toBe(cost);
});

describe("values", () => {
  test.each(VECTORS.values as Case[])("$specification.mechanism: $value", async (entry: Case) => {
    const made = await build(entry.specification);
    const { domain } = made;
    if (entry.index !== null) {
      expect(domain.encode(entry.value)).toEqual(indexOf(entry.index, made));
      return;
    }
    expect(() => domain.encode(entry.value)).toThrow(CroupierError);
  });

  const text = { mechanism: "text", longest: 9, alphabet: "abc", max_epsilon_local: 1 };
  const hidden = [undefined, null, Number.NaN, {}, "sesame", 0.123];
  const asked = [{ mechanism: "k-rr", k: 10, max_epsilon_local: 1 }, text];
  test.each(asked.flatMap((own) => hidden.map((value) => [value, own] as const)))(
    "no error shows %s",
    async (value, own) => {
      const { domain } = await build(own);
      const shown = () => {
        try {
          return domain.encode(value);
        } catch (error) {
          return String(error);
        }
      };
      expect(shown()).toMatch(/^\w*Error: The value is n/);
      expect(shown()).not.toMatch(/sesame|0\.123/);
    },
  );
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

  test("of equal bounds are drawn together, and the rejected ones among them again", () => {
    const last = WORD - (WORD % 6n);
    const words = [last, last + 1n, 8n, last + 2n, 9n, 10n];
    // Six twice: both are rejected, then the second again; then a word below ten.
    expect(draw([6n, 6n, 10n], scripted(words))).toEqual([2n, 3n, 0n]);
  });

  test("fill more than one request to the operating system", () => {
    const words = operatingSystem.words(20_000);
    expect(new Set(words).size).toBe(20_000);
  });
});
