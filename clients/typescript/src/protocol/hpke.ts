/**
 * HPKE (RFC 9180): base mode, the sender's side, one message per context.
 *
 * DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM. The curve, the hash and the cipher are
 * those of the platform (WebCrypto); this file composes them as the standard does.
 */

import { type Bytes, bigEndian, concat, fromHex, utf8 } from "../bytes.js";

const KEM_SUITE = concat(utf8("KEM"), fromHex("0020"));
const HPKE_SUITE = concat(utf8("HPKE"), fromHex("002000010001"));
const BASE_MODE = fromHex("00");
const NOTHING = new Uint8Array(0);
const HASH_SIZE = 32;
const KEY_SIZE = 16;
const NONCE_SIZE = 12;

/**
 * Seal a message: the encapsulated key, then the ciphertext with its tag.
 *
 * @param receiver The receiver's X25519 public key.
 * @param ephemeral For tests only: with one key pair, two seals would share their secret.
 */
export async function hpkeSeal(
  plaintext: Bytes,
  receiver: Bytes,
  info: Bytes,
  ephemeral?: CryptoKeyPair,
): Promise<Bytes> {
  const { enc, seal } = await hpkeSender(receiver, info, ephemeral);
  return concat(enc, await seal(plaintext));
}

/** The sender's side of one message. */
export interface Sender {
  /** The encapsulated key. */
  readonly enc: Bytes;
  /** Return the ciphertext of the one message, with its tag. */
  readonly seal: (plaintext: Bytes) => Promise<Bytes>;
  /** Return a secret of at most 32 bytes that the receiver derives too (section 5.3). */
  readonly exported: (context: Bytes, length: number) => Promise<Bytes>;
}

/** Begin a message to a receiver, as `hpkeSeal` does. */
export async function hpkeSender(
  receiver: Bytes,
  info: Bytes,
  ephemeral?: CryptoKeyPair,
): Promise<Sender> {
  const [own, peer, context] = await Promise.all([
    ephemeral ?? crypto.subtle.generateKey("X25519", false, ["deriveBits"]),
    crypto.subtle.importKey("raw", receiver, "X25519", false, []),
    scheduleContext(info),
  ]);
  const { privateKey, publicKey } = own as CryptoKeyPair;
  const enc = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
  const exchange = { name: "X25519", public: peer };
  const exchanged = new Uint8Array(await crypto.subtle.deriveBits(exchange, privateKey, 256));
  const secret = await extract(
    HPKE_SUITE,
    await sharedSecret(exchanged, enc, receiver),
    "secret",
    NOTHING,
  );
  const [key, nonce] = await Promise.all([
    expand(HPKE_SUITE, secret, "key", context, KEY_SIZE),
    expand(HPKE_SUITE, secret, "base_nonce", context, NONCE_SIZE),
  ]);
  const cipher = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt"]);
  return {
    enc,
    seal: async (plaintext) =>
      new Uint8Array(
        await crypto.subtle.encrypt({ name: "AES-GCM", iv: nonce }, cipher, plaintext),
      ),
    exported: async (own, length) => {
      const exporter = await expand(HPKE_SUITE, secret, "exp", context, HASH_SIZE);
      return expand(HPKE_SUITE, exporter, "sec", own, length);
    },
  };
}

/** Compute ExtractAndExpand of section 4.1. */
async function sharedSecret(exchanged: Bytes, enc: Bytes, receiver: Bytes): Promise<Bytes> {
  const secret = await extract(KEM_SUITE, NOTHING, "eae_prk", exchanged);
  return expand(KEM_SUITE, secret, "shared_secret", concat(enc, receiver), HASH_SIZE);
}

/** Compute the context of the key schedule of section 5.1, without a pre-shared key. */
async function scheduleContext(info: Bytes): Promise<Bytes> {
  const hashes = await Promise.all([
    extract(HPKE_SUITE, NOTHING, "psk_id_hash", NOTHING),
    extract(HPKE_SUITE, NOTHING, "info_hash", info),
  ]);
  return concat(BASE_MODE, ...hashes);
}

/** Compute LabeledExtract of section 4. An empty salt stands for zeros. */
function extract(suite: Bytes, salt: Bytes, label: string, material: Bytes): Promise<Bytes> {
  const labelled = concat(utf8("HPKE-v1"), suite, utf8(label), material);
  return hmac(salt.length > 0 ? salt : new Uint8Array(HASH_SIZE), labelled);
}

/** Compute LabeledExpand of section 4; every length here is at most one block of HKDF. */
async function expand(
  suite: Bytes,
  secret: Bytes,
  label: string,
  info: Bytes,
  length: number,
): Promise<Bytes> {
  const labelled = concat(bigEndian(length, 2), utf8("HPKE-v1"), suite, utf8(label), info);
  return (await hmac(secret, concat(labelled, bigEndian(1, 1)))).slice(0, length);
}

export async function hmac(secret: Bytes, message: Bytes): Promise<Bytes> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, message));
}
