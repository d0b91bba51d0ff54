import { execFileSync } from "node:child_process";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** Something a process did to its files, in the order in which it did it. */
export type Deed =
  | { readonly kind: "made"; readonly path: string }
  | { readonly kind: "written"; readonly path: string; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: "cut"; readonly path: string; readonly length: number }
  | { readonly kind: "removed"; readonly path: string }
  /** It came back from a sync, which was asked for after so many deeds. */
  | { readonly kind: "synced"; readonly path: string; readonly asked: number }
  /** It said something to whoever started it. */
  | { readonly kind: "said"; readonly text: string };

const CALLS = ["openat", "write", "writev", "pwrite64", "pwritev", "pwritev2", "ftruncate", "truncate", "fallocate"];
const SYNCS = ["fsync", "fdatasync", "sync_file_range"];
const NAMES = ["unlink", "unlinkat", "rename", "renameat", "renameat2"];
const MOST_BYTES = 1024 * 1024;

/** Whether processes can be watched here: `strace` is there, and allowed. */
export function canTrace(): boolean {
  try {
    execFileSync("strace", ["-f", "-o", "/dev/null", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The command to run a process under, so that what it does is written into a file. */
export function tracing(file: string): readonly string[] {
  const calls = [...CALLS, ...SYNCS, ...NAMES].map((name) => `?${name}`).join(",");
  return ["strace", "-f", "-y", "-xx", "-s", String(MOST_BYTES), "--seccomp-bpf", "-e", `trace=${calls}`, "-o", file];
}

/** Reads what a process did to the files of a folder, and what it said. */
export async function readTrace(file: string, folder: string): Promise<readonly Deed[]> {
  const trace = new Trace(folder);
  for await (const line of createInterface({ input: createReadStream(file) })) trace.read(line);
  return trace.deeds;
}

const LINE = /^(?<thread>\d+) +(?:<\.\.\. (?<resumed>\w+) resumed>|(?<name>\w+)\()(?<rest>.*)$/s;
const UNFINISHED = / <unfinished \.\.\.>$/;
const RESULT = /\) += (?<result>-?\d+)/;

class Trace {
  readonly deeds: Deed[] = [];
  private readonly folder: string;
  /** What threads are in the middle of: the line so far, and how much had been done by then. */
  private readonly open = new Map<string, { readonly text: string; readonly asked: number }>();

  constructor(folder: string) {
    this.folder = folder;
  }

  read(line: string): void {
    const { thread = "", resumed, name, rest = "" } = LINE.exec(line)?.groups ?? {};
    if (resumed !== undefined) {
      const begun = this.open.get(thread);
      this.open.delete(thread);
      if (begun === undefined) throw new Error(`${resumed} goes on, but never began`);
      this.finished(resumed, begun.text + rest, begun.asked);
    } else if (name !== undefined && UNFINISHED.test(rest)) {
      const text = rest.replace(UNFINISHED, "");
      this.open.set(thread, { text, asked: this.deeds.length });
      this.begun(name, text);
    } else if (name !== undefined) {
      const asked = this.deeds.length;
      this.begun(name, rest);
      this.finished(name, rest, asked);
    }
  }

  /** A word counts from the moment at which it is spoken: who hears it may act on it before the speaker knows. */
  private begun(name: string, text: string): void {
    if (name === "write" && text.startsWith("1<")) this.deeds.push({ kind: "said", text: stringIn(text).toString() });
  }

  private finished(name: string, text: string, asked: number): void {
    const result = Number(RESULT.exec(text)?.groups?.result ?? -1);
    const path = name.startsWith("open") || NAMES.includes(name) ? stringIn(text).toString() : pathIn(text);
    if (result < 0 || !path.startsWith(this.folder) || (name === "write" && text.startsWith("1<"))) return;
    this.deeds.push(this.deedOf(name, text, path, asked));
  }

  private deedOf(name: string, text: string, path: string, asked: number): Deed {
    const [last = 0] = numbersIn(text).slice(-1);
    if (name === "pwrite64") return { kind: "written", path, at: last, bytes: stringIn(text) };
    if (name === "ftruncate") return { kind: "cut", path, length: last };
    if (name === "fsync" || name === "fdatasync") return { kind: "synced", path, asked };
    if (name === "unlink") return { kind: "removed", path };
    // Whatever was there is left as it is, unless it was cut.
    if (name === "openat" && !text.includes("O_TRUNC")) return { kind: "made", path };
    throw new Error(`nobody knows what ${name} leaves behind when the power fails: ${text.slice(0, 200)}`);
  }
}

/** The first string between quotes. */
function stringIn(text: string): Buffer {
  const from = text.indexOf('"') + 1;
  return unescaped(text.slice(from, text.indexOf('"', from)));
}

/** The file that a descriptor stands for. */
function pathIn(text: string): string {
  return unescaped(text.slice(text.indexOf("<") + 1, text.indexOf(">"))).toString();
}

function unescaped(text: string): Buffer {
  return Buffer.from(text.replaceAll("\\x", ""), "hex");
}

/** The arguments behind the first string, or behind the first descriptor where there is none. */
function numbersIn(text: string): readonly number[] {
  const behind = text.slice(0, text.lastIndexOf(")")).split(", ");
  return behind.map(Number).filter((number) => Number.isSafeInteger(number));
}
