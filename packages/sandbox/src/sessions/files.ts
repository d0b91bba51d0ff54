import { isWritable } from "../analysis/guest-path.js";
import { restrictedPathAdvice } from "../analysis/path-restriction.js";
import { FsError } from "../wasi/errno.js";
import type { Vfs } from "../wasi/vfs.js";
import type { FileEntry, FileWork } from "./errand.js";

/** More than anybody wants to see at once; a guest decides how many there are. */
const MOST_ENTRIES = 10_000;
const DEEPEST = 64;

/** Does what was asked for with the files of a session. Paths are below `/app` unless they begin with a slash. */
export function handle(vfs: Vfs, work: FileWork): readonly FileEntry[] | Uint8Array | undefined {
  const path = absolute(work.path);
  try {
    return carryOut(vfs, work, path);
  } catch (error) {
    if (!(error instanceof FsError)) throw error;
    const isRefused = error.name === "EROFS" || (work.kind === "write" && !isWritable(path));
    throw isRefused ? new FsError("EROFS", restrictedPathAdvice(path, false).join(". ")) : error;
  }
}

function carryOut(vfs: Vfs, work: FileWork, path: string): readonly FileEntry[] | Uint8Array | undefined {
  switch (work.kind) {
    case "list":
      return listAll(vfs, path);
    case "read":
      return vfs.readFile(path);
    case "write":
      return write(vfs, path, work.bytes);
    default:
      return vfs.remove(path, { recursive: true }) as undefined;
  }
}

export function absolute(path: string): string {
  if (typeof path !== "string" || path === "") throw new FsError("EINVAL", "a path is missing");
  return path.startsWith("/") ? path : `/app/${path}`;
}

/** Writes a file, and makes the folders that lead to it. */
export function write(vfs: Vfs, path: string, bytes: Uint8Array): undefined {
  const folder = path.slice(0, path.lastIndexOf("/"));
  if (folder !== "") vfs.mkdir(folder, { recursive: true });
  vfs.writeFile(path, bytes);
}

function listAll(vfs: Vfs, top: string): readonly FileEntry[] {
  const found: FileEntry[] = [];
  const folders = [{ path: "", depth: 0 }];
  for (let folder = folders.pop(); folder !== undefined && found.length < MOST_ENTRIES; folder = folders.pop()) {
    for (const { name, kind, size } of vfs.list(`${top}/${folder.path}`)) {
      const path = `${folder.path}${name}`;
      found.push({ path, kind, size });
      if (kind === "directory" && folder.depth < DEEPEST) folders.push({ path: `${path}/`, depth: folder.depth + 1 });
    }
  }
  return found.slice(0, MOST_ENTRIES).sort((a, b) => (a.path < b.path ? -1 : 1));
}
