/**
 * Tokens: a right to send one report in one round, unlinkable to whoever received it.
 *
 * A token has the shape of RFC 9578, type 2. Its nonce is the hash of a signing key that the client
 * makes for this token alone. The key signs the batch and the body of the request, so that whoever
 * sees a token on its way cannot spend it on another report.
 */

import { type Bytes, bigEndian, concat, fromHex, hex, sha256, utf8 } from "../bytes.js";
import type { Plan } from "../plan.js";
import { base64url } from "./blind_rsa.js";

const TYPE = bigEndian(2, 2);
/** PKCS #8 of an Ed25519 key, before its seed. */
const PRIVATE = "302e020100300506032b657004220420";

/** Return the digest of the challenge that tokens of a round answer (RFC 9577, section 2.1). */
export async function challenge({ digest, admission }: Plan, round: number): Promise<Bytes> {
  const issuer = String(admission.key);
  const name = utf8(`${issuer.slice(0, 32)}.${issuer.slice(32)}.issuer.invalid`);
  const about = concat(utf8("croupier token\0"), fromHex(digest), bigEndian(round, 4));
  const context = await sha256(about);
  const lengths = [bigEndian(name.length, 2), bigEndian(context.length, 1)] as const;
  return sha256(concat(TYPE, lengths[0], name, lengths[1], context, new Uint8Array(2)));
}

/** Return the part of a token that the issuer signs. */
export function tokenInput(nonce: Bytes, answered: Bytes, keyId: Bytes): Bytes {
  return concat(TYPE, nonce, answered, keyId);
}

/** Return the request for a token, which has one length and says nothing about it. */
export function tokenRequest(blinded: Bytes, keyId: Bytes): Bytes {
  return concat(TYPE, keyId.slice(-1), blinded);
}

/** Return the header that spends a token (RFC 9577, section 2.2): no length needs padding. */
export function tokenHeader(input: Bytes, signature: Bytes): string {
  return `PrivateToken token="${base64url(concat(input, signature))}"`;
}

/** The one-time key of a token. */
export class Spender {
  private constructor(
    private readonly key: CryptoKey,
    private readonly open: Bytes,
    /** The nonce of the token. */
    readonly nonce: Bytes,
  ) {}

  /** Return the key of a seed, 32 random bytes. */
  static async of(seed: Bytes): Promise<Spender> {
    const pkcs8 = concat(fromHex(PRIVATE), seed);
    const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
    const { x } = await crypto.subtle.exportKey("jwk", key);
    const text = atob(String(x).replaceAll("-", "+").replaceAll("_", "/"));
    const open = Uint8Array.from(text, (character) => character.charCodeAt(0));
    return new Spender(key, open, await sha256(open));
  }

  /** Return the public key, and its signature of what the token is spent on, in hexadecimal. */
  async proof(plan: string, batch: string, body: Bytes): Promise<string> {
    const start = utf8("croupier spend\0");
    const message = concat(start, fromHex(plan), fromHex(batch), await sha256(body));
    const signature = await crypto.subtle.sign("Ed25519", this.key, message);
    return hex(concat(this.open, new Uint8Array(signature)));
  }
}
