/** The calculator's bounds: between Python's, above every sum that can be listed exactly. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { amplified } from "../src/bounds/amplification.ts";
import { binomialWindow } from "../src/bounds/binomial.ts";
import { contourLogDelta } from "../src/bounds/contour.ts";
import { deltaAbove, dummyTable, exceeds } from "../src/bounds/dummies.ts";
import { withDummies } from "../src/bounds/dummy_answer.ts";
import { exponentialBelowOf } from "../src/bounds/exponential.ts";
import { masses, response, values, WORD } from "../src/bounds/k_rr.ts";
import { Lists } from "../src/bounds/listed.ts";
import { ceilingDigits } from "../src/bounds/outward.ts";
import { doubleAbove, doubleBelow, exactly, type Ratio } from "../src/bounds/ratio.ts";
import {
  complaint,
  DUMMIES as DUMMY_FIELDS,
  numberAt,
  position,
  readAddress,
  SHUFFLED,
  typed,
  writeAddress,
} from "../src/calculator/fields.ts";
import {
  dummyCommand,
  dummySentences,
  shuffledCommand,
  shuffledSentences,
} from "../src/calculator/sentences.ts";

interface Vector {
  about: "k-rr" | "dummies";
  k: number;
  delta: number;
  lower: number;
  upper: number;
  max_epsilon_local: number;
  n: number;
  blanket: string;
  epsilon: number;
  most: number;
  weights: string;
  reached: string;
  mean: number;
  standard_deviation: number;
}

const file = new URL("../../tests/vectors/bounds.json", import.meta.url);
const VECTORS: Vector[] = JSON.parse(readFileSync(file, "utf8")).questions;
const K_RR = VECTORS.filter((each) => each.about === "k-rr");
const DUMMIES = VECTORS.filter((each) => each.about === "dummies");

/** Above Python's upper end by this share at most. */
const LARGEST_RATIO = 1.01;

/** Both sides evaluate the same sum, Python to about 1e-6: nothing is below its upper end by more. */
const SMALLEST_RATIO = 1 - 1e-4;

function isBetween(bound: number, { lower, upper }: Vector): boolean {
  return bound >= lower && bound >= SMALLEST_RATIO * upper && bound <= LARGEST_RATIO * upper;
}

function answerOf(vector: Vector): number {
  if (vector.about === "dummies") return withDummies(vector).epsilon;
  return amplified({ ...vector, maxEpsilonLocal: vector.max_epsilon_local }).epsilon;
}

describe("Python's brackets", () => {
  const found = VECTORS.map(answerOf);

  test("hold every bound", () => {
    expect(VECTORS.length).toBe(300);
    const outside = VECTORS.filter((each, place) => !isBetween(found[place] ?? Number.NaN, each));
    expect(outside).toEqual([]);
  });

  test("show every bound that is 2 % too low or too high", () => {
    const positive = VECTORS.filter((each) => each.upper > 0);
    expect(positive.length).toBeGreaterThan(200);
    for (const factor of [0.98, 1.02]) {
      const outside = VECTORS.filter((each, place) => {
        return each.upper > 0 && !isBetween(factor * (found[place] ?? 0), each);
      });
      expect(outside.length).toBe(positive.length);
    }
    const below = VECTORS.filter((each, place) => 0.98 * (found[place] ?? 0) < each.lower);
    expect(below.length).toBeGreaterThan(200);
  });
});

describe("whole numbers", () => {
  test("of k-RR are Python's", () => {
    for (const { k, max_epsilon_local: most, blanket } of K_RR) {
      expect(response(k, most).blanket.toString()).toBe(blanket);
    }
  });

  test("of dummies are Python's, and so is the exact delta", () => {
    for (const vector of DUMMIES) {
      const { delta, weights } = dummyTable(vector.epsilon, vector.delta);
      expect(weights.length - 1).toBe(vector.most);
      expect(createHash("sha256").update(weights.join(" ")).digest("hex")).toBe(vector.weights);
      const [over, under] = vector.reached.split("/").map((each) => BigInt(`0x${each}`));
      expect(delta.over * (under ?? 0n)).toBe(delta.under * (over ?? 0n));
      const answer = withDummies(vector);
      expect(answer.mean).toBe(vector.mean);
      expect(answer.dummies).toBeCloseTo(vector.k * vector.mean, 6);
      expect(answer.standardDeviation).toBeGreaterThanOrEqual(
        vector.standard_deviation * (1 - 1e-15),
      );
      expect(answer.standardDeviation).toBeLessThan(vector.standard_deviation * (1 + 1e-12));
    }
  });
});

/** (1/n) E[S_+] in whole numbers, with e^epsilon rounded down: above the truth by 1e-49. */
function exactDelta(k: number, maxEpsilonLocal: number, n: number, epsilon: number): Ratio {
  const { blanket } = response(k, maxEpsilonLocal);
  const own = WORD - BigInt(k - 1) * blanket;
  const { over: e, under: one } = exponentialBelowOf(epsilon);
  // Values in units of 1 / (blanket * one), chances in units of 1 / 2^64.
  const first = own * one - e * blanket;
  const second = blanket * one - e * own;
  const third = (one - e) * blanket;
  const rest = WORD - BigInt(k) * blanket;
  let total = 0n;
  for (let a = 0; a <= n; a += 1) {
    for (let b = 0; a + b <= n; b += 1) {
      for (let c = 0; a + b + c <= n; c += 1) {
        const sum = BigInt(a) * first + BigInt(b) * second + BigInt(c) * third;
        if (sum <= 0n) continue;
        const ways = choose(n, a) * choose(n - a, b) * choose(n - a - b, c);
        const chance =
          blanket ** BigInt(a + b) *
          (BigInt(k - 2) * blanket) ** BigInt(c) *
          rest ** BigInt(n - a - b - c);
        total += ways * chance * sum;
      }
    }
  }
  return { over: total, under: BigInt(n) * blanket * one * WORD ** BigInt(n) };
}

function choose(n: number, k: number): bigint {
  let found = 1n;
  for (let j = 0; j < k; j += 1) found = (found * BigInt(n - j)) / BigInt(j + 1);
  return found;
}

const SMALL = [
  { k: 2, maxEpsilonLocal: 1, n: 2 },
  { k: 2, maxEpsilonLocal: 0.3, n: 9 },
  { k: 3, maxEpsilonLocal: 2, n: 4 },
  { k: 3, maxEpsilonLocal: 0.01, n: 7 },
  { k: 10, maxEpsilonLocal: 4, n: 12 },
  { k: 100_000, maxEpsilonLocal: 6, n: 5 },
  { k: 5, maxEpsilonLocal: 14, n: 3 },
];

describe("small batches, listed exactly", () => {
  const deltas = [1e-15, 1e-6, 1e-3, 0.02, 0.3];
  for (const small of SMALL) {
    test(`k ${small.k}, epsilon_local ${small.maxEpsilonLocal}, n ${small.n}`, () => {
      for (const delta of deltas) {
        const limit = exactly(delta);
        const { epsilon } = amplified({ ...small, delta });
        const at = (point: number) => {
          return exactDelta(small.k, small.maxEpsilonLocal, small.n, point);
        };
        expect(exceeds(at(epsilon), limit)).toBe(false);
        // A bound that is 2 % lower would be none.
        if (epsilon > 0) expect(exceeds(at(0.98 * epsilon), limit)).toBe(true);
      }
    });
  }

  test("lists and contours are above the exact sum, and close to it", () => {
    for (const { k, maxEpsilonLocal, n } of SMALL) {
      const made = response(k, maxEpsilonLocal);
      const lists = Lists.of(made, n, 1e-30);
      for (const share of [0.1, 0.4, 0.7, 0.95]) {
        const epsilon = share * made.epsilonLocal;
        const { over, under } = exactDelta(k, maxEpsilonLocal, n, epsilon);
        const [low, high] = [doubleBelow(over, under), doubleAbove(over, under)];
        const listed = Math.exp(lists?.logDelta(values(made, epsilon)) ?? Number.NaN);
        expect(listed).toBeGreaterThanOrEqual(low);
        expect(listed).toBeLessThan(high * (1 + 1e-9));
        const drawn = Math.exp(contourLogDelta(made, n, values(made, epsilon), 0.03));
        expect(drawn).toBeGreaterThanOrEqual(low);
      }
    }
  });

  test("contours of sums that are not too granular are close to the exact sum", () => {
    const made = response(4, 0.5);
    for (const epsilon of [0.02, 0.1, 0.2]) {
      const { over, under } = exactDelta(4, 0.5, 40, epsilon);
      const found = Math.exp(contourLogDelta(made, 40, values(made, epsilon), 0.03));
      expect(found).toBeGreaterThanOrEqual(doubleBelow(over, under));
      expect(found).toBeLessThan(1.001 * doubleAbove(over, under));
    }
  });
});

/** Every batch that n people with k-RR can send, with its chance in units of 2^-64 to the n. */
function lawOf(people: readonly number[], k: number, weight: (own: boolean) => bigint) {
  let law = new Map<string, bigint>([[new Array(k).fill(0).join(), 1n]]);
  for (const value of people) {
    const next = new Map<string, bigint>();
    for (const [batch, chance] of law) {
      for (let answer = 0; answer < k; answer += 1) {
        const counts = batch.split(",").map(Number);
        counts[answer] = (counts[answer] ?? 0) + 1;
        const name = counts.join();
        next.set(name, (next.get(name) ?? 0n) + chance * weight(answer === value));
      }
    }
    law = next;
  }
  return law;
}

test("no dataset of few people has a larger delta", () => {
  for (const [k, n, maxEpsilonLocal] of [
    [2, 4, 1.5],
    [3, 3, 1],
    [3, 4, 2.5],
  ] as const) {
    const { blanket } = response(k, maxEpsilonLocal);
    const weight = (own: boolean) => (own ? WORD - BigInt(k - 1) * blanket : blanket);
    for (const delta of [1e-4, 0.01, 0.1]) {
      const { epsilon } = amplified({ k, n, maxEpsilonLocal, delta });
      const { over: e, under: one } = exponentialBelowOf(epsilon);
      for (let code = 0; code < k ** (n - 1); code += 1) {
        const others = Array.from({ length: n - 1 }, (_, j) => Math.floor(code / k ** j) % k);
        const mine = lawOf([...others, 0], k, weight);
        const changed = lawOf([...others, 1], k, weight);
        let total = 0n;
        for (const [batch, chance] of mine) {
          const gain = chance * one - e * (changed.get(batch) ?? 0n);
          if (gain > 0n) total += gain;
        }
        const reached = { over: total, under: one * WORD ** BigInt(n) };
        expect(exceeds(reached, exactly(delta))).toBe(false);
      }
    }
  }
});

describe("the pieces", () => {
  test("doubles are above or below their fractions, by little", () => {
    for (const [over, under] of [
      [1n, 3n],
      [2n ** 70n + 1n, 3n],
      [1n, 10n ** 40n],
      [1n << 60n, 1n],
    ] as const) {
      const [low, high] = [doubleBelow(over, under), doubleAbove(over, under)];
      expect(exceeds({ over, under }, exactly(high))).toBe(false);
      expect(exceeds(exactly(low), { over, under })).toBe(false);
      expect(high - low).toBeLessThan(high * 2 ** -50);
    }
  });

  test("the exponential is rounded down, by 1e-49 at most", () => {
    // Sixty digits of e.
    const e = 271828182845904523536028747135266249775724709369995957496696n;
    const { over, under } = exponentialBelowOf(1);
    const ten = 10n ** 59n;
    expect(over * ten < e * under).toBe(true);
    expect(over * ten * 10n ** 49n > e * under * (10n ** 49n - 1n)).toBe(true);
  });

  test("binomial chances add up to hardly more than one, and are not below the exact ones", () => {
    const { chances, outside, start } = binomialWindow(40, 0.25, 0.75, 1e-9);
    let total = 0;
    for (const [step, chance] of chances.entries()) {
      const count = start + step;
      const over = choose(40, count) * 3n ** BigInt(40 - count);
      expect(chance).toBeGreaterThanOrEqual(doubleBelow(over, 4n ** 40n));
      total += chance;
    }
    expect(total).toBeGreaterThan(1);
    expect(total + outside).toBeLessThan(1 + 1e-8);
    expect(outside).toBeGreaterThan(0);
  });

  test("delta of dummies is the sum over all pairs of counts", () => {
    const weights = [1n, 2n, 5n, 2n, WORD - 10n];
    const { over: low, under } = exponentialBelowOf(0.3);
    const factor = (low << 200n) / under;
    const at = (u: number) => weights[u] ?? 0n;
    let total = 0n;
    for (let u = 0; u <= 5; u += 1) {
      for (let v = 0; v <= 5; v += 1) {
        const gain = ((at(u - 1) * at(v)) << 200n) - factor * at(u) * at(v - 1);
        if (gain > 0n) total += gain;
      }
    }
    expect(deltaAbove(weights, 0.3).over).toBe(total);
  });

  test("numbers are printed rounded up", () => {
    for (const [value, text] of [
      [0.07551, "0.0756"],
      [4, "4.00"],
      [1234.5, "1,240"],
      [0.1, "0.101"],
      [0.9999, "1.00"],
      [9.999, "10.0"],
      [0.000092159, "9.22e-5"],
      [0, "0"],
    ] as const) {
      expect(ceilingDigits(value)).toBe(text);
    }
  });

  test("chances of the classes add up", () => {
    const { each, rest, third } = masses(response(7, 2));
    expect(2n * each + third + rest).toBe(WORD);
  });
});

describe("questions that have no answer", () => {
  const good = { k: 10, maxEpsilonLocal: 4, n: 1000, delta: 1e-6 };
  for (const bad of [
    { k: 1 },
    { k: 2.5 },
    { maxEpsilonLocal: 0 },
    { maxEpsilonLocal: 21 },
    { n: 0 },
    { n: 1e16 },
    { delta: 0 },
    { delta: 1 },
    { delta: Number.NaN },
  ]) {
    test(JSON.stringify(bad), () => {
      expect(() => amplified({ ...good, ...bad })).toThrow(RangeError);
    });
  }
  test("tables that would be too long", () => {
    expect(() => withDummies({ k: 2, epsilon: 0.01, delta: 1e-15 })).toThrow("too long");
  });
});

describe("what the page says", () => {
  const question = { k: 10, maxEpsilonLocal: 4, n: 100_000, delta: 1e-6 };

  test("a sentence with the bound rounded up, and the command with the same numbers", () => {
    expect(shuffledSentences(question, amplified(question))).toEqual([
      "In a shuffled batch of 100,000 reports, epsilon is at most 0.110 at delta 1e-6.",
      "If the shuffler is not honest, epsilon_local is at most 4.",
    ]);
    expect(shuffledCommand({ ...question, n: 2.5e9 })).toBe(
      "croupier amplify --mechanism k-rr --k 10 --max-epsilon-local 4 --n 2.5e9 --delta 1e-6",
    );
  });

  test("that shuffling proves nothing, that epsilon is 0, and that a bound is loose", () => {
    const alone = { ...question, n: 1 };
    expect(shuffledSentences(alone, amplified(alone))[0]).toBe(
      "In a shuffled batch of one report, epsilon is at most 4 at delta 1e-6.",
    );
    const capped = { ...question, n: 2, delta: 1e-15 };
    expect(shuffledSentences(capped, { ...amplified(capped), method: "epsilon_local" })[1]).toBe(
      "Shuffling proves nothing beyond one report here: epsilon_local is at most 4.",
    );
    const none = { ...question, delta: 0.5 };
    expect(shuffledSentences(none, amplified(none))[0]).toContain("epsilon is 0 at delta 0.5.");
    const loose = { ...amplified(question), sharp: false };
    expect(shuffledSentences(question, loose).at(-1)).toContain("looser");
  });

  test("what dummies prove and cost", () => {
    const asked = { k: 50, epsilon: 1, delta: 1e-8 };
    const [proved, cost, error] = dummySentences(asked, withDummies(asked), 200_000);
    expect(proved).toContain("36 dummies per possible report on average, epsilon is at most 1 at");
    expect(cost).toBe("That is 1,800 dummies per batch.");
    expect(error).toContain("at most 2.80; a share among 200,000 people, at most 1.40e-5.");
    expect(dummyCommand(asked)).toContain('solve("plain", k=50, epsilon=1, delta=1e-8)');
  });

  test("addresses keep every number, and ignore what is none", () => {
    const values = new Map<string, number>([
      ["k", 7],
      ["max_epsilon_local", 0.1],
      ["n", 1e15],
      ["delta", 1.25e-15],
    ]);
    const address = writeAddress(values);
    expect(readAddress(address, SHUFFLED)).toEqual(values);
    expect(readAddress("#k=seven&n=&delta=Infinity&other=3", SHUFFLED).size).toBe(0);
  });

  test("numbers are typed so that they are read back", () => {
    for (const value of [1, 100_000, 0.05, 1e-6, 1e9, 1e15, 123_456_789, 0.1 + 0.2, 3e-15]) {
      expect(Number(typed(value))).toBe(value);
    }
    expect([1000, 1e6, 0.001, 1e-4].map(typed)).toEqual(["1000", "1e6", "0.001", "1e-4"]);
  });

  test("sliders reach both ends, and every position is a number that can be asked for", () => {
    for (const field of [...SHUFFLED, ...DUMMY_FIELDS]) {
      expect([numberAt(field, 0), numberAt(field, 1000)]).toEqual([...field.slider]);
      for (let place = 0; place <= 1000; place += 5) {
        expect(complaint(field, numberAt(field, place))).toBeUndefined();
      }
      expect(position(field, numberAt(field, 500))).toBeGreaterThan(450);
      expect(complaint(field, field.most * 1.01)).toContain(field.name);
      expect(complaint(field, Number.NaN)).toContain(field.name);
    }
  });
});
