/** Two shufflers in a row: three seals, both lists of keys, and each seal charged. */

import { describe, expect, test } from "vitest";
import { type Bytes, fromHex, hex, sha256, utf8 } from "../src/bytes.js";
import { type Choices, Client } from "../src/client/client.js";
import { charge, MemoryState, readState, writeState } from "../src/client/client_state.js";
import { submit } from "../src/client/conversation.js";
import { Server } from "../src/client/server.js";
import { BudgetError, ParameterError, UntrustedError } from "../src/errors.js";
import { canonical, type Table } from "../src/json.js";
import { Plan } from "../src/plan.js";
import { readKeyList, sentDigest } from "../src/protocol/key_list.js";
import {
  batchName,
  decodeReport,
  envelopeLength,
  info,
  sealInner,
  sealOuter,
  sealReport,
  sealSecond,
} from "../src/protocol/wire.js";
import { signed } from "./collection.js";
import { openInner, openOuter, openSecond, SealError } from "./opening.js";
import { type Case, ephemeral, epochOf, keyPair, WIRE } from "./vectors.js";

const TWO = WIRE.two_shufflers;
const { canonical: TEXT, digest: DIGEST } = WIRE.plans[TWO.plan];
const AUTHORIZATION = "Bearer letmein";

const load = (): Promise<Plan> => Plan.read(TEXT, DIGEST);
const listOf = (...rounds: number[]): Bytes =>
  utf8(TWO.key_lists.find((own: Case) => String(own.rounds) === String(rounds)).text);

async function clientOf(choices: Partial<Choices> = {}): Promise<Client> {
  const own = { attribute: "emoji", budget: 100, budgetDelta: 1, memory: new MemoryState() };
  return new Client(await load(), { ...own, ...choices });
}

/** Open a body as all three parties do. */
async function opened(body: Bytes, entry: Case) {
  const epoch = epochOf({ plan: TWO.plan, ...entry });
  const { inner: second, owner } = await openOuter(body, keyPair("shuffler"), epoch);
  const inner = await openSecond(second, keyPair("second"), epoch);
  const data = await openInner(inner, keyPair("analyzer"), epoch);
  return { second, inner, data, owner };
}

describe("the plan", () => {
  test("has two roots, and costs what the weakest dummies do", async () => {
    const plan = await load();
    const names = ["shuffler", "second"];
    expect(plan.shufflerKeys).toEqual(names.map((name) => WIRE.signing_keys[name].public));
    expect(plan.shufflerKey).toBe(plan.shufflerKeys[0]);
    expect(plan.cost).toEqual(TWO.cost);
  });

  test.each(TWO.refused_plans as Case[])("refused: $what", async (entry: Case) => {
    const digest = hex(await sha256(utf8(entry.canonical)));
    await expect(Plan.read(entry.canonical, digest)).rejects.toThrow(ParameterError);
  });

  const noisy = (epsilon: number) => [{ mechanism: "k-rr", k: 10, max_epsilon_local: epsilon }];
  test.each([
    ["noise that is weaker than the dummies", noisy(3), {}, TWO.cost],
    ["noise that suffices alone", noisy(1.5), {}, { epsilon: 1.5, delta: 0 }],
    ["dummies of one alone", noisy(3), { dummies: undefined }, { epsilon: 3, delta: 0 }],
  ])("costs, with %s", async (_, questions, changes, cost) => {
    const document = JSON.parse(TEXT);
    Object.assign(document.shufflers[0], changes);
    const text = canonical(JSON.parse(JSON.stringify({ ...document, questions })));
    const plan = await Plan.read(text, hex(await sha256(utf8(text))));
    expect(plan.cost).toEqual(cost);
  });

  test.each([
    ["noise", noisy(3), { epsilon: 3, delta: 0 }],
    ["the answer itself", [{ mechanism: "plain", k: 10 }], { epsilon: 1, delta: 0.001 }],
  ])("costs, of one shuffler with dummies and with %s", async (_, questions, cost) => {
    const document = JSON.parse(TEXT);
    document.shufflers = [{ ...document.shufflers[0], dummies: { epsilon: 1, delta: 0.001 } }];
    const text = canonical(JSON.parse(JSON.stringify({ ...document, questions })));
    const plan = await Plan.read(text, hex(await sha256(utf8(text))));
    expect(plan.cost).toEqual(cost);
  });
});

test.each(TWO.info as Case[])("info: $role", async (entry: Case) => {
  expect(hex(await info(epochOf(entry), entry.role, keyPair(entry.key).public))).toBe(entry.info);
  expect(hex(await batchName(epochOf(entry)))).toBe(entry.batch_name);
});

describe.each(TWO.envelopes as Case[])("envelope of round $round", (entry: Case) => {
  test("opens, layer by layer", async () => {
    const found = await opened(fromHex(entry.envelope), entry);
    expect(hex(found.second)).toBe(entry.second);
    expect(hex(found.inner)).toBe(entry.inner);
    expect(hex(found.data)).toBe(entry.plaintext);
  });

  test("is sealed to the same bytes under the same ephemeral keys", async () => {
    const epoch = epochOf(entry);
    const own = (role: string) => ephemeral(entry.ephemerals[role]);
    const inner = await sealInner(fromHex(entry.plaintext), epoch, await own("inner"));
    const second = await sealSecond(inner, epoch, await own("second"));
    const key = keyPair("shuffler").public;
    const envelope = await sealOuter(second, key, epoch, undefined, await own("outer"));
    expect([inner, second, envelope].map(hex)).toEqual([entry.inner, entry.second, entry.envelope]);
    expect(envelope.length).toBe(envelopeLength(epoch));
    await expect(sealOuter(inner, key, epoch)).rejects.toThrow(ParameterError);
    await expect(sealSecond(second, epoch)).rejects.toThrow(ParameterError);
  });

  test("is sealed afresh every time", async () => {
    const seal = () =>
      sealReport(fromHex(entry.plaintext), keyPair("shuffler").public, epochOf(entry));
    const [one, two] = await Promise.all([seal(), seal()]);
    expect(hex((await opened(one, entry)).data)).toBe(entry.plaintext);
    expect(hex(one)).not.toBe(hex(two));
    expect(one.length).toBe(two.length);
  });
});

test.each(TWO.refused_layers as Case[])("refused $what", async (entry: Case) => {
  const open = entry.layer === "outer" ? openOuter : openSecond;
  const opening = open(fromHex(entry.sealed), keyPair(entry.key), epochOf(entry));
  await expect(opening).rejects.toThrow(SealError);
  await expect(opening).rejects.toMatchObject({ reason: entry.reason });
});

describe("key lists", () => {
  test.each(TWO.key_lists as Case[])("of rounds $rounds", async ({ rounds, text }: Case) => {
    const { openRounds, onward } = await readKeyList(utf8(text), await load());
    expect(openRounds.map(({ round }) => round)).toEqual(rounds);
    expect(openRounds.map((own) => own.onward)).toEqual(
      rounds.map(() => [WIRE.keys.second.public]),
    );
    expect(onward.map(({ hop, version }) => [hop, version])).toEqual(rounds.map(() => [1, 1]));
  });

  test.each(TWO.refused_key_lists as Case[])("refused: $what", async ({ text }: Case) => {
    const memory = new MemoryState();
    const client = await clientOf({ memory });
    await expect(client.report(1, { keyLists: [utf8(text)] })).rejects.toThrow(UntrustedError);
    const state = await memory.update(async (own) => own);
    expect([state.sealed, state.spent]).toEqual([{}, {}]);
  });

  test("of one shuffler have no second one's part", async () => {
    const { canonical: text, digest } = WIRE.plans["k-rr"];
    const document = { ...JSON.parse(TWO.key_lists[1].text), plan: text };
    const list = utf8(canonical(document));
    await expect(readKeyList(list, await Plan.read(text, digest))).rejects.toThrow(UntrustedError);
  });
});

/** The list of open rounds with other keys of the second shuffler. */
async function listWith(changes: Table): Promise<Bytes> {
  const document = JSON.parse(TWO.key_lists[1].text);
  const { signature: _, ...entries } = document.onward[0].keys;
  const keys = await signed({ ...entries, ...changes }, "second", "shuffler keys");
  document.onward[0].keys = keys;
  return utf8(canonical(document));
}

describe("a client", () => {
  test("seals to all three, once, and charges before", async () => {
    const memory = new MemoryState();
    const client = await clientOf({ memory });
    const [sent, again] = [
      await client.report(7, { keyLists: [listOf(3)] }),
      await client.report(8, { keyLists: [listOf(3)] }),
    ];
    expect(hex(again?.body as Bytes)).toBe(hex(sent?.body as Bytes));
    const found = await opened(sent?.body as Bytes, { round: 3, batch: sent?.batch });
    const format = client.plan.question(3).reportFormat;
    expect(decodeReport(format, found.data, client.plan.reportSize)).toEqual([7n]);
    const state = await memory.update(async (own) => own);
    expect(state.spent).toEqual({ emoji: [TWO.cost.epsilon] });
    expect(state.spent_delta).toEqual({ emoji: [TWO.cost.delta] });
    expect(state.listed_second[DIGEST]?.version).toBe(1);
    expect(readState(writeState(state), "the memory")).toEqual(state);
  });

  test.each([{ budget: 1.9 }, { budgetDelta: 0.069 }])("short of %j stays away", async (short) => {
    const client = await clientOf(short);
    const report = client.report(7, { keyLists: [listOf(3)] });
    await expect(report).rejects.toThrow(BudgetError);
    await expect(report).rejects.toThrow(/a report costs 2.* a report costs 0.07/);
  });

  test("refuses a list of the second shuffler's keys that was rolled back", async () => {
    const memory = new MemoryState();
    const served = async (changes: Table) => ({ keyLists: [await listWith(changes)] });
    const round = async (changes: Table) =>
      (await clientOf({ memory })).chosenRound(await served(changes));
    expect(await round({ version: 2 })).toBe(3);
    await expect(round({})).rejects.toThrow("older");
    const release = [
      { from_round: 0, key: WIRE.signing_keys["second release"].public },
      { from_round: 9, key: WIRE.signing_keys.other.public },
    ];
    await expect(round({ version: 2, release })).rejects.toThrow("second one");
    expect(await round({ version: 3, release })).toBe(3);
  });

  test("refuses a replaced release key of the second shuffler", async () => {
    const memory = new MemoryState();
    const release = [
      { from_round: 0, key: WIRE.signing_keys["second release"].public },
      { from_round: 4, key: WIRE.signing_keys.other.public },
    ];
    await memory.update(async (state) => {
      state.listed_second[DIGEST] = { version: 1, digest: "", round: 4 };
    });
    const keyLists = [await listWith({ version: 2, release })];
    await expect((await clientOf({ memory })).chosenRound({ keyLists })).rejects.toThrow(
      "replaced before",
    );
    expect(await (await clientOf()).chosenRound({ keyLists })).toBe(3);
  });

  async function refusal(batch: string, body: Bytes, signer = "intake"): Promise<Bytes> {
    const sent = await sentDigest(AUTHORIZATION, body);
    const entry = { plan: DIGEST, kind: "not accepted", batch, sent };
    return utf8(canonical(await signed(entry, signer, "refusal")));
  }

  test("seals nothing again after a refusal", async () => {
    const client = await clientOf();
    const submission = await client.report(7, { keyLists: [listOf(3)] });
    if (submission === null) throw new Error("not this person's turn");
    const refused = async (signer?: string) => ({
      submission,
      refusal: await refusal(submission.batch, submission.body, signer),
      authorization: AUTHORIZATION,
    });
    for (const keyLists of [[listOf(3, 4)], [listOf()]]) {
      expect(await client.reseal(await refused(), { keyLists })).toBeNull();
      const forged = client.reseal(await refused("second intake"), { keyLists });
      await expect(forged).rejects.toThrow(UntrustedError);
    }
  });

  test("ends a refused conversation with a lost round", async () => {
    const posted: Uint8Array[] = [];
    const fetch = async (_: string, { method, body }: RequestInit) => {
      if (method === "GET") return new Response(listOf(3));
      posted.push(body as Bytes);
      const { batch } = JSON.parse(TWO.key_lists[1].text).shuffler[0];
      return new Response(await refusal(batch, body as Bytes), { status: 409 });
    };
    const server = new Server({ url: "https://reports.example", credential: "letmein" });
    const outcome = await submit(await clientOf(), 7, server, { fetch, sleep: async () => {} });
    expect(outcome).toBe("the batch was closed");
    expect(posted.length).toBe(1);
  });
});

describe("a memory", () => {
  test("adds chances as they are written", () => {
    const state = readState(null, "the memory");
    const budget = { epsilon: 1000, delta: 1e-6 };
    for (let n = 0; n < 100; n += 1) charge(state, "emoji", { epsilon: 1, delta: 1e-8 }, budget);
    const more = { epsilon: 1, delta: 1e-15 };
    expect(() => charge(state, "emoji", more, budget)).toThrow(BudgetError);
    charge(state, "emoji", { epsilon: 1, delta: 0 }, { epsilon: 1000, delta: 0 });
    expect(state.spent_delta.emoji?.length).toBe(100);
  });

  test("of an older version is read, and written as it was", () => {
    const older = { schema_version: 1, listed: {}, sealed: {}, joined: {}, resent: {}, spent: {} };
    const state = readState(JSON.stringify(older), "the memory");
    expect(JSON.parse(writeState(state))).toEqual(older);
  });
});
