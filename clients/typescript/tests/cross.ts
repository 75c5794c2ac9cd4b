/**
 * The TypeScript half of tests/test_typescript_client.py.
 *
 * Read one JSON document from the standard input and answer with one: envelopes of the given
 * values, the content of envelopes that Python sealed, and a client's turn.
 */

import { readFileSync } from "node:fs";
import { fromHex, hex } from "../src/bytes.js";
import { Client } from "../src/client/client.js";
import { MemoryState } from "../src/client/client_state.js";
import { canonical, type Json, readJson } from "../src/json.js";
import { operatingSystem } from "../src/keystream.js";
import { Plan } from "../src/plan.js";
import { planText } from "../src/protocol/key_list.js";
import { decodeReport, encodeReport, epochOf, sealReport } from "../src/protocol/wire.js";
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
  return all(values as unknown[], async (value) => {
    const report = question.randomize(value, operatingSystem);
    const data = encodeReport(question.reportFormat, report, plan.reportSize);
    return [report, hex(await sealReport(data, pair(shuffler).public, epoch))] as Json;
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

const given = readJson(readFileSync(0, "utf8")) as Case;
const answer = {
  sealed: await all(given.seal as Case[], sealed),
  opened: await all(given.open as Case[], opened),
  reported: await all(given.report as Case[], reported),
};
process.stdout.write(canonical(answer as unknown as Json));
