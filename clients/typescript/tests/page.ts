/** The script of the page of tests/browser/test_typescript_client.py: a person's visit. */

import { Client, LocalStorageState, loadPlan, Server, submit } from "../src/index.js";

const SPREAD = 1;
/** A long timeout: a test that counts requests on a busy machine must see no retries. */
const PATIENT = { timeout: 300 };

async function takePart(credential: string, digest: string, value: unknown): Promise<string> {
  const server = new Server({ url: location.origin, credential });
  const plan = await loadPlan(digest, server, PATIENT);
  const memory = new LocalStorageState("croupier");
  const client = new Client(plan, { attribute: "answer", budget: 8, memory, spread: SPREAD });
  return submit(client, value, server, PATIENT);
}

Object.assign(globalThis, { takePart });
