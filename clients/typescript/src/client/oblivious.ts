/**
 * Requests through a relay (RFC 9458): the shuffler does not see who asks, the relay not what.
 *
 * A conversation does not change: each of its requests to the shuffler becomes one to the relay, of
 * one length for the whole plan. The first one asks for the gateway's keys with the shuffler's
 * signature, so that a relay which shows keys of its own reads nothing more than the plan's digest.
 */

import type { Bytes } from "../bytes.js";
import { CroupierError, ParameterError, UntrustedError } from "../errors.js";
import { readResponse, writeRequest } from "../protocol/binary_http.js";
import {
  type Configuration,
  KEYS_PATH,
  PATH,
  REQUEST_TYPE,
  readConfigurations,
  sealRequest,
  UNKNOWN_KEY,
} from "../protocol/capsule.js";
import { GATEWAY, readGateway } from "../protocol/gateway_keys.js";
import { requireNotBefore } from "../protocol/signed_document.js";
import { isPointer } from "../protocol/superseded.js";
import { envelopeLength } from "../protocol/wire.js";
import type { Client } from "./client.js";
import { AGENT, type Answer, ask, type Request, type Transport } from "./exchange.js";
import { isBusy } from "./patience.js";

const LEAST_LENGTH = 4096;
/** Bytes of a request beside its body: address, path, batch, credential or token, and lengths. */
const HEAD = 2048;

/** Return the length of all requests of a plan before they are sealed: a power of two. */
function requestLength({ reportSize, owned, shufflerKeys }: Client["plan"]): number {
  const size = HEAD + envelopeLength({ reportSize, owned, onward: shufflerKeys.slice(1) });
  return Math.max(LEAST_LENGTH, 2 ** Math.ceil(Math.log2(size)));
}

/** The gateway does not have the key that a request was sealed to. */
class UnknownKeyError extends CroupierError {
  constructor() {
    super("The gateway does not have this key.");
  }
}

/** The exchanges of one conversation. */
export class Relay {
  #key: Configuration | undefined;

  constructor(
    readonly client: Client,
    readonly address: string,
    readonly transport: Transport,
  ) {}

  /**
   * Return the shuffler's answer to a request; null if none came, or none that opens.
   *
   * If the gateway has replaced its keys, fetch them anew and ask once more.
   */
  async ask(request: Request): Promise<Answer | null> {
    for (let left = 2; left > 0; left--) {
      try {
        return await this.#ask(request);
      } catch (error) {
        if (!(error instanceof UnknownKeyError)) throw error;
        this.#key = undefined;
      }
    }
    return null;
  }

  async #ask(request: Request): Promise<Answer | null> {
    if (this.#key === undefined) {
      const found = await this.#believedKey(new URL(request.url).origin);
      if (found === null || "status" in found) return found;
      this.#key = found;
    }
    return this.#exchange(this.#key, request);
  }

  /**
   * Fetch the gateway's keys and return the newest, if the shuffler has signed it.
   *
   * Return an answer instead that nobody need believe: that the service is busy, does not have the
   * plan, or has a pointer to its successor, which is signed by the root.
   */
  async #believedKey(origin: string): Promise<Configuration | Answer | null> {
    const own: Request = { method: "GET", url: `${this.address}${KEYS_PATH}`, headers: AGENT };
    const shown = await ask(own, this.transport);
    if (shown?.status !== 200) return shown !== null && isBusy(shown) ? shown : null;
    const [key] = readConfigurations(shown.body as Bytes);
    if (key === undefined) return null;
    const url = `${origin}/v1/plans/${this.client.plan.digest}/gateway`;
    const signed = await this.#exchange(key, { method: "GET", url, headers: AGENT });
    if (signed === null || signed.status === 404 || isBusy(signed)) return signed;
    if (signed.status === 410 && isPointer(signed.body)) return signed;
    return signed.status === 200 ? this.#believed(signed.body as Bytes, key) : null;
  }

  /** Return the key; null if the document is older than one that was seen. */
  async #believed(signed: Bytes, key: Configuration): Promise<Configuration | null> {
    const { plan, memory } = this.client;
    const { keys, version, has } = await readGateway(signed, plan);
    const isOlder = await memory.update(async (state) => {
      requireNotBefore("the list of the shuffler's keys", keys, state.listed[plan.digest]);
      // Another host of the shuffler may be behind for a moment; a thief of a destroyed key is for
      // ever.
      if (version < (state.gateways[plan.digest] ?? 0)) return true;
      state.gateways[plan.digest] = version;
      return false;
    });
    if (isOlder) return null;
    if (has(key)) return key;
    throw new UntrustedError(GATEWAY.what, "does not have the key that the relay shows");
  }

  async #exchange(key: Configuration, request: Request): Promise<Answer | null> {
    const { plan } = this.client;
    const own = Object.entries(request.headers).filter(([name]) => !(name in AGENT));
    const headers = own.map(([name, value]) => [name.toLowerCase(), value] as const);
    const body = request.body ?? new Uint8Array(0);
    const written = writeRequest({ ...request, headers, body }, requestLength(plan));
    if (written === null) {
      throw new ParameterError("credential", { must: "be shorter, to fit into one request" });
    }
    const sealed = await sealRequest(key, written);
    const answer = await ask(
      {
        method: "POST",
        url: `${this.address}${PATH}`,
        headers: { ...AGENT, "Content-Type": REQUEST_TYPE },
        body: sealed.body,
      },
      this.transport,
    );
    if (answer === null || isBusy(answer)) return answer;
    if (answer.status !== 200) {
      if (isAboutTheKey(answer.body)) throw new UnknownKeyError();
      return null;
    }
    const opened = await sealed.opened(answer.body as Bytes);
    return opened && readResponse(opened);
  }
}

/** Tell whether an answer is the problem that RFC 9458, section 5.3, defines. */
function isAboutTheKey(body: Uint8Array): boolean {
  try {
    return JSON.parse(new TextDecoder().decode(body)).type === UNKNOWN_KEY;
  } catch {
    return false;
  }
}
