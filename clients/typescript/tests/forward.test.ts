/** Store and forward: prepared once, delivered once, at a time that was drawn before. */

import { expect, test } from "vitest";
import { Client } from "../src/client/client.js";
import { type Memory, MemoryState, type Sealed } from "../src/client/client_state.js";
import { submit } from "../src/client/conversation.js";
import { deliver, type Prepared, prepare } from "../src/client/forward.js";
import { Server } from "../src/client/server.js";
import { NotOfferedError, UntrustedError } from "../src/errors.js";
import { canonical } from "../src/json.js";
import type { Plan } from "../src/plan.js";
import { sentDigest } from "../src/protocol/key_list.js";
import { BATCHES, keyList, planOf, roundDocument, signed } from "./collection.js";
import { Scripted, silence, status } from "./scripted.js";

const [FIRST, SECOND, THIRD] = BATCHES as [string, string, string];
const HALF = 43_200;
const START = 1_800_000_000;
const server = new Server({ url: "https://reports.example", credential: "sesame" });

/** A person's device: a client, its memory and a clock that somebody may set. */
class Device {
  now = START;
  client: Client;

  constructor(
    readonly plan: Plan,
    readonly choices: { group?: number } = {},
    readonly memory: Memory = new MemoryState(),
  ) {
    this.client = this.restart();
  }

  /** Begin anew: what was not stored is gone. */
  restart(): Client {
    const { memory, choices } = this;
    const own = { attribute: "emoji", budget: 8, memory, clock: () => this.now, ...choices };
    this.client = new Client(this.plan, own);
    return this.client;
  }

  async prepare(list: Uint8Array, value: unknown = 3): Promise<Prepared> {
    const made = await prepare(this.client, value, server, new Scripted([list], [status(500)]));
    if (typeof made === "string") throw new Error(made);
    return made;
  }

  get text(): Promise<string> {
    return this.memory.update(async (state) => JSON.stringify(state));
  }

  get sealed(): Promise<Sealed> {
    return this.memory.update(async ({ sealed }) => sealed[this.plan.digest] as Sealed);
  }

  get spent(): Promise<number[]> {
    return this.memory.update(async ({ spent }) => spent.emoji ?? []);
  }
}

async function prepared() {
  const plan = await planOf();
  const list = await keyList(plan, [[0, FIRST]]);
  const device = new Device(plan);
  return { device, list, made: await device.prepare(list) };
}

test("preparing neither waits nor sends", async () => {
  const plan = await planOf();
  const device = new Device(plan);
  const there = new Scripted([await keyList(plan, [[0, FIRST]])], [status(202)]);
  const made = (await prepare(device.client, 3, server, there)) as Prepared;
  expect([there.requests.length, there.bodies, there.pauses]).toEqual([1, [], []]);
  expect(made).toMatchObject({ roundNumber: 0, isReplacing: false });
  expect(made.due >= START && made.due < START + HALF).toBe(true);
  expect(await device.client.due()).toBeCloseTo(made.due - START, 3);
});

test("it is delivered once, in its time, and paid for once", async () => {
  const { device, list, made } = await prepared();
  const { body } = await device.sealed;
  const there = new Scripted([list], [status(202)]);
  device.now = made.due - 0.5;
  expect(await deliver(device.client, server, there)).toBe("waiting for its time");
  expect(await device.client.due()).toBeCloseTo(0.5, 3);
  expect(there.requests).toEqual([]);
  device.now = made.due;
  device.restart();
  expect(await deliver(device.client, server, there)).toBe("accepted");
  expect(await deliver(device.client, server, there)).toBe("nothing to send");
  expect(await prepare(device.client, 4, server, there)).toBe("nothing to send");
  expect(await deliver(device.restart(), server, there)).toBe("nothing to send");
  expect(there.bodies).toEqual([body]);
  expect(await device.client.due()).toBe(null);
  expect(await device.spent).toEqual([2]);
});

test("a second preparation changes nothing", async () => {
  const { device, list, made } = await prepared();
  const before = await device.text;
  device.now += 60;
  expect(await device.prepare(list, 4)).toEqual(made);
  expect(await device.text).toBe(before);
});

test("silence, a refusal and a lost answer leave the same bytes to the next call", async () => {
  const { device, list, made } = await prepared();
  device.now = made.due;
  const silent = new Scripted([list], [silence]);
  expect(await deliver(device.client, server, silent)).toBe("no answer in time");
  expect(silent.bodies.length).toBeGreaterThan(1);
  expect(silent.pauses.reduce((sum, pause) => sum + pause, 0)).toBeLessThanOrEqual(30);
  const refused = new Scripted([list], [status(401), status(404), status(202)]);
  expect(await deliver(device.client, server, refused)).toBe("refused");
  await expect(deliver(device.client, server, refused)).rejects.toThrow(NotOfferedError);
  expect(await deliver(device.restart(), server, refused)).toBe("accepted");
  expect(new Set([...silent.bodies, ...refused.bodies]).size).toBe(1);
});

test.each([1, HALF, 86_400, START])(
  "a clock set back by %d s delays by what was drawn",
  async (s) => {
    const { device, list, made } = await prepared();
    const delay = made.due - START;
    device.now = START - s;
    expect(await device.restart().due()).toBeCloseTo(delay, 3);
    device.now += delay / 2;
    expect(await device.client.due()).toBeCloseTo(delay / 2, 3);
    device.now += delay / 2 + 1e-3;
    const there = new Scripted([list], [status(202)]);
    expect(await deliver(device.client, server, there)).toBe("accepted");
  },
);

test("a clock set far forward loses nothing", async () => {
  const { device, list } = await prepared();
  device.now += 1e9;
  const there = new Scripted([list], [status(202)]);
  expect(await deliver(device.client, server, there)).toBe("accepted");
});

test("the time is read before the value is looked at", async () => {
  const plan = await planOf({ model: "divide", groups: 2 });
  const device = new Device(plan, { group: 1 });
  const document = await roundDocument(plan, [1, SECOND]);
  const there = new Scripted([await keyList(plan, [[1, SECOND]]), document], [status(202)]);
  const slow = () => {
    device.now += 100_000;
    return 3;
  };
  const made = (await prepare(device.client, slow, server, there)) as Prepared;
  expect(device.now).toBe(START + 100_000);
  expect(made.due).toBeLessThan(START + HALF);
});

/** Return a server that signs a refusal of everything. */
function refusing(plan: Plan, list: Uint8Array) {
  const there: Scripted = new Scripted(
    [list],
    [
      async () => {
        const { init } = there.posts.at(-1) as { init: RequestInit };
        const sent = await sentDigest("Bearer sesame", init.body as Uint8Array<ArrayBuffer>);
        const batch = new Headers(init.headers).get("Croupier-Batch") as string;
        const document = { plan: plan.digest, kind: "not accepted", batch, sent };
        const word = canonical(await signed(document, "intake", "refusal"));
        return new Response(word, { status: 409 });
      },
    ],
  );
  return there;
}

test("a signed refusal makes it due again, once", async () => {
  const plan = await planOf({}, undefined, { rounds: 5 });
  const device = new Device(plan);
  device.now = (await device.prepare(await keyList(plan, [[0, FIRST]]))).due;
  const second = refusing(plan, await keyList(plan, [[1, SECOND]]));
  expect(await deliver(device.client, server, second)).toBe("waiting for its time");
  const again = await device.sealed;
  expect([again.round, again.batch]).toEqual([1, SECOND]);
  device.now = again.due as number;
  const third = refusing(plan, await keyList(plan, [[2, THIRD]]));
  expect(await deliver(device.client, server, third)).toBe("the batch was closed");
  expect(await deliver(device.client, server, third)).toBe("nothing to send");
});

test("after a restart a closed batch ends it, with or without a refusal", async () => {
  const { device, list, made } = await prepared();
  device.now = made.due;
  const there = refusing(device.plan, await keyList(device.plan, [[1, SECOND]]));
  expect(await deliver(device.restart(), server, there)).toBe("the batch was closed");
  expect(await deliver(device.client, server, there)).toBe("nothing to send");
  const other = await prepared();
  other.device.now = other.made.due;
  const gone = new Scripted([list], [status(410)]);
  expect(await deliver(other.device.client, server, gone)).toBe("the batch was closed");
  expect(await deliver(other.device.client, server, gone)).toBe("nothing to send");
});

test("an unsigned refusal is an alarm and loses nothing", async () => {
  const { device, list, made } = await prepared();
  device.now = made.due;
  const there = new Scripted([list], [() => new Response("{}", { status: 409 }), status(202)]);
  await expect(deliver(device.client, server, there)).rejects.toThrow(UntrustedError);
  expect(await deliver(device.client, server, there)).toBe("accepted");
});

test("a report that waits for an open batch is not replaced", async () => {
  const plan = await planOf({}, undefined, { rounds: 5 });
  const [first, second] = [[0, FIRST] as const, [1, SECOND] as const];
  const device = new Device(plan);
  const made = await device.prepare(await keyList(plan, [first]));
  expect(await device.prepare(await keyList(plan, [first, second]))).toEqual(made);
  const next = await device.prepare(await keyList(plan, [second]));
  expect(next).toMatchObject({ roundNumber: 1, isReplacing: true });
});

test("a conversation that sends a prepared report delivers it", async () => {
  const { device, list } = await prepared();
  const there = new Scripted([list], [status(202)]);
  expect(await submit(device.client, 4, server, there)).toBe("accepted");
  expect(await deliver(device.client, server, there)).toBe("nothing to send");
});

test("memories of conversations are as before, so that an older client reads them", async () => {
  const plan = await planOf();
  const device = new Device(plan);
  const there = new Scripted([await keyList(plan, [[0, FIRST]])], [status(202)]);
  expect(await submit(device.client, 3, server, there)).toBe("accepted");
  expect(Object.keys(await device.sealed).sort()).toEqual(["batch", "body", "round"]);
});
