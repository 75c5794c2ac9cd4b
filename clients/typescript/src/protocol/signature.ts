/** Signed documents: small JSON objects that carry an Ed25519 signature of their meaning. */

import { concat, fromHex, utf8 } from "../bytes.js";
import { canonical, type Table } from "../json.js";

/** Tell whether the `signature` of a document is that of a public key, in hexadecimal. */
export async function isSigned(document: Table, signer: string, purpose: string): Promise<boolean> {
  const { signature, ...unsigned } = document;
  try {
    const key = await crypto.subtle.importKey("raw", fromHex(signer), "Ed25519", false, ["verify"]);
    const message = concat(utf8(`croupier ${purpose}\0`), utf8(canonical(unsigned)));
    return await crypto.subtle.verify("Ed25519", key, fromHex(String(signature)), message);
  } catch (error) {
    if (error instanceof DOMException && error.name !== "NotSupportedError") return false;
    throw error; // without Ed25519 nothing can be checked, which is not the document's fault
  }
}
