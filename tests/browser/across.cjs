// Opens each page, lets it take part at a service of another origin and ask it directly, prints JSON.
const { chromium } = require("playwright-core");
const [executablePath] = process.argv.slice(2);

async function visit(page, { url, service, credential, digest, value, batch, length }) {
  await page.goto(url);
  const outcome = await page.evaluate(
    ([credential, digest, value, service]) => globalThis.takePart(credential, digest, value, service),
    [credential, digest, value, service],
  );
  const direct = await page.evaluate(
    async ([service, credential, digest, batch, length]) => {
      const asked = async (path, init) => {
        try {
          const answer = await fetch(`${service}/v1/plans/${digest}${path}`, init);
          return [answer.status, answer.headers.get("Retry-After"), (await answer.text()).length];
        } catch (error) {
          return [error.name];
        }
      };
      const post = (authorization) => ({
        method: "POST",
        headers: {
          Authorization: authorization,
          "Content-Type": "application/octet-stream",
          "Croupier-Batch": batch,
        },
        body: crypto.getRandomValues(new Uint8Array(length)),
      });
      return {
        list: await asked("", {}),
        round: await asked("/rounds/0", {}),
        missing: await asked("/rounds/1", {}),
        again: await asked("/reports", post(`Bearer ${credential}`)),
        stranger: await asked("/reports", post("Bearer 00")),
        cookies: await asked("/reports", { ...post(`Bearer ${credential}`), credentials: "include" }),
      };
    },
    [service, credential, digest, batch, length],
  );
  return { outcome, ...direct };
}

async function main() {
  const pages = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const visits = [];
  for (const one of pages) {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(300_000); // a busy machine is no failure
    visits.push(await visit(page, one));
  }
  await browser.close();
  console.log(JSON.stringify(visits));
}

main();
