/** Entry of the page that `croupier explore` serves. */

import { HttpEngine } from "./asking/engine.ts";
import { Explorer } from "./explorer.ts";

const root = document.getElementById("explorer");
if (root !== null) new Explorer(root, new HttpEngine(), true);
