/** A client behind a relay: one length, signed keys, replaced keys, and relays that lie. */

import { beforeAll, describe, expect, test } from "vitest";
import { type Bytes, fromHex, hex, utf8 } from "../src/bytes.js";
import { Client } from "../src/client/client.js";
import { MemoryState } from "../src/client/client_state.js";
import { loadPlan, submit } from "../src/client/conversation.js";
import { deliver, type Prepared, prepare } from "../src/client/forward.js";
import { Server } from "../src/client/server.js";
import { NotOfferedError, ParameterError, UntrustedError } from "../src/errors.js";
import { canonical } from "../src/json.js";
import type { Plan } from "../src/plan.js";
import { readResponse } from "../src/protocol/binary_http.js";
import { readConfigurations, sealRequest, UNKNOWN_KEY } from "../src/protocol/capsule.js";
import { BATCHES, K_RR, keyList, listEntry, opened, planOf, signed } from "./collection.js";
import { configurations, type ForeignKey, foreignKey, openRequest } from "./foreign_ohttp.js";
import { ephemeral, vectors } from "./vectors.js";

const RELAY = "https://relay.example";
const ADDRESS = { url: "https://reports.example", credential: "ab".repeat(33), relay: RELAY };
const ROUND = [0, BATCHES[0] as string] as const;
const SERVER = new Server(ADDRESS);
const [REQUEST_BYTES, ANSWER_BYTES] = [4096, 8192];

let plan: Plan;
let keys: [ForeignKey, ForeignKey, ForeignKey];

beforeAll(async () => {
  const admission = { by: "credential", relay: "Example Relay" };
  plan = await planOf({}, [K_RR], { rounds: 9, every: "10m" }, { admission });
  keys = [await foreignKey(1), await foreignKey(2), await foreignKey(3)];
});

/** A shuffler whose gateway is another implementation, and what a relay sees and shows. */
class Site {
  readonly inside: { method: string; path: string; headers: Headers; body: Bytes }[] = [];
  readonly outside: { url: string; length: number }[] = [];
  readonly lengths: number[] = [];
  readonly pauses: number[] = [];
  signer = "intake";
  version = 1;
  listVersion = 1;
  changed = (answer: Response): Response | Promise<Response> => answer;
  posted = () => new Response(null, { status: 202 });

  constructor(
    public keys: readonly ForeignKey[],
    public shown = keys,
  ) {}

  fetch = async (url: string, init: RequestInit): Promise<Response> => {
    expect(url.startsWith(`${RELAY}/v1/`)).toBe(true);
    const body = (init.body ?? new Uint8Array(0)) as Bytes;
    this.outside.push({ url, length: body.length });
    if (url === `${RELAY}/v1/ohttp-keys`) return new Response(configurations(this.shown));
    for (const key of this.keys) {
      const found = await openRequest(key, body).catch(() => null);
      if (found === null) continue;
      this.lengths.push(found.length);
      const sealed = await found.answer(await this.answer(found.request), ANSWER_BYTES);
      return this.changed(new Response(sealed));
    }
    return Response.json({ type: UNKNOWN_KEY }, { status: 400 });
  };

  sleep = async (seconds: number): Promise<void> => void this.pauses.push(seconds);

  async answer(request: Request): Promise<Response> {
    const { method, headers, url } = request;
    const path = new URL(url).pathname.replace(`/v1/plans/${plan.digest}`, "");
    const body = new Uint8Array(await request.arrayBuffer());
    this.inside.push({ method, path, headers, body });
    if (path === "/gateway") return new Response(await this.signed());
    if (path === "") return new Response(await keyList(plan, [ROUND], await this.listed()));
    return this.posted();
  }

  async listed() {
    return { keys: await listEntry(plan, { version: this.listVersion }) };
  }

  async signed(): Promise<Bytes> {
    const entry = {
      plan: plan.digest,
      kind: "gateway",
      version: this.version,
      configurations: hex(configurations(this.keys)),
    };
    const gateway = await signed(entry, this.signer, "gateway");
    return utf8(canonical({ ...(await this.listed()), gateway }));
  }
}

const person = (memory = new MemoryState()) =>
  new Client(plan, { attribute: "emoji", budget: 9, memory });
const paths = (site: Site) => site.inside.map(({ path }) => path);

describe("an honest relay", () => {
  test("everything goes through it and has one length", async () => {
    const seen = [];
    for (const value of [0, 9]) {
      const site = new Site([keys[0]]);
      expect(await submit(person(), value, SERVER, site)).toBe("accepted");
      expect(paths(site)).toEqual(["/gateway", "", "/reports"]);
      expect(new Set(site.lengths)).toEqual(new Set([REQUEST_BYTES]));
      const report = site.inside[2];
      expect(report?.headers.get("authorization")).toBe(`Bearer ${ADDRESS.credential}`);
      const body = report?.body as Bytes;
      const sent = { roundNumber: 0, batch: ROUND[1], body };
      expect(await opened(plan, sent)).not.toBeNull();
      seen.push(site.outside);
    }
    expect(seen[0]).toEqual(seen[1]);
  });

  test("a prepared report is delivered through it", async () => {
    let now = 0;
    const site = new Site([keys[0]]);
    const choices = { attribute: "emoji", budget: 9, memory: new MemoryState(), clock: () => now };
    const client = new Client(plan, choices);
    now = ((await prepare(client, 1, SERVER, site)) as Prepared).due;
    expect(await deliver(client, SERVER, site)).toBe("accepted");
    expect(new Set(site.lengths)).toEqual(new Set([REQUEST_BYTES]));
  });

  test("a key that was replaced is fetched anew, once", async () => {
    const site = new Site([keys[0]]);
    site.changed = (answer) => {
      if (site.inside.length === 2) {
        site.keys = site.shown = [keys[2], keys[1]];
        site.version = 3;
      }
      return answer;
    };
    expect(await submit(person(), 1, SERVER, site)).toBe("accepted");
    expect(paths(site)).toEqual(["/gateway", "", "/gateway", "/reports"]);
    const stale = new Site([keys[2]], [keys[0]]);
    expect(await submit(person(), 1, SERVER, stale)).toBe("no answer in time");
    expect(stale.inside).toEqual([]);
  });

  test("busy relays and busy shufflers are waited for", async () => {
    const site = new Site([keys[0]]);
    const busy = (seconds: string) =>
      new Response(null, { status: 503, headers: { "Retry-After": seconds } });
    const [relays, shufflers] = [[busy("9")], [busy("7")]];
    site.changed = (answer) => relays.pop() ?? answer;
    site.posted = () => shufflers.pop() ?? new Response(null, { status: 202 });
    expect(await submit(person(), 1, SERVER, site)).toBe("accepted");
    expect(site.pauses).toContain(9);
    expect(site.pauses).toContain(7);
  });
});

describe("a relay or a server that lies", () => {
  test("a key of its own shows it the plan alone", async () => {
    const site = new Site([keys[2]]);
    const own = new Site([keys[0]]);
    own.signed = () => site.signed();
    await expect(submit(person(), 1, SERVER, own)).rejects.toThrow(/does not have the key/);
    expect(paths(own)).toEqual(["/gateway"]);
    const forged = new Site([keys[0]]);
    forged.signer = "release";
    await expect(submit(person(), 1, SERVER, forged)).rejects.toThrow(UntrustedError);
  });

  test("older lists are not believed", async () => {
    const memory = new MemoryState();
    const site = new Site([keys[2], keys[1]]);
    site.version = 3;
    site.listVersion = 2;
    expect(await submit(person(memory), 1, SERVER, site)).toBe("accepted");
    const older = new Site([keys[1], keys[0]]);
    older.version = 2;
    older.listVersion = 2;
    expect(await submit(person(memory), 1, SERVER, older)).toBe("no answer in time");
    older.listVersion = 1;
    await expect(submit(person(memory), 1, SERVER, older)).rejects.toThrow(/older/);
  });

  test.each<[string, (body: Bytes) => Response | Promise<Response>]>([
    ["silence", () => Promise.reject(new TypeError("fetch failed"))],
    ["nothing", () => new Response("")],
    ["cut short", (body) => new Response(body.slice(0, -1))],
    ["changed", (body) => new Response(body.map((byte, at) => (at === 40 ? byte ^ 1 : byte)))],
    ["another status", (body) => new Response(body, { status: 202 })],
    ["not found", () => new Response("{}", { status: 404 })],
    ["gone", () => new Response("{}", { status: 410 })],
  ])("%s counts as no answer", async (_, change) => {
    const site = new Site([keys[0]]);
    site.changed = async (answer) => change(new Uint8Array(await answer.arrayBuffer()));
    expect(await submit(person(), 1, SERVER, site)).toBe("no answer in time");
    expect(new Set(paths(site))).toEqual(new Set(["/gateway"]));
  });

  test("a plan that is not offered is named", async () => {
    const site = new Site([keys[0]]);
    site.answer = async () => new Response(null, { status: 404 });
    await expect(submit(person(), 1, SERVER, site)).rejects.toThrow(NotOfferedError);
  });
});

test("a plan that demands a relay is not sent without, and none is gone round", async () => {
  const { relay, ...direct } = ADDRESS;
  const site = new Site([keys[0]]);
  await expect(submit(person(), 1, new Server(direct), site)).rejects.toThrow(/Example Relay/);
  await expect(deliver(person(), new Server(direct), site)).rejects.toThrow(/Example Relay/);
  await expect(loadPlan(plan.digest, SERVER, site)).rejects.toThrow(ParameterError);
  expect(() => new Server({ ...ADDRESS, mirrors: ["https://mirror.example"] })).toThrow(/mirrors/);
  expect(() => new Server({ ...ADDRESS, relay: "ftp://relay.example" })).toThrow(/relay/);
  expect(() => new Server({ ...ADDRESS, relay: "" })).toThrow(/relay/);
  const { host } = new URL(ADDRESS.url);
  for (const same of [host, `${host}/`, `${host}:443`, host.toUpperCase(), `${host}/x`]) {
    const written = { ...ADDRESS, relay: `https://${same}` };
    expect(() => new Server(written)).toThrow(/another address/);
  }
  const long = new Server({ ...ADDRESS, credential: "a".repeat(9000) });
  await expect(submit(person(), 1, long, site)).rejects.toThrow(/shorter/);
  expect(site.outside.every(({ url }) => url.startsWith(RELAY))).toBe(true);
});

test("the bytes of RFC 9458", async () => {
  const given = vectors("oblivious").rfc9458;
  const entry = fromHex(given.key_configuration);
  const [key] = readConfigurations(new Uint8Array([0, entry.length, ...entry]));
  if (key === undefined) throw new Error("no key was read");
  const own = await ephemeral(given.ephemeral);
  const asked = await sealRequest(key, fromHex(given.request), own);
  expect(hex(asked.body)).toBe(given.encapsulated_request);
  const answer = await asked.opened(fromHex(given.encapsulated_response));
  expect(hex(answer as Bytes)).toBe(given.response);
  expect(readResponse(answer as Bytes)?.status).toBe(200);
  expect(readConfigurations(fromHex("0029"))).toEqual([]);
  for (const other of ["", "00", "01", "0140", "0140640000", "0140c80500", "0140c8000001"]) {
    expect(readResponse(fromHex(other))).toBeNull();
  }
});
