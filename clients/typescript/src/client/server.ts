/** The address of reports, and the few headers that are the same for everybody. */

import { type Bytes, utf8 } from "../bytes.js";
import { ParameterError } from "../errors.js";
import { canonical } from "../json.js";
import { AGENT, type Request } from "./exchange.js";

const LOOPBACK = ["127.0.0.1", "[::1]", "localhost"];

/** The headers that spend a token on one request. */
export interface Spent {
  readonly authorization: string;
  /** The proof that its owner spends it on this request, in hexadecimal. */
  readonly proof: string;
}

/** The address that reports go to, and what admits the sender there. */
export interface Address {
  /** The URL without a path: https://reports.example. */
  readonly url: string;
  /** The credential that admits the sender; never printed. Left out if the client enrols.
   * If the plan admits by token, only the issuer gets to see it. */
  readonly credential?: string;
  /** Other addresses that publish the key list, for comparison. */
  readonly mirrors?: readonly string[];
  /** True to allow a URL without TLS that is not on this machine. */
  readonly insecureHttp?: boolean;
  /** The address that gives credentials, and tokens if the plan says so, without a path. */
  readonly issuer?: string;
  /** The address of the relay that all requests to the shuffler go through, without a path
   * (RFC 9458); it hides the sender's address. Excludes mirrors, which would see it. */
  readonly relay?: string;
  /** The invitation or secret that the issuer wants to see; empty if enrolment is open. */
  readonly proof?: string;
}

/** A report as it is posted to the shuffler. */
interface Posted {
  readonly plan: string;
  readonly batch: string;
  readonly body: Bytes;
  readonly spent?: Spent | null;
}

export class Server {
  readonly #address: Address;
  readonly #urls: readonly string[];
  /** The issuer's address. */
  readonly issuer: string | undefined;
  /** The relay's address. */
  readonly relay: string | undefined;

  constructor(address: Address) {
    const { url, credential, mirrors = [], insecureHttp = false, issuer, proof = "" } = address;
    this.#address = address;
    this.#urls = [url, ...mirrors].map((entry) => origin("url", entry, insecureHttp));
    this.issuer = issuer && origin("issuer", issuer, insecureHttp);
    const { relay } = address;
    this.relay = relay === undefined ? relay : origin("relay", relay, insecureHttp);
    if (this.relay !== undefined && new URL(this.relay).origin === new URL(url).origin) {
      throw new ParameterError("relay", { must: "be another address than the shuffler's" });
    }
    if (this.relay !== undefined && mirrors.length > 0) {
      const must = "be left out with a relay: they would see the address that it hides";
      throw new ParameterError("mirrors", { must });
    }
    if (credential === undefined && issuer === undefined) {
      throw new ParameterError("credential", { must: "be given, or an issuer" });
    }
    if (!/^[ -~]+$/.test(credential ?? "-")) {
      throw new ParameterError("credential", { must: "be printable ASCII" });
    }
    if (!/^[ -~]{0,4096}$/.test(proof)) {
      throw new ParameterError("proof", { must: "be at most 4096 characters of printable ASCII" });
    }
  }

  /** Return the same address with the credential that its issuer gave. */
  admitting(credential: string): Server {
    const { proof, ...address } = this.#address;
    return new Server({ ...address, credential });
  }

  /** True if there is a credential. */
  get isAdmitted(): boolean {
    return this.#address.credential !== undefined;
  }

  /** Return the header that admits the sender; a method, so that printing does not show it. */
  authorization(): string {
    const { credential } = this.#address;
    if (credential === undefined) throw new ParameterError("credential", { must: "be given" });
    return `Bearer ${credential}`;
  }

  /** Ask the issuer for the credential of a device. */
  enrol(device: string): Request {
    const { proof = "" } = this.#address;
    const headers = { ...AGENT, "Content-Type": "application/json" };
    const body = utf8(canonical({ device, proof, schema_version: 1 }));
    return { method: "POST", url: `${this.issuer}/v1/enrol`, headers, body };
  }

  /** Ask for the key list of a plan, or a document below it: here, then on every mirror. */
  get(plan: string, path = ""): Request[] {
    return this.#urls.map((url) => ({
      method: "GET",
      url: `${url}/v1/plans/${plan}${path}`,
      headers: AGENT,
      ...this.#via(),
    }));
  }

  /** Ask the issuer to sign the blinded token of a round. */
  askForToken(plan: string, round: number, body: Bytes): Request {
    const headers = {
      ...AGENT,
      "Content-Type": "application/private-token-request",
      Authorization: this.authorization(),
    };
    const url = `${this.issuer}/v1/plans/${plan}/rounds/${round}/token`;
    return { method: "POST", url, headers, body };
  }

  /** Send envelopes; the token admits them if there is one, else the credential. */
  post({ plan, batch, body, spent }: Posted): Request {
    const headers = {
      ...AGENT,
      "Content-Type": "application/octet-stream",
      "Croupier-Batch": batch,
      Authorization: spent?.authorization ?? this.authorization(),
      ...(spent && { "Croupier-Proof": spent.proof }),
    };
    const url = `${this.#urls[0]}/v1/plans/${plan}/reports`;
    return { method: "POST", url, headers, body, ...this.#via() };
  }

  #via(): { relay?: string } {
    return this.relay === undefined ? {} : { relay: this.relay };
  }
}

function origin(name: string, url: string, insecureHttp: boolean): string {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: "", hostname: "" };
  const safe = protocol === "https:" || LOOPBACK.includes(hostname) || insecureHttp;
  if (safe && ["http:", "https:"].includes(protocol)) return url.replace(/\/+$/, "");
  throw new ParameterError(name, { must: "begin with https://" });
}
