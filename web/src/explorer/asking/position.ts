/**
 * Keep the plan document, the changes that Python has not confirmed, and the newest request.
 * A part of an older request is never handed on.
 */

import type { Engine } from "./engine.ts";
import type { Change, Control, Document, Part, PlanPart, ProblemPart, Value } from "./protocol.ts";

export interface Listener {
  /** Every number that is shown belongs to an older position from here on. */
  stale(count: number): void;
  plan(part: PlanPart, restored: boolean): void;
  problem(part: ProblemPart): void;
  part(part: Part): void;
  settled(count: number): void;
  failed(error: unknown): void;
}

export type Schedule = (run: () => void, delay: number) => () => void;

const FRAME = 16;
let last = Number.NEGATIVE_INFINITY;

/** Run at once if the last run is a frame ago, else in the next frame, or after a delay; what is returned takes it back. */
export const frameOrDelay: Schedule = (run, delay) => {
  const ran = () => {
    last = performance.now();
    run();
  };
  if (delay > 0) {
    const timer = setTimeout(ran, delay);
    return () => clearTimeout(timer);
  }
  if (performance.now() - last < FRAME) {
    const frame = requestAnimationFrame(ran);
    return () => cancelAnimationFrame(frame);
  }
  let wanted = true;
  queueMicrotask(() => {
    if (wanted) ran();
  });
  return () => {
    wanted = false;
  };
};

const STRUCTURAL: ReadonlySet<Control["kind"]> = new Set(["choice", "button"]);

export class Position {
  document: Document | null = null;
  changes: Change[] = [];
  count = 0;
  private request: AbortController | null = null;
  private cancel: (() => void) | null = null;
  private restoring = false;
  private past: { document: Document; at: number; control: string }[] = [];
  private kinds = new Map<string, Control["kind"]>();
  private mover = "";

  constructor(
    private readonly engine: Engine,
    private readonly listener: Listener,
    private readonly schedule: Schedule = frameOrDelay,
    private readonly now: () => number = () => performance.now(),
  ) {}

  get busy(): boolean {
    return this.cancel !== null || this.request !== null;
  }

  get undoable(): boolean {
    return this.past.length > 0 || (this.changes.length > 0 && this.document !== null);
  }

  start(): void {
    this.next(0);
  }

  /** Note a change; it replaces an unconfirmed one of the same control unless their order matters. */
  move(control: string, value: Value, kind: Control["kind"], delay = 0): void {
    this.kinds.set(control, kind);
    this.mover = control;
    const change = { control, value };
    const at = this.replaceable(control, kind);
    if (at < 0) this.changes.push(change);
    else this.changes[at] = change;
    this.next(delay);
  }

  /** Send what waits for its delay at once. */
  flush(): void {
    if (this.cancel !== null) this.next(0, false);
  }

  /** Go to a document as a whole, such as the held version; `undo` leads back. */
  go(document: Document): void {
    this.remember("");
    this.restore(document);
  }

  /** Drop changes that led to no plan, or else return to the document before the last change. */
  undo(): void {
    if (this.changes.length > 0 && this.document !== null) {
      this.restore(this.document);
      return;
    }
    const last = this.past.pop();
    if (last !== undefined) this.restore(last.document);
  }

  stop(): void {
    this.cancel?.();
    this.request?.abort();
    this.cancel = null;
    this.request = null;
  }

  private restore(document: Document): void {
    this.document = document;
    this.changes = [];
    this.mover = "";
    this.restoring = true;
    this.next(0);
  }

  private replaceable(control: string, kind: Control["kind"]): number {
    if (kind === "button") return -1;
    for (let at = this.changes.length - 1; at >= 0; at -= 1) {
      const other = this.changes[at];
      if (other === undefined) return -1;
      if (other.control === control) return at;
      if (STRUCTURAL.has(this.kinds.get(other.control) ?? "button")) return -1;
    }
    return -1;
  }

  private next(delay: number, counts = true): void {
    this.stop();
    if (counts) {
      this.count += 1;
      this.listener.stale(this.count);
    }
    this.cancel = this.schedule(() => {
      this.cancel = null;
      void this.send();
    }, delay);
  }

  private async send(): Promise<void> {
    const controller = new AbortController();
    this.request = controller;
    const changes = [...this.changes];
    const { document, count, mover, restoring } = this;
    this.restoring = false;
    const current = () => this.request === controller && this.count === count;
    const body = { document, changes };
    const on = (part: Part) => {
      if (!current()) return;
      if (part.part === "plan") {
        this.confirm(part, changes, mover);
        this.listener.plan(part, restoring);
      } else if (part.part === "problem") {
        this.listener.problem(part);
      } else {
        this.listener.part(part);
      }
    };
    try {
      await this.engine.ask("state", body, on, controller.signal);
      if (!current()) return;
      this.request = null;
      this.listener.settled(count);
    } catch (error) {
      if (!current()) return;
      this.request = null;
      this.listener.failed(error);
    }
  }

  private confirm(part: PlanPart, changes: Change[], mover: string): void {
    if (changes.length > 0 && this.document !== null) this.remember(mover);
    this.document = part.document;
    this.changes = this.changes.filter((change) => !changes.includes(change));
  }

  /** Keep one step per gesture: moves of one control within a second are one step. */
  private remember(control: string): void {
    if (this.document === null) return;
    const at = this.now();
    const last = this.past.at(-1);
    if (last !== undefined && control !== "" && last.control === control && at - last.at < 1000) {
      last.at = at;
      return;
    }
    this.past.push({ document: this.document, at, control });
    if (this.past.length > 100) this.past.shift();
  }
}
