/** The vectors of docs/wire.md: what is sealed and read, and what is refused. */

import { describe, expect, test } from "vitest";
import { fromHex, hex, sha256, utf8 } from "../src/bytes.js";
import { MalformedReportError, ParameterError, UntrustedError } from "../src/errors.js";
import { Plan } from "../src/plan.js";
import { hpkeSeal } from "../src/protocol/hpke.js";
import { ANALYZER, NOT_ACCEPTED, QUERY, SHUFFLER, sentDigest } from "../src/protocol/key_list.js";
import { SHUFFLER_KEYS, shufflerKeys, signersOf } from "../src/protocol/party_keys.js";
import { verified } from "../src/protocol/signed_document.js";
import { POINTER, supersededBy } from "../src/protocol/superseded.js";
import {
  batchName,
  decodeReport,
  encodeReport,
  envelopeLength,
  epochOf as epochOfPlan,
  info,
  sealInner,
  sealOuter,
} from "../src/protocol/wire.js";
import type { ReportFormat } from "../src/report.js";
import { openInner, openOuter, SealError } from "./opening.js";
import { type Case, ephemeral, epochOf, keyPair, WIRE } from "./vectors.js";

const OPENING = { round: 0, batch: "00".repeat(16), analyzer: "00".repeat(32) };

async function load(name: string): Promise<Plan> {
  return Plan.read(WIRE.plans[name].canonical, WIRE.plans[name].digest);
}

/** Return the format of a plan's round. */
async function formatOf({ plan, round }: Case): Promise<ReportFormat> {
  return (await load(plan)).question(round).reportFormat;
}

async function thrown(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe("plans", () => {
  test.each(Object.keys(WIRE.plans))("%s", async (name) => {
    const plan = await load(name);
    const { report_size, owned, envelope_length } = WIRE.plans[name];
    expect([plan.reportSize, plan.owned]).toEqual([report_size, owned]);
    const onward = plan.shufflerKeys.slice(1);
    expect(envelopeLength(epochOfPlan(plan, { ...OPENING, onward }))).toBe(envelope_length);
  });

  test("the words that people read", async () => {
    const plan = await load("worded");
    expect(plan.title).toBe("Which shoes?");
    expect(plan.purpose).toBe("Decide which sizes to stock → €.");
    expect(plan.wordings).toEqual([{ name: "shoes", text: "Which size → €?" }]);
    const silent = await load("k-rr");
    expect([silent.title, silent.purpose]).toEqual([undefined, undefined]);
    expect(silent.wordings).toEqual([{ name: undefined, text: undefined }]);
  });

  test.each(Object.keys(WIRE.plans))("%s with another digest", async (name) => {
    const { canonical, digest } = WIRE.plans[name];
    const altered = canonical.replace('"minimum_batch":50', '"minimum_batch":49');
    expect(altered).not.toBe(canonical);
    await expect(Plan.read(altered, digest)).rejects.toThrow(UntrustedError);
  });

  test.each([
    ['"schema":2', '"schema":1'],
    ['"schema":2', '"schema":2,"trust":{}'],
    ['"collection":{', '"collection":{"pause":"1h",'],
    ['"analyzer":{', '"analyzer":{"shows":"all",'],
    ['"shufflers":[{', '"shufflers":[{"rank":1,'],
    ['"shufflers":[{', '"shufflers":[{},{'],
    ['"shuffling":{', '"shuffling":{"twice":1,'],
    ['"name":"shoes"', '"name":7'],
    ['"name":"shoes"', '"nam":"shoes"'],
    ['"max_epsilon_local"', '"epsilon_local"'],
    ['"every":"24h"', '"every":"a day"'],
    ['"every":"24h"', '"every":"0s"'],
    ['"every":"24h"', '"every":"367d"'],
    ['"guarantee":{', '"guarantee":{"against":"all",'],
    ['"adjacency":"replace-one"', '"adjacency":"add-remove"'],
    ['"publication":"estimate"', '"publication":"everything"'],
    ['"order":"uniform"', '"order":"sorted"'],
    ['"order":"uniform"', '"order":"mallows"'],
    ['"order":"uniform"', '"alpha":4.0,"order":"uniform"'],
    ['"order":"uniform"', '"groups":{"radius":2},"order":"uniform"'],
    ['"rounds":1', '"rounds":0'],
    ['"key":"', '"key":"x'],
  ])("where %s is %s", async (known, other) => {
    const altered = WIRE.plans.worded.canonical.replace(known, other);
    expect(altered).not.toBe(WIRE.plans.worded.canonical);
    const digest = hex(await sha256(utf8(altered)));
    await expect(Plan.read(altered, digest)).rejects.toThrow(ParameterError);
  });

  test.each(WIRE.worded_plans as Case[])("words: $what", async ({ canonical }: Case) => {
    const plan = await Plan.read(canonical, hex(await sha256(utf8(canonical))));
    expect(plan.title).toBe(JSON.parse(canonical).title);
  });

  test.each(WIRE.refused_plans as Case[])("refused words: $what", async ({ canonical }: Case) => {
    const digest = hex(await sha256(utf8(canonical)));
    await expect(Plan.read(canonical, digest)).rejects.toThrow(ParameterError);
  });

  test.each([
    ["matrix", "[[5,2,1],[1,2,5]]", "[[8,0],[0,8]]"],
    ["matrix", '"matrix":[[5,2,1],[1,2,5]],"mechanism":"matrix"', '"k":3,"mechanism":"plain"'],
  ])("%s without a finite epsilon: %s is %s", async (name, known, other) => {
    const altered = WIRE.plans[name].canonical.replace(known, other);
    expect(altered).not.toBe(WIRE.plans[name].canonical);
    const digest = hex(await sha256(utf8(altered)));
    await expect(Plan.read(altered, digest)).rejects.toThrow(/`mechanism` must limit epsilon/);
  });

  test("of a Mallows order with a smallest crowd", async () => {
    const { canonical } = WIRE.plans.mallows;
    const altered = canonical.replace('"minimum_batch":', '"minimum_crowd":9,"minimum_batch":');
    const plan = await Plan.read(altered, hex(await sha256(utf8(altered))));
    expect(plan.owned).toBe(true);
  });

  test("that would resend one report for several questions", async () => {
    const altered = WIRE.plans.parallel.canonical.replace('"noise":"fresh"', '"noise":"reused"');
    const digest = hex(await sha256(utf8(altered)));
    await expect(Plan.read(altered, digest)).rejects.toThrow(
      'must be "fresh" for several questions',
    );
  });

  test("with a label beyond what 64 bits count", async () => {
    const { canonical } = WIRE.plans["k-rr"];
    const altered = canonical.replace('"k":10', '"labels":[18446744073709551617,1]');
    expect(altered).not.toBe(canonical);
    const digest = hex(await sha256(utf8(altered)));
    await expect(Plan.read(altered, digest)).rejects.toThrow(/`labels` must be a whole number/);
  });

  test("with a mechanism that it does not know", async () => {
    const altered = WIRE.plans.gaussian.canonical.replace('"gaussian"', '"later"');
    const digest = hex(await sha256(utf8(altered)));
    await expect(Plan.read(altered, digest)).rejects.toThrow(ParameterError);
  });
});

test.each(WIRE.info as Case[])("info: $role, round $round", async (entry: Case) => {
  expect(hex(await info(epochOf(entry), entry.role, keyPair(entry.key).public))).toBe(entry.info);
  expect(hex(await batchName(epochOf(entry)))).toBe(entry.batch_name);
});

test.each(WIRE.reports as Case[])("report: $plan, round $round, $report", async (entry: Case) => {
  const format = await formatOf(entry);
  expect(format.bounds).toEqual(entry.bounds.map(BigInt));
  expect(format.ascending).toBe(entry.ascending);
  const report = entry.report?.map(BigInt) ?? null;
  const size = WIRE.plans[entry.plan].report_size;
  expect(hex(encodeReport(format, report, size))).toBe(entry.plaintext);
  expect(decodeReport(format, fromHex(entry.plaintext), size)).toEqual(report);
});

test.each(WIRE.refused_reports as Case[])("refused report: $plan, $reason", async (entry: Case) => {
  const format = await formatOf(entry);
  const size = WIRE.plans[entry.plan].report_size;
  const error = await thrown((async () => decodeReport(format, fromHex(entry.plaintext), size))());
  expect(error).toBeInstanceOf(MalformedReportError);
  expect((error as MalformedReportError).reason).toBe(entry.reason);
});

test("seals are those of RFC 9180, appendix A.1.1", async () => {
  const receiver = await ephemeral(
    "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8",
  );
  const own = await ephemeral("52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736");
  const key = new Uint8Array(await crypto.subtle.exportKey("raw", receiver.publicKey));
  expect(hex(key)).toBe("3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d");
  const info = fromHex("4f6465206f6e2061204772656369616e2055726e");
  const plaintext = fromHex("4265617574792069732074727574682c20747275746820626561757479");
  const sealed = await hpkeSeal(plaintext, key, info, own);
  // The appendix has associated data, which changes the tag alone.
  expect(hex(sealed.slice(0, -16))).toBe(
    "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431" +
      "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218",
  );
});

test("a receiver whose key is no point is sealed nothing", async () => {
  await expect(hpkeSeal(new Uint8Array(3), new Uint8Array(32), utf8("info"))).rejects.toThrow();
});

describe.each(WIRE.envelopes as Case[])("envelope: $plan, round $round", (entry: Case) => {
  const epoch = epochOf(entry);
  const owner = entry.owner === null ? undefined : BigInt(entry.owner);
  const [analyzer, shuffler] = [keyPair("analyzer"), keyPair("shuffler")];

  test("opens", async () => {
    const opened = await openOuter(fromHex(entry.envelope), shuffler, epoch);
    expect([hex(opened.inner), opened.owner]).toEqual([entry.inner, owner ?? null]);
    expect(hex(await openInner(opened.inner, analyzer, epoch))).toBe(entry.plaintext);
  });

  test("is sealed to the same bytes under the same ephemeral keys", async () => {
    const own = await ephemeral(entry.inner_ephemeral);
    const inner = await sealInner(fromHex(entry.plaintext), epoch, own);
    expect(hex(inner)).toBe(entry.inner);
    const next = await ephemeral(entry.outer_ephemeral);
    const envelope = await sealOuter(inner, shuffler.public, epoch, owner, next);
    expect(hex(envelope)).toBe(entry.envelope);
  });

  test("is sealed afresh every time, and opens", async () => {
    const inner = await sealInner(fromHex(entry.plaintext), epoch);
    const envelope = await sealOuter(inner, shuffler.public, epoch, owner);
    const other = await sealOuter(inner, shuffler.public, epoch, owner);
    expect(envelope.length).toBe(entry.envelope.length / 2);
    expect(hex(envelope)).not.toBe(hex(other));
    const opened = await openOuter(envelope, shuffler, epoch);
    expect(opened).toEqual({ inner, owner: owner ?? null });
  });
});

test.each(WIRE.refused_envelopes as Case[])("refused envelope: $what", async (entry: Case) => {
  const opening = openOuter(fromHex(entry.envelope), keyPair(entry.key), epochOf(entry));
  const error = await thrown(opening);
  expect(error).toBeInstanceOf(SealError);
  expect((error as SealError).reason).toBe(entry.reason);
});

test.each(WIRE.refused_inner as Case[])("refused inner: $what", async (entry: Case) => {
  const epoch = epochOf(entry);
  const opened = await openOuter(fromHex(entry.envelope), keyPair("shuffler"), epoch);
  expect(hex(opened.inner)).toBe(entry.inner);
  const error = await thrown(openInner(opened.inner, keyPair("analyzer"), epoch));
  expect(error).toBeInstanceOf(SealError);
  expect((error as SealError).reason).toBe(entry.reason);
});

const KINDS: Case = {
  shuffler: SHUFFLER,
  analyzer: ANALYZER,
  "not accepted": NOT_ACCEPTED,
  query: QUERY,
  "shuffler keys": SHUFFLER_KEYS,
  superseded: POINTER,
};

/** Return the document of a case if a client that has the plan's list of keys believes it. */
async function believed({ kind, document, plan: name, round }: Case) {
  const plan = await load(name);
  if (kind !== "shuffler" && kind !== "not accepted") return verified(KINDS[kind], document, plan);
  const keys = await shufflerKeys(WIRE.lists[name], plan);
  const role = kind === "shuffler" ? "release" : "intake";
  return verified(KINDS[kind], document, plan, signersOf(role, round, plan, keys));
}

test("what a refusal is bound to", async () => {
  const { authorization, body, digest } = WIRE.sent;
  expect(await sentDigest(authorization, fromHex(body))).toBe(digest);
});

test.each(WIRE.documents as Case[])("document: $kind", async (entry: Case) => {
  expect(await believed(entry)).toEqual(entry.document);
});

test.each(WIRE.refused_documents as Case[])("refused document: $what", async (entry: Case) => {
  await expect(believed(entry)).rejects.toThrow(UntrustedError);
});

test.each(WIRE.superseded as Case[])("pointer with date $date", async (entry: Case) => {
  const { successor, date } = await supersededBy(utf8(entry.text), WIRE.plans[entry.plan].digest);
  expect([successor, date ?? null]).toEqual([entry.successor, entry.date]);
});

test.each(WIRE.refused_superseded as Case[])("refused pointer: $what", async (entry: Case) => {
  const read = supersededBy(utf8(entry.text), WIRE.plans[entry.plan].digest);
  await expect(read).rejects.toThrow(UntrustedError);
});
