import { MAX_PATH_BYTES } from "./abi.js";
import { MemoryDirectory } from "./memory-directory.js";
import { MemoryFile } from "./memory-file.js";
import type { RealMount } from "./real-mount.js";

/** The files at one moment. */
export interface Mark {
  readonly sequence: number;
  /** The number of the file at each path. */
  readonly files: ReadonlyMap<string, number>;
}

/** What became of the files since a mark. */
export interface Changes {
  readonly created: readonly string[];
  readonly modified: readonly string[];
  readonly removed: readonly string[];
}

/** Remembers which files there are in memory; a directory of the host keeps its own notes. */
export function markOf(root: MemoryDirectory, sequence: number): Mark {
  return { sequence, files: new Map([...filesBelow(root)].map(([path, { inode }]) => [path, inode])) };
}

/** A file that was written elsewhere and then renamed over an old one has modified that one. */
export function changesSince(root: MemoryDirectory, mounts: readonly RealMount[], mark: Mark): Changes {
  const [created, modified]: [string[], string[]] = [[], []];
  const seen = new Set<string>();
  for (const [path, file] of filesBelow(root)) {
    seen.add(path);
    const before = mark.files.get(path);
    if (before === undefined) created.push(path);
    else if (before !== file.inode || file.modifiedAt > mark.sequence) modified.push(path);
  }
  for (const { mount, touched } of mounts) {
    for (const [path, touch] of touched) {
      if (touch.created > mark.sequence) created.push(`${mount}/${path}`);
      else if (touch.modified > mark.sequence) modified.push(`${mount}/${path}`);
    }
  }
  const removed = [...mark.files.keys()].filter((path) => !seen.has(path));
  return { created: created.sort(), modified: modified.sort(), removed: removed.sort() };
}

/** Every file in memory by its path. What lies too deep to be named from the root is left out; nobody could read it. */
function* filesBelow(root: MemoryDirectory): Generator<readonly [string, MemoryFile]> {
  const pending: { readonly directory: MemoryDirectory; readonly path: string }[] = [{ directory: root, path: "" }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const [name, { inode }] of next.directory.children) {
      const path = `${next.path}/${name}`;
      if (path.length > MAX_PATH_BYTES) continue;
      if (inode instanceof MemoryFile) yield [path, inode];
      else if (inode instanceof MemoryDirectory) pending.push({ directory: inode, path });
    }
  }
}
