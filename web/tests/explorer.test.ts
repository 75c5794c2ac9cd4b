// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import {
  type Engine,
  EngineFailure,
  HttpEngine,
  WidgetEngine,
} from "../src/explorer/asking/engine.ts";
import { type Listener, Position } from "../src/explorer/asking/position.ts";
import type {
  Change,
  Control,
  Document,
  Part,
  PointPart,
} from "../src/explorer/asking/protocol.ts";
import {
  coarseToFine,
  places,
  type Range,
  readNumber,
  refined,
  stepped,
  TRACK,
  trackAt,
  valueAt,
  writeNumber,
} from "../src/explorer/controls/scale.ts";
import { Feed } from "../src/explorer/curves/feed.ts";
import { upward } from "../src/explorer/curves/numbers.ts";
import { differences, nothing } from "../src/explorer/shown.ts";
import { inert, rules, snapshot } from "../src/explorer/snapshot.ts";

/** An engine whose answers are given by hand, and which may answer although nobody waits any more. */
class ByHand implements Engine {
  readonly asked: {
    verb: string;
    body: { document: Document | null; changes: Change[]; xs?: (number | string)[] };
    give: (part: Part) => void;
    end: () => void;
    fail: (error: unknown) => void;
    signal: AbortSignal;
  }[] = [];

  ask(verb: string, body: object, on: (part: Part) => void, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const known = body as ByHand["asked"][number]["body"];
      this.asked.push({ verb, body: known, give: on, end: resolve, fail: reject, signal });
    });
  }

  at(index: number) {
    const asked = this.asked[index];
    if (asked === undefined) throw new Error(`nothing was asked as number ${index}`);
    return asked;
  }
}

const plan = (document: Document): Part => ({
  part: "plan",
  document,
  digest: "a35db670",
  title: "",
  subtitle: "",
  proved_for: "",
  file: "plan.toml",
  groups: [],
});
const rows: Part = { part: "rows", rows: [] };
const problem: Part = { part: "problem", control: "n", message: "n must be 2.", groups: [] };

function setUp() {
  const engine = new ByHand();
  const heard: string[] = [];
  const waiting: (() => void)[] = [];
  let time = 0;
  const listener: Listener = {
    stale: (count) => heard.push(`stale ${count}`),
    plan: (part) => heard.push(`plan ${JSON.stringify(part.document)}`),
    problem: () => heard.push("problem"),
    part: (part) => heard.push(part.part),
    settled: (count) => heard.push(`settled ${count}`),
    failed: () => heard.push("failed"),
  };
  const schedule = (run: () => void) => {
    waiting.push(run);
    return () => {
      const at = waiting.indexOf(run);
      if (at >= 0) waiting.splice(at, 1);
    };
  };
  const frame = () => {
    for (const run of waiting.splice(0)) run();
  };
  const position = new Position(engine, listener, schedule, () => time);
  return { engine, heard, frame, position, pass: (by: number) => (time += by) };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

/** A position that stands at the document {n: 1}. */
async function opened() {
  const all = setUp();
  all.position.start();
  all.frame();
  all.engine.at(0).give(plan({ n: 1 }));
  all.engine.at(0).end();
  await settle();
  all.heard.length = 0;
  return all;
}

describe("position", () => {
  it("hands on no part of an answer to an older position, even one that arrives late", async () => {
    const { engine, heard, frame, position } = await opened();
    position.move("n", 2, "slider");
    frame();
    engine.at(1).give(plan({ n: 2 }));
    position.move("n", 3, "slider");
    engine.at(1).give(rows);
    frame();
    engine.at(1).give(rows);
    engine.at(1).end();
    await settle();
    engine.at(2).give(plan({ n: 3 }));
    engine.at(1).give(plan({ n: 2 }));
    engine.at(2).give(rows);
    engine.at(2).end();
    await settle();
    expect(heard).toEqual([
      "stale 2",
      'plan {"n":2}',
      "stale 3",
      'plan {"n":3}',
      "rows",
      "settled 3",
    ]);
    expect(position.document).toEqual({ n: 3 });
  });

  it("says that numbers are stale before the request is sent, and gives up the one under way", async () => {
    const { engine, heard, frame, position } = await opened();
    position.move("n", 2, "slider");
    expect(heard).toEqual(["stale 2"]);
    expect(engine.asked).toHaveLength(1);
    frame();
    const { signal } = engine.at(1);
    position.move("n", 3, "slider");
    expect(signal.aborted).toBe(true);
  });

  it("sends one request for the moves of one frame, with the last value", async () => {
    const { engine, frame, position } = await opened();
    for (const value of [2, 3, 4]) position.move("n", value, "slider");
    frame();
    expect(engine.asked).toHaveLength(2);
    expect(engine.at(1).body.changes).toEqual([{ control: "n", value: 4 }]);
  });

  it("keeps a change whose request was given up until a plan includes it", async () => {
    const { engine, frame, position } = await opened();
    position.move("n", 2, "slider");
    frame();
    position.move("m", 7, "slider");
    frame();
    expect(engine.at(2).body).toMatchObject({
      document: { n: 1 },
      changes: [
        { control: "n", value: 2 },
        { control: "m", value: 7 },
      ],
    });
    engine.at(2).give(plan({ n: 2, m: 7 }));
    expect(position.changes).toEqual([]);
  });

  it("does not confirm a change that was made after the request was sent", async () => {
    const { engine, frame, position } = await opened();
    position.move("n", 2, "slider");
    frame();
    position.move("m", 7, "slider");
    engine.at(1).give(plan({ n: 2 }));
    expect(position.document).toEqual({ n: 1 });
    expect(position.changes).toHaveLength(2);
  });

  it("keeps document and changes where there is no plan, and sends them again", async () => {
    const { engine, heard, frame, position } = await opened();
    position.move("n", 0, "slider");
    frame();
    engine.at(1).give(problem);
    engine.at(1).end();
    await settle();
    expect(heard).toContain("problem");
    position.move("m", 7, "slider");
    position.move("n", 5, "slider");
    frame();
    expect(engine.at(2).body).toMatchObject({
      document: { n: 1 },
      changes: [
        { control: "n", value: 5 },
        { control: "m", value: 7 },
      ],
    });
  });

  it("never replaces a change across a choice, nor one of two limits that are added", async () => {
    const { engine, frame, position } = await opened();
    position.move("k", 3, "slider");
    position.move("kind", "number", "choice");
    position.move("k", 4, "slider");
    position.move("limit_add", { value: 1 }, "button");
    position.move("limit_add", { value: 2 }, "button");
    frame();
    expect(engine.at(1).body.changes.map(({ control }) => control)).toEqual([
      "k",
      "kind",
      "k",
      "limit_add",
      "limit_add",
    ]);
  });

  it("undoes a gesture as a whole, and drops changes that lead to no plan first", async () => {
    const { engine, frame, position, pass } = await opened();
    const move = async (value: number) => {
      position.move("n", value, "slider");
      frame();
      const asked = engine.at(engine.asked.length - 1);
      asked.give(plan({ n: value }));
      asked.end();
      await settle();
    };
    await move(2);
    await move(3);
    pass(5000);
    await move(4);
    position.move("n", 0, "slider");
    frame();
    position.undo();
    frame();
    expect(engine.at(engine.asked.length - 1).body).toMatchObject({
      document: { n: 4 },
      changes: [],
    });
    position.undo();
    expect(position.document).toEqual({ n: 3 });
    position.undo();
    expect(position.document).toEqual({ n: 1 });
  });

  it("tells of a failure only if it is that of the newest request", async () => {
    const { engine, heard, frame, position } = await opened();
    position.move("n", 2, "slider");
    frame();
    position.move("n", 3, "slider");
    engine.at(1).fail(new Error("gone"));
    await settle();
    expect(heard).not.toContain("failed");
    frame();
    engine.at(2).fail(new EngineFailure("no"));
    await settle();
    expect(heard).toContain("failed");
    expect(position.busy).toBe(false);
  });
});

describe("engines", () => {
  it("reads parts that are cut anywhere, and stops at the end", async () => {
    const text =
      '{"part":"rows","rows":[]}\n{"part":"edge","value":1,"words":"ε"}\n{"part":"end"}\n';
    const bytes = new TextEncoder().encode(text);
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 7) controller.enqueue(bytes.slice(at, at + 7));
        controller.close();
      },
    });
    const original = globalThis.fetch;
    globalThis.fetch = async () => ({ ok: true, status: 200, body }) as unknown as Response;
    const got: Part[] = [];
    const { signal } = new AbortController();
    await new HttpEngine().ask("state", {}, (part) => got.push(part), signal);
    globalThis.fetch = original;
    expect(got.map(({ part }) => part)).toEqual(["rows", "edge"]);
  });

  it("tells answers of a widget apart by their number, and says when one is given up", async () => {
    const sent: { id: number; verb: string }[] = [];
    const listeners = new Set<(message: { id?: number; part?: Part }) => void>();
    const engine = new WidgetEngine({
      send: (content) => sent.push(content as { id: number; verb: string }),
      on: (_, listener) => listeners.add(listener),
      off: (_, listener) => listeners.delete(listener),
    });
    const got: string[] = [];
    const first = new AbortController();
    const given = engine.ask("state", {}, () => got.push("first"), first.signal).catch(() => "up");
    const second = engine.ask("state", {}, () => got.push("second"), new AbortController().signal);
    first.abort();
    for (const id of [1, 2]) for (const listener of [...listeners]) listener({ id, part: rows });
    for (const listener of [...listeners]) listener({ id: 2, part: { part: "end" } });
    await second;
    expect(await given).toBe("up");
    expect(got).toEqual(["second"]);
    expect(sent.at(-1)).toEqual({ id: 1, verb: "abort" });
    expect(listeners.size).toBe(0);
  });
});

const range: Range = { from: 2, to: 1e6, scale: "log", integer: true };

describe("sliders", () => {
  it("have their ends at the ends of the track, exactly", () => {
    expect(valueAt(range, 0)).toBe(2);
    expect(valueAt(range, TRACK)).toBe(1e6);
    expect(valueAt({ ...range, to: 123457 }, TRACK)).toBe(123457);
  });

  it("put each power of ten the same way apart", () => {
    const step = trackAt(range, 1000) - trackAt(range, 100);
    expect(trackAt(range, 1e5) - trackAt(range, 1e4)).toBeCloseTo(step, 9);
  });

  it("lead back to the same value", () => {
    for (const value of [2, 3, 17, 4_560, 200_000]) {
      expect(valueAt(range, trackAt(range, value))).toBe(value);
    }
  });

  it("move by at least one for a key, and not beyond the ends", () => {
    expect(stepped(range, 2, 0.25)).toBe(3);
    expect(stepped(range, 3, -0.25)).toBe(2);
    expect(stepped(range, 2, -0.25)).toBe(2);
    expect(stepped(range, 1e6, 5)).toBe(1e6);
    const share: Range = { from: 0, to: 0.5, scale: "linear", integer: false };
    expect(stepped(share, 0.05, 1)).toBe(0.055);
  });

  it("read numbers as people write them, and write them so that they can be read", () => {
    for (const typed of ["0,5", "1.000,5", "0x10", "1,00", "50 %", "1e400", "."]) {
      expect(readNumber(typed)).toBeNull();
    }
    expect(readNumber("200,000")).toBe(200_000);
    expect(readNumber("1e6")).toBe(1e6);
    expect(readNumber("1_000.5")).toBe(1000.5);
    expect(readNumber(" ")).toBeUndefined();
    expect(readNumber("many")).toBeNull();
    for (const value of [1e-8, 0.05, 0, 12, 123_456_789, 0.1 + 0.2]) {
      expect(readNumber(writeNumber(value))).toBeCloseTo(value, 12);
    }
  });
});

const control = (changes: Partial<Control> = {}): Control => ({
  id: "n",
  label: "Minimum batch",
  help: "",
  kind: "slider",
  value: 1000,
  key: null,
  unit: "people",
  movable: true,
  from: 2,
  to: 1e6,
  scale: "log",
  integer: true,
  edge: null,
  options: [],
  ...changes,
});
const point = (x: number, no: string | null = null): PointPart => ({
  part: "point",
  x,
  problem: no,
  cells: {},
  error: null,
  shift: null,
});

describe("curves", () => {
  it("begin with the ends, then the middle, then quarters, and leave out none", () => {
    expect(coarseToFine(25).slice(0, 5)).toEqual([0, 24, 12, 6, 18]);
    for (const count of [1, 2, 3, 7, 24, 25, 100]) {
      const order = coarseToFine(count);
      expect(order).toHaveLength(count);
      expect([...order].sort((a, b) => a - b)).toEqual(
        Array.from({ length: count }, (_, at) => at),
      );
    }
  });

  it("have both ends, whole numbers where meant, and no place twice", () => {
    const xs = places(control({ from: 2, to: 12 })) as number[];
    expect(xs.slice(0, 2)).toEqual([2, 12]);
    expect(new Set(xs).size).toBe(xs.length);
    expect(xs.every(Number.isInteger)).toBe(true);
    const options = [
      { value: 1, label: "one" },
      { value: 2, label: "two" },
    ];
    expect(places(control({ kind: "choice", options }))).toEqual([1, 2]);
  });

  it("are refined where plans begin, and only there", () => {
    const xs = refined(control(), [point(2, "no"), point(1000, "no"), point(31_000), point(1e6)]);
    expect(Math.min(...xs)).toBe(1000);
    expect(Math.max(...xs)).toBe(1e6);
    expect(refined(control(), [point(2), point(1e6)])).toEqual([]);
    expect(refined(control(), [point(2, "no")])).toEqual([]);
  });

  it("ask for what is missing only, and take nothing from a request that was given up", async () => {
    const engine = new ByHand();
    const feed = new Feed(engine, () => {});
    const first = feed.run(control(), {}, null);
    const asked = engine.at(0);
    asked.give(point(2));
    feed.stop();
    asked.give(point(1e6));
    asked.fail(new DOMException("up", "AbortError"));
    await first;
    expect([...feed.now.keys()]).toEqual([2]);
    void feed.run(control(), {}, null);
    expect(engine.at(1).body.xs).not.toContain(2);
    expect(engine.at(1).body.xs).toContain(1e6);
  });

  it("write proved ends away from what would promise too much", () => {
    expect(upward(0.07551)).toBe("0.0756");
    expect(upward(0.0756)).toBe("0.0756");
    expect(upward(0.9937, "bayes_security")).toBe("0.993");
    expect(upward(1.0001)).toBe("1.01");
    expect(upward(0)).toBe("0");
  });
});

describe("snapshot", () => {
  const source = document.createElement("div");
  source.innerHTML = `<form><input value="secret"></form><script>x()</script><link href="a.css">
    <h2 title="t">Who</h2><button type="button" class="ce-number" onclick="x()">1 in 3,660</button>
    <a href="https://example.org">text</a><img src="x.png"><svg><path d="M0 0"></path></svg>
    <select><option>first</option><option selected>second</option></select>
    <details><summary>closed</summary></details><dialog>why</dialog><p hidden>old</p>`;

  it("keeps numbers and pictures, and nothing that acts or asks", () => {
    const text = inert(source).outerHTML;
    for (const kept of ["1 in 3,660", "Who", "<path", "text", "second"])
      expect(text).toContain(kept);
    for (const gone of [
      "<script",
      "<link",
      "<a",
      "<img",
      "<button",
      "<form",
      "onclick",
      "href",
      "src=",
    ]) {
      expect(text).not.toContain(gone);
    }
    for (const gone of ["secret", "closed", "why", "old"]) expect(text).not.toContain(gone);
  });

  it("is one file without scripts, links or addresses, and says of which plan it is", () => {
    const now = nothing();
    now.plan = { ...plan({}), title: "<Emoji> & more" } as typeof now.plan;
    const text = snapshot({
      head: source,
      results: source,
      now,
      held: null,
      metrics: new Set(["epsilon"]),
      css: ".croupier-explorer { color: red }",
    });
    expect(text).toMatch(/^<!doctype html>/);
    expect(text).not.toMatch(/<script|<link|<a |<img|href=|src=|url\(|@import|https?:/i);
    expect(text).toContain("<title>&#60;Emoji&#62; &#38; more, plan a35db670</title>");
  });

  it("takes only rules of its own that ask for nothing", () => {
    const sheet = (texts: string[]) =>
      ({ cssRules: texts.map((cssText) => ({ cssText })) }) as unknown as CSSStyleSheet;
    const css = rules([
      sheet([".jp-Cell { color: red }", ".croupier-explorer { color: blue }"]),
      sheet(['.croupier-explorer { background: url("x.png") }']),
    ]);
    expect(css).toBe(".croupier-explorer { color: blue }");
  });
});

describe("two versions", () => {
  it("list the settings that differ, in words", () => {
    const [a, b] = [nothing(), nothing()];
    const group = (value: number) => [
      { name: "g", heading: "", controls: [control({ value }), control({ id: "k", label: "k" })] },
    ];
    a.plan = { ...plan({}), groups: group(200_000) } as typeof a.plan;
    b.plan = { ...plan({}), groups: group(114_000) } as typeof b.plan;
    expect(differences(a, b)).toEqual([["Minimum batch", "200,000 people", "114,000 people"]]);
  });
});
