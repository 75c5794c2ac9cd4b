/** The client of croupier: a value is randomised, sealed twice and sent, and is never kept. */

export * from "./errors.js";
export { type Keystream, operatingSystem } from "./keystream.js";
export {
  type Choices,
  Client,
  type Refused,
  type Served,
  type Submission,
} from "./pipeline/client.js";
export { type Memory, MemoryState, type State } from "./pipeline/client_state.js";
export { loadPlan, type Outcome, submit, type Transport } from "./pipeline/conversation.js";
export { LocalStorageState } from "./pipeline/local_storage_state.js";
export { type Address, Server } from "./pipeline/server.js";
export { Plan } from "./plan.js";
