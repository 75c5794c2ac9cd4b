/** Look for the smallest or largest value of a control with which all limits are met. */

import type { Controls } from "../controls/controls.ts";
import type { Engine } from "./engine.ts";
import type { Control, Document, Value } from "./protocol.ts";

export class Search {
  private request: AbortController | null = null;

  constructor(
    private readonly engine: Engine,
    private readonly controls: Controls,
    private readonly found: (control: Control, value: Value, words: string) => void,
  ) {}

  stop(): void {
    this.request?.abort();
    this.request = null;
  }

  async run(control: Control, document: Document): Promise<void> {
    this.stop();
    const request = new AbortController();
    this.request = request;
    const note = (words: string) => this.controls.note(control.id, words);
    note("Searching …");
    try {
      await this.engine.ask(
        "edge",
        { document, control: control.id },
        (part) => {
          if (part.part !== "edge" || this.request !== request) return;
          this.request = null;
          this.found(control, part.value, part.words);
          note(part.words);
        },
        request.signal,
      );
    } catch (error) {
      note(request.signal.aborted ? "" : error instanceof Error ? error.message : String(error));
    }
  }
}
