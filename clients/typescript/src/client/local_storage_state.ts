/** A client's memory in the browser's local storage, locked against other pages. */

import { ParameterError } from "../errors.js";
import { type Memory, readState, type State, writeState } from "./client_state.js";

/**
 * A state under one key of local storage.
 *
 * Clearing the storage lets the client randomise again.
 */
export class LocalStorageState implements Memory {
  constructor(
    private readonly key: string,
    private readonly storage: Pick<Storage, "getItem" | "setItem"> = localStorage,
    private readonly locks: Pick<LockManager, "request"> = navigator.locks,
  ) {
    if (locks === undefined) {
      const hint = "Serve the page over https.";
      throw new ParameterError("locks", { must: "be those of a secure page", hint });
    }
  }

  update<T>(use: (state: State) => Promise<T>): Promise<T> {
    return this.locks.request(`croupier ${this.key}`, async () => {
      const state = readState(this.storage.getItem(this.key), this.key);
      const made = await use(state);
      this.storage.setItem(this.key, writeState(state));
      return made;
    }) as Promise<T>;
  }
}
