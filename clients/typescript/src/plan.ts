/** The plan: the part that a client needs, read from the canonical text that its digest names. */

import { hex, sha256, utf8 } from "./bytes.js";
import { type Cost, dummiesOf } from "./dummies.js";
import { ParameterError, UntrustedError } from "./errors.js";
import { isTable, type Json, readJson, type Table } from "./json.js";
import { type Participation, participation } from "./participation.js";
import type { Randomizer } from "./randomizer.js";
import { build } from "./randomizers/registry.js";
import type { SeveralQuestions } from "./randomizers/several.js";
import { count, list, oneOf, table } from "./table.js";
import { questionName, words } from "./words.js";

const SECTIONS = [
  "schema",
  "title",
  "purpose",
  "questions",
  "participation",
  "collection",
  "shuffling",
  "protections",
  "shufflers",
  "analyzer",
  "guarantee",
  "admission",
];
const ROUNDS = ["model", "noise", "groups", "repeats", "weights", "bins"];
const PROTECTIONS = ["minimum_batch", "minimum_crowd", "report_size", "messages", "disposal_age"];
/** The models in which all questions share a batch, and everybody sends one report. */
const ONE_BATCH: readonly string[] = ["parallel", "rectified-parallel", "together"];
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
/** Version and kind of a report. */
const HEAD = 2;
/** The largest number of possible reports for which dummies are made. */
const MOST_BINS = 100_000;
const MOST_SHUFFLERS = 2;
const LONGEST_ROUND = 366 * 86_400;
const LONGEST_WINDOW = 10 ** 8 - 1;
const PUBLICATIONS = ["none", "estimate", "histogram", "sorted", "released-order"];

/** The words of one question. */
export interface Wording {
  /** The name in results. */
  readonly name: string | undefined;
  /** The sentence that people read. */
  readonly text: string | undefined;
}

/** The way in which people are admitted. */
export interface Admission {
  readonly by: "credential" | "token";
  /** The key that signs the list of the issuer's keys, in hexadecimal. */
  readonly key: string | undefined;
  /** The name of who runs the relay that all reports must come through. */
  readonly relay: string | undefined;
}

/** A collection, as far as a client acts on it. */
export class Plan {
  /** The texts that people read: what the collection is called, and what it is for. */
  readonly title: string | undefined;
  readonly purpose: string | undefined;
  /** The words of every question, if the plan has them. */
  readonly wordings: readonly Wording[];
  readonly questions: readonly Randomizer[];
  readonly protocol: Participation;
  /** The number of times that a person may join. */
  readonly reports: number;
  readonly noise: "fresh" | "reused";
  /** The bytes of a report before it is sealed. */
  readonly reportSize: number;
  /** The length of a round in seconds. */
  readonly roundLength: number;
  /** The seconds within which a person gives `reports` answers; for ever if undefined. */
  readonly window: number | undefined = undefined;
  /** True if the shuffler learns the sender's public place, because it mixes by groups. */
  readonly owned: boolean;
  /** The Ed25519 keys that sign for the shufflers and the analyzer, in hexadecimal. */
  readonly shufflerKeys: readonly string[];
  readonly analyzerKey: string;
  /** The way in which people are admitted. */
  readonly admission: Admission;
  /** The cost of one report to a person's budget. */
  readonly cost: Cost;

  private constructor(
    readonly canonical: string,
    readonly digest: string,
    plan: Table,
    questions: readonly Randomizer[],
    protocol: Participation,
    /** All questions that share a batch, if they do. */
    private readonly several: SeveralQuestions | undefined,
  ) {
    this.title = words("title", plan.title, 200);
    this.purpose = words("purpose", plan.purpose, 2000);
    this.wordings = list("questions", plan.questions).map(wordingOf);
    requireDifferentNames(this.wordings);
    this.questions = questions;
    this.protocol = protocol;
    const { noise } = plan.participation as Table;
    this.noise = oneOf("participation.noise", noise, ["fresh", "reused"]);
    const collection = table("collection", plan.collection, ["every", "rounds", "window"]);
    requireKnownPromises(plan);
    const repeats = this.protocol.model === "subsample" ? this.protocol.rounds : 1;
    this.reports = repeats * count("collection.rounds", collection.rounds, 1, 100_000);
    const protections = table("protections", plan.protections, PROTECTIONS);
    this.reportSize = count("protections.report_size", protections.report_size, 4, 65_536);
    oneOf("protections.messages", protections.messages, [1]);
    this.roundLength = seconds("every", collection.every, LONGEST_ROUND);
    if (collection.window !== undefined) {
      this.window = seconds("window", collection.window, LONGEST_WINDOW, this.roundLength);
    }
    if (this.reports > Math.ceil((this.window ?? Number.POSITIVE_INFINITY) / this.roundLength)) {
      throw new ParameterError("collection.rounds", { must: "fit into collection.window" });
    }
    this.owned = hasGroups(plan.shuffling);
    const shufflers = shufflersOf(plan.shufflers);
    this.shufflerKeys = shufflers.map(({ key }) => key);
    this.analyzerKey = publicKey("analyzer", plan.analyzer, ["publication"]);
    this.admission = admissionOf(plan.admission);
    const dummies = shufflers.map((shuffler) => shuffler.dummies);
    this.#requireShufflersFit(dummies);
    this.cost = costOf(this.#sent, dummies);
    this.#requireRoom();
    this.#requireEveryRound();
    if (this.owned && this.admission.by === "token") {
      throw new ParameterError("admission.by", { must: 'be "credential" with groups' });
    }
    const differs = this.questions.length > 1 || this.asksByQuery;
    if (this.noise === "reused" && (differs || this.question(0).variesByBatch)) {
      const must =
        'be "fresh" for several questions, or where rounds differ in what they ask or how they hash';
      throw new ParameterError("participation.noise", { must });
    }
  }

  /** Read the plan in a text, if the text has the digest that the person agreed to. */
  static async read(canonical: string, digest: string): Promise<Plan> {
    if (hex(await sha256(utf8(canonical))) !== digest) {
      throw new UntrustedError("the plan", "does not have the digest that was agreed to");
    }
    const plan = table("plan", readJson(canonical), SECTIONS);
    oneOf("schema", plan.schema, [2]);
    const made = list("questions", plan.questions).map(mechanismOf).map(build);
    const questions = await Promise.all(made);
    const rounds = table("participation", plan.participation, ROUNDS);
    const protocol = participation(rounds, questions.length);
    const several = await ofOneBatch(protocol, questions);
    return new Plan(canonical, digest, plan, questions, protocol, several);
  }

  /** The key that signs for the first shuffler, which clients send to. */
  get shufflerKey(): string {
    return this.shufflerKeys[0] as string;
  }

  /** True if every person answers in every round, so that all rounds are alike. */
  get everybodyAnswers(): boolean {
    return ["single", ...ONE_BATCH].includes(this.protocol.model);
  }

  /** True if a round asks what the analyzer signs for it, after seeing the rounds before. */
  get asksByQuery(): boolean {
    const { adaptive, rounds } = this.protocol;
    return adaptive && rounds > 1 && this.questions.length === 1;
  }

  /** Return the question that a round asks: they take turns, but those of one batch are one. */
  questionIndex(roundNumber: number): number {
    return this.several === undefined ? roundNumber % this.questions.length : 0;
  }

  /** Return the randomizer that a client applies to its value in a round. */
  question(roundNumber: number): Randomizer {
    return this.several ?? (this.questions[this.questionIndex(roundNumber)] as Randomizer);
  }

  /** Refuse shufflers and dummies for which nothing is proved. */
  #requireShufflersFit(dummies: readonly (Cost | undefined)[]): void {
    const adds = dummies.some((own) => own !== undefined);
    if (!adds && this.questions.some((own) => own.maxEpsilonLocal === Number.POSITIVE_INFINITY)) {
      const must = "limit epsilon where no shuffler adds dummies: it may send the value itself";
      throw new ParameterError("mechanism", { must });
    }
    if (!adds && dummies.length === 1) return;
    if (this.owned || !this.everybodyAnswers) {
      const must = "be one, without dummies, where people are in groups or send nulls";
      throw new ParameterError("shufflers", { must });
    }
    const bins = (this.several ?? (this.questions[0] as Randomizer)).alphabetSize;
    if (adds && (bins === undefined || bins > MOST_BINS)) {
      const must = `be for at most ${MOST_BINS} possible reports, as of plain or k-rr`;
      throw new ParameterError("shufflers.dummies", { must });
    }
  }

  /** True if a person's reports are made from one answer that the device keeps. */
  get keepsAnswer(): boolean {
    return this.questions.some((own) => own.permanent !== undefined);
  }

  /** Refuse windows and permanent answers where people do not answer every round alike. */
  #requireEveryRound(): void {
    const isPlain = this.everybodyAnswers && this.noise === "fresh";
    if (this.window !== undefined && !isPlain) {
      const must = "be left out where people do not answer every round with fresh noise";
      throw new ParameterError("collection.window", { must });
    }
    if (this.keepsAnswer && !(isPlain && this.questions.length * this.protocol.rounds === 1)) {
      const must = "be another one where there are several questions or reused noise";
      throw new ParameterError("questions.mechanism", { must });
    }
  }

  /** The randomizers whose reports leave the device. */
  get #sent(): readonly Randomizer[] {
    return this.several === undefined ? this.questions : [this.several];
  }

  #requireRoom(): void {
    const longest = HEAD + Math.max(...this.#sent.map(({ reportFormat }) => reportFormat.size));
    if (this.reportSize < longest) {
      throw new ParameterError("protections.report_size", { must: `be at least ${longest}` });
    }
  }
}

/** Return the randomizer of all questions that share a batch; none if they do not. */
async function ofOneBatch(
  { model, rounds, bins }: Participation,
  questions: readonly Randomizer[],
): Promise<SeveralQuestions | undefined> {
  const asked = questions.length;
  if (asked !== 1 && asked !== rounds) {
    throw new ParameterError("questions", { must: `be 1 or ${rounds}, one per round` });
  }
  if (!ONE_BATCH.includes(model)) return undefined;
  if (model === "together") {
    const { TogetherRandomizer } = await import("./randomizers/together.js");
    return new TogetherRandomizer(questions);
  }
  const { ParallelRandomizer } = await import("./randomizers/parallel.js");
  const all = Array.from({ length: rounds }, (_, place) => questions[place % asked]);
  return new ParallelRandomizer(all as Randomizer[], bins[0] as readonly bigint[]);
}

function seconds(name: string, duration: Json | undefined, most: number, least = 1): number {
  const [, amount, unit] = /^(\d{1,8})([smhd])$/.exec(String(duration)) ?? [];
  const length = Number(amount) * (UNITS[unit as string] as number);
  if (length >= least && length <= most) return length;
  const must = `be like "24h", from ${least} to ${most} seconds`;
  throw new ParameterError(`collection.${name}`, { must });
}

/** Refuse a promise that this client does not know: another one may ask another thing of it. */
function requireKnownPromises({ guarantee, analyzer }: Table): void {
  const { adjacency } = table("guarantee", guarantee, ["adjacency", "delta", "within"]);
  oneOf("guarantee.adjacency", adjacency, ["replace-one"]);
  oneOf("analyzer.publication", isTable(analyzer) && analyzer.publication, PUBLICATIONS);
}

/** Tell whether people are in groups; refuse an order that this client does not know. */
function hasGroups(value: Json | undefined): boolean {
  const { order, alpha, groups } = table("shuffling", value, ["order", "alpha", "groups"]);
  const isMallows = oneOf("shuffling.order", order, ["uniform", "mallows"]) === "mallows";
  if (groups !== undefined) table("shuffling.groups", groups, ["sha256", "sensitivity"]);
  if (isMallows === (alpha !== undefined) && (groups !== undefined || !isMallows)) {
    return groups !== undefined;
  }
  throw new ParameterError("shuffling", { must: "have alpha and groups for mallows" });
}

function admissionOf(value: Json | undefined): Admission {
  const keys = ["by", "operator", "key", "relay"];
  const given = table("admission", value ?? { by: "credential" }, keys);
  const by = oneOf("admission.by", given.by, ["credential", "token"]);
  words("admission.operator", given.operator, 200);
  words("admission.relay", given.relay, 200);
  const relay = given.relay as string | undefined;
  if (by === "credential" && given.key === undefined) return { by, key: undefined, relay };
  return { by, key: publicKey("admission", given, ["by", "relay"]), relay };
}

/** Return the key of a party, whose table must have no other entries than these. */
function publicKey(name: string, party: Json | undefined, others: readonly string[]): string {
  const { key, operator } = table(name, party, ["operator", "key", ...others]);
  words(`${name}.operator`, operator, 200);
  if (typeof key === "string" && /^[0-9a-f]{64}$/.test(key)) return key;
  throw new ParameterError(`${name}.key`, { must: "be given to deploy a plan" });
}

function shufflersOf(value: Json | undefined): { key: string; dummies: Cost | undefined }[] {
  const entries = list("shufflers", value);
  if (entries.length < 1 || entries.length > MOST_SHUFFLERS) {
    throw new ParameterError("shufflers", { must: "be one or two tables" });
  }
  const made = entries.map((entry) => ({
    key: publicKey("shufflers", entry, ["dummies", "keep"]),
    dummies: dummiesOf(entry as Table),
  }));
  if (new Set(made.map(({ key }) => key)).size < made.length) {
    throw new ParameterError("shufflers.key", { must: "differ from that of the other shuffler" });
  }
  return made;
}

/**
 * Return the cost of one report: of the mechanism alone or, if that is less, of the weakest dummies.
 *
 * Nobody knows which of two shufflers is honest. One alone counts only if the mechanism is nothing.
 */
function costOf(sent: readonly Randomizer[], dummies: readonly (Cost | undefined)[]): Cost {
  const local = Math.max(...sent.map(({ budgetCost }) => budgetCost));
  const made = dummies.filter((own) => own !== undefined);
  const epsilon = Math.max(...made.map((own) => own.epsilon));
  const relyOnOne = dummies.length === 1 && Number.isFinite(local);
  if (made.length < dummies.length || relyOnOne || local <= epsilon) {
    return { epsilon: local, delta: 0 };
  }
  return { epsilon, delta: Math.max(...made.map((own) => own.delta)) };
}

/** Return a question without its text, which no report depends on. */
function mechanismOf(question: Json): Json {
  if (!isTable(question)) return question;
  const { name: _name, text: _text, ...mechanism } = question;
  return mechanism;
}

function wordingOf(question: Json): Wording {
  if (!isTable(question)) return { name: undefined, text: undefined };
  return {
    name: questionName(question.name),
    text: words("questions.text", question.text, 1000),
  };
}

/** Refuse two questions of one name; those without are called by their number. */
function requireDifferentNames(wordings: readonly Wording[]): void {
  const names = wordings.map(({ name }, place) => name ?? `question-${place + 1}`);
  if (new Set(names).size !== names.length) {
    throw new ParameterError("questions.name", { must: "differ from the others" });
  }
}
