/**
 * The keys of a gateway as clients believe them: signed by intake, whose key the root has listed.
 *
 * The relay shows everybody the same keys, so that the shuffler cannot show somebody a key of their
 * own. This document shows that they are the shuffler's and not the relay's.
 */

import { type Bytes, equal, fromHex } from "../bytes.js";
import { isTable } from "../json.js";
import type { Plan } from "../plan.js";
import { type Configuration, readConfigurations } from "./capsule.js";
import { type ShufflerKeys, shufflerKeys } from "./party_keys.js";
import {
  COMMON,
  exactly,
  type Kind,
  readDocument,
  requireShape,
  verified,
  whole,
} from "./signed_document.js";

export const GATEWAY: Kind = {
  what: "the list of the gateway's keys",
  purpose: "gateway",
  entries: {
    ...COMMON,
    kind: exactly("gateway"),
    version: whole(1, 2 ** 32 - 1),
    configurations: (value) => typeof value === "string" && /^(?:[0-9a-f]{2})+$/.test(value),
  },
};

/** The signed keys, once they are checked. */
export interface Gateway {
  readonly keys: ShufflerKeys;
  /** The number of the newest key. */
  readonly version: number;
  /** Tell whether requests may be sealed to a key. */
  readonly has: (key: Configuration) => boolean;
}

/** Return the keys in a served document, if the newest intake key of the plan's shuffler signed. */
export async function readGateway(data: Bytes, plan: Plan): Promise<Gateway> {
  const document = readDocument(GATEWAY.what, data);
  const parts = requireShape(GATEWAY.what, document, { keys: isTable, gateway: isTable });
  const keys = await shufflerKeys(parts.keys, plan);
  const signers = keys.intake.slice(-1).map(({ key }) => key);
  const signed = await verified(GATEWAY, parts.gateway, plan, signers);
  const listed = readConfigurations(fromHex(String(signed.configurations)));
  return {
    keys,
    version: Number(signed.version),
    has: ({ id, key }) => listed.some((each) => each.id === id && equal(each.key, key)),
  };
}
