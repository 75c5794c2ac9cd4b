/** Fetch the points of the curves over one parameter, coarse to fine, while nothing else is asked. */

import type { Engine } from "../asking/engine.ts";
import type { Control, Document, PointPart } from "../asking/protocol.ts";
import { places, refined } from "../controls/scale.ts";

export type Points = Map<number | string, PointPart>;

export class Feed {
  readonly now: Points = new Map();
  readonly before: Points = new Map();
  private request: AbortController | null = null;

  constructor(
    private readonly engine: Engine,
    private readonly arrived: () => void,
  ) {}

  get under(): boolean {
    return this.request !== null;
  }

  /** Everything else than the parameter changed: no point holds any more. */
  empty(): void {
    this.stop();
    this.now.clear();
  }

  emptyHeld(): void {
    this.stop();
    this.before.clear();
  }

  stop(): void {
    this.request?.abort();
    this.request = null;
  }

  /** Ask for what is missing: first for this version, then for the held one. */
  async run(control: Control, document: Document, held: Document | null): Promise<void> {
    this.stop();
    const request = new AbortController();
    this.request = request;
    try {
      await this.fill(control, document, this.now, request);
      if (held !== null) await this.fill(control, held, this.before, request);
    } catch (error) {
      if (!request.signal.aborted) throw error;
    } finally {
      if (this.request === request) {
        this.request = null;
        this.arrived();
      }
    }
  }

  private async fill(
    control: Control,
    document: Document,
    points: Points,
    request: AbortController,
  ): Promise<void> {
    await this.fetch(control, document, points, request, places(control));
    await this.fetch(control, document, points, request, refined(control, points.values()));
  }

  private async fetch(
    control: Control,
    document: Document,
    points: Points,
    request: AbortController,
    wanted: (number | string)[],
  ): Promise<void> {
    const xs = wanted.filter((x) => !points.has(x));
    if (xs.length === 0 || request.signal.aborted) return;
    await this.engine.ask(
      "curve",
      { document, control: control.id, xs },
      (part) => {
        if (this.request !== request || part.part !== "point") return;
        points.set(part.x, part);
        this.arrived();
      },
      request.signal,
    );
  }
}

/** The points in the order of the parameter. */
export function ordered(points: Points, control: Control): PointPart[] {
  const all = [...points.values()];
  if (control.kind === "choice") {
    const order = control.options.map((option) => String(option.value));
    return all.sort((a, b) => order.indexOf(String(a.x)) - order.indexOf(String(b.x)));
  }
  return all.sort((a, b) => Number(a.x) - Number(b.x));
}
