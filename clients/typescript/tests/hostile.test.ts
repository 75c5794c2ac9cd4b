/** Malicious servers: an answer is bounded in bytes, in time and in memory. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { Client } from "../src/client/client.js";
import { MemoryState } from "../src/client/client_state.js";
import { submit } from "../src/client/conversation.js";
import { Server } from "../src/client/server.js";
import { planOf } from "./collection.js";

const MEGABYTE = 2 ** 20;
const BOMB = gzipSync(new Uint8Array(128 * MEGABYTE));

const ways = {
  endless: (answer: ServerResponse) => {
    let left = 128;
    const more = () => {
      while (left-- > 0) {
        if (!answer.write(new Uint8Array(MEGABYTE))) return void answer.once("drain", more);
      }
      answer.end();
    };
    more();
  },
  packed: (answer: ServerResponse) => {
    answer.writeHead(200, { "Content-Encoding": "gzip" }).end(BOMB);
  },
  slow: (answer: ServerResponse) => {
    const timer = setInterval(() => answer.write(" "), 50);
    answer.once("close", () => clearInterval(timer));
  },
};

async function someone(): Promise<Client> {
  const plan = await planOf({}, undefined, { every: "5s" });
  return new Client(plan, { attribute: "emoji", budget: 8, memory: new MemoryState() });
}

test.each(Object.entries(ways))(
  "%s: counts as no answer",
  async (_, way) => {
    const hostile = createServer((request: IncomingMessage, answer: ServerResponse) => {
      expect(request.headers["accept-encoding"]).toBe("identity");
      way(answer);
    });
    await new Promise<void>((listening) => hostile.listen(0, "127.0.0.1", listening));
    const { port } = hostile.address() as AddressInfo;
    const server = new Server({ url: `http://127.0.0.1:${port}`, credential: "sesame" });
    const client = await someone();
    const transport = { timeout: 0.5, sleep: async () => undefined };
    const [began, before] = [performance.now(), process.memoryUsage().rss];
    expect(await submit(client, 3, server, transport)).toBe("no answer in time");
    expect(performance.now() - began).toBeLessThan(10_000);
    expect((process.memoryUsage().rss - before) / MEGABYTE).toBeLessThan(96);
    hostile.closeAllConnections();
    hostile.close();
  },
  30_000,
);

test.each([
  ["answers", () => new Promise<Response>(() => undefined)],
  ["ends its body", async () => new Response(new ReadableStream())],
])("a fetch that never %s, aborted or not, is given up", async (_, fetch) => {
  const server = new Server({ url: "http://127.0.0.1:1", credential: "sesame" });
  const transport = { fetch, timeout: 0.05, sleep: async () => undefined };
  expect(await submit(await someone(), 3, server, transport)).toBe("no answer in time");
});
