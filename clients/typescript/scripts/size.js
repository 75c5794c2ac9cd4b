/** Bundle what a page loads, minified and with HPKE, and fail if it exceeds its limit. */

import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

const LIMIT = 40_000;

const bundle = await rolldown({ input: new URL("../dist/index.js", import.meta.url).pathname });
const { output } = await bundle.generate({ format: "es", minify: true });
const code = output[0].code;
const bytes = Buffer.byteLength(code);
process.stdout.write(
  `${JSON.stringify({ minified: bytes, gzipped: gzipSync(code).length, limit: LIMIT })}\n`,
);
process.exitCode = bytes < LIMIT ? 0 : 1;
