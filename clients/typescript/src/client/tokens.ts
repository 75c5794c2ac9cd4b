/**
 * Tokens in a client's memory: blinded before they are asked for, checked before they are held.
 *
 * A token of a round is asked for before the round opens and spent while it is open. The memory
 * holds the one-time key and what undoes the blinding before the issuer sees anything, so that a
 * restart sends the same bytes. Neither ever leaves the device.
 */

import { type Bytes, fromHex, hex } from "../bytes.js";
import { NoTokenError, UntrustedError } from "../errors.js";
import type { Plan } from "../plan.js";
import { blind, finalize } from "../protocol/blind_rsa.js";
import { requireNotBefore } from "../protocol/signed_document.js";
import { challenge, Spender, tokenHeader, tokenInput, tokenRequest } from "../protocol/token.js";
import { TOKEN_KEYS, type TokenKey, type TokenKeys, tokenKeyOf } from "../protocol/token_keys.js";
import { type HeldToken, isWaiting, type State } from "./client_state.js";
import type { Spent } from "./server.js";

/** Remember a list of the issuer's keys, and forget the tokens of rounds before all open ones. */
export function followIssuer(
  state: State,
  plan: Plan,
  { version, digest }: TokenKeys,
  openRounds: readonly number[],
): void {
  requireNotBefore(TOKEN_KEYS.what, { version, digest }, state.listed_issuer[plan.digest]);
  state.listed_issuer[plan.digest] = { version, digest };
  const sealed = state.sealed[plan.digest];
  const waiting = isWaiting(sealed) ? sealed.round : null;
  const oldest = openRounds.length === 0 ? 0 : Math.min(...openRounds);
  for (const place of Object.keys(state.tokens)) {
    const [digits, number] = place.split("/");
    const hasPassed = Number(number) < oldest && Number(number) !== waiting;
    if (digits === plan.digest && hasPassed) delete state.tokens[place];
  }
}

/** Return the entry of a round's token; made once, with a one-time key of its own. */
export async function begin(
  state: State,
  plan: Plan,
  key: TokenKey,
  round: number,
): Promise<HeldToken> {
  const place = placeOf(plan, round);
  let held = state.tokens[place];
  if (held === undefined) {
    const seed = crypto.getRandomValues(new Uint8Array(32));
    const { input } = await given(plan, round, key.id, seed);
    const { message, inverse } = await blind(key.modulus, input);
    held = {
      key_id: hex(key.id),
      seed: hex(seed),
      request: hex(tokenRequest(message, key.id)),
      inverse: inverse.toString(16),
    };
    state.tokens[place] = held;
  }
  requireSameKey(held, key);
  return held;
}

/** Take the blinding off the issuer's answer, and hold the token if its signature is right. */
export async function finish(
  state: State,
  plan: Plan,
  key: TokenKey,
  round: number,
  answer: Uint8Array,
): Promise<void> {
  const { key_id, seed, inverse } = await begin(state, plan, key, round);
  if (inverse == null) return;
  const { input } = await given(plan, round, key.id, fromHex(seed));
  const signature = await finalize(key.modulus, input, answer, BigInt(`0x${inverse}`));
  // Without request and inverse: with them, the issuer's records could be linked to the token.
  state.tokens[placeOf(plan, round)] = { key_id, seed, signature: hex(signature) };
}

/** Refuse to go on without a token that the key list's key of the round signed. */
export async function requireToken(
  state: State,
  plan: Plan,
  keys: TokenKeys | null,
  round: number,
): Promise<void> {
  if (keys === null) return;
  const held = state.tokens[placeOf(plan, round)];
  const key = await tokenKeyOf(keys, round);
  if (held?.signature == null || key === null) throw new NoTokenError(round);
  requireSameKey(held, key);
}

/** Return the headers that spend a round's token on a request; null if there is no token. */
export async function spentOn(
  state: State,
  plan: Plan,
  { round, batch }: { round: number; batch: string },
  body: Bytes,
): Promise<Spent | null> {
  const held = state.tokens[placeOf(plan, round)];
  if (held?.signature == null) return null;
  const { spender, input } = await given(plan, round, fromHex(held.key_id), fromHex(held.seed));
  return {
    authorization: tokenHeader(input, fromHex(held.signature)),
    proof: await spender.proof(plan.digest, batch, body),
  };
}

const placeOf = (plan: Plan, round: number): string => `${plan.digest}/${round}`;

function requireSameKey({ key_id }: HeldToken, { id }: TokenKey): void {
  if (key_id !== hex(id)) throw new UntrustedError("the issuer's key of the round", "was replaced");
}

async function given(plan: Plan, round: number, keyId: Bytes, seed: Bytes) {
  const spender = await Spender.of(seed);
  return { spender, input: tokenInput(spender.nonce, await challenge(plan, round), keyId) };
}
