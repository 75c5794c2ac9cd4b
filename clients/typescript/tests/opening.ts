/** The other side of the seals, by another implementation of HPKE. */

import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from "@hpke/core";
import { type Bytes, hex } from "../src/bytes.js";
import { CroupierError } from "../src/errors.js";
import {
  type Epoch,
  envelopeLength,
  handedLength,
  info,
  innerLength,
  type Role,
} from "../src/protocol/wire.js";

/** A ciphertext that does not open under this key, plan, round and batch. */
export class SealError extends CroupierError {
  constructor(readonly reason: "length" | "seal") {
    super(`Cannot be opened: its ${reason} is wrong. Refuse it.`);
  }
}

/** Return the cipher suite of every seal. */
export function suite(): CipherSuite {
  return new CipherSuite({
    kem: new DhkemX25519HkdfSha256(),
    kdf: new HkdfSha256(),
    aead: new Aes128Gcm(),
  });
}

/** The content of an envelope: the sealed report, and the sender's place if any. */
export interface Outer {
  readonly inner: Bytes;
  readonly owner: bigint | null;
}

/** An X25519 key pair, as raw bytes. */
export interface KeyPair {
  readonly private: Bytes;
  readonly public: Bytes;
}

export async function openOuter(envelope: Bytes, key: KeyPair, epoch: Epoch): Promise<Outer> {
  const plaintext = await open(envelope, envelopeLength(epoch), "outer", key, epoch);
  const end = handedLength(epoch);
  const owner = epoch.owned ? BigInt(`0x${hex(plaintext.subarray(end))}`) : null;
  return { inner: plaintext.slice(0, end), owner };
}

/** Open the second shuffler's seal and return the report, still sealed to the analyzer. */
export function openSecond(second: Bytes, key: KeyPair, epoch: Epoch): Promise<Bytes> {
  return open(second, handedLength(epoch), "second", key, epoch);
}

/** Open the inner seal and return the bytes of a report, for `decodeReport`. */
export function openInner(inner: Bytes, key: KeyPair, epoch: Epoch): Promise<Bytes> {
  return open(inner, innerLength(epoch), "inner", key, epoch);
}

async function open(
  sealed: Bytes,
  length: number,
  role: Role,
  key: KeyPair,
  epoch: Epoch,
): Promise<Bytes> {
  if (sealed.length !== length) throw new SealError("length");
  const hpke = suite();
  const recipientKey = {
    privateKey: await hpke.kem.deserializePrivateKey(key.private),
    publicKey: await hpke.kem.deserializePublicKey(key.public),
  };
  const bound = {
    recipientKey,
    enc: sealed.slice(0, 32),
    info: await info(epoch, role, key.public),
  };
  try {
    return new Uint8Array(await hpke.open(bound, sealed.slice(32)));
  } catch {
    throw new SealError("seal");
  }
}
