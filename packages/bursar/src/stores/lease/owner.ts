import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { Json } from "../../core/chain/canonical.js";

/** The process that writes a log. */
export interface Owner {
  readonly pid: number;
  readonly host: string;
  /** When it began, as the system counts; null where that cannot be told. */
  readonly began: string | null;
}

/** This process, as it stands in the first line of its log. */
export function ownerHere(): readonly Json[] {
  return [process.pid, hostname(), beginningOf(process.pid)];
}

export function readOwnerNote([pid, host, began = null]: readonly Json[]): Owner {
  return { pid: Number(pid), host: String(host), began: began === null ? null : String(began) };
}

/** Whether it may still be at work. Of other machines nobody here knows. */
export function isRunning({ pid, host, began }: Owner): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  // Numbers are given again: a container that starts anew calls its first process 1 again and again.
  const now = began === null ? null : beginningOf(pid);
  return now === null || now === began;
}

/** When a process began, in the ticks of Linux since the machine did; null where there is no such thing. */
function beginningOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // Its name comes second, in brackets, and may hold anything; of what follows this is the twentieth.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}
