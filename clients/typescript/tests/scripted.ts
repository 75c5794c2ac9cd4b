/** Servers that a test writes down. */

import { hex } from "../src/bytes.js";

/** A server that gives each answer once, then the last one for ever, and records requests. */
export class Scripted {
  readonly requests: { url: string; init: RequestInit }[] = [];
  readonly pauses: number[] = [];

  constructor(
    private readonly lists: (Uint8Array | number | (() => Response))[],
    private readonly answers: (() => Response | Promise<Response>)[],
  ) {}

  fetch = async (url: string, init: RequestInit): Promise<Response> => {
    this.requests.push({ url, init });
    if (init.method === "POST") {
      const answer = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
      return (answer as () => Response)();
    }
    const list = this.lists.length > 1 ? this.lists.shift() : this.lists[0];
    if (typeof list === "function") return list();
    if (typeof list === "number") return new Response(null, { status: list });
    return new Response(list as Uint8Array<ArrayBuffer>);
  };

  sleep = async (seconds: number): Promise<void> => void this.pauses.push(seconds);

  get posts() {
    return this.requests.filter(({ init }) => init.method === "POST");
  }

  get bodies(): string[] {
    return this.posts.map(({ init }) => hex(init.body as Uint8Array));
  }
}

export const status =
  (code: number, headers: Record<string, string> = {}) =>
  () =>
    new Response(null, { status: code, headers });
export const silence = () => Promise.reject(new TypeError("fetch failed"));
