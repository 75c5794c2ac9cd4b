/** The published vectors, read from the repository. */

import { readFileSync } from "node:fs";
import { type Bytes, fromHex } from "../src/bytes.js";
import { readJson } from "../src/json.js";
import type { Epoch } from "../src/protocol/wire.js";
import type { KeyPair } from "./opening.js";

// biome-ignore lint/suspicious/noExplicitAny: cases have the shape that the script that makes them gives
export type Case = any;

export function vectors(name: string): Case {
  const url = new URL(`../../../tests/vectors/${name}.json`, import.meta.url);
  return readJson(readFileSync(url, "utf8"));
}

export const WIRE = vectors("wire");

export function keyPair(name: string): KeyPair {
  const { private: secret, public: open } = WIRE.keys[name];
  return { private: fromHex(secret), public: fromHex(open) };
}

export function epochOf(entry: Case): Epoch {
  const { plan, round, batch, query = "", analyzer = WIRE.keys.analyzer.public } = entry;
  const { digest, report_size: reportSize, owned } = WIRE.plans[plan];
  const { onward = plan === WIRE.two_shufflers.plan ? [WIRE.keys.second.public] : [] } = entry;
  return { plan: digest, roundNumber: round, batch, reportSize, owned, analyzer, query, onward };
}

/** Import an X25519 key pair from its private half, for seals whose bytes are known. */
export async function ephemeral(secret: string): Promise<CryptoKeyPair> {
  const prefix = fromHex("302e020100300506032b656e04220420");
  const pkcs8 = new Uint8Array([...prefix, ...fromHex(secret)]);
  const usages: KeyUsage[] = ["deriveBits"];
  const privateKey = await crypto.subtle.importKey("pkcs8", pkcs8, "X25519", true, usages);
  const { x } = await crypto.subtle.exportKey("jwk", privateKey);
  const raw: Bytes = Uint8Array.from(Buffer.from(String(x), "base64url"));
  return { privateKey, publicKey: await crypto.subtle.importKey("raw", raw, "X25519", true, []) };
}
