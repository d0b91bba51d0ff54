import { readFile, stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import { CommandError, UsageError } from "../errors.js";

/** How a file is executed: in the sandbox, as a plan that becomes a program for the sandbox, or as trusted code in this process. */
export type FileKind = "python" | "javascript" | "plan" | "module";

const KINDS: Readonly<Record<string, FileKind>> = {
  ".py": "python",
  ".js": "javascript",
  ".mjs": "javascript",
  ".rtfs": "plan",
  ".edn": "plan",
  ".ts": "module",
  ".mts": "module",
};
const LOADABLE: ReadonlySet<string> = new Set([".js", ".mjs", ".ts", ".mts"]);
const MOST_BYTES = 1024 * 1024;

/** What a file is by its name. What could run in the sandbox does, unless whoever trusts it says otherwise. */
export function kindOf(file: string, trusted: boolean): FileKind {
  const extension = extname(file).toLowerCase();
  const kind = KINDS[extension];
  if (kind === undefined) {
    throw new UsageError(`${file} is no program; allowed: ${Object.keys(KINDS).join(", ")}`);
  }
  if (!trusted) return kind;
  if (LOADABLE.has(extension)) return "module";
  throw new UsageError(`${file} is no module; --agent is for ${[...LOADABLE].join(", ")}`);
}

/** What a program is called when nobody gives it a name. */
export function stemOf(file: string): string {
  const stem = basename(file, extname(file)).replace(/[^\w.-]/g, "-");
  return stem.slice(0, 100) || "program";
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "is not there; check its name",
  EISDIR: "is a folder; name the file in it",
  EACCES: "cannot be read; allow it",
};

export async function readProgram(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size > MOST_BYTES) throw new CommandError(`${file} has ${size} bytes; a program has at most ${MOST_BYTES}`);
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    if (error instanceof TypeError) throw new CommandError(`${file} is not UTF-8; save it as UTF-8`);
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new CommandError(`${file} ${REASONS[code] ?? `cannot be read: ${message}`}`);
  }
}
