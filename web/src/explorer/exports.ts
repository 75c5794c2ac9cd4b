/** Take away what is shown: the plan, the officer's page, a snapshot, the command line. */

import type { Engine } from "./asking/engine.ts";
import type { Document, FilePart } from "./asking/protocol.ts";
import { html, say } from "./dom.ts";
import type { Why } from "./results/why.ts";

export interface Source {
  document(): Document | null;
  held(): Document | null;
  snapshot(): { name: string; text: string };
}

export class Exports {
  readonly element: HTMLElement;
  private readonly status = html("p", { class: "ce-soft ce-small", role: "status" });
  private readonly compare: HTMLButtonElement;
  private readonly buttons: HTMLButtonElement[];

  constructor(
    id: (name: string) => string,
    private readonly engine: Engine,
    private readonly source: Source,
    private readonly why: Why,
  ) {
    const form = (words: string, help: string, press: () => void) =>
      html("button", { type: "button", title: help, onclick: press }, words);
    this.compare = form("Comparison of A and B", "Both versions on one page", () =>
      this.ask("compare"),
    );
    this.compare.hidden = true;
    this.buttons = [
      form("plan.toml", "The plan as a file", () => this.ask("plan")),
      form("Officer's page", "What leaks to whom, in words, as one HTML file", () =>
        this.ask("page"),
      ),
      form(
        "Snapshot",
        "Everything that is shown here, as one HTML file without scripts or links",
        () => this.picture(),
      ),
      this.compare,
      form("Command line", "The commands that prove the same", () => this.ask("command")),
    ];
    this.element = html(
      "section",
      { class: "ce-section ce-exports ce-screen" },
      html("h2", { id: id("exports") }, "Take it with you"),
      html("div", { class: "ce-buttons" }, ...this.buttons),
      this.status,
    );
  }

  /** Offer what belongs to the position that is shown, and nothing while it is being proved. */
  allow(complete: boolean): void {
    for (const button of this.buttons) button.disabled = !complete;
    this.compare.hidden = this.source.held() === null;
  }

  private async ask(form: string): Promise<void> {
    const document = this.source.document();
    if (document === null) return;
    say(this.status, "Writing …");
    const files: FilePart[] = [];
    const held = this.source.held();
    const body =
      form === "compare" && held !== null ? { document, form, other: held } : { document, form };
    try {
      await this.engine.ask(
        "export",
        body,
        (part) => {
          if (part.part === "file") files.push(part);
        },
        new AbortController().signal,
      );
    } catch (error) {
      say(this.status, `Nothing was written: ${error instanceof Error ? error.message : error}`);
      return;
    }
    const [file] = files;
    if (file === undefined) {
      say(this.status, "Nothing was written: croupier sent no file. Try again.");
    } else if (form === "command") {
      say(this.status, "");
      this.why.file("Command line", file.text);
    } else {
      this.save(file.name, file.type, file.text);
    }
  }

  private picture(): void {
    const { name, text } = this.source.snapshot();
    this.save(name, "text/html", text);
  }

  private save(name: string, type: string, text: string): void {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const anchor = html("a", { href: address, download: name });
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    say(this.status, `Saved ${name}.`);
  }
}
