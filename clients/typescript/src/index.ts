/** The client of croupier: a value is randomised, sealed to each party, sent, and never kept. */

export {
  type Choices,
  Client,
  type Refused,
  type Served,
  type Submission,
} from "./client/client.js";
export { type Memory, MemoryState, type State } from "./client/client_state.js";
export { loadPlan, type Outcome, submit } from "./client/conversation.js";
export { admitted } from "./client/enrolment.js";
export type { Transport } from "./client/exchange.js";
export { fetchToken, type TokenOutcome } from "./client/fetch_token.js";
export { deliver, type Prepared, prepare } from "./client/forward.js";
export { LocalStorageState } from "./client/local_storage_state.js";
export { type Address, Server } from "./client/server.js";
export * from "./errors.js";
export { type Keystream, operatingSystem } from "./keystream.js";
export { Plan, type Wording } from "./plan.js";
