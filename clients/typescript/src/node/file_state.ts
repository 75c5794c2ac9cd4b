/** A client's memory in a file, for Node. */

import { open, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Memory, readState, type State, writeState } from "../client/client_state.js";
import { codeOf, withLock } from "./process_lock.js";

/**
 * A state in a file, replaced atomically, readable by its owner only, locked against a second
 * process of Node.
 *
 * The file is that of the Python client's FileState, and either of the two may go on with it, but
 * not at the same time: Python's lock is of another kind. Deleting the file lets the client
 * randomise again: keep it where backups are made.
 */
export class FileState implements Memory {
  readonly #path: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  update<T>(use: (state: State) => Promise<T>): Promise<T> {
    const next = this.#last.then(() =>
      withLock(this.#beside("node-lock"), async () => {
        const state = readState(await this.#text(), basename(this.#path));
        const made = await use(state);
        await this.#replace(writeState(state));
        return made;
      }),
    );
    this.#last = next.catch(() => undefined);
    return next;
  }

  #beside(kind: string): string {
    return join(dirname(this.#path), `.${kind}-${basename(this.#path)}`);
  }

  async #text(): Promise<string | null> {
    try {
      return await readFile(this.#path, "utf8");
    } catch (error) {
      if (codeOf(error) === "ENOENT") return null;
      throw error;
    }
  }

  /** Replace the file so that a crash leaves the old one or the new one, whole. */
  async #replace(text: string): Promise<void> {
    const whole = this.#beside("partial");
    await rm(whole, { force: true }); // what a crash left of an earlier attempt
    // Exclusive: a symbolic link planted there is not followed.
    const file = await open(whole, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(whole, this.#path);
    const folder = await open(dirname(this.#path), "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}
