/** Blind signatures and tokens: the RFCs' bytes, hostile keys, and another implementation. */

import { readFileSync } from "node:fs";
import { RSABSSA } from "@cloudflare/blindrsa-ts";
import { beforeAll, describe, expect, test } from "vitest";
import { type Bytes, concat, fromHex, hex, sha256, utf8 } from "../src/bytes.js";
import { UntrustedError } from "../src/errors.js";
import { blind, finalize, isSignedBy } from "../src/protocol/blind_rsa.js";
import { tokenHeader, tokenInput, tokenRequest } from "../src/protocol/token.js";
import { tokenKeyOf } from "../src/protocol/token_keys.js";

type Vector = Record<string, string>;

function vectors(name: string): Vector[] {
  const path = new URL(`../../../tests/vectors/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(path, "utf8")).vectors;
}

const digitsOf = (vector: Vector, name: string) => String(vector[name]).replace(/^0x/, "");
const numberOf = (vector: Vector, name: string) => BigInt(`0x${digitsOf(vector, name)}`);
const bytesOf = (vector: Vector, name: string) => fromHex(digitsOf(vector, name));
const plain = (data: Uint8Array): Bytes => new Uint8Array(data);

/** Return the number whose inverse a vector gives, by the algorithm of Euclid. */
function factorOf(vector: Vector): bigint {
  const modulus = numberOf(vector, "n");
  let [rest, next, own, following] = [modulus, numberOf(vector, "inv"), 0n, 1n];
  while (next > 0n) {
    const times = rest / next;
    [rest, next] = [next, rest - times * next];
    [own, following] = [following, own - times * following];
  }
  return own < 0n ? own + modulus : own;
}

describe("the bytes of the RFCs", () => {
  test.each(vectors("rfc9474"))("RFC 9474, $name", async (vector) => {
    const [modulus, message] = [numberOf(vector, "n"), bytesOf(vector, "msg")];
    const given = { salt: bytesOf(vector, "salt"), factor: factorOf(vector) };
    const blinded = await blind(modulus, message, given);
    expect(hex(blinded.message)).toBe(digitsOf(vector, "blinded_msg"));
    expect(blinded.inverse).toBe(numberOf(vector, "inv"));
    const answer = bytesOf(vector, "blind_sig");
    const signature = await finalize(modulus, message, answer, blinded.inverse);
    expect(hex(signature)).toBe(digitsOf(vector, "sig"));
  });

  test.each(vectors("rfc9578"))("RFC 9578, type 2", async (vector) => {
    // The modulus has a fixed place in the public key: before it 75 bytes, after it 5.
    const modulus = hex(bytesOf(vector, "pkS").slice(-261, -5));
    const key = await tokenKeyOf({ version: 1, digest: "", first: 7, keys: [modulus] }, 7);
    if (key === null) throw new Error("no key");
    expect(hex(key.id)).toBe(hex(await sha256(bytesOf(vector, "pkS"))));
    const answered = await sha256(bytesOf(vector, "token_challenge"));
    const input = tokenInput(bytesOf(vector, "nonce"), answered, key.id);
    const given = { salt: bytesOf(vector, "salt"), factor: numberOf(vector, "blind") };
    const { message, inverse } = await blind(key.modulus, input, given);
    expect(hex(tokenRequest(message, key.id))).toBe(digitsOf(vector, "token_request"));
    const response = bytesOf(vector, "token_response");
    const signature = await finalize(key.modulus, input, response, inverse);
    expect(hex(concat(input, signature))).toBe(digitsOf(vector, "token"));
    const text = Buffer.from(bytesOf(vector, "token")).toString("base64url");
    expect(tokenHeader(input, signature)).toBe(`PrivateToken token="${text}"`);
  });
});

describe("another implementation", () => {
  const theirs = RSABSSA.SHA384.PSS.Deterministic();
  const message = utf8("a message that the issuer does not see");
  let pair: CryptoKeyPair;
  let modulus: bigint;

  const generate = () =>
    RSABSSA.SHA384.generateKey({ modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1) });

  beforeAll(async () => {
    pair = await generate();
    const { n } = await crypto.subtle.exportKey("jwk", pair.publicKey);
    modulus = BigInt(`0x${Buffer.from(String(n), "base64url").toString("hex")}`);
  });

  test("signs what this one blinds", async () => {
    const blinded = await blind(modulus, message);
    const answer = await theirs.blindSign(pair.privateKey, blinded.message);
    const signature = await finalize(modulus, message, answer, blinded.inverse);
    expect(await theirs.verify(pair.publicKey, signature, message)).toBe(true);
    expect(await theirs.verify(pair.publicKey, signature, utf8("another"))).toBe(false);
    const byTheirs = await theirs.finalize(
      pair.publicKey,
      message,
      answer,
      fromHex(blinded.inverse.toString(16).padStart(512, "0")),
    );
    expect(hex(byTheirs)).toBe(hex(signature));
  });

  test("blinds what this one finalises and verifies", async () => {
    const { blindedMsg, inv } = await theirs.blind(pair.publicKey, message);
    const answer = await theirs.blindSign(pair.privateKey, blindedMsg);
    const signature = await finalize(modulus, message, answer, BigInt(`0x${hex(inv)}`));
    expect(await isSignedBy(modulus, message, signature)).toBe(true);
    const own = plain(await theirs.finalize(pair.publicKey, message, answer, inv));
    expect(await isSignedBy(modulus, message, own)).toBe(true);
    expect(await isSignedBy(modulus, utf8("another"), own)).toBe(false);
  });

  test("two blindings of one message differ, in length not", async () => {
    const made = [await blind(modulus, message), await blind(modulus, message)];
    expect(new Set(made.map((one) => hex(one.message))).size).toBe(2);
    expect(made.map((one) => one.message.length)).toEqual([256, 256]);
  });

  test("a signature of another key or length is refused", async () => {
    const { privateKey } = await generate();
    const blinded = await blind(modulus, message);
    const ours = await theirs.blindSign(pair.privateKey, blinded.message);
    const other = plain(
      await crypto.subtle
        .sign({ name: "RSA-PSS", saltLength: 48 }, privateKey, message)
        .then((made) => new Uint8Array(made)),
    );
    for (const answer of [other, new Uint8Array(256), ours.slice(1), concat(ours, ours)]) {
      await expect(finalize(modulus, message, answer, blinded.inverse)).rejects.toThrow(
        UntrustedError,
      );
    }
    await expect(finalize(modulus, utf8("two"), ours, blinded.inverse)).rejects.toThrow(
      "is not of the key that the plan's issuer published",
    );
  });

  test("a key with small factors is refused", async () => {
    const small = 3n * 5n * 7n * 11n * 13n * 17n * 19n * 23n * 29n * 31n * 37n * 41n * 43n;
    const weak = (1n << 2048n) - ((1n << 2048n) % small) - small * 2n;
    const given = { factor: 3n };
    await expect(blind(weak, message, given)).rejects.toThrow("has small factors");
  });
});
