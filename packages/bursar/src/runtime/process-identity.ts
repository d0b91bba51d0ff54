import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** What tells a process from all others, on its machine and elsewhere. */
export interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  /** The boot of the machine and the namespace in which the process has this number; null where that is not known. */
  readonly machine: string | null;
  /** When the process was started, as the system counts it. */
  readonly started: string | null;
}

let own: ProcessIdentity | null = null;

export function ownIdentity(): ProcessIdentity {
  const { pid } = process;
  own ??= { host: hostname(), pid, machine: machineName(), started: statOf(pid)?.started ?? null };
  return own;
}

/** Whether a process of this machine is gone, or is there; null where that cannot be told from here. */
export function isProcessGone({ machine, pid, started }: ProcessIdentity): boolean | null {
  // Only within one boot and one namespace does a number mean the same process.
  if (machine === null || started === null || machine !== ownIdentity().machine) return null;
  const stat = statOf(pid);
  return stat === null || stat.started !== started || stat.isOver;
}

function machineName(): string | null {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return null;
  }
}

/** When a process was started, and whether only its number is left of it; null when there is none. */
function statOf(pid: number): { readonly started: string; readonly isOver: boolean } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program may hold blanks and parentheses.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state = "", started = ""] = [fields[0], fields[19]];
    return { started, isOver: state === "Z" || state === "X" };
  } catch {
    return null;
  }
}
