/** The way of requests: directly, or through the relay that a server has. */

import { ParameterError } from "../errors.js";
import type { Client } from "./client.js";
import type { Transport } from "./exchange.js";
import type { Server } from "./server.js";

/**
 * Return the transport of a conversation: through the server's relay if it has one.
 *
 * What seals requests for a relay is imported then, so that no other page loads it.
 */
export async function through(
  client: Client,
  { relay }: Server,
  transport: Transport,
): Promise<Transport> {
  const { admission } = client.plan;
  if (relay === undefined) {
    if (admission.relay === undefined) return transport;
    throw new ParameterError("relay", {
      must: `be given: reports of this plan come through the relay of ${admission.relay}`,
    });
  }
  const { Relay } = await import("./oblivious.js");
  const exchanges = new Relay(client, relay, transport);
  return { ...transport, through: (request) => exchanges.ask(request) };
}
