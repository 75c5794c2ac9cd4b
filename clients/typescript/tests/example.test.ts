/** The example of the README is a file that runs. */

import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { takePart } from "../examples/take_part.js";
import { BATCHES, keyList, planOf } from "./collection.js";

afterEach(() => vi.unstubAllGlobals());

test("the README shows the example, in at most 15 lines", () => {
  const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
  const example = read("examples/take_part.ts");
  expect(read("README.md")).toContain(`\`\`\`ts\n${example}\`\`\``);
  expect(example.trimEnd().split("\n").length).toBeLessThanOrEqual(15);
});

test("the example sends one report of one length", async () => {
  const plan = await planOf();
  const list = await keyList(plan, [[0, BATCHES[0] as string]]);
  const kept = new Map<string, string>();
  const sent: Uint8Array[] = [];
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => void kept.set(key, text),
  });
  vi.stubGlobal("navigator", {
    locks: { request: async (_: string, use: () => Promise<unknown>) => use() },
  });
  // Pauses end at once; the deadlines of requests, of half a minute, do not.
  vi.stubGlobal("setTimeout", (then: () => void, ms: number) => void (ms === 30_000 || then()));
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    if (init.method === "GET") return new Response(list);
    sent.push(init.body as Uint8Array);
    return new Response(null, { status: 202 });
  });
  expect(await takePart("https://reports.example", "sesame", plan.digest, 3)).toBe("accepted");
  expect(sent.map(({ length }) => length)).toEqual([128]);
});
