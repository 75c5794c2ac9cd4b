/** Patience with servers that are silent or busy. */

import { operatingSystem } from "../keystream.js";
import { type Answer, ask, pause, type Request, type Transport } from "./exchange.js";

const FIRST_PAUSE = 1;
const LONGEST_PAUSE = 300;

/**
 * Repeat a request, byte for byte, while the server is silent or busy, and return the answer.
 *
 * Pauses double and have a random length, so that clients do not return together. Return null
 * once the pauses would add up to more than so many seconds.
 */
export async function askPatiently(
  request: Request,
  seconds: number,
  transport: Transport,
): Promise<Answer | null> {
  let [waited, longest] = [0, FIRST_PAUSE];
  for (;;) {
    const answer = await ask(request, transport);
    if (answer !== null && !isBusy(answer)) return answer;
    const share = Number(operatingSystem.words(1)[0]) / 2 ** 64;
    const wait = Math.max(askedPause(answer), (longest / 2) * (1 + share));
    waited += wait;
    if (waited > seconds) return null;
    await pause(wait, transport);
    longest = Math.min(2 * longest, LONGEST_PAUSE);
  }
}

/** Tell whether a server asks to come back later. */
export function isBusy({ status }: Answer): boolean {
  return status === 429 || status >= 500;
}

function askedPause(answer: Answer | null): number {
  const text = answer?.retryAfter ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}
