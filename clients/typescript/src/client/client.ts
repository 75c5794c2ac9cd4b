/**
 * The client: what leaves a person's device, and its privacy cost.
 *
 * A value is randomised once per round and forgotten; only sealed bytes are remembered. The time
 * at which a report is sent, its length and its presence do not depend on the value.
 */

import { type Bytes, equal, fromHex, hex } from "../bytes.js";
import type { Cost } from "../dummies.js";
import {
  CroupierError,
  DataError,
  NoTokenError,
  ParameterError,
  UntrustedError,
} from "../errors.js";
import { type Keystream, operatingSystem } from "../keystream.js";
import type { Plan } from "../plan.js";
import {
  type KeyList,
  NOT_ACCEPTED,
  readKeyList,
  SHUFFLER,
  type ShufflerKey,
  sentDigest,
} from "../protocol/key_list.js";
import { isReplaced, type ShufflerKeys, signersOf } from "../protocol/party_keys.js";
import { type Query, queryOf } from "../protocol/query.js";
import { readDocument, verified } from "../protocol/signed_document.js";
import type { TokenKeys } from "../protocol/token_keys.js";
import { batchName, encodeReport, epochOf, sealReport } from "../protocol/wire.js";
import type { Permanent } from "../randomizer.js";
import type { Report } from "../report.js";
import {
  charge,
  follow,
  isWaiting,
  type Joined,
  type Memory,
  onAClockAt,
  prepared,
  type Sealed,
  type State,
} from "./client_state.js";
import type { Spent } from "./server.js";
import { followIssuer, requireToken, spentOn } from "./tokens.js";
import { drawTurn, requireDeployable, roundsOfACollection, type Turn } from "./turn.js";
import { joins, type Moment, moved, passTime } from "./window.js";

/** The bytes that a client sends in one round. */
export interface Submission {
  /** The digest of the plan. */
  readonly plan: string;
  readonly roundNumber: number;
  readonly batch: string;
  /** The sealed bytes. A retry sends the same bytes. */
  readonly body: Bytes;
  /** The number of seconds to wait before sending. */
  readonly delay: number;
  /** The time of sending a prepared report, in seconds since 1970. */
  readonly due?: number;
  /** True if it took the place of a prepared report that was never delivered. */
  readonly isReplacing?: boolean;
  /** The token that admits it, if the plan admits by token and there is one. */
  readonly spent?: Spent | null;
}

/** The bytes that a server and its mirrors serve; of each kind, all must be the same. */
export interface Served {
  readonly keyLists: readonly Uint8Array[];
  /** The documents of the round, if rounds ask by query. */
  readonly rounds?: readonly Uint8Array[];
  /** The open round to answer; the latest if left out. */
  readonly roundNumber?: number;
  /**
   * True to remember the time at which the report is due, for `waiting`. If an earlier one waits
   * whose batch is still open, that one is returned instead.
   */
  readonly isPrepared?: boolean;
}

/** A submission, and the answer that it was not accepted. */
export interface Refused {
  readonly submission: Submission;
  /** The server's answer. */
  readonly refusal: Uint8Array;
  /** The header that was sent with it. */
  readonly authorization: string;
}

/** An encoded report that may be sealed again, and the digest of the query it answers. */
interface Kept {
  readonly batch: string;
  readonly report: Bytes;
  readonly query: string;
}

/** The signed opening of the answered round, the keys of shuffler and issuer, all open batches. */
interface Trusted {
  readonly shuffler: ShufflerKey;
  readonly keys: ShufflerKeys;
  readonly batches: readonly string[];
  readonly tokens: TokenKeys | null;
}

/** The choices of a person. */
export interface Choices {
  /** The subject of the value, across plans: "emoji", "location". */
  readonly attribute: string;
  /** Nats that all plans together may cost this attribute. */
  readonly budget: number;
  /** The largest sum, over all reports, of the chances that these nats do not hold; 1e-6. */
  readonly budgetDelta?: number;
  readonly memory: Memory;
  /** The person's place in the public file, if the plan mixes by groups. */
  readonly owner?: bigint;
  /** The public group of a `divide` plan, or the chosen bin, which must not depend on the value. */
  readonly group?: number;
  /** The seconds over which sending times are spread; half a round if left out. */
  readonly spread?: number;
  /** The source of noise, turns and times; the operating system if left out. */
  readonly rng?: Keystream;
  /** A function that returns the seconds since 1970, for reports that are prepared. */
  readonly clock?: () => number;
}

/** Bits of a double's fraction: a uniform time needs no more of a word. */
const FRACTION = 53n;

/** One person's side of a plan. */
export class Client {
  readonly #choices: Choices;
  readonly #budget: Cost;
  readonly #spread: number;
  readonly #rng: Keystream;
  readonly clock: () => number;
  /** The encoded report of the last batch, for a batch that is refused. */
  #kept: Kept | undefined;

  constructor(
    readonly plan: Plan,
    choices: Choices,
  ) {
    const { budget, budgetDelta = 1e-6 } = choices;
    const { spread = plan.roundLength / 2, rng = operatingSystem } = choices;
    requireDeployable(plan);
    if (!(budget >= 0 && budget < Number.POSITIVE_INFINITY)) {
      throw new ParameterError("budget", { must: "be a number of nats of at least 0" });
    }
    if (!(budgetDelta >= 0 && budgetDelta <= 1)) {
      throw new ParameterError("budgetDelta", { must: "be a chance in [0, 1]" });
    }
    if (!(spread >= 0 && spread <= plan.roundLength)) {
      throw new ParameterError("spread", { must: `be in [0, ${plan.roundLength}] seconds` });
    }
    this.#choices = choices;
    this.#budget = { epsilon: budget, delta: budgetDelta };
    this.#spread = spread;
    this.#rng = rng;
    this.clock = choices.clock ?? (() => Date.now() / 1000);
  }

  /**
   * Return what to send in the open round; null if it is not this person's turn.
   *
   * The first call of a round randomises and seals. Every later call returns the same bytes,
   * whatever the value is by then. If the plan has a window, it is nobody's turn who has given as
   * many answers in it as the plan or the budget allows, until it has moved on. "No answer" must be a category of the plan. Throws a NoTokenError
   * if the plan admits by token and the memory holds none for the round.
   *
   * @param value The person's value; if rounds ask by query, also a function that takes the
   *   question and returns the value, in far less time than `spread`: a report waits for the rest
   *   of its delay, and one whose value took longer is late.
   */
  async report(value: unknown, served: Served): Promise<Submission | null> {
    // Before the value is looked at: finding it may take a time that depends on it.
    const [now, delay, { isPrepared = false }] = [this.clock(), this.#delay(), served];
    const { shuffler, keys, batches, tokens } = await this.#trusted(served);
    const query = await queryOf(this.plan, served.rounds ?? [], shuffler, keys);
    const submission = await this.#update<Submission | null>(async (state, sealed) => {
      const waits = isPrepared && isWaiting(sealed);
      if (waits && batches.includes(sealed.batch)) {
        await requireToken(state, this.plan, tokens, sealed.round);
        return this.#keep(state, onAClockAt(sealed, now), delay);
      }
      if (sealed !== undefined && shuffler.round < sealed.round) {
        throw new UntrustedError("the key list", "offers a round that has passed");
      }
      await requireToken(state, this.plan, tokens, shuffler.round);
      if (shuffler.round === sealed?.round) {
        return this.#keep(state, isPrepared ? prepared(sealed, now, delay) : sealed, delay);
      }
      const answer = query === null ? value : await answered(value, query);
      this.#requireValue(answer, shuffler.round);
      const turn = this.#turn(state, shuffler.round);
      const position = shuffler.round % roundsOfACollection(this.plan);
      if (turn === null || position < turn.first || position > turn.last) return null;
      const asked = query?.digest ?? "";
      const report =
        position === turn.answers
          ? await this.#randomised(state, answer, shuffler, asked)
          : encodeReport(this.#format(shuffler.round), null, this.plan.reportSize);
      const kept = { batch: shuffler.batch, report, query: asked };
      const made = await this.#seal(state, kept, shuffler, delay, isPrepared ? now : null);
      return waits ? { ...made, isReplacing: true } : made;
    });
    // A clock that was set back must not add to the delay.
    const passed = Math.max(0, this.clock() - now);
    return submission && { ...submission, delay: Math.max(0, delay - passed) };
  }

  /**
   * Return the prepared report that was not delivered yet; null if there is nothing to send.
   *
   * Its `delay` is the number of seconds that are left. If the clock was set back since it was
   * prepared, the drawn delay counts from now on.
   */
  waiting(): Promise<Submission | null> {
    return this.#update(async (state, sealed) => {
      if (!isWaiting(sealed)) return null;
      const now = this.clock();
      const moved = onAClockAt(sealed, now);
      return this.#keep(state, moved, Math.max(0, moved.due - now));
    });
  }

  /** Return the seconds until the prepared report is to be sent; null if there is none. */
  async due(): Promise<number | null> {
    return (await this.waiting())?.delay ?? null;
  }

  /** Leave nothing of a prepared report to send: it was accepted, or never can be. */
  settle({ batch }: Submission, isDelivered: boolean): Promise<void> {
    return this.#update(async (state, sealed) => {
      if (sealed?.batch !== batch) return;
      const { due, delay, is_delivered, ...kept } = sealed;
      state.sealed[this.plan.digest] = isDelivered ? { ...kept, is_delivered: true } : kept;
    });
  }

  /** Return the memory, which keeps the credential of an issuer as well. */
  get memory(): Memory {
    return this.#choices.memory;
  }

  /** Return the round that `report` would answer. */
  async chosenRound(served: Served): Promise<number> {
    return (await this.#trusted(served)).shuffler.round;
  }

  /**
   * Seal the same report for another batch, after the shuffler signed that it refused it.
   *
   * Return null if no other batch asks the same, the report means nothing in another one or is no
   * longer known, or there is no token for the other batch's round: then the round is lost. So it is
   * with two shufflers: the first one alone may have signed the refusal and handed the report on all
   * the same, and the second one would see it in two batches.
   */
  async reseal(
    { submission, refusal, authorization }: Refused,
    { keyLists }: Served,
  ): Promise<Submission | null> {
    const { what } = NOT_ACCEPTED;
    const { keys } = await this.followed(keyLists);
    const signers = signersOf("intake", submission.roundNumber, this.plan, keys);
    const refused = await verified(NOT_ACCEPTED, readDocument(what, refusal), this.plan, signers);
    if (refused.batch !== submission.batch)
      throw new UntrustedError(what, "is about another batch");
    if (refused.sent !== (await sentDigest(authorization, submission.body))) {
      throw new UntrustedError(what, "is not about the request that was sent");
    }
    if (this.plan.shufflerKeys.length > 1) return null;
    const { shuffler, tokens } = await this.#trusted({ keyLists });
    const kept = this.#kept;
    if (kept?.batch !== submission.batch || !this.#asksTheSame(shuffler, submission)) return null;
    return this.#update(async (state, sealed) => {
      if (sealed?.batch !== submission.batch) return null;
      try {
        await requireToken(state, this.plan, tokens, shuffler.round);
      } catch (error) {
        if (error instanceof NoTokenError) return null;
        throw error;
      }
      const isLater = this.plan.window !== undefined && shuffler.round > sealed.round;
      if (isLater && !moved(state, this.plan, this.#moment(shuffler.round))) return null;
      const now = isWaiting(sealed) ? this.clock() : null;
      const next = { ...kept, batch: shuffler.batch };
      const again = await this.#seal(state, next, shuffler, this.#delay(), now);
      // Once only: a conversation ends there, a stored report goes on.
      if (now !== null) this.#kept = undefined;
      return again;
    });
  }

  /** Use the memory, and what is sealed for the plan. */
  #update<T>(use: (state: State, sealed: Sealed | undefined) => Promise<T>): Promise<T> {
    return this.#choices.memory.update((state) => use(state, state.sealed[this.plan.digest]));
  }

  #asksTheSame(shuffler: ShufflerKey, { batch, roundNumber }: Submission): boolean {
    if (shuffler.batch === batch || shuffler.round < roundNumber) return false;
    if (this.plan.question(roundNumber).variesByBatch) return false;
    return shuffler.round === roundNumber || this.plan.everybodyAnswers;
  }

  /** Return the signed opening of the answered round, and who signs for the shuffler. */
  async #trusted({ keyLists, roundNumber }: Served): Promise<Trusted> {
    const { keys, openRounds, onward, tokens } = await this.followed(keyLists);
    const rounds = openRounds.map(({ round }) => round);
    const wanted = roundNumber ?? Math.max(...rounds);
    const place = rounds.indexOf(wanted);
    const shuffler = openRounds[place];
    if (shuffler === undefined) {
      throw new ParameterError("roundNumber", {
        must: "be an open round",
        hint: "Wait for the next.",
      });
    }
    for (const own of [keys, ...onward.slice(place, place + 1)]) {
      const newest = await this.#follow(own, rounds);
      // Perhaps it was stolen: a thief could keep opening earlier rounds.
      if (newest !== null && isReplaced(wanted, newest, own)) {
        throw new UntrustedError(
          SHUFFLER.what,
          "uses a release key that was replaced before a round seen earlier",
        );
      }
    }
    return { shuffler, keys, batches: openRounds.map(({ batch }) => batch), tokens };
  }

  /** Return the checked key list, the same on every mirror, and the newest round seen in one. */
  async followed(keyLists: readonly Uint8Array[]): Promise<KeyList & { newest: number | null }> {
    const [first, ...mirrors] = keyLists;
    if (first === undefined || mirrors.some((mirror) => !equal(mirror, first))) {
      throw new UntrustedError("the key list", "is not the same on every mirror");
    }
    const read = await readKeyList(first, this.plan);
    const rounds = read.openRounds.map(({ round }) => round);
    return { ...read, newest: await this.#follow(read.keys, rounds, read.tokens) };
  }

  /** Remember the lists, or neither if one is refused. */
  #follow(
    keys: ShufflerKeys,
    rounds: readonly number[],
    tokens: TokenKeys | null = null,
  ): Promise<number | null> {
    return this.memory.update(async (state) => {
      const newest = follow(state, this.plan.digest, keys, rounds);
      if (tokens !== null) followIssuer(state, this.plan, tokens, rounds);
      return newest;
    });
  }

  /**
   * Return the turn of the collection; drawn, and paid for, when it is joined.
   *
   * Return null if the plan's window allows no answer in the round.
   */
  #turn(state: State, roundNumber: number): Turn | null {
    const { plan } = this;
    const collection = Math.floor(roundNumber / roundsOfACollection(plan));
    const joined: Joined | undefined = state.joined[plan.digest];
    if (joined?.collection === collection) return joined;
    if (joined !== undefined && joined.collection > collection) {
      throw new UntrustedError("the key list", "offers a round that has passed");
    }
    const times = 1 + (joined?.times ?? 0);
    if (plan.window === undefined) this.#joinForEver(state, roundNumber, times);
    else {
      const { attribute } = this.#choices;
      const now = this.#moment(roundNumber);
      if (!joins(state, plan, attribute, this.#budget, now)) return null;
    }
    const turn = drawTurn(plan, this.#choices.group, this.#rng);
    state.joined[plan.digest] = { collection, times, ...turn };
    return turn;
  }

  /** Pay for a collection of a plan without a window, and refuse one too many. */
  #joinForEver(state: State, roundNumber: number, times: number): void {
    const { plan } = this;
    if (times > plan.reports) {
      throw new ParameterError("roundNumber", {
        must: `be one of the ${plan.reports} rounds that a person may join`,
        hint: "Stay away; collection.rounds of the plan is used up.",
      });
    }
    passTime(state, plan, this.#moment(roundNumber));
    const comesAgain = plan.noise === "reused" || plan.keepsAnswer;
    // Dummies protect a report once per batch, also one that was sent before.
    if (times === 1 || plan.cost.delta > 0 || !comesAgain) {
      charge(state, this.#choices.attribute, plan.cost, this.#budget);
    }
  }

  #moment(round: number): Moment {
    return { round, clock: this.clock() };
  }

  /** Refuse a value that does not fit in every round, not only in the one that was drawn. */
  #requireValue(value: unknown, roundNumber: number): void {
    try {
      this.plan.question(roundNumber).domain.encode(value);
    } catch (error) {
      if (error instanceof CroupierError) throw error;
      throw new DataError("The value cannot be randomised. Check its type against the plan.");
    }
  }

  /** Return the encoded report; an earlier one if noise is reused. */
  async #randomised(
    state: State,
    value: unknown,
    shuffler: ShufflerKey,
    query: string,
  ): Promise<Bytes> {
    const { round: roundNumber } = shuffler;
    const place = `${this.plan.digest}/${this.plan.questionIndex(roundNumber)}`;
    const before = state.resent[place];
    if (before !== undefined) return fromHex(before);
    const batch = await batchName(epochOf(this.plan, shuffler, query));
    const question = this.plan.question(roundNumber);
    const report =
      question.permanent === undefined
        ? await question.randomize(value, this.#rng, batch)
        : this.#fromPermanent(state, place, value, question.permanent);
    const data = encodeReport(this.#format(roundNumber), report, this.plan.reportSize);
    if (this.plan.noise === "reused") state.resent[place] = hex(data);
    return data;
  }

  /** Return a report made from the permanent answer, which is drawn first if there is none. */
  #fromPermanent(state: State, place: string, value: unknown, permanent: Permanent): Report {
    const kept = state.permanent[place] ?? permanent.draw(value, this.#rng);
    state.permanent[place] = kept;
    return permanent.report(kept, this.#rng);
  }

  #format(roundNumber: number) {
    return this.plan.question(roundNumber).reportFormat;
  }

  /** Seal a report and remember it, with the time at which it is due if it was prepared. */
  async #seal(
    state: State,
    kept: Kept,
    shuffler: ShufflerKey,
    delay: number,
    now: number | null,
  ): Promise<Submission> {
    const epoch = epochOf(this.plan, shuffler, kept.query);
    const body = await sealReport(kept.report, shuffler.key, epoch, this.#choices.owner);
    const sealed = { round: shuffler.round, batch: shuffler.batch, body: hex(body) };
    this.#kept = kept;
    return this.#keep(state, now === null ? sealed : prepared(sealed, now, delay), delay);
  }

  /** Remember sealed bytes and return them as they are sent. */
  async #keep(state: State, sealed: Sealed, delay: number): Promise<Submission> {
    state.sealed[this.plan.digest] = sealed;
    const [{ round: roundNumber, batch }, body] = [sealed, fromHex(sealed.body)];
    const spent = await spentOn(state, this.plan, sealed, body);
    const sent = { plan: this.plan.digest, roundNumber, batch, body, delay, spent };
    return isWaiting(sealed) ? { ...sent, due: sealed.due } : sent;
  }

  /** Draw the seconds to wait before a token is fetched, which depend on nothing else. */
  tokenDelay(): number {
    return this.#delay();
  }

  /** Draw a uniform delay, before the value is looked at. */
  #delay(): number {
    const word = this.#rng.words(1)[0] as bigint;
    return this.#spread * (Number(word >> (64n - FRACTION)) / 2 ** Number(FRACTION));
  }
}

/** Return the value that answers a query, if it is a function of the question. */
async function answered(value: unknown, { question }: Query): Promise<unknown> {
  if (typeof value !== "function") return value;
  try {
    return await value(question);
  } catch {
    throw new DataError("The value cannot be found. Check the function that gets the question.");
  }
}
