/**
 * The wire format: reports of one length, sealed to the analyzer, then to each shuffler.
 *
 * Specified in docs/wire.md.
 */

import { type Bytes, bigEndian, concat, fromHex, hex, sha256, utf8 } from "../bytes.js";
import { DataError, MalformedReportError, ParameterError } from "../errors.js";
import { canonical } from "../json.js";
import type { Plan } from "../plan.js";
import type { Report, ReportFormat } from "../report.js";
import { hpkeSeal } from "./hpke.js";

/** Bytes that one seal adds: the ephemeral public key and the tag. */
export const SEAL_SIZE = 48;
const VERSION = 2;
const NULL = 0;
const DATA = 1;
const HEAD = 2;
const OWNER_SIZE = 8;
const MOST_OWNERS = 1n << 64n;

/** The seals: to the analyzer, to the second shuffler if there is one, to the first. */
export type Role = "inner" | "second" | "outer";

/** One round of a plan and its batch: what every seal is bound to, and its length. */
export interface Epoch {
  /** The digest of the plan, in hexadecimal. */
  readonly plan: string;
  readonly roundNumber: number;
  /** The 16 bytes that name the batch, in hexadecimal. */
  readonly batch: string;
  readonly reportSize: number;
  readonly owned: boolean;
  /** The analyzer's public key that the round was opened for, in hexadecimal. */
  readonly analyzer: string;
  /** The digest of the round's query, in hexadecimal; empty if the plan fixes the question. */
  readonly query: string;
  /** The public keys of the shufflers after the first for this batch, in hexadecimal. */
  readonly onward: readonly string[];
}

/** Return the epoch of a round whose opening names its batch and the keys of everybody later. */
export function epochOf(plan: Plan, opening: Opening, query = ""): Epoch {
  const { round, batch, analyzer, onward = [] } = opening;
  const { digest, reportSize, owned } = plan;
  return { plan: digest, roundNumber: round, batch, reportSize, owned, analyzer, query, onward };
}

/** The content of the signed opening of a round, besides the shuffler's key. */
export interface Opening {
  readonly round: number;
  readonly batch: string;
  /** The analyzer's public key, in hexadecimal. */
  readonly analyzer: string;
  /** The public keys of the shufflers after the first; none if left out. */
  readonly onward?: readonly string[];
}

/** The parts of an epoch that lengths depend on: those of its plan. */
type Sizes = Pick<Epoch, "reportSize" | "owned" | "onward">;

export const innerLength = ({ reportSize }: Sizes): number => reportSize + SEAL_SIZE;

/** The bytes inside the envelope, without the owner: what the first shuffler hands on. */
export const handedLength = (epoch: Sizes): number =>
  innerLength(epoch) + SEAL_SIZE * epoch.onward.length;

export const envelopeLength = (epoch: Sizes): number =>
  handedLength(epoch) + (epoch.owned ? OWNER_SIZE : 0) + SEAL_SIZE;

/**
 * Return the bytes that a seal is bound to: its role, and the list of all that must agree.
 *
 * The list names plan, batch, round, query and the public keys of the receiver and of everybody
 * after it.
 */
export async function info(epoch: Epoch, role: Role, key: Bytes): Promise<Bytes> {
  const after = { inner: [], second: [epoch.analyzer], outer: [...epoch.onward, epoch.analyzer] };
  const digest = await listed(epoch, [hex(key), ...after[role]]);
  const fields = [utf8("croupier"), bigEndian(VERSION, 1), utf8(role), digest];
  return concat(...fields.flatMap((field) => [bigEndian(field.length, 2), field]));
}

/**
 * Return the name of the batch, 32 bytes, from which mechanisms derive public functions.
 *
 * The list names the public keys of everybody after the first shuffler, which draws the batch's 16
 * bytes: with two shufflers both have their part in it.
 */
export function batchName(epoch: Epoch): Promise<Bytes> {
  return listed(epoch, [...epoch.onward, epoch.analyzer]);
}

/** Return the digest of the list of plan, batch, round, query and some public keys. */
function listed(epoch: Epoch, keys: readonly string[]): Promise<Bytes> {
  const { batch, plan, query, roundNumber: round } = epoch;
  return sha256(utf8(canonical({ batch, keys, plan, query, round })));
}

/** Encode a report, or null, as the bytes that are sealed. */
export function encodeReport(format: ReportFormat, report: Report | null, size: number): Bytes {
  const data = new Uint8Array(size);
  data.set([VERSION, report === null ? NULL : DATA]);
  if (report !== null) data.set(format.toBytes(report), HEAD);
  return data;
}

/** Decode a report, or null; refuse any other spelling than that of `encodeReport`. */
export function decodeReport(format: ReportFormat, data: Uint8Array, size: number): Report | null {
  if (data.length !== size) throw new MalformedReportError("length");
  if (data[0] !== VERSION) throw new MalformedReportError("version");
  if (data[1] !== NULL && data[1] !== DATA) throw new MalformedReportError("kind");
  const end = HEAD + (data[1] === DATA ? format.size : 0);
  if (data.subarray(end).some((byte) => byte !== 0)) throw new MalformedReportError("padding");
  if (data[1] === NULL) return null;
  try {
    return format.fromBytes(data.subarray(HEAD, end));
  } catch (error) {
    if (error instanceof DataError) throw new MalformedReportError("body");
    throw error;
  }
}

/** Seal a report so that only the analyzer can open it. */
export async function sealInner(
  report: Bytes,
  epoch: Epoch,
  ephemeral?: CryptoKeyPair,
): Promise<Bytes> {
  requireLength("report", report, epoch.reportSize);
  const key = fromHex(epoch.analyzer);
  return hpkeSeal(report, key, await info(epoch, "inner", key), ephemeral);
}

/** Seal an encoded report to every party, into the envelope that a client sends. */
export async function sealReport(
  report: Bytes,
  key: Bytes,
  epoch: Epoch,
  owner?: bigint,
): Promise<Bytes> {
  const inner = await sealInner(report, epoch);
  const handed = epoch.onward.length > 0 ? await sealSecond(inner, epoch) : inner;
  return sealOuter(handed, key, epoch, owner);
}

/** Seal the output of `sealInner`, and nothing else, to the second shuffler of this batch. */
export async function sealSecond(
  inner: Bytes,
  epoch: Epoch,
  ephemeral?: CryptoKeyPair,
): Promise<Bytes> {
  requireLength("inner", inner, innerLength(epoch));
  const key = fromHex(epoch.onward[0] as string);
  return hpkeSeal(inner, key, await info(epoch, "second", key), ephemeral);
}

/** Seal an envelope that only the first shuffler of this batch can open. */
export async function sealOuter(
  inner: Bytes,
  key: Bytes,
  epoch: Epoch,
  owner?: bigint,
  ephemeral?: CryptoKeyPair,
): Promise<Bytes> {
  requireLength("inner", inner, handedLength(epoch));
  const plaintext = concat(inner, place(owner, epoch));
  return hpkeSeal(plaintext, key, await info(epoch, "outer", key), ephemeral);
}

function place(owner: bigint | undefined, epoch: Epoch): Bytes {
  if (epoch.owned !== (owner !== undefined)) {
    const must = epoch.owned ? "be given: this plan mixes by groups" : "be left out";
    throw new ParameterError("owner", { must });
  }
  if (owner === undefined) return new Uint8Array(0);
  if (owner < 0n || owner >= MOST_OWNERS) {
    throw new ParameterError("owner", { must: "be a place in the public file" });
  }
  return bigEndian(owner, OWNER_SIZE);
}

function requireLength(name: string, data: Uint8Array, length: number): void {
  if (data.length !== length) throw new ParameterError(name, { must: `be ${length} bytes` });
}
