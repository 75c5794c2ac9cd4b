/**
 * A lock between processes that a process which was killed does not hold for ever.
 *
 * Node has no lock that the system releases. The lock is a file that names its holder; a hard link
 * creates it whole, or fails if it exists. Whoever finds a dead holder must first become its
 * successor, by a link whose name is the dead holder's: only one of many can, so that nobody removes
 * the lock of a living one. A successor that is killed has a successor in turn.
 *
 * Limits: all processes must see each other's ids, so that containers or hosts which share a folder
 * are not locked against each other; the file system must have hard links; where there is no /proc,
 * a foreign process that got the id of a dead holder is taken for it until it ends. A process that is
 * killed just before it has the lock, or just after, may leave a file of a hundred bytes behind.
 */

import { randomBytes } from "node:crypto";
import { link, readFile, rename, unlink, writeFile } from "node:fs/promises";

/** The process that holds the lock. */
interface Holder {
  readonly pid: number;
  /** The boot and the time since then at which it started, so that ids may be used again. */
  readonly started: string;
  readonly token: string;
}

const [SHORTEST, LONGEST] = [2, 40];

/** Hold the lock of a path while `use` runs; others who want it wait. */
export async function withLock<T>(path: string, use: () => Promise<T>): Promise<T> {
  const token = randomBytes(16).toString("hex");
  const own: Holder = { pid: process.pid, started: await startOf(process.pid), token };
  const mine = nameOf(path, token);
  await writeFile(mine, JSON.stringify(own), { flag: "wx", mode: 0o600 });
  try {
    while (!(await isTaken(path, mine))) await pause();
    try {
      return await use();
    } finally {
      await unlink(path);
    }
  } finally {
    await removed(mine);
  }
}

/** Try once to take the lock with the file of this process. */
async function isTaken(path: string, mine: string): Promise<boolean> {
  if (await linked(mine, path)) return true;
  const before: string[] = [path];
  const seen: string[] = [];
  for (;;) {
    const text = await textOf(before.at(-1) as string);
    if (text === null) return false;
    seen.push(text);
    const holder = holderIn(text);
    if (holder !== null && (await isAlive(holder))) return false;
    const dead = nameOf(path, holder?.token ?? "torn");
    const successor = `${dead}.next`;
    if (await linked(mine, successor)) return succeeded(path, mine, { before, seen, successor });
    before.push(successor);
  }
}

/** Return the process that a file names; null if the machine stopped before it was written. */
function holderIn(text: string): Holder | null {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return null;
  }
}

/** Replace the lock of a dead holder, unless it was replaced since it was looked at. */
async function succeeded(
  path: string,
  mine: string,
  { before, seen, successor }: { before: string[]; seen: string[]; successor: string },
): Promise<boolean> {
  const now = await Promise.all(before.map(textOf));
  const isSame = now.every((text, place) => text === seen[place]);
  if (isSame) await rename(mine, path);
  const own = seen.map((text) => nameOf(path, holderIn(text)?.token ?? "torn"));
  for (const name of isSame ? [...before.slice(1), ...own] : []) await removed(name);
  await removed(successor);
  return isSame;
}

const nameOf = (path: string, token: string) => `${path}.${token}`;

/** Add another name to a file; false if that name exists. */
async function linked(file: string, name: string): Promise<boolean> {
  try {
    await link(file, name);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

async function removed(path: string): Promise<void> {
  await unlink(path).catch((error) => {
    if (codeOf(error) !== "ENOENT") throw error;
  });
}

async function isAlive({ pid, started }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) === "ESRCH") return false; // EPERM: it lives, as somebody else's
  }
  return (await startOf(pid)) === started;
}

/** Return the boot and the start of a process; empty where there is no /proc. */
async function startOf(pid: number): Promise<string> {
  try {
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
    const status = await readFile(`/proc/${pid}/stat`, "utf8");
    // The second entry is the program's name, in parentheses, and may have spaces.
    const entries = status.slice(status.lastIndexOf(")") + 2).split(" ");
    return entries[0] === "Z" ? "" : `${boot.trim()} ${entries[19]}`; // Z: ended, not yet reaped
  } catch {
    return "";
  }
}

async function pause(): Promise<void> {
  const milliseconds = SHORTEST + Math.random() * (LONGEST - SHORTEST);
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}

export function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}
