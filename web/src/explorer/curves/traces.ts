/** Keep the curves over the parameter that is being moved: which it is, which points hold, what is asked. */

import type { Engine } from "../asking/engine.ts";
import type { Position } from "../asking/position.ts";
import type { Control, Document } from "../asking/protocol.ts";
import type { Controls } from "../controls/controls.ts";
import type { Shown } from "../shown.ts";
import { Curves } from "./curves.ts";
import { Feed } from "./feed.ts";

const USUAL = "minimum_batch";
const PAUSE = 250;

export interface Stand {
  now: Shown;
  held: Shown | null;
  complete: boolean;
}

export class Traces {
  readonly curves: Curves;
  private readonly feed: Feed;
  private over: string | null = null;
  private drawn: Shown | null = null;
  private soon: ReturnType<typeof setTimeout> | undefined;

  constructor(
    engine: Engine,
    id: (name: string) => string,
    private readonly controls: Controls,
    private readonly position: Position,
    private readonly stand: () => Stand,
    private readonly failed: (error: unknown) => void,
  ) {
    this.feed = new Feed(engine, () => this.draw());
    this.curves = new Curves(id, (control) => this.choose(control));
  }

  /** A control moves: all other curves than those over it end to hold. */
  moved(control: Control): void {
    if (control.id === this.over) {
      if (control.lossy === true) this.feed.empty();
      return;
    }
    this.feed.empty();
    if (!control.movable) return;
    this.over = control.id;
    this.feed.emptyHeld();
  }

  /** Another document altogether. */
  restored(): void {
    this.feed.empty();
  }

  stop(): void {
    clearTimeout(this.soon);
    this.feed.stop();
  }

  offer(): void {
    const movable = this.controls.all.filter((control) => control.movable);
    if (!movable.some((control) => control.id === this.over)) {
      const usual = movable.find((control) => control.id === USUAL) ?? movable[0];
      this.over = usual?.id ?? null;
    }
    this.curves.offer(movable, this.parameter());
  }

  /** The version that is shown becomes the held one; its points hold for both. */
  hold(): void {
    this.feed.emptyHeld();
    for (const [x, point] of this.feed.now) this.feed.before.set(x, point);
  }

  letGo(): void {
    this.feed.emptyHeld();
  }

  draw(): void {
    const over = this.parameter();
    const { now, held, complete } = this.stand();
    if (complete) this.drawn = now;
    if (over === undefined || this.drawn === null) return;
    const { now: points, before, under } = this.feed;
    const shown = complete ? now : withoutNumbers(this.drawn);
    this.curves.show({ now: shown, held, points, before, over, under });
  }

  fetch(): void {
    const over = this.parameter();
    const document = this.around();
    if (over === undefined || document === null || this.position.busy) return;
    const held = this.stand().held?.plan?.document ?? null;
    clearTimeout(this.soon);
    // Who moves a slider step by step gets its numbers before any curve.
    this.soon = setTimeout(() => this.feed.run(over, document, held).catch(this.failed), PAUSE);
    this.draw();
  }

  /** The document that the curves go through; there is one also if only the parameter is off. */
  private around(): Document | null {
    const { now, complete } = this.stand();
    if (complete) return now.plan?.document ?? null;
    const { changes, document } = this.position;
    const only = changes.length > 0 && changes.every(({ control }) => control === this.over);
    return only ? document : null;
  }

  private choose(control: string): void {
    if (control === this.over) return;
    this.over = control;
    this.feed.empty();
    this.feed.emptyHeld();
    this.draw();
    this.fetch();
  }

  private parameter(): Control | undefined {
    return this.over === null ? undefined : this.controls.find(this.over);
  }
}

/** Rows and columns without their numbers, so that charts keep their place. */
function withoutNumbers(shown: Shown): Shown {
  const columns: Shown["columns"] = new Map();
  for (const [key, column] of shown.columns) columns.set(key, { ...column, cells: [] });
  return { ...shown, columns, result: null, verdict: null, risk: null };
}
