/** The plan: what a client needs of it, read from the canonical text that its digest names. */

import { hex, sha256, utf8 } from "./bytes.js";
import { ParameterError, UntrustedError } from "./errors.js";
import { type Json, readJson } from "./json.js";
import { type Participation, participation } from "./participation.js";
import type { Randomizer } from "./randomizer.js";
import { ParallelRandomizer } from "./randomizers/parallel.js";
import { build } from "./randomizers/registry.js";
import { count, list, oneOf, table } from "./table.js";

const SECTIONS = ["schema", "queries", "participation", "shuffler", "protections", "trust"];
const ROUNDS = ["model", "rounds", "noise", "groups", "repeats", "weights", "bins"];
const PROTECTIONS = ["minimum_batch", "report_size", "messages", "round_length", "disposal_age"];
const TRUST = ["operators", "publication", "shuffler_key", "analyzer_key"];
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
/** Version and kind of a report. */
const HEAD = 2;

/** What a collection does, as far as a client acts on it. */
export class Plan {
  readonly questions: readonly Randomizer<number>[];
  readonly protocol: Participation;
  /** How often a person may join. */
  readonly reports: number;
  readonly noise: "fresh" | "reused";
  /** The bytes of a report before it is sealed. */
  readonly reportSize: number;
  /** Seconds. */
  readonly roundLength: number;
  /** Whether the shuffler is told the sender's public place, since it mixes by groups. */
  readonly owned: boolean;
  /** The Ed25519 keys that sign for shuffler and analyzer, in hexadecimal. */
  readonly shufflerKey: string;
  readonly analyzerKey: string;
  readonly #parallel: ParallelRandomizer | undefined;

  private constructor(
    readonly canonical: string,
    readonly digest: string,
  ) {
    const plan = table("plan", readJson(canonical), [...SECTIONS, "guarantee"]);
    oneOf("schema", plan.schema, [1]);
    this.questions = list("queries", plan.queries).map(build);
    const rounds = table("participation", plan.participation, ROUNDS);
    this.protocol = participation(rounds, this.questions.length);
    this.noise = oneOf("participation.noise", rounds.noise, ["fresh", "reused"]);
    const repeats = this.protocol.model === "subsample" ? this.protocol.rounds : 1;
    this.reports = repeats * count("participation.rounds", rounds.rounds, 1, 100_000);
    const protections = table("protections", plan.protections, PROTECTIONS);
    this.reportSize = count("protections.report_size", protections.report_size, 4, 65_536);
    oneOf("protections.messages", protections.messages, [1]);
    this.roundLength = seconds(protections.round_length);
    const shuffler = table("shuffler", plan.shuffler, ["order", "alpha", "groups"]);
    this.owned = shuffler.groups !== undefined;
    const trust = table("trust", plan.trust, TRUST);
    this.shufflerKey = publicKey("trust.shuffler_key", trust.shuffler_key);
    this.analyzerKey = publicKey("trust.analyzer_key", trust.analyzer_key);
    this.#parallel = this.#inParallel();
    this.#requireRoom();
    if (this.noise === "reused" && this.asksByQuery) {
      const must = 'be "fresh" where the analyzer decides what each round asks';
      throw new ParameterError("participation.noise", { must });
    }
  }

  /** The plan behind a text, if the text is the one whose digest the person agreed to. */
  static async read(canonical: string, digest: string): Promise<Plan> {
    if (hex(await sha256(utf8(canonical))) !== digest) {
      throw new UntrustedError("the plan", "does not have the digest that was agreed to");
    }
    return new Plan(canonical, digest);
  }

  /** Whether a round asks what the analyzer signs for it, after it has seen the rounds before. */
  get asksByQuery(): boolean {
    const { adaptive, rounds } = this.protocol;
    return adaptive && rounds > 1 && this.questions.length === 1;
  }

  /** Which question a round asks: rounds take turns, but parallel questions are one. */
  questionIndex(roundNumber: number): number {
    return this.#parallel === undefined ? roundNumber % this.questions.length : 0;
  }

  /** What a client applies to its value in a round. */
  question(roundNumber: number): Randomizer {
    return (
      this.#parallel ?? (this.questions[this.questionIndex(roundNumber)] as Randomizer<number>)
    );
  }

  #inParallel(): ParallelRandomizer | undefined {
    const { model, rounds, bins } = this.protocol;
    const asked = this.questions.length;
    if (asked !== 1 && asked !== rounds) {
      throw new ParameterError("queries", { must: `be 1 or ${rounds}, one a round` });
    }
    if (!model.endsWith("parallel")) return undefined;
    const all = Array.from({ length: rounds }, (_, place) => this.questions[place % asked]);
    return new ParallelRandomizer(all as Randomizer<number>[], bins[0] as readonly bigint[]);
  }

  #requireRoom(): void {
    const sent = this.#parallel === undefined ? this.questions : [this.#parallel];
    const longest = HEAD + Math.max(...sent.map(({ reportFormat }) => reportFormat.size));
    if (this.reportSize < longest) {
      throw new ParameterError("protections.report_size", { must: `be at least ${longest}` });
    }
  }
}

function seconds(duration: Json | undefined): number {
  const [, amount, unit] = /^(\d{1,8})([smhd])$/.exec(String(duration)) ?? [];
  if (amount === undefined) {
    throw new ParameterError("protections.round_length", { must: 'be like "24h"' });
  }
  return Number(amount) * (UNITS[unit as string] as number);
}

function publicKey(name: string, value: Json | undefined): string {
  if (typeof value === "string" && /^[0-9a-f]{64}$/.test(value)) return value;
  throw new ParameterError(name, { must: "be given to deploy a plan" });
}
