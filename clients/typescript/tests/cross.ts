/**
 * The TypeScript half of tests/test_typescript_client.py.
 *
 * Read one JSON document from the standard input and answer with one: envelopes of the given
 * values, reports from given words, the names of all mechanisms, the content of envelopes that
 * Python sealed, a client's turn, what a memory in a file leads to, the tokens that an issuer in
 * Python signs, and the errors with which addresses are refused.
 */

import { readFileSync } from "node:fs";
import { RSABSSA } from "@cloudflare/blindrsa-ts";
import { fromHex, hex } from "../src/bytes.js";
import { Client } from "../src/client/client.js";
import { MemoryState } from "../src/client/client_state.js";
import { canonical, type Json, readJson } from "../src/json.js";
import { operatingSystem } from "../src/keystream.js";
import { FileState } from "../src/node/file_state.js";
import { admitted, fetchToken, loadPlan, Server } from "../src/node/main.js";
import { Plan } from "../src/plan.js";
import { base64url } from "../src/protocol/blind_rsa.js";
import { planText } from "../src/protocol/key_list.js";
import {
  batchName,
  decodeReport,
  encodeReport,
  epochOf,
  sealReport,
} from "../src/protocol/wire.js";
import { MECHANISMS } from "../src/randomizers/registry.js";
import { type KeyPair, openInner, openOuter, openSecond } from "./opening.js";
import type { Case } from "./vectors.js";

/** The number of concurrent operations: cryptography runs in threads. */
const AT_ONCE = 16;

async function all<T, R>(entries: readonly T[], make: (entry: T) => Promise<R>): Promise<R[]> {
  const made: R[] = [];
  for (let start = 0; start < entries.length; start += AT_ONCE) {
    made.push(...(await Promise.all(entries.slice(start, start + AT_ONCE).map(make))));
  }
  return made;
}

const pair = ({ private: secret, public: open }: Case): KeyPair => ({
  private: fromHex(secret),
  public: fromHex(open),
});

/** Return what seals of a case are bound to. */
function epochOfCase(plan: Plan, { batch, analyzer, second }: Case) {
  const onward = plan.shufflerKeys.slice(1).map(() => String(second.public));
  return epochOf(plan, { round: 0, batch, analyzer: analyzer.public, onward });
}

async function sealed(entry: Case) {
  const { plan: text, digest, values, shuffler } = entry;
  const plan = await Plan.read(text, digest);
  const [question, epoch] = [plan.question(0), epochOfCase(plan, entry)];
  const batch = await batchName(epoch);
  return all(values as unknown[], async (value) => {
    const report = await question.randomize(value, operatingSystem, batch);
    const data = encodeReport(question.reportFormat, report, plan.reportSize);
    return [report, hex(await sealReport(data, pair(shuffler).public, epoch))] as Json;
  });
}

/** Randomise each value with the words that are given for it. */
async function drawn(entry: Case) {
  const { plan: text, digest, values, words } = entry;
  const plan = await Plan.read(text, digest);
  const batch = await batchName(epochOfCase(plan, entry));
  return all([...(values as unknown[]).entries()], ([place, value]) => {
    const left: string[] = [...words[place]];
    const take = (size: number) => BigUint64Array.from(left.splice(0, size).map(BigInt));
    return plan.question(0).randomize(value, { words: take }, batch);
  });
}

async function opened(entry: Case) {
  const { plan: text, digest, envelopes, analyzer, second, shuffler } = entry;
  const plan = await Plan.read(text, digest);
  const epoch = epochOfCase(plan, entry);
  return all(envelopes as string[], async (envelope) => {
    const { inner: handed } = await openOuter(fromHex(envelope), pair(shuffler), epoch);
    const two = epoch.onward.length > 0;
    const inner = two ? await openSecond(handed, pair(second), epoch) : handed;
    const data = await openInner(inner, pair(analyzer), epoch);
    return decodeReport(plan.question(0).reportFormat, data, plan.reportSize);
  });
}

async function reported({ digest, list, value }: Case) {
  const keyLists = [fromHex(list)];
  const plan = await Plan.read(planText(fromHex(list)), digest);
  const memory = new MemoryState();
  const client = new Client(plan, { attribute: "emoji", budget: 8, memory });
  const submission = await client.report(value, { keyLists });
  const state = await memory.update(async (kept) => JSON.stringify(kept));
  return { batch: submission?.batch ?? "", body: hex(submission?.body ?? fromHex("")), state };
}

/** Prepare a report with the memory in a file, and enrol at an issuer that gives a credential. */
async function remembered({ digest, list, value, path, credential: given }: Case) {
  const keyLists = [fromHex(list)];
  const plan = await Plan.read(planText(fromHex(list)), digest);
  const memory = new FileState(path);
  const client = new Client(plan, { attribute: "emoji", budget: 8, memory });
  const made = await client.report(value, { keyLists, isPrepared: true });
  const server = new Server({ url: "https://reports.example", issuer: "https://issuer.example" });
  const fetch = async () => new Response(canonical({ credential: given, schema_version: 1 }));
  const own = await admitted(client, server, 0, { fetch });
  return {
    body: hex(made?.body ?? fromHex("")),
    due: String(made?.due),
    authorization: own?.authorization() ?? "",
  };
}

/**
 * Fetch a token with the memory in a file, from an issuer that gives a signature, or none yet.
 *
 * Return the request, and the headers that spend the token in the round of the second list.
 */
async function fetched({ digest, list, later, path, signature }: Case) {
  const plan = await Plan.read(planText(fromHex(list)), digest);
  const client = new Client(plan, { attribute: "emoji", budget: 8, memory: new FileState(path) });
  const issuer = "https://issuer.example";
  const server = new Server({ url: "https://reports.example", issuer, credential: "letmein" });
  let request = "";
  const fetch = async (url: string, { body }: RequestInit) => {
    if (!url.startsWith(issuer)) return new Response(fromHex(list));
    request = hex(body as Uint8Array);
    if (signature === "") return new Response(null, { status: 410 });
    return new Response(fromHex(signature));
  };
  const outcome = await fetchToken(client, server, { fetch });
  if (later === "") return { request, outcome };
  const made = await client.report("yes", { keyLists: [fromHex(later)] });
  const { authorization = "", proof = "" } = made?.spent ?? {};
  return { request, outcome, authorization, proof, body: hex(made?.body ?? fromHex("")) };
}

/** Blind a message with another implementation; finalise the answer with it, if there is one. */
async function foreign({ modulus, message, inverse, signature }: Case) {
  const suite = RSABSSA.SHA384.PSS.Deterministic();
  const jwk = { kty: "RSA", n: base64url(fromHex(modulus)), e: "AQAB", ext: true };
  const scheme = { name: "RSA-PSS", hash: "SHA-384" };
  const key = await crypto.subtle.importKey("jwk", jwk, scheme, true, ["verify"]);
  if (signature !== "") {
    const [answer, inv] = [fromHex(signature), fromHex(inverse)];
    return { signature: hex(await suite.finalize(key, fromHex(message), answer, inv)) };
  }
  const { blindedMsg, inv } = await suite.blind(key, fromHex(message));
  return { blinded: hex(blindedMsg), inverse: hex(inv) };
}

/** Return the name of the error that an address is refused with, and its reason. */
async function asked(url: string) {
  const server = new Server({ url, credential: "sesame" });
  const pauses: number[] = [];
  const sleep = async (seconds: number) => void pauses.push(seconds);
  const error = await loadPlan("00".repeat(32), server, { sleep }).catch((thrown) => thrown);
  return { name: error.name, reason: error.reason ?? "", pauses: pauses.length };
}

const given = readJson(readFileSync(0, "utf8")) as Case;
const answer = {
  sealed: await all((given.seal ?? []) as Case[], sealed),
  drawn: await all((given.draw ?? []) as Case[], drawn),
  mechanisms: [...MECHANISMS.keys()],
  opened: await all((given.open ?? []) as Case[], opened),
  reported: await all((given.report ?? []) as Case[], reported),
  remembered: await all((given.remember ?? []) as Case[], remembered),
  fetched: await all((given.fetch ?? []) as Case[], fetched),
  foreign: await all((given.foreign ?? []) as Case[], foreign),
  asked: await all((given.ask ?? []) as string[], asked),
};
process.stdout.write(canonical(answer as unknown as Json));
