/**
 * Bundle what a page loads, minified and with HPKE, and fail if it exceeds its limit.
 *
 * A page loads the entry at once, any other mechanism than k-rr and plain when a plan names it, and
 * what seals requests for a relay when a server has one; shown are the bytes that each adds. Load what Node loads as well: its entry points are in no bundle.
 */

import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

const LIMIT = 60_000;
const LIMIT_OF_A_MECHANISM = 5_000;
const LIMIT_OF_THE_RELAY = 6_000;

const bundle = await rolldown({
  input: new URL("../dist/index.js", import.meta.url).pathname,
  preserveEntrySignatures: "allow-extension", // mechanisms import from the entry what it has
});
const { output } = await bundle.generate({ format: "es", minify: true });
const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]));

/** List a chunk and all that it imports at once. */
function loaded(name, seen = new Set()) {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const other of chunks.get(name).imports) loaded(other, seen);
  return seen;
}

const codeOf = (names) => [...names].map((name) => chunks.get(name).code).join("");
const entry = loaded(output.find((chunk) => chunk.isEntry).fileName);
const code = codeOf(entry);
const apart = output
  .filter((chunk) => chunk.isDynamicEntry)
  .map((chunk) => {
    const more = [...loaded(chunk.fileName)].filter((name) => !entry.has(name));
    return [chunk.name, Buffer.byteLength(codeOf(more))];
  });
const minified = Buffer.byteLength(code);
const sizes = { minified, gzipped: gzipSync(code).length, limit: LIMIT };
const { oblivious: relay, ...mechanisms } = Object.fromEntries(apart);
const added = { relay, mechanisms: { ...mechanisms, limit: LIMIT_OF_A_MECHANISM } };
process.stdout.write(`${JSON.stringify({ ...sizes, ...added })}\n`);

const [client, node] = [await import("croupier-client"), await import("croupier-client/node")];
if (client.Client === undefined || node.FileState === undefined) throw new Error("not exported");
const areSmall = Object.values(mechanisms).every((size) => size < LIMIT_OF_A_MECHANISM);
const isSmall = minified < LIMIT && areSmall && relay < LIMIT_OF_THE_RELAY;
// A page that imports a module of Node does not load.
process.exitCode = isSmall && !codeOf(chunks.keys()).includes("node:") ? 0 : 1;
