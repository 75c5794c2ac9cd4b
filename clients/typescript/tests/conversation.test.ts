/** The conversation of a client: few headers, the same bytes again, and an end. */

import { describe, expect, test } from "vitest";
import { Client } from "../src/client/client.js";
import { MemoryState } from "../src/client/client_state.js";
import { loadPlan, submit } from "../src/client/conversation.js";
import { Server } from "../src/client/server.js";
import { NotOfferedError, ParameterError, SupersededError, UntrustedError } from "../src/errors.js";
import { canonical } from "../src/json.js";
import type { Plan } from "../src/plan.js";
import { sentDigest } from "../src/protocol/key_list.js";
import { BATCHES, keyList, opened, planOf, pointer, roundDocument, signed } from "./collection.js";
import { Scripted, silence, status } from "./scripted.js";

const [FIRST, SECOND] = BATCHES as [string, string];
const server = new Server({ url: "https://reports.example/", credential: "sesame" });

function clientOf(plan: Plan, choices: { group?: number } = {}): Client {
  const memory = new MemoryState();
  return new Client(plan, { attribute: "emoji", budget: 8, memory, ...choices });
}

async function scripted(plan: Plan, ...answers: (() => Response | Promise<Response>)[]) {
  return new Scripted([await keyList(plan, [[0, FIRST]])], answers);
}

test("a report goes out with the same few headers for everybody", async () => {
  const plan = await planOf();
  const there = await scripted(plan, status(202));
  expect(await submit(clientOf(plan), 3, server, there)).toBe("accepted");
  expect(there.requests).toHaveLength(2);
  const [{ url, init }] = there.posts as [{ url: string; init: RequestInit }];
  expect(url).toBe(`https://reports.example/v1/plans/${plan.digest}/reports`);
  expect(init.headers).toEqual({
    "User-Agent": "croupier",
    "Accept-Encoding": "identity",
    "Content-Type": "application/octet-stream",
    "Croupier-Batch": FIRST,
    Authorization: "Bearer sesame",
  });
  expect(init).toMatchObject({
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    referrerPolicy: "no-referrer",
  });
  expect((init.body as Uint8Array).length).toBe(128);
});

test("silence and a busy server are answered with the same bytes", async () => {
  const plan = await planOf();
  const busy = status(429, { "Retry-After": "77" });
  const there = await scripted(plan, silence, status(503), busy, status(202));
  expect(await submit(clientOf(plan), 3, server, there)).toBe("accepted");
  expect(there.bodies).toHaveLength(4);
  expect(new Set(there.bodies).size).toBe(1);
  const [, first, second, third] = there.pauses as [number, number, number, number];
  expect(first >= 0.5 && first <= 1 && second >= 1 && second <= 2).toBe(true);
  expect(third).toBe(77);
});

test("a client gives up after a round", async () => {
  const plan = await planOf({}, undefined, { every: "1h" });
  const there = await scripted(plan, silence);
  expect(await submit(clientOf(plan), 3, server, there)).toBe("no answer in time");
  const [, ...pauses] = there.pauses;
  const waited = pauses.reduce((sum, pause) => sum + pause, 0);
  expect(waited).toBeLessThanOrEqual(3600);
  expect(waited).toBeGreaterThan(3600 - 300);
  expect(new Set(there.bodies).size).toBe(1);
});

test.each([400, 401, 410, 413])("%i ends it", async (code) => {
  const plan = await planOf();
  const there = await scripted(plan, status(code));
  expect(await submit(clientOf(plan), 3, server, there)).toBe("refused");
  expect(there.bodies).toHaveLength(1);
});

test("a closed batch is left for the next one, once", async () => {
  const plan = await planOf();
  const closed = async () => {
    const { init } = there.posts.at(-1) as { init: RequestInit };
    const sent = await sentDigest("Bearer sesame", init.body as Uint8Array<ArrayBuffer>);
    const document = { plan: plan.digest, kind: "not accepted", batch: FIRST, sent };
    const word = canonical(await signed(document, "intake", "refusal"));
    return new Response(word, { status: 409 });
  };
  const lists = [await keyList(plan, [[0, FIRST]]), await keyList(plan, [[1, SECOND]])];
  const there: Scripted = new Scripted(lists, [closed]);
  expect(await submit(clientOf(plan), 3, server, there)).toBe("the batch was closed");
  const batches = there.posts.map(({ init }) => new Headers(init.headers).get("Croupier-Batch"));
  expect(batches).toEqual([FIRST, SECOND]);
  const [first, second] = await Promise.all(
    there.posts.map(({ init }, roundNumber) =>
      opened(plan, {
        roundNumber,
        batch: batches[roundNumber] as string,
        body: init.body as Uint8Array<ArrayBuffer>,
      }),
    ),
  );
  expect(second).toEqual(first);
});

test("an unsigned refusal is not believed", async () => {
  const plan = await planOf();
  const there = await scripted(plan, () => new Response("{}", { status: 409 }));
  await expect(submit(clientOf(plan), 3, server, there)).rejects.toThrow(UntrustedError);
  expect(there.bodies).toHaveLength(1);
});

test("a round that asks by query is asked about", async () => {
  const plan = await planOf({ model: "divide", groups: 2 });
  const list = await keyList(plan, [[1, SECOND]]);
  const there = new Scripted([list, await roundDocument(plan, [1, SECOND])], [status(202)]);
  expect(await submit(clientOf(plan, { group: 1 }), () => 3, server, there)).toBe("accepted");
  expect(there.requests[1]?.url).toBe(`https://reports.example/v1/plans/${plan.digest}/rounds/1`);
  const nothing = new Scripted([list, 404], [status(202)]);
  await expect(submit(clientOf(plan, { group: 1 }), () => 3, server, nothing)).rejects.toThrow(
    "This server does not offer the round of the plan (404).",
  );
  expect(nothing.bodies).toHaveLength(0);
});

test("a server that does not offer the plan is named at once", async () => {
  const plan = await planOf();
  const said =
    "This server does not offer the plan (404). Check the address and the plan's digest.";
  const there = new Scripted([404], [status(202)]);
  await expect(submit(clientOf(plan), 3, server, there)).rejects.toThrow(new NotOfferedError(404));
  await expect(loadPlan(plan.digest, server, there)).rejects.toThrow(said);
  expect([there.bodies, there.pauses]).toEqual([[], []]);
  const sent = await scripted(plan, status(404));
  await expect(submit(clientOf(plan), 3, server, sent)).rejects.toThrow(said);
  expect(sent.bodies).toHaveLength(1);
});

describe("a superseded plan", () => {
  const NEXT = "5e".repeat(32);
  const SAID =
    "This plan was superseded by plan 5e5e5e5e5e5e5e5e…: install the version of the app that has it.";
  const gone = (body: Uint8Array) => () =>
    new Response(body as Uint8Array<ArrayBuffer>, { status: 410 });

  test("is reported before anything is randomised", async () => {
    const plan = await planOf();
    const memory = new MemoryState();
    const client = new Client(plan, { attribute: "emoji", budget: 8, memory });
    const there = new Scripted([gone(await pointer(plan, NEXT))], [status(202)]);
    const error = await submit(client, 3, server, there).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(SupersededError);
    expect([error.message, error.successor]).toEqual([SAID, NEXT]);
    expect([there.bodies, there.pauses]).toEqual([[], []]);
    expect(await memory.update(async ({ spent }) => Object.keys(spent))).toEqual([]);
    await expect(loadPlan(plan.digest, server, there)).rejects.toThrow(SAID);
  });

  test("leaves a sealed report as it is, and is not sent to again", async () => {
    const plan = await planOf();
    const memory = new MemoryState();
    const client = new Client(plan, { attribute: "emoji", budget: 8, memory });
    const there = await scripted(plan, gone(await pointer(plan, NEXT)), status(202));
    await expect(submit(client, 3, server, there)).rejects.toThrow(SAID);
    const kept = await memory.update(async (state) => JSON.stringify(state));
    expect(await submit(client, 4, server, there)).toBe("accepted");
    expect(new Set(there.bodies).size).toBe(1);
    expect(await memory.update(async (state) => JSON.stringify(state))).toBe(kept);
  });

  test("is believed of its own shuffler alone", async () => {
    const [plan, other] = [await planOf(), await planOf({}, undefined, { rounds: 2 })];
    const forged = await pointer(plan, NEXT, "release");
    for (const body of [forged, await pointer(other, NEXT), new Uint8Array(0)]) {
      const asked = new Scripted([gone(body)], [status(202)]);
      await expect(submit(clientOf(plan), 3, server, asked)).rejects.toThrow(UntrustedError);
      await expect(loadPlan(plan.digest, server, asked)).rejects.toThrow(UntrustedError);
    }
    for (const body of [forged, await pointer(other, NEXT)]) {
      const sent = await scripted(plan, gone(body));
      await expect(submit(clientOf(plan), 3, server, sent)).rejects.toThrow(UntrustedError);
      expect(sent.bodies).toHaveLength(1);
    }
  });
});

test("every mirror is asked", async () => {
  const plan = await planOf();
  const mirrors = ["https://mirror.example"];
  const two = new Server({ url: "https://reports.example", credential: "sesame", mirrors });
  const list = await keyList(plan, [[0, FIRST]]);
  const same = new Scripted([list, list], [status(202)]);
  expect(await submit(clientOf(plan), 3, two, same)).toBe("accepted");
  expect(same.requests[1]?.url).toBe(`https://mirror.example/v1/plans/${plan.digest}`);
  const other = await keyList(plan, [[0, SECOND]]);
  const different = new Scripted([list, other, list, other], [status(202)]);
  await expect(submit(clientOf(plan), 3, two, different)).rejects.toThrow(UntrustedError);
  expect([different.bodies, different.requests.length]).toEqual([[], 4]);
  expect(different.pauses).toEqual([62]);
});

test("a mirror that is behind is waited for", async () => {
  const plan = await planOf();
  const mirrors = ["https://mirror.example"];
  const two = new Server({ url: "https://reports.example", credential: "sesame", mirrors });
  const old = await keyList(plan, [[0, FIRST]]);
  const list = await keyList(plan, [
    [0, FIRST],
    [1, SECOND],
  ]);
  const there = new Scripted([list, old, list, list], [status(202)]);
  expect(await submit(clientOf(plan), 3, two, there)).toBe("accepted");
  expect([there.requests.length, there.pauses[0]]).toEqual([5, 62]);
  expect(new Headers(there.posts[0]?.init.headers).get("Croupier-Batch")).toBe(SECOND);
});

test("no condition is sent and none is answered", async () => {
  const plan = await planOf();
  const there = new Scripted([304], [status(202)]);
  await expect(submit(clientOf(plan), 3, server, there)).rejects.toThrow(new NotOfferedError(304));
  const [{ init }] = there.requests as [{ url: string; init: RequestInit }];
  expect(Object.keys(init.headers as object).sort()).toEqual(["Accept-Encoding", "User-Agent"]);
  expect(init).toMatchObject({ cache: "no-store", credentials: "omit" });
});

describe("a plan is loaded", () => {
  test("by its digest", async () => {
    const plan = await planOf();
    const there = await scripted(plan);
    const loaded = await loadPlan(plan.digest, server, there);
    expect(loaded.canonical).toBe(plan.canonical);
  });

  test("and no other in its place", async () => {
    const [plan, other] = [await planOf(), await planOf({}, undefined, { rounds: 2 })];
    const there = await scripted(other);
    await expect(loadPlan(plan.digest, server, there)).rejects.toThrow(UntrustedError);
  });
});

test.each(["http://reports.example", "ftp://reports.example", "reports.example"])(
  "%s is refused",
  (url) => {
    expect(() => new Server({ url, credential: "sesame" })).toThrow(ParameterError);
  },
);

test("this machine needs no TLS, and a credential no unprintable characters", () => {
  expect(new Server({ url: "http://127.0.0.1:8000", credential: "sesame" })).toBeDefined();
  expect(() => new Server({ url: "http://localhost", credential: "a\nb" })).toThrow(ParameterError);
});
