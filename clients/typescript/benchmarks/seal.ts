/** The cost of a client, in Node and in a browser; benchmarks/typescript_client.py runs it. */

import { fromHex } from "../src/bytes.js";
import { Client } from "../src/client/client.js";
import { MemoryState } from "../src/client/client_state.js";
import { operatingSystem } from "../src/keystream.js";
import { Plan } from "../src/plan.js";
import { planText, readKeyList } from "../src/protocol/key_list.js";
import { batchName, encodeReport, epochOf, sealInner, sealOuter } from "../src/protocol/wire.js";

/** Time a client from the served bytes to what it sends. */
export async function firstReport(list: string, digest: string): Promise<number> {
  const keyLists = [fromHex(list)];
  const plan = await Plan.read(planText(fromHex(list)), digest);
  const client = new Client(plan, { attribute: "emoji", budget: 20, memory: new MemoryState() });
  const submission = await client.report(1, { keyLists });
  return submission?.body.length ?? 0;
}

/** Count reports per second, randomised and sealed twice, so many at once for so many seconds. */
export async function sealRate(
  list: string,
  digest: string,
  atOnce: number,
  seconds: number,
): Promise<number> {
  const plan = await Plan.read(planText(fromHex(list)), digest);
  const [shuffler] = (await readKeyList(fromHex(list), plan)).openRounds;
  if (shuffler === undefined) throw new Error("no round is open");
  const [question, epoch] = [plan.question(0), epochOf(plan, shuffler)];
  const once = async () => {
    const report = await question.randomize(1, operatingSystem, await batchName(epoch));
    const data = encodeReport(question.reportFormat, report, plan.reportSize);
    await sealOuter(await sealInner(data, epoch), shuffler.key, epoch);
  };
  let made = 0;
  const start = performance.now();
  while (performance.now() - start < 1000 * seconds) {
    await Promise.all(Array.from({ length: atOnce }, once));
    made += atOnce;
  }
  return (1000 * made) / (performance.now() - start);
}
