/** Enrolment: one device, one credential, whatever is lost on the way. */

import { describe, expect, test } from "vitest";
import { Client } from "../src/client/client.js";
import { type Memory, MemoryState } from "../src/client/client_state.js";
import { submit } from "../src/client/conversation.js";
import { admitted } from "../src/client/enrolment.js";
import { deliver, type Prepared, prepare } from "../src/client/forward.js";
import { Server } from "../src/client/server.js";
import { NotAdmittedError, ParameterError, UntrustedError } from "../src/errors.js";
import { canonical } from "../src/json.js";
import type { Plan } from "../src/plan.js";
import { BATCHES, keyList, planOf } from "./collection.js";
import { silence, status } from "./scripted.js";

const ISSUER = "https://issuer.example";
const UNSAID = "zebra-crossing";
const CREDENTIAL = "0".repeat(66);
const server = new Server({
  url: "https://reports.example",
  issuer: `${ISSUER}/`,
  proof: "an invitation",
});

type Answer = () => Response | Promise<Response>;

/** An issuer that gives each device one credential, and a shuffler. */
class Site {
  readonly asked: { url: string; init: RequestInit }[] = [];
  readonly pauses: number[] = [];
  readonly devices: string[] = [];

  constructor(
    private readonly list: Uint8Array,
    private readonly first: Answer[] = [],
    private readonly posts: Answer[] = [status(202)],
  ) {}

  fetch = async (url: string, init: RequestInit): Promise<Response> => {
    this.asked.push({ url, init });
    if (url === `${ISSUER}/v1/enrol`) return (this.first.shift() ?? (() => this.enrol()))();
    if (init.method === "GET") return new Response(this.list as Uint8Array<ArrayBuffer>);
    return ((this.posts.length > 1 ? this.posts.shift() : this.posts[0]) as Answer)();
  };

  sleep = async (seconds: number): Promise<void> => void this.pauses.push(seconds);

  private enrol(): Response {
    const { device } = JSON.parse(this.enrolments.at(-1) as string);
    if (!this.devices.includes(device)) this.devices.push(device);
    const credential = this.devices.indexOf(device).toString(16).padStart(66, "0");
    return new Response(canonical({ credential, schema_version: 1 }));
  }

  get enrolments(): string[] {
    const own = this.asked.filter(({ url }) => url.endsWith("/enrol"));
    return own.map(({ init }) => new TextDecoder().decode(init.body as Uint8Array));
  }

  get authorizations(): (string | null)[] {
    const reports = this.asked.filter(({ url }) => url.endsWith("/reports"));
    return reports.map(({ init }) => new Headers(init.headers).get("Authorization"));
  }
}

async function setUp(first: Answer[] = [], posts?: Answer[]) {
  const plan = await planOf();
  const memory = new MemoryState();
  const site = new Site(await keyList(plan, [[0, BATCHES[0] as string]]), first, posts);
  return { plan, memory, site, client: make(plan, memory) };
}

function make(plan: Plan, memory: Memory, clock = () => 1_800_000_000): Client {
  return new Client(plan, { attribute: "emoji", budget: 8, memory, clock });
}

const known = (memory: Memory) =>
  memory.update(async ({ enrolled, spent }) => ({ ...enrolled[ISSUER], spent: spent.emoji }));

test("a device enrols before it takes part, once", async () => {
  const { plan, memory, site, client } = await setUp();
  expect(await submit(client, 3, server, site)).toBe("accepted");
  expect(await submit(make(plan, memory), 3, server, site)).toBe("accepted");
  const { device } = await known(memory);
  expect(device).toMatch(/^[0-9a-f]{64}$/);
  expect(site.enrolments).toEqual([
    `{"device":"${device}","proof":"an invitation","schema_version":1}`,
  ]);
  const [{ url, init }] = site.asked as [{ url: string; init: RequestInit }];
  expect(url).toBe("https://issuer.example/v1/enrol");
  expect(init.headers).toEqual({
    "User-Agent": "croupier",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
  });
  expect(init).toMatchObject({ credentials: "omit", redirect: "error" });
  expect(site.authorizations).toEqual([`Bearer ${CREDENTIAL}`, `Bearer ${CREDENTIAL}`]);
});

test("the device is remembered before it is sent, and a lost answer is asked for again", async () => {
  const { plan, memory, site, client } = await setUp();
  let seen: string | undefined;
  const cut = async () => {
    seen = (await known(memory)).device;
    throw new TypeError("fetch failed");
  };
  const lost = new Site(new Uint8Array(0), [cut, cut, cut, cut, cut, cut, cut, cut]);
  expect(await admitted(client, server, 30, lost)).toBe(null);
  expect(new Set(lost.enrolments).size).toBe(1);
  expect(JSON.parse(lost.enrolments[0] as string).device).toBe(seen);
  expect(await admitted(make(plan, memory), server, 30, site)).toBeInstanceOf(Server);
  expect(site.enrolments[0]).toBe(lost.enrolments[0]);
});

test("a busy issuer is asked again with the same bytes", async () => {
  const busy = [silence, status(503), status(429, { "Retry-After": "7" }), status(500)];
  const { site, client } = await setUp(busy);
  expect(await submit(client, 3, server, site)).toBe("accepted");
  expect([site.enrolments.length, new Set(site.enrolments).size]).toEqual([5, 1]);
  expect(site.pauses[2]).toBe(7);
});

test.each([
  [403, "The issuer does not admit this device (403). Check the proof of enrolment."],
  [409, "The invitation was used by another device (409). Ask for another one."],
  [404, "The issuer does not enrol devices (404). Check its address."],
])("%i is told in a fixed sentence", async (code, said) => {
  const refusal = () => new Response(canonical({ error: UNSAID }), { status: code });
  const { site, client, memory } = await setUp([refusal]);
  const error = await submit(client, 3, server, site).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(NotAdmittedError);
  expect([error.message, error.status]).toEqual([said, code]);
  expect([site.asked.length, (await known(memory)).spent]).toEqual([1, undefined]);
  expect(await submit(client, 3, server, site)).toBe("accepted");
  expect(new Set(site.enrolments).size).toBe(1);
});

test.each([
  "",
  "null",
  "[]",
  "{}",
  canonical({ credential: "0".repeat(65), schema_version: 1 }),
  canonical({ credential: `${CREDENTIAL}\n`, schema_version: 1 }),
  canonical({ credential: "G".repeat(66), schema_version: 1 }),
  canonical({ credential: [CREDENTIAL], schema_version: 1 }),
  canonical({ credential: CREDENTIAL, schema_version: 2 }),
  canonical({ credential: CREDENTIAL, more: 1, schema_version: 1 }),
])("%j is no credential", async (text) => {
  const { site, client, memory } = await setUp([() => new Response(text)]);
  await expect(submit(client, 3, server, site)).rejects.toThrow(UntrustedError);
  expect((await known(memory)).credential).toBe(undefined);
});

test("a credential that is refused is not replaced", async () => {
  const { site, client } = await setUp([], [status(401)]);
  expect(await submit(client, 3, server, site)).toBe("refused");
  expect(await submit(client, 3, server, site)).toBe("refused");
  expect(site.enrolments).toHaveLength(1);
  expect(new Set(site.authorizations)).toEqual(new Set([`Bearer ${CREDENTIAL}`]));
});

test("a prepared report is delivered with the credential", async () => {
  const { plan, memory, site } = await setUp();
  let now = 1_800_000_000;
  const client = make(plan, memory, () => now);
  const made = (await prepare(client, 3, server, site)) as Prepared;
  expect(site.enrolments).toHaveLength(1);
  now = made.due;
  expect(await deliver(client, server, site)).toBe("accepted");
  expect(site.enrolments).toHaveLength(1);
  expect(site.authorizations).toEqual([`Bearer ${CREDENTIAL}`]);
});

test("a silent issuer lets nothing be randomised", async () => {
  const { site, client, memory } = await setUp(Array.from({ length: 9 }, () => silence));
  expect(await prepare(client, 3, server, site)).toBe("no answer in time");
  expect(new Set(site.asked.map(({ url }) => url))).toEqual(new Set([`${ISSUER}/v1/enrol`]));
  expect((await known(memory)).spent).toBe(undefined);
});

test("a memory without enrolment is as before", async () => {
  const plan = await planOf();
  const memory = new MemoryState();
  const own = new Server({ url: "https://reports.example", credential: "sesame" });
  const site = new Site(await keyList(plan, [[0, BATCHES[0] as string]]));
  expect(await submit(make(plan, memory), 3, own, site)).toBe("accepted");
  expect(site.enrolments).toEqual([]);
  expect(await memory.update(async ({ enrolled }) => Object.keys(enrolled))).toEqual([]);
});

describe("a server", () => {
  test("with a credential enrols nobody", async () => {
    const { client, memory, site } = await setUp();
    const given = new Server({ url: "https://reports.example", issuer: ISSUER, credential: "x" });
    expect(await admitted(client, given, 30, site)).toBe(given);
    expect(site.asked).toEqual([]);
    expect(await known(memory)).toEqual({});
  });

  const url = "https://reports.example";
  test.each([
    {},
    { issuer: "http://issuer.example" },
    { issuer: "issuer.example" },
    { issuer: ISSUER, proof: `${UNSAID}\n` },
    { issuer: ISSUER, proof: `${UNSAID}é` },
    { issuer: ISSUER, proof: UNSAID.padEnd(4097, "x") },
  ])("cannot be of %j", (given) => {
    expect(() => new Server({ url, ...given })).toThrow(ParameterError);
    expect(() => new Server({ url, ...given })).not.toThrow(UNSAID);
  });

  test("may have a long proof, and does not print it", () => {
    const long = new Server({ url, issuer: ISSUER, proof: "x".repeat(4096) });
    expect(JSON.stringify(long)).not.toContain("xx");
    expect(() => long.authorization()).toThrow(ParameterError);
  });
});
