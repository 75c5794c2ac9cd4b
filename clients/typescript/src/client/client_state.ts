/** The client's memory: what it sealed, when it answers, what it has spent. Never a value. */

import type { Cost } from "../dummies.js";
import { BudgetError, StateError } from "../errors.js";
import { asWritten } from "../numerics/decimal.js";
import { SHUFFLER_KEYS, type ShufflerKeys } from "../protocol/party_keys.js";
import { type Listed, requireNotBefore } from "../protocol/signed_document.js";
import { exactly } from "../rounding.js";
import type { Turn } from "./turn.js";

/** The bytes sealed for the last round of a plan: a retry sends them again. */
export interface Sealed {
  readonly round: number;
  readonly batch: string;
  readonly body: string;
  /** The time at which a prepared report is to be sent, in seconds since 1970, if it was not. */
  readonly due?: number | null;
  /** The seconds from preparing to that time, as drawn. */
  readonly delay?: number | null;
  /** True if a prepared report was accepted. */
  readonly is_delivered?: boolean;
}

/** Return the entry with the time at which it is due, drawn once. */
export function prepared(sealed: Sealed, now: number, delay: number): Sealed {
  return isWaiting(sealed) || sealed.is_delivered ? sealed : { ...sealed, due: now + delay, delay };
}

/** Tell whether a prepared report is left to send. */
export function isWaiting(sealed: Sealed | undefined): sealed is Sealed & { due: number } {
  return typeof sealed?.due === "number";
}

/**
 * Return the entry with a due time that the drawn delay allows.
 *
 * A clock that shows less than when the time was drawn has been set back. The same delay counts
 * from now on, so that the report is not held until the clock has caught up.
 */
export function onAClockAt<T extends Sealed & { due: number }>(sealed: T, now: number): T {
  const delay = sealed.delay ?? 0;
  return now < sealed.due - delay ? { ...sealed, due: now + delay } : sealed;
}

/** The turn in the last collection that was joined, and the number of collections joined. */
export interface Joined extends Turn {
  readonly collection: number;
  readonly times: number;
}

/** An answer that counts for as long as its plan's window lasts. */
export interface Answered {
  readonly attribute: string;
  /** The nats that it costs, and the chance that these do not hold. */
  readonly epsilon: number;
  readonly delta: number;
  /** The time, in seconds since 1970, by the device's clock. */
  readonly at: number;
  /** The seconds of the window. */
  readonly length: number;
  /** The rounds from which clients count the window, by their plan. */
  readonly rounds: Readonly<Record<string, number>>;
}

/** A device as an issuer knows it. */
export interface Enrolled {
  /** The random name of the device, 64 hexadecimal digits. */
  readonly device: string;
  /** The credential that the issuer gave it, once it does. */
  readonly credential?: string | null;
}

/**
 * The token of a round, or what is needed to ask for it.
 *
 * Once the issuer has signed, `request` and `inverse` are forgotten: with them, whoever reads the
 * memory and the issuer's records could link the two.
 */
export interface HeldToken {
  /** The id of the issuer's key of the round. */
  readonly key_id: string;
  /** The one-time key that spends the token. */
  readonly seed: string;
  /** The bytes that the issuer is sent, always the same. */
  readonly request?: string | null;
  /** Undoes the blinding; never sent to anybody. */
  readonly inverse?: string | null;
  /** The issuer's signature, checked. */
  readonly signature?: string | null;
}

/** The remembered state, over all plans: in JSON the same as that of the Python client. */
export interface State {
  readonly schema_version: 1;
  /** The newest list of each plan. */
  readonly listed: Record<string, Listed>;
  /** The newest list of the second shuffler of each plan that has one. */
  readonly listed_second: Record<string, Listed>;
  /** The sealed bytes of each plan. */
  readonly sealed: Record<string, Sealed>;
  /** The turn of each plan. */
  readonly joined: Record<string, Joined>;
  /** The randomised reports of plans that reuse their noise, by plan and question. */
  readonly resent: Record<string, string>;
  /** The costs of all plans by attribute: nats, once per collection joined. */
  readonly spent: Record<string, number[]>;
  /** The chances that these nats do not hold, by attribute, if not zero. */
  readonly spent_delta: Record<string, number[]>;
  /** The answers that still count, by plan with a window. */
  readonly answered: Record<string, readonly Answered[]>;
  /** The permanent answers of mechanisms that keep one, by plan and question. */
  readonly permanent: Record<string, number>;
  /** The device and its credential, by the address of the issuer. */
  readonly enrolled: Record<string, Enrolled>;
  /** The tokens, by plan and round. */
  readonly tokens: Record<string, HeldToken>;
  /** The newest list of the issuer's keys, of each plan that admits by token. */
  readonly listed_issuer: Record<string, Listed>;
  /** The newest version of the gateway's keys, of each plan whose relay was used. */
  readonly gateways: Record<string, number>;
}

/** Tables that older memories lack; left out while empty, so that older clients can read on. */
const NEWER = [
  "listed_second",
  "spent_delta",
  "answered",
  "permanent",
  "enrolled",
  "tokens",
  "listed_issuer",
  "gateways",
] as const;
const TABLES = ["listed", "sealed", "joined", "resent", "spent", ...NEWER] as const;
const UNIT = 1n << 1074n;

/**
 * Remember a list of keys; refuse one that is older than or differs from what was seen.
 *
 * Otherwise a thief of a replaced signing key could show the list that still names it.
 *
 * @param rounds The rounds whose openings were verified by the list.
 * @returns The newest round that was ever seen open; null if there was none.
 */
export function follow(
  state: State,
  plan: string,
  { version, digest, hop }: ShufflerKeys,
  rounds: readonly number[],
): number | null {
  const listed = hop === 0 ? state.listed : state.listed_second;
  const seen = listed[plan];
  requireNotBefore(SHUFFLER_KEYS.what, { version, digest }, seen);
  const newest = Math.max(seen?.round ?? -1, ...rounds);
  const round = newest < 0 ? null : newest;
  listed[plan] = { version, digest, round };
  return round;
}

/** Spend exactly so many nats, and so much chance, on an attribute; refuse what exceeds either. */
export function charge(state: State, attribute: string, cost: Cost, budget: Cost): void {
  const left = leftOf(state, attribute, cost, budget);
  if (!left) {
    throw new BudgetError(attribute, cost.epsilon, budget.epsilon, cost.delta, budget.delta);
  }
  state.spent[attribute] = [...(state.spent[attribute] ?? []), cost.epsilon];
  if (cost.delta > 0) {
    state.spent_delta[attribute] = [...(state.spent_delta[attribute] ?? []), cost.delta];
  }
}

/**
 * Tell whether a cost fits into the budget, beside what was spent for ever and in windows.
 *
 * @param but The plan whose answers in its window do not count.
 */
export function leftOf(
  state: State,
  attribute: string,
  { epsilon, delta }: Cost,
  budget: Cost,
  but?: string,
): boolean {
  const counted = Object.entries(state.answered)
    .filter(([plan]) => plan !== but)
    .flatMap(([, entries]) => entries.filter((entry) => entry.attribute === attribute));
  const costs = [...(state.spent[attribute] ?? []), ...counted.map((own) => own.epsilon), epsilon];
  const chances = [
    ...(state.spent_delta[attribute] ?? []),
    ...counted.map((own) => own.delta),
    delta,
  ];
  const nats = costs.reduce((sum, entry) => sum + units(entry), 0n);
  const chance = chances.reduce((sum, entry) => sum + asWritten(entry), 0n);
  return nats <= units(budget.epsilon) && (delta === 0 || chance <= asWritten(budget.delta));
}

/** A double as a multiple of the least one. */
function units(value: number): bigint {
  const { numerator, denominator } = exactly(value);
  return (numerator * UNIT) / denominator;
}

/** A place that keeps a client's state, for one user at a time. */
export interface Memory {
  /** Run `use` on the state and write it back as a whole, unless an error ends it. */
  update<T>(use: (state: State) => Promise<T>): Promise<T>;
}

/** Read the state in a text; an empty one if there is none yet. */
export function readState(text: string | null, place: string): State {
  const empty = { schema_version: 1, sealed: {}, joined: {}, resent: {}, spent: {} };
  let state: Partial<State> | null = null;
  try {
    state = withNewer(text === null ? empty : JSON.parse(text));
  } catch {
    throw new StateError(place);
  }
  const right = TABLES.every((name) => typeof state?.[name] === "object" && state[name] !== null);
  if (state?.schema_version !== 1 || !right) throw new StateError(place);
  const tables = TABLES.map((name) => [name, withoutPrototype(state[name] as object)]);
  return { ...state, ...Object.fromEntries(tables) };
}

/** Write the state as a text. */
export function writeState(state: State): string {
  const empty = NEWER.filter((name) => Object.keys(state[name]).length === 0);
  const kept = Object.entries(state).filter(([name]) => !(empty as string[]).includes(name));
  return JSON.stringify(Object.fromEntries(kept));
}

/** Add the tables that older memories lack; those of version 0.1 have seen no list. */
function withNewer(state: object | null): Partial<State> | null {
  if (typeof state !== "object" || state === null) return state;
  const newer = Object.fromEntries(NEWER.map((name) => [name, {}]));
  return { listed: {}, ...newer, ...state } as Partial<State>;
}

/** Copy the entries into a table without a prototype: an attribute may be called "__proto__". */
function withoutPrototype(table: object): object {
  return Object.assign(Object.create(null), table);
}

/** A state that ends with the page or the process. */
export class MemoryState implements Memory {
  #text: string | null = null;
  #last: Promise<unknown> = Promise.resolve();

  update<T>(use: (state: State) => Promise<T>): Promise<T> {
    const next = this.#last.then(async () => {
      const state = readState(this.#text, "the memory");
      const made = await use(state);
      this.#text = writeState(state);
      return made;
    });
    this.#last = next.catch(() => undefined);
    return next;
  }
}
