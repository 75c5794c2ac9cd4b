/** Ask Python a verb and hand on the parts of its answer, over HTTP or through a notebook's widget. */

import type { Part } from "./protocol.ts";

export interface Engine {
  ask(verb: string, body: object, on: (part: Part) => void, signal: AbortSignal): Promise<void>;
}

/** A failure that Python reported, with a message for readers. */
export class EngineFailure extends Error {}

const aborted = () => new DOMException("The request was given up.", "AbortError");

export class HttpEngine implements Engine {
  constructor(private readonly base: string = "") {}

  async ask(
    verb: string,
    body: object,
    on: (part: Part) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const response = await fetch(this.base + verb, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal,
    });
    if (!response.ok || response.body === null) {
      throw new EngineFailure(
        `croupier answered with status ${response.status}. Reload this page.`,
      );
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (signal.aborted) throw aborted();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : (lines.pop() ?? "");
      for (const line of done ? [] : lines) {
        if (line.trim() === "") continue;
        if (signal.aborted) throw aborted();
        if (deliver(JSON.parse(line) as Part, on)) return;
      }
      if (done) throw new EngineFailure("The answer broke off. Move a control to ask again.");
    }
  }
}

/** The part of anywidget's model that is used here. */
export interface Model {
  send(content: object): void;
  on(event: "msg:custom", callback: (message: { id?: number; part?: Part }) => void): void;
  off(event: "msg:custom", callback: (message: { id?: number; part?: Part }) => void): void;
}

export class WidgetEngine implements Engine {
  private last = 0;

  constructor(private readonly model: Model) {}

  ask(verb: string, body: object, on: (part: Part) => void, signal: AbortSignal): Promise<void> {
    this.last += 1;
    const id = this.last;
    const { model } = this;
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(aborted());
        return;
      }
      const finish = (settle: () => void) => {
        model.off("msg:custom", receive);
        signal.removeEventListener("abort", abort);
        settle();
      };
      const abort = () => {
        model.send({ id, verb: "abort" });
        finish(() => reject(aborted()));
      };
      const receive = (message: { id?: number; part?: Part }) => {
        if (message.id !== id || message.part === undefined) return;
        try {
          if (deliver(message.part, on)) finish(resolve);
        } catch (error) {
          finish(() => reject(error));
        }
      };
      signal.addEventListener("abort", abort);
      model.on("msg:custom", receive);
      model.send({ id, verb, body });
    });
  }
}

/** Hand on one part; true at the end of the answer. */
function deliver(part: Part, on: (part: Part) => void): boolean {
  if (part.part === "end") return true;
  if (part.part === "failure") throw new EngineFailure(part.message);
  on(part);
  return false;
}
