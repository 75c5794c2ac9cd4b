/** The client as Node loads it: with the reasons of failed connections, which browsers hide. */

import { explainBy } from "../client/exchange.js";
import { certificateError } from "./tls.js";

export * from "../index.js";

explainBy(certificateError);
