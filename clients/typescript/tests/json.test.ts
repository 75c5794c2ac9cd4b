/** JSON: whole numbers of any size, and one spelling. */

import { expect, test } from "vitest";
import { canonical, readJson } from "../src/json.js";
import { exactly, expBelow, nearest } from "../src/rounding.js";

test("whole numbers beyond 2^53 are exact", () => {
  const text = '{"a":[9007199254740993,-9007199254740993,18446744073709551616,9007199254740991]}';
  expect(readJson(text)).toEqual({
    a: [9007199254740993n, -9007199254740993n, 18446744073709551616n, 9007199254740991],
  });
});

test("digits in a text stay a text", () => {
  const text = '{"a \\" 18446744073709551616":"18446744073709551616, \\\\"}';
  expect(readJson(text)).toEqual({ 'a " 18446744073709551616': "18446744073709551616, \\" });
});

test("a text cannot pretend to be a number", () => {
  expect(() => readJson('["\\u0000whole number 5"]')).toThrow(SyntaxError);
});

test.each(["", "{", '{"a":01}', '"\n"'])("%j is refused", (text) => {
  expect(() => readJson(text)).toThrow(SyntaxError);
});

test("the canonical text is ASCII with its keys in order", () => {
  const text = canonical({ b: [1, null, true], a: 'é☃😀\u007f"\n', c: { z: 0n, y: "" } });
  const escaped = '\\u00e9\\u2603\\ud83d\\ude00\\u007f\\"\\n';
  expect(text).toBe(`{"a":"${escaped}","b":[1,null,true],"c":{"y":"","z":0}}`);
});

test.each([0, 5e-324, 0.1, 1, 2 ** 53 + 2, Number.MAX_VALUE])("%d is exact", (value) => {
  const { numerator, denominator } = exactly(value);
  const shift = denominator.toString(2).length - 1;
  expect(denominator).toBe(1n << BigInt(shift));
  expect(Number(numerator) * 2 ** -Math.min(shift, 1022) * 2 ** -Math.max(shift - 1022, 0)).toBe(
    value,
  );
});

test("the exponential of 1 has the digits of e", () => {
  const { numerator, denominator } = expBelow(exactly(1));
  const digits = (numerator * 10n ** 48n) / denominator;
  expect(String(digits)).toBe("2718281828459045235360287471352662497757247093699");
});

test.each([
  [1n, 2n, 0n],
  [3n, 2n, 2n],
  [5n, 3n, 2n],
  [4n, 3n, 1n],
])("%d / %d is nearest to %d", (numerator, denominator, whole) => {
  expect(nearest({ numerator, denominator })).toBe(whole);
});
