/** Where reports go, and the few headers that are the same for everybody. */

import type { Bytes } from "../bytes.js";
import { ParameterError } from "../errors.js";

/** Browsers send their own instead; what they unpack counts towards the largest answer. */
const AGENT = { "User-Agent": "croupier", "Accept-Encoding": "identity" };
const LOOPBACK = ["127.0.0.1", "[::1]", "localhost"];

/** One request; a retry sends the same. */
export interface Request {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Bytes;
}

export interface Address {
  /** Without a path: https://reports.example. */
  readonly url: string;
  /** What admits the sender; kept out of every text. */
  readonly credential: string;
  /** Where else the key list is published, to compare. */
  readonly mirrors?: readonly string[];
  /** Whether to allow a URL without TLS that is not this machine's. */
  readonly insecureHttp?: boolean;
}

export class Server {
  readonly #urls: readonly string[];
  /** The header that admits the sender. */
  readonly #authorization: string;

  constructor({ url, credential, mirrors = [], insecureHttp = false }: Address) {
    this.#urls = [url, ...mirrors].map((entry) => origin(entry, insecureHttp));
    if (!/^[ -~]+$/.test(credential)) {
      throw new ParameterError("credential", { must: "be printable ASCII" });
    }
    this.#authorization = `Bearer ${credential}`;
  }

  /** A method, not a property: what is printed or serialised does not show it. */
  authorization(): string {
    return this.#authorization;
  }

  /** Ask for the key list of a plan, or what lies under it: here, then on every mirror. */
  get(plan: string, path = ""): Request[] {
    return this.#urls.map((url) => ({
      method: "GET",
      url: `${url}/v1/plans/${plan}${path}`,
      headers: AGENT,
    }));
  }

  /** Send envelopes. */
  post({ plan, batch, body }: { plan: string; batch: string; body: Bytes }): Request {
    const headers = {
      ...AGENT,
      "Content-Type": "application/octet-stream",
      "Croupier-Batch": batch,
      Authorization: this.#authorization,
    };
    return { method: "POST", url: `${this.#urls[0]}/v1/plans/${plan}/reports`, headers, body };
  }
}

function origin(url: string, insecureHttp: boolean): string {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: "", hostname: "" };
  const safe = protocol === "https:" || LOOPBACK.includes(hostname) || insecureHttp;
  if (safe && ["http:", "https:"].includes(protocol)) return url.replace(/\/+$/, "");
  throw new ParameterError("url", { must: "begin with https://" });
}
