/** Tokens: asked for before a round, spent in it once, and linked to nobody. */

import { RSABSSA } from "@cloudflare/blindrsa-ts";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { concat, equal, fromHex, hex, sha256, utf8 } from "../src/bytes.js";
import { Client } from "../src/client/client.js";
import { type Memory, MemoryState, type State, writeState } from "../src/client/client_state.js";
import { submit } from "../src/client/conversation.js";
import { fetchToken } from "../src/client/fetch_token.js";
import { deliver, type Prepared, prepare } from "../src/client/forward.js";
import { Server } from "../src/client/server.js";
import { BudgetError, DataError, NoTokenError, UntrustedError } from "../src/errors.js";
import { canonical } from "../src/json.js";
import type { Plan } from "../src/plan.js";
import { isSignedBy } from "../src/protocol/blind_rsa.js";
import { sentDigest } from "../src/protocol/key_list.js";
import { challenge } from "../src/protocol/token.js";
import { tokenKeyOf } from "../src/protocol/token_keys.js";
import { BATCHES, K_RR, keyList, listEntry, planOf, signed } from "./collection.js";
import { silence, status } from "./scripted.js";
import { WIRE } from "./vectors.js";

const ISSUER = "https://issuer.example";
const CREDENTIAL = "ab".repeat(33);
const HELD = "the token of the next round is held";
const NO_TOKEN = "no token for this round";
const ROUNDS = 4;
const address = { url: "https://reports.example", credential: CREDENTIAL };
const server = new Server({ ...address, issuer: `${ISSUER}/` });
const suite = RSABSSA.SHA384.PSS.Deterministic();

interface Round {
  readonly modulus: string;
  readonly pair: CryptoKeyPair;
}
type Answer = (body: Uint8Array, headers: Headers) => Response | Promise<Response>;

/** One key per round, and one that is nobody's. */
let keys: Round[];
let plan: Plan;

beforeAll(async () => {
  const made = Array.from({ length: ROUNDS + 1 }, async () => {
    const given = { modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1) };
    const pair = await RSABSSA.SHA384.generateKey(given);
    const { n } = await crypto.subtle.exportKey("jwk", pair.publicKey);
    return { pair, modulus: Buffer.from(String(n), "base64url").toString("hex") };
  });
  keys = await Promise.all(made);
  const admission = { by: "token", key: WIRE.signing_keys.other.public };
  plan = await planOf({}, [K_RR], { rounds: 9 }, { admission });
});

function listed(own: readonly Round[] = keys.slice(0, ROUNDS), signer = "other") {
  const entry = {
    plan: plan.digest,
    kind: "token keys",
    version: 1,
    first: 0,
    keys: own.map(({ modulus }) => modulus),
  };
  return signed(entry, signer, "token keys");
}

/** A shuffler and an issuer that signs for real, once per round, and what they were sent. */
class Site {
  readonly asked: { url: string; init: RequestInit }[] = [];
  readonly pauses: number[] = [];
  readonly issued = new Map<number, string>();
  readonly answers: Answer[] = [];
  readonly posts: Answer[] = [];
  open = [0];
  tokens = listed();

  fetch = async (url: string, init: RequestInit): Promise<Response> => {
    this.asked.push({ url, init });
    if (init.method === "GET") return new Response(await this.list());
    const [body, headers] = [init.body as Uint8Array, new Headers(init.headers)];
    const answers = url.startsWith(ISSUER) ? this.answers : this.posts;
    const answer = answers.shift();
    if (answer !== undefined) return answer(body, headers);
    return url.startsWith(ISSUER) ? this.issue(url, body) : new Response(null, { status: 202 });
  };

  sleep = async (seconds: number): Promise<void> => void this.pauses.push(seconds);

  async list() {
    const rounds = this.open.map((round) => [round, BATCHES[round] as string] as const);
    return keyList(plan, rounds, { tokens: await this.tokens });
  }

  async issue(url: string, body: Uint8Array): Promise<Response> {
    const round = Number(/\/rounds\/(\d+)\/token$/.exec(url)?.[1]);
    if (round <= Math.max(...this.open)) return new Response(null, { status: 410 });
    const before = this.issued.get(round);
    if (before !== undefined && before !== hex(body)) return new Response(null, { status: 409 });
    this.issued.set(round, hex(body));
    const { privateKey } = (keys[round] as Round).pair;
    return new Response(
      (await suite.blindSign(privateKey, body.slice(3))) as Uint8Array<ArrayBuffer>,
    );
  }

  get requests() {
    return this.asked.filter(({ url }) => url.endsWith("/token"));
  }

  get reports() {
    return this.asked
      .filter(({ url }) => url.endsWith("/reports"))
      .map(({ init }) => ({
        headers: Object.fromEntries(new Headers(init.headers)) as Record<string, string>,
        body: new Uint8Array(init.body as Uint8Array),
      }));
  }
}

let site: Site;
let memory: Memory;
let client: Client;

const make = (choices: { budget?: number; clock?: () => number; spread?: number } = {}) =>
  new Client(plan, { attribute: "emoji", budget: 99, memory, ...choices });
const state = () => memory.update(async (kept): Promise<State> => kept);
const held = async (round: number) => (await state()).tokens[`${plan.digest}/${round}`];
const ask = () => fetchToken(client, server, site);
const talk = (value: unknown = 1) => submit(client, value, server, site);

/** Return the parts of a token in a header. */
function partsOf(authorization: string) {
  const [, text] = /^PrivateToken token="([\w-]{472})"$/.exec(authorization) ?? [];
  const data = new Uint8Array(Buffer.from(String(text), "base64url"));
  return {
    input: data.slice(0, 98),
    nonce: data.slice(2, 34),
    challenge: data.slice(34, 66),
    keyId: data.slice(66, 98),
    signature: data.slice(98),
  };
}

beforeEach(() => {
  site = new Site();
  memory = new MemoryState();
  client = make();
});

describe("a round", () => {
  test("a new device answers from the following round on", async () => {
    expect(await talk()).toBe(NO_TOKEN);
    expect(await state()).toMatchObject({ spent: {}, sealed: {} });
    expect(site.reports).toEqual([]);
    site.open = [1];
    expect(await talk()).toBe("accepted");
    expect(site.requests.map(({ url }) => url.split("/").at(-2))).toEqual(["1", "2"]);
  });

  test("what is asked and what is spent", async () => {
    await ask();
    site.open = [1];
    await talk();
    const [asked] = site.requests;
    expect(asked?.url).toBe(`${ISSUER}/v1/plans/${plan.digest}/rounds/1/token`);
    expect(Object.fromEntries(new Headers(asked?.init.headers))).toEqual({
      "user-agent": "croupier",
      "accept-encoding": "identity",
      "content-type": "application/private-token-request",
      authorization: `Bearer ${CREDENTIAL}`,
    });
    const [report] = site.reports as [(typeof site.reports)[0]];
    const token = partsOf(String(report.headers.authorization));
    const list = { version: 1, digest: "", first: 1, keys: [(keys[1] as Round).modulus] };
    const key = await tokenKeyOf(list, 1);
    const request = hex(asked?.init.body as Uint8Array);
    expect(request.length).toBe(2 * 259);
    expect(request.slice(0, 6)).toBe(`0002${hex(key?.id as Uint8Array).slice(-2)}`);
    expect(hex(token.challenge)).toBe(hex(await challenge(plan, 1)));
    expect(hex(token.keyId)).toBe(hex(key?.id as Uint8Array));
    expect(await isSignedBy(key?.modulus as bigint, token.input, token.signature)).toBe(true);
    const proof = fromHex(String(report.headers["croupier-proof"]));
    expect(hex(await sha256(proof.slice(0, 32)))).toBe(hex(token.nonce));
    const own = await crypto.subtle.importKey("raw", proof.slice(0, 32), "Ed25519", false, [
      "verify",
    ]);
    const start = concat(
      utf8("croupier spend\0"),
      fromHex(plan.digest),
      fromHex(BATCHES[1] as string),
    );
    const [spent, other] = [await sha256(report.body), await sha256(utf8("another report"))];
    const isSpent = (on: Uint8Array) =>
      crypto.subtle.verify("Ed25519", own, proof.slice(32), concat(start, on));
    expect([await isSpent(spent), await isSpent(other)]).toEqual([true, false]);
  });

  test("intake gets nothing twice and no credential; one length per kind", async () => {
    await ask();
    for (const [round, value] of [
      [1, 0],
      [2, 9],
    ] as const) {
      site.open = [round];
      expect(await talk(value)).toBe("accepted");
    }
    const [first, second] = site.reports as [(typeof site.reports)[0], (typeof site.reports)[0]];
    const names = Object.keys(first.headers);
    expect(names.filter((name) => first.headers[name] === second.headers[name]).sort()).toEqual([
      "accept-encoding",
      "content-type",
      "user-agent",
    ]);
    const tokens = [first, second].map(({ headers }) => partsOf(String(headers.authorization)));
    for (const part of ["nonce", "challenge", "keyId", "signature"] as const) {
      expect(new Set(tokens.map((token) => hex(token[part]))).size).toBe(2);
    }
    const [own, next] = [first, second].map(({ headers }) => String(headers["croupier-proof"]));
    expect(own?.slice(0, 64)).not.toBe(next?.slice(0, 64));
    expect(equal(first.body, second.body)).toBe(false);
    const elsewhere = site.asked.filter(({ url }) => !url.startsWith(ISSUER));
    expect(JSON.stringify(elsewhere)).not.toContain(CREDENTIAL);
    const lengths = ({ url, init }: (typeof site.asked)[0]) =>
      [url, ...new Headers(init.headers).values()].map((text) => text.length).join() +
      `/${(init.body as Uint8Array | undefined)?.length}`;
    expect(new Set(site.requests.map(lengths)).size).toBe(1);
    const reports = site.asked.filter(({ url }) => url.endsWith("/reports"));
    expect(new Set(reports.map(lengths)).size).toBe(1);
  });

  test("the time of asking does not depend on answering", async () => {
    client = make({ spread: 100 });
    expect(await talk()).toBe(NO_TOKEN);
    const without = site.pauses.splice(0);
    site.open = [1];
    expect(await talk()).toBe("accepted");
    // One time to ask; or two times, and the later one is reached in the end.
    for (const pauses of [without, site.pauses]) {
      const all = pauses.reduce((sum, seconds) => sum + seconds, 0);
      expect(all > 0 && all <= 100).toBe(true);
    }
    expect(without.length).toBe(1);
  });

  test("either of report and token comes first", async () => {
    const first = { report: 0, token: 0 };
    for (let turn = 0; turn < 24 && Math.min(first.report, first.token) === 0; turn++) {
      site = new Site();
      memory = new MemoryState();
      client = make({ spread: 100 });
      await ask();
      site.open = [1];
      const before = site.asked.length;
      expect(await talk()).toBe("accepted");
      const posts = site.asked.slice(before).filter(({ init }) => init.method === "POST");
      first[posts[0]?.url.startsWith(ISSUER) ? "token" : "report"]++;
    }
    // Of 24 fair coins, one of them never comes with a chance of 1 in 8 million.
    expect(Math.min(first.report, first.token)).toBeGreaterThan(0);
  });

  test.each([0, 5, 400])("what takes %d s moves neither token nor report", async (stalled) => {
    const start = 1_800_000_000;
    let now = start;
    client = make({ spread: 1000, clock: () => now });
    await ask();
    site.open = [1];
    client.tokenDelay = () => 800;
    const report = client.report.bind(client);
    client.report = async (...given) => {
      const made = await report(...given);
      return made && { ...made, delay: 700 };
    };
    const times: Record<string, number> = {};
    let stalls = stalled;
    const transport = {
      sleep: async (seconds: number) => {
        now += seconds;
      },
      fetch: async (url: string, init: RequestInit) => {
        times[String(url.split("/").at(-1))] = now - start;
        now += stalls;
        stalls = 0;
        return site.fetch(url, init);
      },
    };
    expect(await submit(client, 1, server, transport)).toBe("accepted");
    expect(times).toMatchObject({ token: 800, reports: 700 + stalled });
  });

  test.each([
    [0, 1, BudgetError],
    [99, 77, DataError],
  ])("whoever cannot answer fetches a token as well", async (budget, value, error) => {
    client = make({ budget });
    await ask();
    site.open = [1];
    await expect(talk(value)).rejects.toThrow(error);
    expect((await held(2))?.signature).toBeDefined();
    expect(site.reports).toEqual([]);
  });
});

describe("fetching", () => {
  test("secrets are remembered before they are used, and never sent", async () => {
    let before: Awaited<ReturnType<typeof held>>;
    site.answers.push(async (body) => {
      before = await held(1);
      expect(before?.request).toBe(hex(body));
      return new Response(null, { status: 410 });
    });
    expect(await ask()).toBe("the issuer gives no tokens for the round now");
    expect(await ask()).toBe(HELD);
    const after = await held(1);
    expect(after).toEqual({
      key_id: before?.key_id,
      seed: before?.seed,
      signature: after?.signature,
    });
    expect(new Set(site.requests.map(({ init }) => hex(init.body as Uint8Array))).size).toBe(1);
    site.open = [1];
    await talk();
    for (const { url, init } of site.asked) {
      const shown = `${url}${JSON.stringify(init.headers)}${hex((init.body ?? utf8("")) as Uint8Array)}`;
      for (const secret of [before?.seed, before?.inverse]) expect(shown).not.toContain(secret);
    }
  });

  test("a busy issuer is asked again with the same bytes, and only until it has signed", async () => {
    site.answers.push(silence, status(429), status(503, { "Retry-After": "7" }));
    expect(await ask()).toBe(HELD);
    expect(site.requests.length).toBe(4);
    expect(new Set(site.requests.map(({ init }) => hex(init.body as Uint8Array))).size).toBe(1);
    expect(await ask()).toBe(HELD);
    expect(site.requests.length).toBe(4);
  });

  test.each([401, 404, 409, 301])("an issuer that answers %i gives none", async (code) => {
    site.answers.push(status(code));
    expect(await ask()).toBe("refused");
    site.open = [1];
    expect(await talk()).toBe(NO_TOKEN);
    expect(site.reports).toEqual([]);
  });

  test("a memory that was lost gets no second token", async () => {
    expect(await ask()).toBe(HELD);
    memory = new MemoryState();
    client = make();
    expect(await ask()).toBe("refused");
  });

  test("a signature of another key is an alarm, and nothing is spent", async () => {
    site.answers.push(async (body) => {
      const { pair, modulus } = keys[ROUNDS] as Round;
      const number = BigInt(`0x${hex(body.slice(3))}`) % BigInt(`0x${modulus}`);
      const blinded = fromHex(number.toString(16).padStart(512, "0"));
      const signature = await suite.blindSign(pair.privateKey, blinded);
      return new Response(signature as Uint8Array<ArrayBuffer>);
    });
    await expect(ask()).rejects.toThrow("is not of the key that the plan's issuer published");
    site.answers.push(() => new Response("short"));
    await expect(ask()).rejects.toThrow("has another length");
    expect((await held(1))?.signature).toBeUndefined();
    site.open = [1];
    expect(await talk()).toBe(NO_TOKEN);
    expect(site.reports).toEqual([]);
  });

  test("a replaced key of a round is an alarm", async () => {
    await ask();
    const [first, , third, fourth, stranger] = keys as [Round, Round, Round, Round, Round];
    site.tokens = listed([first, stranger, third, fourth]);
    await expect(ask()).rejects.toThrow("is a second one of the same version");
    const forget = () =>
      memory.update(async ({ listed_issuer }) => void delete listed_issuer[plan.digest]);
    await forget();
    await expect(ask()).rejects.toThrow("the issuer's key of the round was replaced");
    site.open = [1];
    await forget();
    await expect(talk()).rejects.toThrow("the issuer's key of the round was replaced");
    expect(site.reports).toEqual([]);
    expect((await state()).spent).toEqual({});
  });

  test("only the round after all open ones is asked for; what has passed is forgotten", async () => {
    site.open = [0, 1];
    expect(await ask()).toBe(HELD);
    expect(Object.keys((await state()).tokens)).toEqual([`${plan.digest}/2`]);
    site.open = [3];
    expect(await ask()).toBe("the issuer has no key for the next round yet");
    expect(site.requests.length).toBe(1);
    expect((await state()).tokens).toEqual({});
  });

  test("a list that is refused leaves the tokens and all lists as they were", async () => {
    await ask();
    const list = async (round: number, version: number, tokens = site.tokens) =>
      keyList(plan, [[round, BATCHES[round] as string]], {
        tokens: await tokens,
        keys: await listEntry(plan, { version }),
      });
    await client.followed([await list(0, 2)]);
    const before = writeState(await state());
    expect((await held(1))?.signature).toBeDefined();
    const older = client.followed([await list(3, 1)]);
    await expect(older).rejects.toThrow("is older than one that was seen before");
    expect(writeState(await state())).toBe(before);
    const other = client.followed([await list(3, 3, listed(keys.slice(0, 3)))]);
    await expect(other).rejects.toThrow("is a second one of the same version");
    expect(writeState(await state())).toBe(before);
  });

  test("the issuer's keys must be its root's, and there exactly if the plan says so", async () => {
    site.tokens = listed(keys.slice(0, ROUNDS), "analyzer");
    await expect(ask()).rejects.toThrow(UntrustedError);
    const without = await keyList(plan, [[0, BATCHES[0] as string]]);
    await expect(client.followed([without])).rejects.toThrow("has no keys of the issuer");
    const twice = await listed([keys[0] as Round, keys[0] as Round]);
    const repeated = await keyList(plan, [], { tokens: twice });
    await expect(client.followed([repeated])).rejects.toThrow("impossible entries");
    const other = await planOf();
    const superfluous = await keyList(other, [], { tokens: await listed() });
    const own = new Client(other, { attribute: "emoji", budget: 8, memory });
    await expect(own.followed([superfluous])).rejects.toThrow("has keys of an issuer");
    await expect(fetchToken(own, server, site)).rejects.toThrow('be "token" to fetch tokens');
  });

  test("a plan that admits by token needs an issuer", async () => {
    const alone = new Server(address);
    const missing = "`issuer` must be given: the plan admits by token";
    await expect(submit(client, 1, alone, site)).rejects.toThrow(missing);
    await expect(prepare(client, 1, alone, site)).rejects.toThrow(missing);
    await expect(fetchToken(client, alone, site)).rejects.toThrow(missing);
    await expect(client.report(1, { keyLists: [await site.list()] })).rejects.toThrow(NoTokenError);
    expect(writeState(await state())).not.toContain("tokens");
  });
});

describe("a report", () => {
  test("that was prepared spends its token when it is delivered", async () => {
    let now = 1_800_000_000;
    client = make({ clock: () => now });
    expect(await prepare(client, 1, server, site)).toBe(NO_TOKEN);
    await ask();
    site.open = [1];
    now = ((await prepare(client, 1, server, site)) as Prepared).due;
    site.posts.push(status(503), status(503, { "Retry-After": "99" }));
    expect(await deliver(client, server, site)).toBe("no answer in time");
    expect(await deliver(make({ clock: () => now }), server, site)).toBe("accepted");
    expect(new Set(site.reports.map((report) => JSON.stringify(report))).size).toBe(1);
    expect(site.reports[0]?.headers.authorization).toContain("PrivateToken token=");
  });

  test("whose token is lost is never sent with the credential", async () => {
    let now = 1_800_000_000;
    client = make({ clock: () => now });
    await ask();
    site.open = [1];
    now = ((await prepare(client, 1, server, site)) as Prepared).due;
    await memory.update(async ({ tokens }) => void delete tokens[`${plan.digest}/1`]);
    expect(await deliver(client, server, site)).toBe(NO_TOKEN);
    expect(await deliver(client, server, site)).toBe("nothing to send");
    expect(site.reports).toEqual([]);
  });

  /** Sign that the batch is closed, and open the next round. */
  const refusing =
    (authorization?: string): Answer =>
    async (body, headers) => {
      const batch = String(headers.get("Croupier-Batch"));
      const own = authorization ?? String(headers.get("Authorization"));
      const sent = await sentDigest(own, new Uint8Array(body));
      const entry = { plan: plan.digest, kind: "not accepted", batch, sent };
      site.open = [2];
      const refusal = await signed(entry, "intake", "refusal");
      return new Response(canonical(refusal), { status: 409 });
    };

  test("that was refused is sealed again with the token of the other round", async () => {
    await ask();
    site.open = [1];
    await ask();
    site.posts.push(refusing());
    expect(await talk()).toBe("accepted");
    const found = site.reports.map(({ headers }) => partsOf(String(headers.authorization)));
    const expected = [hex(await challenge(plan, 1)), hex(await challenge(plan, 2))];
    expect(found.map((token) => hex(token.challenge))).toEqual(expected);
  });

  test("is lost without that token, and a refusal is bound to the token", async () => {
    await ask();
    site.open = [1];
    site.posts.push(refusing());
    site.answers.push(status(410)); // the next token is asked for before or after
    expect(await talk()).toBe("the batch was closed");
    expect(site.reports.length).toBe(1);
    await ask();
    site.open = [3];
    site.posts.push(refusing(`Bearer ${CREDENTIAL}`));
    await expect(talk()).rejects.toThrow("is not about the request that was sent");
  });
});
