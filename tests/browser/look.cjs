// Opens a page as a desktop, a desktop in the dark, a tablet, a phone and a printer show it, and prints what is found as JSON.
const { chromium } = require("playwright-core");
const [executablePath, url] = process.argv.slice(2);

/** What a page shows at a width; with `axe`, also what keeps some people from reading it. */
async function look(browser, width, media, axe = false, colorScheme = "light") {
  // axe is a script, which the page itself forbids.
  const context = await browser.newContext({ viewport: { width, height: 800 }, bypassCSP: true });
  const page = await context.newPage();
  const requests = [];
  const messages = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  await page.emulateMedia({ media, colorScheme });
  await page.goto(url);
  const layout = await page.evaluate(() => ({
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    cards: getComputedStyle(document.querySelector("tbody tr")).display === "block",
    parts: document.querySelectorAll("details > .body").length,
    shown: [...document.querySelectorAll("details > .body")].filter((part) =>
      part.checkVisibility({ contentVisibilityAuto: true }),
    ).length,
    page: getComputedStyle(document.body).backgroundColor,
    letters: getComputedStyle(document.querySelector("svg text") ?? document.body).fill,
    white: [...document.querySelectorAll("svg path, svg rect")].filter(
      (part) => getComputedStyle(part).fill === "rgb(255, 255, 255)",
    ).length,
  }));
  const found = { requests, messages, ...layout };
  if (axe) {
    await page.addScriptTag({ path: require.resolve("axe-core") });
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    found.findings = violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes[0].html }));
  }
  if (media === "print") found.sheets = await sheets(page);
  await context.close();
  return found;
}

/** The number of sheets of paper that the summary takes. */
async function sheets(page) {
  await page.evaluate(() => {
    for (const part of document.querySelectorAll("main > :not(.summary)")) part.remove();
  });
  const printed = await page.pdf({ preferCSSPageSize: true });
  return printed.toString("latin1").match(/\/Type\s*\/Page\b/g).length;
}

async function main() {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const seen = {
    desktop: await look(browser, 1280, "screen", true),
    dark: await look(browser, 1280, "screen", true, "dark"),
    tablet: await look(browser, 920, "screen"),
    phone: await look(browser, 375, "screen", true),
    print: await look(browser, 794, "print", false, "dark"),
  };
  await browser.close();
  console.log(JSON.stringify(seen));
}

main();
