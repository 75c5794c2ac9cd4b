/** The script of the pages of tests/browser that use this client: a person's visit. */

import {
  admitted,
  Client,
  fetchToken,
  LocalStorageState,
  loadPlan,
  Server,
  submit,
} from "../src/index.js";

const SPREAD = 1;
/** A long timeout: a test that counts requests on a busy machine must see no retries. */
const PATIENT = { timeout: 300 };

async function takePart(
  credential: string,
  digest: string,
  value: unknown,
  url = location.origin,
): Promise<string> {
  const server = new Server({ url, credential });
  const plan = await loadPlan(digest, server, PATIENT);
  const memory = new LocalStorageState("croupier");
  const client = new Client(plan, { attribute: "answer", budget: 8, memory, spread: SPREAD });
  return submit(client, value, server, PATIENT);
}

/** A person whose device enrols by itself, and then answers if there is a value. */
async function visitIssuer(
  issuer: string,
  proof: string,
  digest: string,
  url: string,
  wants: { value?: unknown },
): Promise<string> {
  const server = new Server({ url, issuer, proof });
  const plan = await loadPlan(digest, server, PATIENT);
  const memory = new LocalStorageState("croupier");
  const client = new Client(plan, { attribute: "answer", budget: 8, memory, spread: SPREAD });
  if ("value" in wants) return submit(client, wants.value, server, PATIENT);
  if (plan.admission.by === "token") return fetchToken(client, server, PATIENT);
  return (await admitted(client, server, 5, PATIENT)) ? "enrolled" : "no answer in time";
}

Object.assign(globalThis, { takePart, visitIssuer });
