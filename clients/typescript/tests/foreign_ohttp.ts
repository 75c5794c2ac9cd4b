/** Both sides of oblivious HTTP by other implementations: bhttp-js, @hpke/core, and few lines. */

import { BHttpDecoder, BHttpEncoder } from "bhttp-js";
import { type Bytes, concat, fromHex, utf8 } from "../src/bytes.js";
import { suite } from "./opening.js";

const [HEAD, ENC, NONCE] = [7, 32, 16];
const SUITE = fromHex("002000010001");
const REQUEST = utf8("message/bhttp request\0");
const RESPONSE = utf8("message/bhttp response");

/** Make an X25519 key pair of a gateway, with its number. */
export interface ForeignKey {
  readonly id: number;
  readonly pair: CryptoKeyPair;
  readonly public: Bytes;
}

export async function foreignKey(id: number): Promise<ForeignKey> {
  const pair = await suite().kem.generateKeyPair();
  const raw = new Uint8Array(await suite().kem.serializePublicKey(pair.publicKey));
  return { id, pair, public: raw };
}

/** Write the document of RFC 9458, section 3.2. */
export function configurations(keys: readonly ForeignKey[]): Bytes {
  const written = keys.map(({ id, public: raw }) =>
    concat(Uint8Array.of(id), fromHex("0020"), raw, fromHex("000400010001")),
  );
  return concat(...written.flatMap((each) => [Uint8Array.of(0, each.length), each]));
}

/** Open a request and return what answers it; null if it is sealed to another key. */
export async function openRequest({ id, pair }: ForeignKey, body: Bytes) {
  const [head, enc] = [body.slice(0, HEAD), body.slice(HEAD, HEAD + ENC)];
  if (head[0] !== id) return null;
  const info = concat(REQUEST, head);
  const context = await suite().createRecipientContext({ recipientKey: pair, enc, info });
  const opened = new Uint8Array(await context.open(body.slice(HEAD + ENC)));
  return {
    length: opened.length,
    request: new BHttpDecoder().decodeRequest(opened),
    answer: async (response: Response, length: number) => {
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE));
      const secret = new Uint8Array(await context.export(RESPONSE, NONCE));
      const [key, iv] = await cipher(secret, concat(enc, nonce), "encrypt");
      const written = await new BHttpEncoder().encodeResponse(response);
      const padded = concat(written, new Uint8Array(length - written.length));
      const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, padded);
      return concat(nonce, new Uint8Array(sealed));
    },
  };
}

/** Seal a request to the first key of a document, and return what opens its answer. */
export async function sealForeign(document: Bytes, request: Request) {
  const [id, raw] = [document[2] as number, document.slice(5, 5 + ENC)];
  const head = concat(Uint8Array.of(id), SUITE);
  const recipientPublicKey = await suite().kem.deserializePublicKey(raw);
  const info = concat(REQUEST, head);
  const context = await suite().createSenderContext({ recipientPublicKey, info });
  const written = await new BHttpEncoder().encodeRequest(request);
  const enc = new Uint8Array(context.enc);
  return {
    body: concat(head, enc, new Uint8Array(await context.seal(written))),
    opened: async (answer: Bytes) => {
      const secret = new Uint8Array(await context.export(RESPONSE, NONCE));
      const [key, iv] = await cipher(secret, concat(enc, answer.slice(0, NONCE)), "decrypt");
      const sealed = answer.slice(NONCE);
      const message = await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, sealed);
      return new BHttpDecoder().decodeResponse(new Uint8Array(message));
    },
  };
}

async function cipher(
  secret: Bytes,
  salt: Bytes,
  usage: KeyUsage,
): Promise<[CryptoKey, ArrayBuffer]> {
  const material = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  const derive = (info: string, bits: number) =>
    crypto.subtle.deriveBits(
      { name: "HKDF", hash: "SHA-256", salt, info: utf8(info) },
      material,
      bits,
    );
  const [key, iv] = await Promise.all([derive("key", 128), derive("nonce", 96)]);
  return [await crypto.subtle.importKey("raw", key, "AES-GCM", false, [usage]), iv];
}
