// Uses the explorer as people do, and prints as JSON what happened: node explore.cjs CHROMIUM ADDRESS look|moves|rapid|tasks|keyboard [COUNT].
const { chromium } = require("playwright-core");
const [executablePath, url, verb, count] = process.argv.slice(2);

const settled = () => {
  const { position, shown } = document.documentElement.dataset;
  return position !== undefined && position === shown;
};
const settle = (page) => page.waitForFunction(settled, undefined, { timeout: 120_000 });
const field = (page, control) => page.locator(`[data-control="${control}"]`);

/** Note, frame by frame, which number stands beside which setting, and how long each move took. */
function watch(control) {
  const root = document.documentElement;
  const exact = document.querySelector(`[data-control="${control}"] .ce-exact`);
  globalThis.seen = { pairs: {}, waits: [], frames: 0 };
  let moved = 0;
  for (const kind of ["input", "keydown"]) {
    document.addEventListener(kind, (event) => (moved = event.timeStamp), true);
  }
  new MutationObserver(() => {
    if (root.dataset.position === root.dataset.shown && moved > 0) {
      const began = moved;
      moved = 0;
      requestAnimationFrame(() => globalThis.seen.waits.push(performance.now() - began));
    }
  }).observe(root, { attributeFilter: ["data-shown"] });
  const look = () => {
    const row = document.querySelector('.ce-ladder tr[data-row="batch"] .ce-text');
    const number = row?.textContent ?? "";
    if (/[0-9]/.test(number)) {
      const value = exact.value.replaceAll(",", "");
      globalThis.seen.pairs[value] ??= [];
      if (!globalThis.seen.pairs[value].includes(number)) globalThis.seen.pairs[value].push(number);
    }
    globalThis.seen.frames += 1;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/** What keeps some people from using the page as it stands. */
async function findings(page) {
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.map(({ id, nodes }) => ({ id, html: nodes[0].html }));
}

/** What a width and a colour scheme show: overflow, complaints, requests, and what axe finds. */
async function look(browser, width, colorScheme, media = "screen") {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme,
    bypassCSP: true, // axe is a script, which the page itself forbids
  });
  const page = await context.newPage();
  const [requests, messages] = [[], []];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  await page.emulateMedia({ media, colorScheme });
  await page.goto(url);
  await settle(page);
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  const found = { overflow, messages };
  found.elsewhere = requests.filter((each) => !each.startsWith(url));
  if (media === "screen") {
    await page.addScriptTag({ path: require.resolve("axe-core") });
    found.findings = await findings(page);
    if (width < 1280) {
      await page.getByRole("button", { name: "Hold this version", disabled: false }).click();
      found.findings.push(...(await findings(page)));
    }
  }
  await context.close();
  return found;
}

/** Move a slider with the keyboard, each time until everything is shown. */
async function moves(page, times) {
  const slider = field(page, "max_epsilon_local").locator("input[type=range]");
  await slider.focus();
  await page.evaluate(watch, "max_epsilon_local");
  for (let each = 0; each < times; each += 1) {
    const before = await page.evaluate(() => document.documentElement.dataset.position);
    await page.keyboard.press(each % 40 < 20 ? "ArrowLeft" : "ArrowRight");
    await page.waitForFunction(
      (before) => document.documentElement.dataset.position !== before,
      before,
    );
    await settle(page);
  }
  await page.waitForTimeout(100);
  return page.evaluate(() => globalThis.seen);
}

/** Move a slider faster than anything can be proved, and return what stands there at the end. */
async function rapid(page, times) {
  await page.evaluate(watch, "minimum_batch");
  const slider = field(page, "minimum_batch").locator("input[type=range]");
  await slider.evaluate(async (input, times) => {
    for (let each = 1; each <= times; each += 1) {
      input.value = String(input.max * (0.3 + (0.6 * ((each * 7) % times)) / times));
      input.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((done) => setTimeout(done, each % 3 === 0 ? 40 : 4));
    }
  }, times);
  await settle(page);
  const seen = await page.evaluate(() => globalThis.seen);
  return { ...seen, ...(await read(page)) };
}

/** The plan as a file, and the numbers of the table by row. */
async function read(page) {
  const plan = await saved(page, "plan.toml");
  const rows = await page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll(".ce-ladder tbody tr")].map((row) => [
        row.dataset.row,
        [...row.querySelectorAll(".ce-text")].map((each) => each.textContent),
      ]),
    ),
  );
  const judgement = await page.locator(".ce-verdict .ce-judgement").last().textContent();
  return { plan, rows, judgement };
}

/** The text of a file that a button saves. */
async function saved(page, name) {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name, exact: true }).click();
  const file = await (await download).createReadStream();
  const chunks = [];
  for await (const chunk of file) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Use the page with the keyboard alone, and return what has the focus after each step. */
async function keyboard(page) {
  const found = {};
  const note = async (step) => {
    await settle(page);
    await page.waitForTimeout(50);
    found[step] = await page.evaluate(() => document.activeElement.tagName);
  };
  const select = async (control, key) => {
    await field(page, control).locator("select").focus();
    await page.keyboard.type(key);
  };
  const press = async (name) => {
    const button = page.getByRole("button", { name, exact: true, disabled: false }).first();
    await button.focus();
    await page.keyboard.press("Enter");
  };
  await select("every", "d"); // daily
  await note("daily");
  await select("dummies", "y");
  await note("dummies");
  await field(page, "k").locator("input[type=range]").focus();
  for (let each = 0; each < 4; each += 1) await page.keyboard.press("PageUp");
  await note("without names");
  await field(page, "limit_value").locator("input").focus();
  await page.keyboard.type("0.6");
  await press("Add this limit");
  await note("limit added");
  const remove = page.getByRole("button", { name: /^Remove the limit/ });
  await remove.first().focus();
  await page.keyboard.press("Enter");
  await note("limit removed");
  await press("Hold this version");
  await note("held");
  await press("Discard A");
  await note("discarded");
  await press("Undo");
  await note("undone");
  await select("kind", "a n"); // a number
  await note("another kind");
  return found;
}

/** Five questions of docs/explore.md, each from a fresh page: what was done, how often, and the answer. */
async function tasks(browser) {
  const answers = {};
  async function task(name, run) {
    const page = await (await browser.newContext({ acceptDownloads: true })).newPage();
    await page.goto(url);
    await settle(page);
    let actions = 0;
    const act = async (done) => {
      actions += 1;
      await done;
      await settle(page);
    };
    const does = {
      type: async (control, value) => {
        const input = field(page, control).locator(".ce-exact").first();
        await act(input.fill(String(value)).then(() => input.press("Enter")));
      },
      choose: (control, value) => act(field(page, control).locator("select").selectOption(value)),
      press: (name) => act(page.getByRole("button", { name, exact: true }).first().click()),
      find: async (control) => {
        const { position } = await page.evaluate(() => ({ ...document.documentElement.dataset }));
        await act(field(page, control).locator(".ce-edge").click());
        await page.waitForFunction(
          (before) => document.documentElement.dataset.position !== before,
          position,
          { timeout: 120_000 },
        );
        await settle(page);
      },
    };
    await run(does);
    answers[name] = { actions, ...(await read(page)) };
    answers[name].result = await page.locator(".ce-result").textContent();
    if (name === "half") answers[name].snapshot = await saved(page, "Snapshot");
    await page.context().close();
  }
  await task("crowd", async ({ type, choose, press, find }) => {
    await type("k", 2);
    await choose("limit_what", "max_guess_informed");
    await type("limit_value", 0.51);
    await press("Add this limit");
    await find("minimum_batch");
  });
  await task("noise", async ({ type, choose, press, find }) => {
    await choose("limit_what", "max_reidentification");
    await type("limit_value", 0.0004);
    await press("Add this limit");
    await find("max_epsilon_local");
  });
  await task("dummies", async ({ type, choose }) => {
    await type("corrupt_fraction", 0);
    await type("minimum_batch", 300);
    await choose("mechanism", "plain");
    await choose("shufflers", "two");
  });
  await task("answers", async ({ type, choose, press, find }) => {
    await choose("every", "daily");
    await choose("limit_what", "max_epsilon");
    await type("limit_value", 0.2);
    await press("Add this limit");
    await find("rounds");
  });
  await task("half", async ({ type, press }) => {
    await press("Hold this version");
    await type("max_epsilon_local", 2);
  });
  return answers;
}

async function main() {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  let found;
  if (verb === "look") {
    found = {};
    for (const [name, ...seen] of [
      ["phone", 375, "light"],
      ["tablet", 768, "dark"],
      ["desktop", 1280, "light"],
      ["dark", 1280, "dark"],
      ["wide", 1920, "light"],
      ["print", 794, "light", "print"],
    ]) {
      found[name] = await look(browser, ...seen);
    }
  } else if (verb === "tasks") {
    found = await tasks(browser);
  } else if (verb === "keyboard") {
    const page = await browser.newPage();
    await page.goto(url);
    await settle(page);
    found = await keyboard(page);
  } else {
    const page = await (await browser.newContext({ acceptDownloads: true })).newPage();
    await page.goto(url);
    await settle(page);
    found = await (verb === "moves" ? moves : rapid)(page, Number(count));
  }
  await browser.close();
  console.log(JSON.stringify(found));
}

main();
