/**
 * Enrolment: a device gets its credential from an issuer, once.
 *
 * The device's name is random, made once and remembered before it is sent. The issuer gives one
 * credential per device, so that a retry or a restart gets the same one. A credential that is no
 * longer accepted is not replaced: a second one would make two senders of a person.
 */

import { hex } from "../bytes.js";
import { NotAdmittedError, UntrustedError } from "../errors.js";
import type { Client } from "./client.js";
import type { Enrolled } from "./client_state.js";
import type { Transport } from "./exchange.js";
import { askPatiently } from "./patience.js";
import type { Server } from "./server.js";

/**
 * Return the server with a credential; enrol the device first if it has none.
 *
 * Call it when the app is installed, for everybody: whoever enrols at the moment of answering shows
 * the issuer that it answers. Throws a NotAdmittedError if the issuer does not admit the device.
 *
 * @param seconds The time for which a silent or busy issuer is asked again.
 * @returns Null if the issuer does not answer; a later call sends the same bytes.
 */
export async function admitted(
  client: Client,
  server: Server,
  seconds: number,
  transport: Transport = {},
): Promise<Server | null> {
  const { issuer } = server;
  if (issuer === undefined || server.isAdmitted) return server;
  let known = await remembered(client, issuer);
  if (!known.credential) {
    const answer = await askPatiently(server.enrol(known.device), seconds, transport);
    if (answer === null) return null;
    if (answer.status !== 200) throw new NotAdmittedError(answer.status);
    known = await remembered(client, issuer, credentialIn(answer.body));
  }
  return server.admitting(String(known.credential));
}

/** Return what the memory has of this device, with the first credential that came. */
function remembered({ memory }: Client, issuer: string, credential?: string): Promise<Enrolled> {
  return memory.update(async ({ enrolled }) => {
    const known = enrolled[issuer] ?? { device: hex(crypto.getRandomValues(new Uint8Array(32))) };
    // Remembered before anybody sees it, so that it stays the same.
    const first = known.credential ?? credential;
    enrolled[issuer] = first === undefined ? known : { ...known, credential: first };
    return enrolled[issuer];
  });
}

function credentialIn(body: Uint8Array): string {
  try {
    const { credential, schema_version, ...rest } = JSON.parse(new TextDecoder().decode(body));
    const isWhole = schema_version === 1 && Object.keys(rest).length === 0;
    const isText = typeof credential === "string";
    if (isWhole && isText && /^[0-9a-f]{66}$/.test(credential)) return credential;
  } catch {}
  throw new UntrustedError("the issuer's answer", "is not a credential");
}
