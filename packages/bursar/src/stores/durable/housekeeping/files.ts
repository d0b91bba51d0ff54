import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { StoreError, unseen } from "../errors.js";

/**
 * Makes a file that is there as a whole or not at all: it is written under a temporary name beside its place, brought to
 * the disk, looked at, and only then given its name.
 */
export async function makeFile<Result>(path: string, write: (temporary: string) => Promise<Result>): Promise<Result> {
  if (await isThere(path)) {
    throw new StoreError(
      "store_filled",
      `${path} is there already: nothing is overwritten; name another file, or move it`,
    );
  }
  if (!(await isThere(dirname(path)))) throw explained({ code: "ENOENT" }, path);
  const temporary = join(dirname(path), `.${basename(path)}${OURS}${process.pid}.part`);
  try {
    const result = await write(temporary);
    await sync(temporary);
    await rename(temporary, path);
    await sync(dirname(path));
    return result;
  } catch (error) {
    await rm(temporary, { force: true });
    throw explained(error, path);
  }
}

/** Marks temporary files of this machine, because a folder may be shared with others. */
const OURS = `.${createHash("sha256").update(hostname()).digest("hex").slice(0, 8)}-`;

/** Removes what processes of this machine that were ended in the middle have left in a folder. */
export async function sweepFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const at = name.startsWith(".") && name.endsWith(".part") ? name.lastIndexOf(OURS) : -1;
    const pid = at < 0 ? Number.NaN : Number(name.slice(at + OURS.length, -".part".length));
    if (Number.isSafeInteger(pid) && !isAlive(pid)) await rm(join(folder, name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code !== "ESRCH";
  }
}

/** Opens a file to be written from its beginning, and closes it whatever happens. */
export async function writing<Result>(path: string, work: (file: FileHandle) => Promise<Result>): Promise<Result> {
  const file = await open(path, "wx", 0o600);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    throw explained(error, path);
  }
}

export async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: { code?: unknown }) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return false;
      throw unseen(path, error);
    },
  );
}

async function sync(path: string): Promise<void> {
  const file = await open(path, "r").catch(() => null);
  // Some systems do not let a folder be opened or synced; there is nothing else to do then.
  await file?.sync().catch(() => {});
  await file?.close();
}

const CODES: Readonly<Record<string, string>> = {
  ENOENT: "its folder is not there; make it first",
  EACCES: "this user may not write there; choose another place, or change the permissions",
  EPERM: "this user may not write there; choose another place, or change the permissions",
  EROFS: "the disk is read-only; choose another place",
  ENOSPC: "there is no room left on the disk; free some space",
  ENOTDIR: "a part of its path is a file; choose another place",
  EEXIST: "a part of its path is a file; choose another place",
};

function explained(error: unknown, path: string): unknown {
  const help = CODES[(error as { code?: string }).code ?? ""];
  return help === undefined
    ? error
    : new StoreError("store_denied", `${path} cannot be written: ${help}`, { cause: error });
}
