// Answers on the page of the demo as a desktop or a phone, and prints what it showed as JSON.
const { readFileSync } = require("node:fs");
const { chromium } = require("playwright-core");
// With a folder it leaves pictures there.
const [executablePath, url, width, value, folder] = process.argv.slice(2);

async function main() {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const viewport = { width: Number(width), height: 800 };
  const page = await (await browser.newContext({ viewport })).newPage();
  page.setDefaultTimeout(300_000); // a busy machine is no failure
  const messages = [];
  const sent = [];
  const findings = [];
  const overflow = [];
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  page.on("request", (request) => {
    if (request.method() === "POST") sent.push(request.postDataBuffer().toString("hex"));
  });
  const state = async () => (await page.request.get(`${url}state.json`)).json();

  async function look(name) {
    await page.waitForTimeout(700); // the bar has moved
    if (folder) await page.screenshot({ path: `${folder}/${width}-${name}.png`, fullPage: true });
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
    findings.push(...serious.map(({ id, nodes }) => `${name}: ${id} ${nodes[0].html}`));
    overflow.push(
      await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      ),
    );
  }

  await page.goto(url);
  // Evaluated, not loaded: what the page may load is part of what is tested.
  await page.evaluate(readFileSync(require.resolve("axe-core"), "utf8"));
  await page.locator(`#tiles input[value="${value}"]`).check();
  await look("asked");
  await page.locator("#turn", { hasText: /Release in/ }).waitFor(); // everybody else is done
  const before = (await state()).received;
  await page.locator("#form button").click();
  await page.locator("#place", { hasText: /one of|released/ }).waitFor();
  const after = (await state()).received;
  const shown = {
    own: await page.locator("#own").textContent(),
    said: await page.locator("#said").textContent(),
    size: await page.locator("#size").textContent(),
    sealed: await page.locator("#sealed").textContent(),
  };
  await look("answered");
  await page.locator("#attacker .big").waitFor();
  await page.locator("#place", { hasText: /released/ }).waitFor();
  await look("released");
  const fate = await page.locator("#fate").textContent();
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }));
  await page.reload();
  await page.locator("#past", { hasText: /Your answer is recorded/ }).waitFor();
  const end = await state();
  await browser.close();
  const found = { messages, sent, findings, overflow, before, after, shown, fate, kept, end };
  console.log(JSON.stringify(found));
}

main();
