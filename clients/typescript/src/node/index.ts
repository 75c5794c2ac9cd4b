/** The parts of the client that need Node: a memory in a file. */

export { FileState } from "./file_state.js";
