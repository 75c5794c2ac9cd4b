/** A memory in a file: whole after a kill, locked against other processes, private. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { StateError } from "../src/errors.js";
import { FileState } from "../src/node/file_state.js";

let folder: string;
let program: string;
let path: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "croupier-"));
  program = join(folder, "child.mjs");
  const bundle = await rolldown({ input: "tests/file_state_child.ts", platform: "node" });
  await bundle.write({ format: "es", file: program });
});

afterAll(() => rmSync(folder, { recursive: true }));

beforeEach(() => {
  path = join(mkdtempSync(join(folder, "memory-")), "memory.json");
});

/** A process that updates the memory, and the last update that it reported. */
class Child {
  readonly process: ChildProcess;
  text = "";

  constructor(updates: number, ...more: string[]) {
    this.process = spawn(process.execPath, [program, path, String(updates), ...more]);
    this.process.stdout?.on("data", (data) => {
      this.text += data;
    });
  }

  get reported(): number {
    return this.text.split("\n").length - 1;
  }

  async until(reported: number): Promise<void> {
    while (this.reported < reported) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  async end(signal?: "SIGKILL"): Promise<void> {
    const over = once(this.process, "close");
    if (signal !== undefined) this.process.kill(signal);
    await over;
  }
}

const add = (memory: FileState) =>
  memory.update(async ({ spent }) => {
    spent.emoji = [...(spent.emoji ?? []), 1];
    return spent.emoji.length;
  });

const beside = () => readdirSync(join(path, "..")).sort();

test("a state is kept, readable by its owner only, and nothing is left beside it", async () => {
  expect(await add(new FileState(path))).toBe(1);
  expect(await add(new FileState(path))).toBe(2);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(beside()).toEqual(["memory.json"]);
});

test("an error writes nothing and leaves no lock", async () => {
  const memory = new FileState(path);
  await add(memory);
  const failing = memory.update(async ({ spent }) => {
    spent.emoji = [];
    throw new Error("out of batteries");
  });
  await expect(failing).rejects.toThrow("out of batteries");
  expect(await add(memory)).toBe(2);
  expect(beside()).toEqual(["memory.json"]);
});

test.each(["", "{", "null", '{"schema_version":2}'])("%j is not a memory", async (text) => {
  writeFileSync(path, text);
  await expect(add(new FileState(path))).rejects.toThrow(StateError);
  expect(readFileSync(path, "utf8")).toBe(text);
});

test("updates at the same time do not lose each other, in one process or in several", async () => {
  const [memory, other] = [new FileState(path), new FileState(path)];
  const children = [1, 2, 3].map(() => new Child(10));
  const own = Array.from({ length: 10 }, () => [add(memory), add(other)]).flat();
  await Promise.all([...own, ...children.map((child) => child.end())]);
  expect(children.map(({ reported }) => reported)).toEqual([10, 10, 10]);
  expect(await add(memory)).toBe(51);
  expect(beside()).toEqual(["memory.json"]);
});

test("a process that holds the lock is waited for while it lives, and not once it is killed", async () => {
  const holder = new Child(1, "hold");
  await holder.until(1);
  let isDone = false;
  const waiting = add(new FileState(path)).finally(() => {
    isDone = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(isDone).toBe(false);
  await holder.end("SIGKILL");
  expect(await waiting).toBe(1);
  expect(beside()).toEqual(["memory.json"]);
});

test("many who find a dead holder take the lock one after the other", async () => {
  for (let turn = 0; turn < 3; turn++) {
    const holder = new Child(1, "hold");
    await holder.until(1);
    const children = [1, 2, 3, 4].map(() => new Child(5));
    await new Promise((resolve) => setTimeout(resolve, 200));
    await holder.end("SIGKILL");
    await Promise.all(children.map((child) => child.end()));
    expect(await add(new FileState(path))).toBe(21 * (turn + 1));
  }
});

test("a process killed at any time leaves a readable file with all that it reported", async () => {
  let least = 0;
  for (let turn = 0; turn < 12; turn++) {
    const child = new Child(100_000);
    await child.until(1 + turn);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    await child.end("SIGKILL");
    const found = await add(new FileState(path));
    expect(found).toBeGreaterThan(least + child.reported);
    expect(found).toBeLessThanOrEqual(least + child.reported + 2);
    least = found;
  }
  expect(beside()).not.toContain(".node-lock-memory.json");
  expect(beside()).not.toContain(".partial-memory.json");
});

describe("a lock that was left behind", () => {
  const left = (content: object | string) => {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    writeFileSync(join(path, "..", ".node-lock-memory.json"), text);
  };

  test.runIf(process.platform === "linux")("by a process whose id is used again", async () => {
    left({ pid: process.pid, started: "another boot 1", token: "first" });
    expect(await add(new FileState(path))).toBe(1);
  });

  test("by a process that is gone", async () => {
    left({ pid: 2 ** 22 + 1, started: "", token: "first" });
    expect(await add(new FileState(path))).toBe(1);
  });

  test.each(["", "{"])("half written (%j), as by a machine that lost power", async (text) => {
    left(text);
    expect(await add(new FileState(path))).toBe(1);
    expect(beside()).toEqual(["memory.json"]);
  });

  test("with a successor that was killed in turn", async () => {
    left({ pid: 2 ** 22 + 1, started: "", token: "first" });
    const next = join(path, "..", ".node-lock-memory.json.first.next");
    writeFileSync(next, JSON.stringify({ pid: 2 ** 22 + 2, started: "", token: "second" }));
    expect(await add(new FileState(path))).toBe(1);
    expect(beside()).toEqual(["memory.json"]);
  });
});
