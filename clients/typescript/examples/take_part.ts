import { Client, LocalStorageState, loadPlan, Server, submit } from "croupier-client";

/** Call it on every visit, for everybody, whatever the value. */
export async function takePart(url: string, credential: string, digest: string, value: unknown) {
  const server = new Server({ url, credential });
  const plan = await loadPlan(digest, server); // the digest of the plan that people agreed to
  const memory = new LocalStorageState("croupier");
  const client = new Client(plan, { attribute: "emoji", budget: 8, memory, spread: 60 });
  return submit(client, value, server); // "accepted", "not this person's turn", …
}
