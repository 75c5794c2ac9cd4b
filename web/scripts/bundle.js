/**
 * Write each page's script as one file where it is served from; with --check, fail if one is not fresh.
 *
 * The calculator is a classic script: browsers refuse modules from a disk, where it works as well.
 */

import { readFile, writeFile } from "node:fs/promises";
import { rolldown } from "rolldown";

const PAGES = [
  ["src/explorer/main.ts", "../src/croupier/explorer/static/explorer.js", "es"],
  ["src/explorer/widget.ts", "../src/croupier/explorer/static/widget.js", "es"],
  ["src/calculator/main.ts", "../docs/_static/calculator.js", "iife"],
];

const check = process.argv.includes("--check");
for (const [input, file, format] of PAGES) {
  const bundle = await rolldown({ input });
  const { output } = await bundle.generate({ format, codeSplitting: false, minify: true });
  const target = new URL(`../${file}`, import.meta.url);
  const code = output[0].code;
  if (!check) {
    await writeFile(target, code);
  } else if ((await readFile(target, "utf8").catch(() => "")) !== code) {
    process.stderr.write(`${file} is not fresh: npm run bundle --prefix web\n`);
    process.exitCode = 1;
  }
}
