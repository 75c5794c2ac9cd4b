/**
 * Measure a bundle: `node run.js BUNDLE LIST DIGEST SECONDS [CHROMIUM]` prints one JSON document.
 *
 * The first report is timed from before the bundle is loaded, in a process or page that has not
 * seen it. The served bytes are in memory: there is no network.
 */

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [bundle, list, digest, seconds, executablePath] = process.argv.slice(2);

/** Measure in Node and, as text, in the page. */
async function measure({ url, list, digest, seconds }) {
  const start = performance.now();
  const { firstReport, sealRate } = await import(url);
  const length = await firstReport(list, digest);
  const first = performance.now() - start;
  const one = await sealRate(list, digest, 1, seconds);
  return { length, first, one, sixteen: await sealRate(list, digest, 16, seconds) };
}

async function inChromium(given) {
  const server = createServer((request, response) => {
    const script = request.url === "/bundle.js";
    response.setHeader("Content-Type", script ? "text/javascript" : "text/html");
    response.end(script ? readFileSync(bundle) : "<!doctype html>");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  const measured = await page.evaluate(measure, { ...given, url: "/bundle.js" });
  await browser.close();
  server.close();
  return measured;
}

const given = { list, digest, seconds: Number(seconds) };
const measured =
  executablePath === undefined
    ? await measure({ ...given, url: pathToFileURL(bundle).href })
    : await inChromium(given);
process.stdout.write(JSON.stringify(measured));
