/** The promises of a client: one report per round, no value kept, a budget, the plan's keys. */

import { describe, expect, test, vi } from "vitest";
import { type Bytes, hex, utf8 } from "../src/bytes.js";
import { type Choices, Client, type Submission } from "../src/client/client.js";
import {
  charge,
  MemoryState,
  readState,
  type State,
  writeState,
} from "../src/client/client_state.js";
import { LocalStorageState } from "../src/client/local_storage_state.js";
import {
  BudgetError,
  DataError,
  ParameterError,
  StateError,
  UntrustedError,
} from "../src/errors.js";
import { canonical, type Table } from "../src/json.js";
import { type Keystream, operatingSystem, WORD } from "../src/keystream.js";
import type { Plan } from "../src/plan.js";
import { sentDigest } from "../src/protocol/key_list.js";
import type { Listed } from "../src/protocol/signed_document.js";
import { batchName } from "../src/protocol/wire.js";
import {
  BATCHES,
  boundTo,
  K_RR,
  keyList,
  listEntry,
  opened,
  planOf,
  queryEntry,
  roundDocument,
  served,
  signed,
} from "./collection.js";
import { WIRE } from "./vectors.js";

const [FIRST, SECOND, THIRD] = BATCHES as [string, string, string];

function clientOf(plan: Plan, choices: Partial<Choices> = {}): Client {
  return new Client(plan, { attribute: "emoji", budget: 8, memory: new MemoryState(), ...choices });
}

async function reported(client: Client, value: unknown, round: number): Promise<Submission> {
  const submission = await client.report(value, await openRound(client.plan, round));
  if (submission === null) throw new Error("not this person's turn");
  return submission;
}

const openRound = (plan: Plan, round: number) => served(plan, [round, BATCHES[round] as string]);

/** A stream whose words are all the largest: k-RR then tells the truth. */
const truthful: Keystream = { words: (size) => new BigUint64Array(size).fill(WORD - 1n) };

function counting(): Keystream & { drawn: number } {
  return {
    drawn: 0,
    words(size) {
      this.drawn += size;
      return operatingSystem.words(size);
    },
  };
}

async function stateOf(memory: MemoryState): Promise<State> {
  return memory.update(async (state) => structuredClone(state));
}

/** Return the signed answer that a batch has not accepted what was sent. */
async function refusalOf(
  plan: Plan,
  { batch, body }: Submission,
  authorization: string,
  signer = "intake",
): Promise<Bytes> {
  const sent = await sentDigest(authorization, body);
  const document = { plan: plan.digest, kind: "not accepted", batch, sent };
  return utf8(canonical(await signed(document, signer, "refusal")));
}

describe("a round", () => {
  test("has one report, whatever the value is by then", async () => {
    const client = clientOf(await planOf());
    const first = await reported(client, 3, 0);
    const again = await reported(client, 4, 0);
    expect(hex(again.body)).toBe(hex(first.body));
    expect(await opened(client.plan, first)).toHaveLength(1);
  });

  test("has one report for two calls at once", async () => {
    const client = clientOf(await planOf());
    const [first, second] = await Promise.all([reported(client, 3, 0), reported(client, 4, 0)]);
    expect(hex(first.body)).toBe(hex(second.body));
  });

  test("has messages of one length, whatever the value", async () => {
    const plan = await planOf();
    const values = Array.from({ length: 10 }, (_, value) => value);
    const bodies = values.map(async (value) => (await reported(clientOf(plan), value, 0)).body);
    const lengths = new Set((await Promise.all(bodies)).map(({ length }) => length));
    expect([...lengths]).toEqual([128]);
  });

  test("carries the value that was randomised", async () => {
    const plan = await planOf();
    const submission = await reported(clientOf(plan, { rng: truthful }), 7, 0);
    expect(await opened(plan, submission)).toEqual([7n]);
  });

  test("that has passed is refused", async () => {
    const client = clientOf(await planOf({}, undefined, { rounds: 3 }));
    await reported(client, 3, 1);
    await expect(reported(client, 3, 0)).rejects.toThrow(UntrustedError);
  });

  test("is sent at a time drawn before the value is looked at", async () => {
    const rng = counting();
    const client = clientOf(await planOf(), { rng });
    await expect(reported(client, "no category", 0)).rejects.toThrow(DataError);
    expect(rng.drawn).toBe(1);
    const { delay } = await reported(client, 1, 0);
    expect(delay).toBeGreaterThanOrEqual(0);
    expect(delay).toBeLessThan(12 * 3600);
  });

  test.each([
    ["is found slowly", 600, 400],
    ["takes longer than the delay", 5000, 0],
    ["is found while the clock is set back", -600, 1000],
  ])("whose value %s is sent at the time that was drawn", async (_, seconds, left) => {
    let now = 1_800_000_000;
    const plan = await planOf({ model: "divide", groups: 2 });
    const choices = { group: 0, spread: 1000, rng: truthful, clock: () => now };
    const answer = () => {
      now += seconds;
      return 7;
    };
    const { delay } = await reported(clientOf(plan, choices), answer, 0);
    expect(delay).toBeCloseTo(left, 6);
    expect(delay).toBeLessThan(1000);
  });
});

describe("memory", () => {
  test("holds no value and, with fresh noise, no report", async () => {
    const memory = new MemoryState();
    const plan = await planOf();
    const { body } = await reported(clientOf(plan, { memory, rng: truthful }), 7, 0);
    expect(JSON.parse(writeState(await stateOf(memory)))).toEqual({
      schema_version: 1,
      listed: {
        [plan.digest]: { version: 1, digest: expect.stringMatching(/^[0-9a-f]{64}$/), round: 0 },
      },
      sealed: { [plan.digest]: { round: 0, batch: FIRST, body: hex(body) } },
      joined: { [plan.digest]: { collection: 0, times: 1, answers: 0, first: 0, last: 0 } },
      resent: {},
      spent: { emoji: [2] },
    });
  });

  test("in local storage survives the page", async () => {
    const kept = new Map<string, string>();
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, text: string) => void kept.set(key, text),
    };
    const request = async (_: string, use: () => Promise<unknown>) => use();
    const locks = { request } as unknown as LockManager;
    const plan = await planOf();
    const memory = () => new LocalStorageState("croupier", storage, locks);
    const first = await reported(clientOf(plan, { memory: memory() }), 3, 0);
    const second = await reported(clientOf(plan, { memory: memory() }), 4, 0);
    expect(hex(second.body)).toBe(hex(first.body));
    kept.set("croupier", "{}");
    await expect(reported(clientOf(plan, { memory: memory() }), 3, 0)).rejects.toThrow(StateError);
  });

  test("in local storage needs a page that can lock it", () => {
    const storage = { getItem: () => null, setItem: () => undefined };
    const none = undefined as unknown as LockManager;
    vi.stubGlobal("navigator", {});
    expect(() => new LocalStorageState("croupier", storage, none)).toThrow(ParameterError);
    vi.unstubAllGlobals();
  });

  test.each(["", "[]", "null", "{", '{"schema_version": 2}'])("%j is none", (text) => {
    expect(() => readState(text, "the memory")).toThrow(StateError);
  });

  test("is left as it was by an error", async () => {
    const memory = new MemoryState();
    const client = clientOf(await planOf(), { memory, budget: 1 });
    await expect(reported(client, 3, 0)).rejects.toThrow(BudgetError);
    expect(await stateOf(memory)).toMatchObject({ sealed: {}, joined: {}, spent: {} });
  });
});

describe("budget", () => {
  test("is exact, and refused before anything is randomised", async () => {
    const question = { ...K_RR, max_epsilon_local: 0.1 };
    const rng = counting();
    const client = clientOf(await planOf({}, [question], { rounds: 4 }), { budget: 0.3, rng });
    await reported(client, 3, 0);
    await reported(client, 3, 1);
    const before = rng.drawn;
    // 0.1 + 0.1 + 0.1 is above 0.3, since the double 0.1 is above a tenth.
    await expect(reported(client, 3, 2)).rejects.toThrow(BudgetError);
    expect(rng.drawn).toBe(before + 1);
  });

  test("is shared by plans about one attribute", async () => {
    const memory = new MemoryState();
    await reported(clientOf(await planOf(), { memory, budget: 3 }), 3, 0);
    const other = clientOf(await planOf({}, undefined, { rounds: 2 }), { memory, budget: 3 });
    await expect(reported(other, 3, 0)).rejects.toThrow(BudgetError);
  });

  test("does not extend how often a person may join", async () => {
    const client = clientOf(await planOf());
    await reported(client, 3, 0);
    await expect(reported(client, 3, 1)).rejects.toThrow(ParameterError);
  });
});

describe("turns", () => {
  const three = { model: "rectified-multinomial", weights: [1, 2, 3] };

  test("of a rectified plan send nulls in every other round", async () => {
    const plan = await planOf(three);
    const client = clientOf(plan);
    const sent = [];
    for (const round of [0, 1, 2]) sent.push(await reported(client, 3, round));
    expect(sent.map(({ body }) => body.length)).toEqual([128, 128, 128]);
    const reports = await Promise.all(sent.map((each) => opened(plan, each)));
    expect(reports.filter((report) => report !== null)).toHaveLength(1);
  });

  test("are drawn by their weights", async () => {
    const plan = await planOf(three);
    const answers = async (word: bigint) => {
      const memory = new MemoryState();
      const rng = { words: (size: number) => new BigUint64Array(size).fill(word) };
      await reported(clientOf(plan, { memory, rng }), 3, 0);
      return (await stateOf(memory)).joined[plan.digest]?.answers;
    };
    const drawn = await Promise.all([0n, 1n, 2n, 3n, 4n, 5n].map(answers));
    expect(drawn).toEqual([0, 1, 1, 2, 2, 2]);
  });

  test("of a plan without nulls stay away from other rounds", async () => {
    const plan = await planOf({ model: "multinomial", weights: 3 });
    const client = clientOf(plan);
    const sent = [];
    for (const round of [0, 1, 2]) {
      sent.push(await client.report(3, await openRound(plan, round)));
    }
    expect(sent.filter((submission) => submission !== null)).toHaveLength(1);
  });

  test("of bins stay in the chosen one", async () => {
    const plan = await planOf({ model: "rectified-bins", bins: [1, 2] });
    const client = clientOf(plan, { group: 1 });
    const sent = [];
    for (const round of [0, 1, 2]) {
      sent.push(await client.report(3, await openRound(plan, round)));
    }
    expect(sent.map((submission) => submission !== null)).toEqual([false, true, true]);
  });

  test("of a collection that has passed are not drawn again", async () => {
    let word = 0n;
    const rng = { words: (size: number) => new BigUint64Array(size).fill(word) };
    const memory = new MemoryState();
    const plan = await planOf({ model: "multinomial", weights: 3 }, undefined, { rounds: 9 });
    const client = clientOf(plan, { memory, rng });
    const first = await reported(client, 3, 0);
    word = 2n;
    expect(await client.report(3, await openRound(plan, 3))).toBeNull();
    const before = writeState(await stateOf(memory));
    word = 1n;
    await expect(reported(client, 3, 1)).rejects.toThrow(UntrustedError);
    await expect(reported(client, 3, 1)).rejects.toThrow("offers a round that has passed");
    expect(writeState(await stateOf(memory))).toBe(before);
    expect((await reported(client, 3, 0)).body).toEqual(first.body);
  });

  test("of groups are public", async () => {
    const plan = await planOf({ model: "divide", groups: 2 });
    expect((await reported(clientOf(plan, { group: 1 }), 3, 1)).roundNumber).toBe(1);
    await expect(reported(clientOf(plan), 3, 1)).rejects.toThrow(ParameterError);
    await expect(reported(clientOf(plan, { group: 2 }), 3, 1)).rejects.toThrow(ParameterError);
  });

  test("are none where the plan asks everybody", async () => {
    const client = clientOf(await planOf(), { group: 0 });
    await expect(reported(client, 3, 0)).rejects.toThrow(ParameterError);
  });

  test("of parallel questions answer one of a row", async () => {
    const yes: Table = { mechanism: "k-rr", labels: ["no", "yes"], max_epsilon_local: 1 };
    const plan = await planOf({ model: "rectified-parallel" }, [K_RR, yes]);
    const report = await opened(plan, await reported(clientOf(plan), [3, "yes"], 0));
    expect(report).toHaveLength(2);
    await expect(reported(clientOf(plan), 3, 0)).rejects.toThrow(DataError);
  });

  test("of questions together answer a whole row, and cost the sum", async () => {
    const yes: Table = { mechanism: "k-rr", labels: ["no", "yes"], max_epsilon_local: 0.1 };
    const memory = new MemoryState();
    const plan = await planOf({ model: "together" }, [yes, { ...yes, max_epsilon_local: 0.2 }]);
    const client = clientOf(plan, { memory });
    const report = await opened(plan, await reported(client, ["no", "yes"], 0));
    expect(report).toHaveLength(2);
    expect((await stateOf(memory)).spent).toEqual({ emoji: [0.3] });
    await expect(reported(clientOf(plan), "yes", 0)).rejects.toThrow(DataError);
  });

  test("of one question together is a plan of that question", async () => {
    const plan = await planOf({ model: "together" });
    expect(plan.protocol.model).toBe("single");
    expect(await opened(plan, await reported(clientOf(plan), 3, 0))).toHaveLength(1);
  });
});

test("reused noise is one report, resent and paid for once", async () => {
  const memory = new MemoryState();
  const plan = await planOf({ noise: "reused" }, undefined, { rounds: 3 });
  const client = clientOf(plan, { memory });
  const sent = [await reported(client, 3, 0), await reported(client, 8, 1)];
  const [first, second] = await Promise.all(sent.map((each) => opened(plan, each)));
  expect(second).toEqual(first);
  expect(hex(sent[0]?.body as Uint8Array)).not.toBe(hex(sent[1]?.body as Uint8Array));
  expect((await stateOf(memory)).spent).toEqual({ emoji: [2] });
});

describe("a permanent answer", () => {
  const memoised = { ...K_RR, mechanism: "memoised-k-rr", max_epsilon_permanent: 6 };

  test("is drawn once, kept, paid for once, and never sent as it is", async () => {
    const memory = new MemoryState();
    const plan = await planOf({}, [memoised], { rounds: 3 });
    expect(plan.cost).toEqual({ epsilon: 6, delta: 0 });
    await reported(clientOf(plan, { memory, rng: truthful }), 3, 0);
    // A later value is not used, and every report has noise of its own.
    const lies: Keystream = { words: (size) => new BigUint64Array(size) };
    const later = [];
    for (const [rng, round] of [
      [truthful, 1],
      [lies, 2],
    ] as const) {
      const sent = await reported(clientOf(plan, { memory, rng }), 8, round);
      later.push(await opened(plan, sent));
    }
    expect(later).toEqual([[3n], [0n]]);
    const { permanent, spent } = await stateOf(memory);
    expect(Object.values(permanent)).toEqual([3]);
    expect(spent).toEqual({ emoji: [6] });
  });

  test("still has its value checked", async () => {
    const memory = new MemoryState();
    const plan = await planOf({}, [memoised], { rounds: 3 });
    await reported(clientOf(plan, { memory }), 3, 0);
    await expect(reported(clientOf(plan, { memory }), 10, 1)).rejects.toThrow(DataError);
  });

  test.each([
    ["several questions", {}, [memoised, memoised]],
    ["several questions of one kind", { model: "parallel", weights: 2 }, [memoised]],
    ["several rounds", { model: "multinomial", weights: 2 }, [memoised]],
    ["reused noise", { noise: "reused" }, [memoised]],
  ])("is refused with %s", async (_, participation, questions) => {
    await expect(planOf(participation as Table, questions)).rejects.toThrow(ParameterError);
  });
});

describe("a window", () => {
  const day = 86_400;
  const weekly = { rounds: 1, window: "2d" };

  test("allows no second answer, says so of nobody, and moves on", async () => {
    let now = 1_800_000_000;
    const memory = new MemoryState();
    const plan = await planOf({}, [K_RR], weekly);
    const client = clientOf(plan, { memory, budget: 2, clock: () => now });
    const sent = [];
    for (let round = 0; round < 4; round += 1, now += day) {
      sent.push((await client.report(3, await openRound(plan, round))) !== null);
    }
    expect(sent).toEqual([true, false, true, false]);
    const { answered, spent } = await stateOf(memory);
    expect(spent).toEqual({});
    const rounds = { [plan.digest]: 2 };
    const at = now - 2 * day;
    const entry = { attribute: "emoji", epsilon: 2, delta: 0, at, length: 2 * day, rounds };
    expect(answered).toEqual({ [plan.digest]: [entry] });
  });

  test("draws nothing but the delay where it allows no answer", async () => {
    const rng = counting();
    const plan = await planOf({}, [K_RR], weekly);
    const client = clientOf(plan, { rng, budget: 1 });
    expect(await client.report(3, await openRound(plan, 0))).toBeNull();
    expect(rng.drawn).toBe(1);
  });

  test("counts a report from the round that it is sealed for again", async () => {
    let now = 1_800_000_000;
    const plan = await planOf({}, [K_RR], weekly);
    const client = clientOf(plan, { clock: () => now });
    const submission = await reported(client, 3, 0);
    const refused = { submission, authorization: "Bearer sesame" };
    const word = await refusalOf(plan, submission, refused.authorization);
    now += day / 2;
    expect(
      await client.reseal({ ...refused, refusal: word }, await openRound(plan, 1)),
    ).not.toBeNull();
    now += day;
    expect(await client.report(3, await openRound(plan, 2))).toBeNull();
  });

  test.each([
    [{ window: "1h" }, {}],
    [{ window: "2d", rounds: 3 }, {}],
    [{ window: "30 days" }, {}],
    [{ window: "1200d" }, {}],
    [{ window: "30d" }, { noise: "reused" }],
    [{ window: "30d" }, { model: "multinomial", weights: 2 }],
    [{ window: "30d" }, { model: "subsample", repeats: 2 }],
  ])("is refused: %j, %j", async (collection, participation) => {
    await expect(planOf(participation as Table, [K_RR], collection)).rejects.toThrow(
      ParameterError,
    );
  });
});

describe("key lists", () => {
  const refused = async (list: Uint8Array, plan: Plan, mirrors: Uint8Array[] = []) =>
    expect(clientOf(plan).report(3, { keyLists: [list, ...mirrors] })).rejects;

  test("must be of the plan", async () => {
    const [plan, other] = [await planOf(), await planOf({}, undefined, { rounds: 2 })];
    await (await refused(await keyList(other, [[0, FIRST]]), plan)).toThrow(UntrustedError);
  });

  test("must be the same on every mirror", async () => {
    const plan = await planOf();
    const [list, other] = [await keyList(plan, [[0, FIRST]]), await keyList(plan, [[0, SECOND]])];
    await (await refused(list, plan, [other])).toThrow("is not the same on every mirror");
    expect(await clientOf(plan).report(3, { keyLists: [list, list] })).not.toBeNull();
  });

  test("must name one batch a round", async () => {
    const plan = await planOf();
    const list = await keyList(plan, [
      [0, FIRST],
      [0, SECOND],
    ]);
    await (await refused(list, plan)).toThrow("names two batches");
  });

  test("must be signed by the analyzer that the plan names", async () => {
    const plan = await planOf();
    const own = { plan: plan.digest, kind: "analyzer", key: "00".repeat(32) };
    const analyzer = await signed(own, "shuffler", "key list");
    const list = await keyList(plan, [[0, FIRST]], { analyzer });
    await (await refused(list, plan)).toThrow("is not signed");
  });

  test("must show the key of the analyzer that its round was opened for", async () => {
    const plan = await planOf();
    const second = { plan: plan.digest, kind: "analyzer", key: WIRE.keys.other.public };
    const analyzer = await signed(second, "analyzer", "key list");
    const list = await keyList(plan, [[0, FIRST]], { analyzer });
    await (await refused(list, plan)).toThrow("shows another key of the analyzer");
  });

  const from = (round: number, ...names: string[]) =>
    names.map((name, place) => ({
      from_round: place && round,
      key: WIRE.signing_keys[name].public,
    }));

  test("follows a rotation of the shuffler's keys, and never back", async () => {
    const plan = await planOf({}, undefined, { rounds: 3 });
    const client = clientOf(plan, { memory: new MemoryState(), budget: 9 });
    const first = await keyList(plan, [[0, FIRST]]);
    expect(await client.report(3, { keyLists: [first] })).not.toBeNull();
    const rotated = { version: 2, release: from(1, "release", "next release") };
    const keys = await listEntry(plan, rotated);
    const opening = { round: 1, batch: SECOND, key: WIRE.keys.shuffler.public };
    const entry = { plan: plan.digest, kind: "shuffler", analyzer: WIRE.keys.analyzer.public };
    const by = (signer: string) => signed({ ...entry, ...opening }, signer, "key list");
    const list = async (signer: string) =>
      keyList(plan, [], { keys, shuffler: [await by(signer)] });
    for (const stranger of ["release", "intake", "analyzer", "other"]) {
      const shown = { keyLists: [await list(stranger)] };
      await expect(client.report(3, shown)).rejects.toThrow("is not signed");
    }
    for (const signer of ["next release", "shuffler"]) {
      const shown = { keyLists: [await list(signer)] };
      expect((await client.report(3, shown))?.batch).toBe(SECOND);
    }
    await expect(client.report(3, { keyLists: [first] })).rejects.toThrow("is older than one");
    const second = await listEntry(plan, { version: 2 });
    const other = await keyList(plan, [[2, THIRD]], { keys: second });
    await expect(client.report(3, { keyLists: [other] })).rejects.toThrow("is a second one");
  });

  test("of a replaced key is refused once the next key's round was seen", async () => {
    const plan = await planOf({}, undefined, { rounds: 9 });
    const memory = new MemoryState();
    const rotated = { version: 2, release: from(5, "release", "next release") };
    const keys = await listEntry(plan, rotated);
    const { key, analyzer } = {
      key: WIRE.keys.shuffler.public,
      analyzer: WIRE.keys.analyzer.public,
    };
    const open = (round: number, batch: string, signer: string) =>
      signed(
        { plan: plan.digest, kind: "shuffler", analyzer, round, batch, key },
        signer,
        "key list",
      );
    const list = async (...shuffler: Promise<Table>[]) => ({
      keyLists: [await keyList(plan, [], { keys, shuffler: await Promise.all(shuffler) })],
    });
    const stolen = await list(open(4, FIRST, "release"));
    const client = () => clientOf(plan, { memory, budget: 99 });
    expect(await client().chosenRound(stolen)).toBe(4);
    const { listed } = await stateOf(memory);
    const { version, digest } = listed[plan.digest] as Listed;
    // An older memory knows no round.
    await memory.update(async (state) => {
      state.listed[plan.digest] = { version, digest };
    });
    expect(await client().chosenRound(stolen)).toBe(4);
    const next = open(6, SECOND, "next release");
    expect(await client().chosenRound(await list(next))).toBe(6);
    await expect(client().report(3, stolen)).rejects.toThrow("release key that was replaced");
    const both = await list(open(3, THIRD, "release"), next);
    expect(await client().chosenRound(both)).toBe(6);
    const third = client().chosenRound({ ...both, roundNumber: 3 });
    await expect(third).rejects.toThrow("release key that was replaced");
    expect(await client().chosenRound(await list(open(5, THIRD, "next release")))).toBe(5);
  });

  test("must name the shuffler's keys in a list that its root signed", async () => {
    const plan = await planOf();
    const { signature, ...unsigned } = await listEntry(plan);
    expect(signature).toHaveLength(128);
    for (const stranger of ["release", "intake", "analyzer"]) {
      const keys = await signed(unsigned, stranger, "shuffler keys");
      await (await refused(await keyList(plan, [[0, FIRST]], { keys }), plan)).toThrow(
        "not signed",
      );
    }
  });

  test("name rounds below 2^31, and versions below 2^32", async () => {
    const plan = await planOf();
    const last = { version: 2 ** 32 - 1, release: from(2 ** 31 - 1, "release", "release") };
    const keys = await listEntry(plan, last);
    const list = await keyList(plan, [[2 ** 31 - 1, FIRST]], { keys });
    const sent = await clientOf(plan).report(3, { keyLists: [list] });
    expect(sent?.roundNumber).toBe(2 ** 31 - 1);
    for (const changes of [
      { version: 2 ** 32 },
      { release: from(2 ** 31, "release", "release") },
    ]) {
      const other = await keyList(plan, [[0, FIRST]], { keys: await listEntry(plan, changes) });
      await (await refused(other, plan)).toThrow("impossible entries");
    }
    const beyond = await keyList(plan, [[2 ** 31, FIRST]]);
    await (await refused(beyond, plan)).toThrow("impossible entries");
  });

  test("must be of this version of the wire format", async () => {
    const plan = await planOf();
    const list = await keyList(plan, [[0, FIRST]], { schema_version: 1 });
    await (await refused(list, plan)).toThrow("is of wire version 1");
  });

  test("must be canonical", async () => {
    const plan = await planOf();
    const text = new TextDecoder().decode(await keyList(plan, [[0, FIRST]]));
    for (const altered of [`${text} `, text.replace('"round":0', '"round":0.0'), text.slice(1)]) {
      await (await refused(utf8(altered), plan)).toThrow(UntrustedError);
    }
  });

  test("without an open round are waited for", async () => {
    const plan = await planOf();
    await (await refused(await keyList(plan, []), plan)).toThrow("Wait for the next.");
  });
});

test("a plan whose sample nobody draws is not run", async () => {
  const plan = await planOf({ model: "subsample", repeats: 2 });
  expect(() => clientOf(plan)).toThrow("nobody draws the sample");
});

describe("queries", () => {
  const adaptive = { model: "rectified-multinomial", weights: 3 };

  test("are what a value may be a function of", async () => {
    const plan = await planOf({ model: "divide", groups: 2 });
    const asked: string[] = [];
    const answer = async (question: string) => {
      asked.push(question);
      return 7;
    };
    const submission = await reported(clientOf(plan, { rng: truthful, group: 0 }), answer, 0);
    expect(asked).toEqual(["crashed → ja?"]);
    expect(await opened(plan, submission)).toEqual([7n]);
  });

  test("are not answered with a report of another round", async () => {
    const reusing = planOf({ model: "divide", groups: 2, noise: "reused" });
    await expect(reusing).rejects.toThrow("where rounds differ in what they ask");
  });

  test("are none where the plan says what is asked", async () => {
    const plans = [
      await planOf({ model: "rectified-multinomial", weights: [1] }),
      await planOf({ model: "multinomial" }, [K_RR, K_RR]),
      await planOf({ weights: 3 }),
    ];
    expect(plans.map(({ asksByQuery }) => asksByQuery)).toEqual([false, false, false]);
  });

  test("that fail show nothing of the value", async () => {
    const failing = () => {
      throw new Error("sesame");
    };
    const failure = reported(clientOf(await planOf(adaptive)), failing, 0);
    await expect(failure).rejects.toThrow(DataError);
    await expect(failure).rejects.not.toThrow("sesame");
  });

  test("must be signed for this round, and the same on every mirror", async () => {
    const plan = await planOf(adaptive);
    const { keyLists } = await openRound(plan, 0);
    const first = await roundDocument(plan, [0, FIRST]);
    const other = await roundDocument(plan, [0, FIRST], await queryEntry(plan, 0, "who are you?"));
    const stranger = { plan: plan.digest, kind: "query", round: 0, question: "who?" };
    const lists = [
      [],
      [first, other],
      [await roundDocument(plan, [0, SECOND])],
      [await roundDocument(plan, [0, FIRST], await queryEntry(plan, 1))],
      [await roundDocument(plan, [0, FIRST], await signed(stranger, "shuffler", "query"))],
      [await roundDocument(plan, [0, FIRST], await queryEntry(plan, 0, ""))],
      [utf8(canonical({ schema_version: 1, shuffler: {}, query: null }))],
    ];
    for (const rounds of lists) {
      const refused = clientOf(plan).report(3, { keyLists, rounds });
      await expect(refused).rejects.toThrow(UntrustedError);
    }
    const fine = await clientOf(plan).report(3, { keyLists, rounds: [first, first] });
    expect(fine).not.toBeNull();
  });
});

describe("a refusal", () => {
  const authorization = "Bearer sesame";
  const refusal = (plan: Plan, submission: Submission, signer = "intake") =>
    refusalOf(plan, submission, authorization, signer);

  test("that is signed lets the same report be sealed for the next batch, once", async () => {
    const plan = await planOf();
    const client = clientOf(plan);
    const submission = await reported(client, 3, 0);
    const refused = { submission, authorization, refusal: await refusal(plan, submission) };
    const again = await client.reseal(refused, await openRound(plan, 1));
    expect(again?.batch).toBe(SECOND);
    expect(await opened(plan, again as Submission)).toEqual(await opened(plan, submission));
    expect(await client.reseal(refused, await openRound(plan, 1))).toBeNull();
  });

  test("that is not the shuffler's word about what was sent changes nothing", async () => {
    const plan = await planOf();
    const client = clientOf(plan);
    const submission = await reported(client, 3, 0);
    const next = await openRound(plan, 1);
    for (const word of [
      await refusal(plan, submission, "other"),
      await refusal(plan, submission, "release"),
      await refusal(plan, { ...submission, batch: THIRD }),
      await refusal(plan, { ...submission, body: new Uint8Array(128) }),
      utf8('{"error":"closed"}'),
    ]) {
      const refused = { submission, authorization, refusal: word };
      await expect(client.reseal(refused, next)).rejects.toThrow(UntrustedError);
    }
    const word = await refusal(plan, submission);
    const other = { submission, authorization: "Bearer other", refusal: word };
    await expect(client.reseal(other, next)).rejects.toThrow("not about the request that was sent");
  });

  test("does not move a turn to another round", async () => {
    const plan = await planOf({ model: "rectified-multinomial", weights: 3 });
    const client = clientOf(plan);
    const submission = await reported(client, 3, 0);
    const refused = { submission, authorization, refusal: await refusal(plan, submission) };
    expect(await client.reseal(refused, await openRound(plan, 1))).toBeNull();
    const same = await client.reseal(refused, await served(plan, [0, SECOND]));
    expect(same?.batch).toBe(SECOND);
    expect(await opened(plan, same as Submission)).toEqual(await opened(plan, submission));
  });
});

describe("functions of a batch", () => {
  const dictionary: Table = { mechanism: "dictionary", k: 1000, max_epsilon_local: 2 };

  test.each([
    ["a plan's question", {}, {}],
    ["a query", { model: "divide", groups: 2 }, { group: 1 }],
  ])("follow from its name, for %s", async (_, participation, choices) => {
    const plan = await planOf(participation, [dictionary], { rounds: 2 });
    const sent = await reported(clientOf(plan, { rng: truthful, ...choices }), 7, 1);
    const name = await batchName(await boundTo(plan, sent));
    const own = await plan.question(1).randomize(7, truthful, name);
    expect(await opened(plan, sent)).toEqual(own);
  });

  test("differ in two batches", async () => {
    const plan = await planOf({}, [dictionary], { rounds: 2 });
    const sent = [0, 1].map((round) => reported(clientOf(plan, { rng: truthful }), 7, round));
    const reports = (await Promise.all(sent)).map((each) => opened(plan, each));
    const [[row, bucket], [same, other]] = (await Promise.all(reports)) as [bigint[], bigint[]];
    expect(row).toBe(same);
    expect(bucket).not.toBe(other);
  });

  test("are those of the report: it is not sealed for another batch", async () => {
    const plan = await planOf({}, [dictionary, K_RR]);
    const client = clientOf(plan);
    const submission = await reported(client, [7, 3], 0);
    const refused = { submission, authorization: "Bearer sesame" };
    const word = await refusalOf(plan, submission, refused.authorization);
    expect(await client.reseal({ ...refused, refusal: word }, await openRound(plan, 1))).toBeNull();
  });

  test("leave no report to be sent again", async () => {
    const reusing = planOf({ noise: "reused" }, [dictionary]);
    await expect(reusing).rejects.toThrow("or how they hash");
  });
});

const BUDGETS = [
  { budget: -1 },
  { budget: Number.NaN },
  { budgetDelta: -1e-9 },
  { budgetDelta: 2 },
];
test.each([...BUDGETS, { spread: -1 }, { spread: 86_401 }])(
  "choices that cannot be: %j",
  async (choices) => {
    const plan = await planOf();
    expect(() => clientOf(plan, choices)).toThrow(ParameterError);
  },
);

describe("an attribute may have any name", () => {
  test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])("%s", async (attribute) => {
    const [cost, budget] = [
      { epsilon: 2, delta: 1e-8 },
      { epsilon: 5, delta: 1 },
    ];
    const state = readState(null, "the memory");
    charge(state, attribute, cost, budget);
    charge(state, attribute, cost, budget);
    const again = readState(writeState(state), "the memory");
    expect(again.spent[attribute]).toEqual([2, 2]);
    expect(again.spent_delta[attribute]).toEqual([1e-8, 1e-8]);
    expect(() => charge(again, attribute, cost, budget)).toThrow(BudgetError);
    expect(Object.prototype.toString.call({})).toBe("[object Object]");
  });
});
