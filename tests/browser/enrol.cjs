// Opens each page: its person enrols, and once a round is open answers, twice; prints JSON.
const { createInterface } = require("node:readline");
const { chromium } = require("playwright-core");
const [executablePath] = process.argv.slice(2);

const visit = ({ page, person }, wants) =>
  page.evaluate(
    ([{ issuer, proof, digest, service }, wants]) =>
      globalThis.visitIssuer(issuer, proof, digest, service, wants),
    [person, wants],
  );

/** Asks the issuer directly, also with a request that browsers send without asking first. */
const ask = ({ page, person }, contentType) =>
  page.evaluate(
    async ([{ issuer, proof }, contentType]) => {
      const device = Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) =>
        byte.toString(16).padStart(2, "0"),
      ).join("");
      try {
        const answer = await fetch(`${issuer}/v1/enrol`, {
          method: "POST",
          headers: { "Content-Type": contentType },
          body: JSON.stringify({ schema_version: 1, device, proof }),
        });
        return answer.status;
      } catch (error) {
        return error.name;
      }
    },
    [person, contentType],
  );

async function main() {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const people = JSON.parse((await lines.next()).value);
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const visits = [];
  for (const person of people) {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(300_000); // a busy machine is no failure
    await page.goto(person.url);
    visits.push({ page, person });
  }
  const told = await Promise.all(visits.map((each) => visit(each, {})));
  const json = await Promise.all(visits.map((each) => ask(each, "application/json")));
  const simple = await Promise.all(visits.map((each) => ask(each, "text/plain")));
  console.log(JSON.stringify({ told, json, simple }));
  await lines.next(); // a round is open
  const answers = [];
  for (const each of visits) {
    const { value } = each.person;
    answers.push(value === undefined ? [] : [await visit(each, { value }), await visit(each, { value })]);
  }
  await browser.close();
  console.log(JSON.stringify({ answers }));
  process.exit(0);
}

main();
