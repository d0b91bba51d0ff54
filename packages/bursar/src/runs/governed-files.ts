import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readFile, readlink, realpath, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { InputError, show } from "../core/errors.js";
import type { Doing } from "./deed.js";
import { RefusedInside, RunError } from "./error.js";

/** Files of a tool, with what it writes counted before it is written. */
export interface GovernedFiles {
  /** Writes a whole file; the folders above it are made. */
  write(path: string, contents: string | Uint8Array): Promise<void>;
  read(path: string): Promise<Uint8Array>;
  /** The same, but only below a folder: paths that lead out of it are refused, also those of further folders within. */
  within(folder: string): GovernedFiles;
}

/** Where a folder really is, at this moment. */
type Base = () => Promise<string>;

/** As many links one after the other as Linux follows. */
const MOST_LINKS = 40;

/** Sees to it that what is under way is not forgotten. */
type Keep = (work: () => Promise<void>) => Promise<void>;

export function governedFiles(doing: Doing, keep: Keep): GovernedFiles {
  const write: Write = async (base, path, contents) => {
    const bytes = bytesOf(contents);
    // A path that is refused is none of the budget's business, so it is looked at first.
    if (base !== null) await inside(await base(), path);
    const { gate, run, key, signal, inner } = doing;
    const gated = await gate.call<null>(
      {
        budget: run.budget,
        capability_id: "files.write",
        kind: "tool",
        step_id: key,
        signal,
        call_id: inner(),
        asked: { steps: 0, storage_write_bytes: bytes.length },
        inner: true,
      },
      async () => {
        await (base === null ? writeAnywhere(path, bytes) : writeInside(await base(), path, bytes));
        return { value: null };
      },
    );
    if (gated.kind === "failed") throw gated.error;
    if (gated.kind === "done") return;
    throw new RefusedInside(gated.decision, gated.message);
  };
  return filesBelow(null, (...asked) => keep(() => write(...asked)));
}

type Write = (base: Base | null, path: string, contents: string | Uint8Array) => Promise<void>;

function filesBelow(base: Base | null, write: Write): GovernedFiles {
  return {
    write: (path, contents) => write(base, path, contents),
    read: async (path) => (base === null ? readFile(resolve(path)) : readInside(await base(), path)),
    within: (folder) =>
      filesBelow(async () => (base === null ? real(resolve(folder)) : inside(await base(), folder)), write),
  };
}

function bytesOf(contents: unknown): Uint8Array {
  if (typeof contents === "string") return new TextEncoder().encode(contents);
  if (contents instanceof Uint8Array) return contents;
  throw new InputError("contents", `is ${show(contents)}; allowed: a string or a Uint8Array`);
}

async function writeAnywhere(path: string, bytes: Uint8Array): Promise<void> {
  const file = resolve(path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, bytes);
}

async function writeInside(base: string, path: string, bytes: Uint8Array): Promise<void> {
  const file = await inside(base, path);
  await mkdir(dirname(file), { recursive: true });
  // What was there goes only when it is certain that it is the right file.
  await using handle = await openInside(base, file, constants.O_WRONLY | constants.O_CREAT);
  await handle.truncate(0);
  await handle.writeFile(bytes);
}

async function readInside(base: string, path: string): Promise<Uint8Array> {
  await using handle = await openInside(base, await inside(base, path), constants.O_RDONLY);
  return await handle.readFile();
}

/** Opens a path without links, and looks again: a folder may have been exchanged for a link since it was looked at. */
async function openInside(base: string, file: string, flags: number): Promise<FileHandle> {
  // Windows does not know the flag, and there links are for administrators.
  const handle = await open(file, flags | (constants.O_NOFOLLOW ?? 0), 0o666).catch((error: unknown) => {
    if (codeOf(error) === "ELOOP") throw leadsOut(base, file);
    throw error;
  });
  try {
    const [opened, found, now] = await Promise.all([handle.stat(), lstat(file), realpath(file)]);
    if (leaves(base, now) || opened.ino !== found.ino || opened.dev !== found.dev) throw leadsOut(base, file);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The real path of something below a folder, whether it is there already or not. */
async function inside(base: string, path: string): Promise<string> {
  const file = resolve(base, path);
  if (leaves(base, file)) throw leadsOut(base, path);
  const found = await real(file);
  if (leaves(base, found)) throw leadsOut(base, path);
  return found;
}

/**
 * Where a path leads when every link on the way is followed. `realpath` gives up where something is missing, and a link to
 * what is not there yet is a way out all the same.
 */
async function real(path: string): Promise<string> {
  const { root } = parse(path);
  const ahead = namesOf(path.slice(root.length));
  let at = root;
  let links = 0;
  for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
    if (name === "..") {
      at = dirname(at);
      continue;
    }
    const next = join(at, name);
    const link = await linkAt(next);
    if (link === null) {
      at = next;
      continue;
    }
    if (++links > MOST_LINKS) throw new RunError("path", `${path} has more than ${MOST_LINKS} links on its way`);
    const start = parse(link).root;
    if (start !== "") at = start;
    ahead.unshift(...namesOf(link.slice(start.length)));
  }
  return at;
}

function namesOf(path: string): string[] {
  return path.split(sep).filter((name) => name !== "" && name !== ".");
}

/** What a link says; null for everything else, also for what is not there. */
async function linkAt(path: string): Promise<string | null> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : null;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return null;
    throw error;
  }
}

/** A name may begin with two dots; only the name that is nothing else leads up. */
function leaves(from: string, to: string): boolean {
  const way = relative(from, to);
  return way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
}

function leadsOut(base: string, path: string): RunError {
  return new RunError("path", `${path} is outside of ${base}; allowed: paths below it, also when links are followed`);
}

function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown } | null)?.code ?? "");
}
