/** A collection made for a test: a plan, the keys of its parties and what they sign. */

import { type Bytes, concat, fromHex, hex, sha256, utf8 } from "../src/bytes.js";
import type { Served } from "../src/client/client.js";
import { canonical, type Json, type Table } from "../src/json.js";
import { Plan } from "../src/plan.js";
import { decodeReport, type Epoch, epochOf } from "../src/protocol/wire.js";
import type { Report } from "../src/report.js";
import { openInner, openOuter } from "./opening.js";
import { keyPair, WIRE } from "./vectors.js";

export const K_RR: Table = { mechanism: "k-rr", k: 10, max_epsilon_local: 2 };
export const BATCHES = ["aa".repeat(16), "bb".repeat(16), "cc".repeat(16), "dd".repeat(16)];

/** Make a plan with some participation, whose questions are all k-RR by default. */
export async function planOf(
  participation: Table = {},
  questions: readonly Table[] = [K_RR],
  collection: Table = {},
  others: Table = {},
): Promise<Plan> {
  const text = canonical({
    schema: 2,
    questions,
    guarantee: { adjacency: "replace-one" },
    participation: { model: "parallel", noise: "fresh", ...participation },
    collection: { every: "24h", rounds: 1, ...collection },
    protections: { disposal_age: "72h", messages: 1, minimum_batch: 50, report_size: 32 },
    shuffling: { order: "uniform" },
    shufflers: [{ key: WIRE.signing_keys.shuffler.public }],
    analyzer: { publication: "estimate", key: WIRE.signing_keys.analyzer.public },
    ...others,
  });
  return Plan.read(text, hex(await sha256(utf8(text))));
}

export async function signed(document: Table, signer: string, purpose: string): Promise<Table> {
  const pkcs8 = fromHex(`302e020100300506032b657004220420${WIRE.signing_keys[signer].private}`);
  const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, ["sign"]);
  const message = concat(utf8(`croupier ${purpose}\0`), utf8(canonical(document)));
  const signature = await crypto.subtle.sign("Ed25519", key, message);
  return { ...document, signature: hex(new Uint8Array(signature)) };
}

function shufflerEntry(plan: Plan, [round, batch]: readonly [number, string]): Promise<Table> {
  const key = WIRE.keys.shuffler.public;
  const analyzer = WIRE.keys.analyzer.public;
  const entry = { plan: plan.digest, kind: "shuffler", round, batch, key, analyzer };
  return signed(entry, "release", "key list");
}

/** The shuffler's keys by role, signed by its root; `changes` replace entries. */
export function listEntry(plan: Plan, changes: Table = {}): Promise<Table> {
  const key = (name: string) => WIRE.signing_keys[name].public;
  const entry = {
    plan: plan.digest,
    kind: "shuffler keys",
    version: 1,
    release: [{ from_round: 0, key: key("release") }],
    intake: [{ from_round: 0, key: key("intake"), seal: WIRE.keys.other.public }],
    ...changes,
  };
  return signed(entry, "shuffler", "shuffler keys");
}

/** The signed query of a round. */
export function queryEntry(plan: Plan, round: number, question = "crashed → ja?"): Promise<Table> {
  return signed({ plan: plan.digest, kind: "query", round, question }, "analyzer", "query");
}

/** Return the document of a round that asks by query. */
export async function roundDocument(
  plan: Plan,
  round: readonly [number, string],
  query?: Table,
): Promise<Bytes> {
  const asked = query ?? (await queryEntry(plan, round[0]));
  const shuffler = await shufflerEntry(plan, round);
  return utf8(canonical({ schema_version: 2, shuffler, query: asked }));
}

/** Return the served bytes; `rounds` maps each open round to its batch. */
export async function keyList(
  plan: Plan,
  rounds: readonly (readonly [number, string])[],
  changes: Table = {},
): Promise<Bytes> {
  const shuffler = rounds.map((each) => shufflerEntry(plan, each));
  const analyzer = { plan: plan.digest, kind: "analyzer", key: WIRE.keys.analyzer.public };
  const document: Json = {
    schema_version: 2,
    plan: plan.canonical,
    analyzer: await signed(analyzer, "analyzer", "key list"),
    keys: await listEntry(plan),
    shuffler: await Promise.all(shuffler),
    ...changes,
  };
  return utf8(canonical(document));
}

/** Return what is served once another plan took the place of a plan. */
export async function pointer(plan: Plan, successor: string, signer = "shuffler"): Promise<Bytes> {
  const entry = { plan: plan.digest, kind: "superseded", successor };
  const superseded = await signed(entry, signer, "superseded");
  return utf8(canonical({ schema_version: 2, plan: plan.canonical, superseded }));
}

/** Return what a server serves while one round is open. */
export async function served(plan: Plan, round: readonly [number, string]): Promise<Served> {
  const keyLists = [await keyList(plan, [round])];
  return plan.asksByQuery ? { keyLists, rounds: [await roundDocument(plan, round)] } : { keyLists };
}

/** Return what the seals of a round are bound to. */
export async function boundTo(
  plan: Plan,
  { roundNumber, batch }: { roundNumber: number; batch: string },
): Promise<Epoch> {
  const asked = plan.asksByQuery ? canonical(await queryEntry(plan, roundNumber)) : null;
  const query = asked === null ? "" : hex(await sha256(utf8(asked)));
  return epochOf(plan, { round: roundNumber, batch, analyzer: WIRE.keys.analyzer.public }, query);
}

/** Open a body and return its report, or null. */
export async function opened(
  plan: Plan,
  { roundNumber, batch, body }: { roundNumber: number; batch: string; body: Bytes },
): Promise<Report | null> {
  const epoch = await boundTo(plan, { roundNumber, batch });
  const { inner } = await openOuter(body, keyPair("shuffler"), epoch);
  const data = await openInner(inner, keyPair("analyzer"), epoch);
  return decodeReport(plan.question(roundNumber).reportFormat, data, plan.reportSize);
}
