/**
 * A process of its own that uses a memory, for tests/file_state.test.ts.
 *
 * Arguments: the file, the number of updates, and "hold" to stay inside the first one.
 */

import { FileState } from "../src/node/file_state.js";

const [path, count, hold] = process.argv.slice(2) as [string, string, string | undefined];
const memory = new FileState(path);
for (let done = 1; done <= Number(count); done++) {
  await memory.update(async ({ spent }) => {
    spent.emoji = [...(spent.emoji ?? []), 1];
    if (hold === undefined) return;
    process.stdout.write("held\n");
    await new Promise((resolve) => setTimeout(resolve, 600_000));
  });
  process.stdout.write(`${done}\n`);
}
