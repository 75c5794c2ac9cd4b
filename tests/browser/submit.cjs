// Loads the page for every person, lets it take part, and prints the outcomes and what was seen as JSON.
const { chromium } = require("playwright-core");
const [executablePath, url, atOnce] = process.argv.slice(2);

async function visit(page, { credential, digest, value }) {
  const seen = { requests: [], messages: [] };
  page.removeAllListeners();
  page.on("request", (request) => {
    if (request.url().startsWith("http")) seen.requests.push(request.method());
  });
  page.on("console", (message) => seen.messages.push(message.text()));
  page.on("pageerror", (error) => seen.messages.push(String(error)));
  await page.goto(url);
  const outcome = await page.evaluate(
    ([credential, digest, value]) => globalThis.takePart(credential, digest, value),
    [credential, digest, value],
  );
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }));
  await page.evaluate(() => localStorage.clear()); // the next person has another device
  return { ...seen, outcome, kept };
}

async function main() {
  const people = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const visits = [];
  const next = people.entries();
  const worker = async () => {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(300_000); // a busy machine is no failure
    for (const [place, person] of next) visits[place] = await visit(page, person);
  };
  await Promise.all(Array.from({ length: Number(atOnce) }, worker));
  await browser.close();
  console.log(JSON.stringify(visits));
}

main();
