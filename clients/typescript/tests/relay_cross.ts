/**
 * The TypeScript half of tests/test_typescript_relay.py.
 *
 * Read one JSON document from the standard input: a running service with a gateway, which stands
 * for its own relay. Send a report with this client, then ask with another implementation, and
 * answer with the outcome and what the other one read.
 */

import { readFileSync } from "node:fs";
import { type Bytes, hex } from "../src/bytes.js";
import { Client } from "../src/client/client.js";
import { MemoryState } from "../src/client/client_state.js";
import { submit } from "../src/client/conversation.js";
import { Server } from "../src/client/server.js";
import { Plan } from "../src/plan.js";
import { sealForeign } from "./foreign_ohttp.js";

const { plan: text, digest, url, credential } = JSON.parse(readFileSync(0, "utf8"));

/** Send a report through the relay; return its outcome, and the lengths of sealed messages. */
async function sent() {
  const lengths: [number, number][] = [];
  const counted = async (address: string, init: RequestInit) => {
    const answer = await fetch(address, init);
    const body = await answer.arrayBuffer();
    if (init.method === "POST") {
      lengths.push([(init.body as Bytes).length, body.byteLength]);
    }
    return new Response(body, { status: answer.status });
  };
  const plan = await Plan.read(text, digest);
  const choices = { attribute: "emoji", budget: 9, memory: new MemoryState(), spread: 0 };
  const server = new Server({ url: "https://reports.example", credential, relay: url }); // never asked
  const outcome = await submit(new Client(plan, choices), 3, server, { fetch: counted });
  return { outcome, lengths };
}

/** Ask for the key list with bhttp-js and @hpke/core. */
async function asked() {
  const shown = await fetch(`${url}/v1/ohttp-keys`);
  const keys = new Uint8Array(await shown.arrayBuffer());
  const sealed = await sealForeign(keys, new Request(`https://x.example/v1/plans/${digest}`));
  const headers = { "Content-Type": "message/ohttp-req" };
  const answer = await fetch(`${url}/v1/ohttp`, { method: "POST", headers, body: sealed.body });
  const found = await sealed.opened(new Uint8Array(await answer.arrayBuffer()));
  return { status: found.status, body: hex(new Uint8Array(await found.arrayBuffer())) };
}

process.stdout.write(JSON.stringify({ sent: await sent(), asked: await asked() }));
