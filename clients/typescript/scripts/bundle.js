/** Write the client as one file that a page can load, not minified, so that people can read it. */

import { rolldown } from "rolldown";

const [file] = process.argv.slice(2);
const bundle = await rolldown({ input: "src/index.ts" });
await bundle.write({ format: "es", file, codeSplitting: false });
