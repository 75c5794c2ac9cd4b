/** The address of reports, and the few headers that are the same for everybody. */

import type { Bytes } from "../bytes.js";
import { ParameterError } from "../errors.js";

/** Headers for Node; browsers send their own, and count decompressed bytes as the answer. */
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
  /** The URL without a path: https://reports.example. */
  readonly url: string;
  /** The credential that admits the sender; never printed. */
  readonly credential: string;
  /** Other addresses that publish the key list, for comparison. */
  readonly mirrors?: readonly string[];
  /** True to allow a URL without TLS that is not on this machine. */
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

  /** Return the header that admits the sender; a method, so that printing does not show it. */
  authorization(): string {
    return this.#authorization;
  }

  /** Ask for the key list of a plan, or a document below it: here, then on every mirror. */
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
