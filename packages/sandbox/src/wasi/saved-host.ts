import { Descriptor } from "./descriptor.js";
import type { DescriptorTable } from "./descriptor-table.js";
import type { DeviceNode } from "./device.js";
import { FsError } from "./errno.js";
import { GoneFile } from "./gone-file.js";
import type { SavedClock } from "./host-clock.js";
import type { SavedRandom } from "./host-random.js";
import type { Inode } from "./inode.js";
import { findInode } from "./operations.js";
import type { SavedOutput } from "./output.js";
import { RealDirectory } from "./real-directory.js";
import { RealFile } from "./real-file.js";
import { CHANGES } from "./rights.js";
import type { SavedVfs } from "./saved-vfs.js";
import { TreeDirectory, TreeFile } from "./tree-mount.js";
import type { Vfs } from "./vfs.js";

/** What a descriptor holds: an inode of the saved files, something on a mount, or one of the three streams. */
type SavedTarget =
  | { readonly kind: "inode"; readonly at: number }
  | { readonly kind: "mounted"; readonly mount: string; readonly path: string }
  | { readonly kind: "stream"; readonly name: string };

export interface SavedDescriptor {
  readonly fd: number;
  readonly target: SavedTarget;
  readonly offset: number;
  readonly flags: number;
  readonly rights: number;
  readonly inheriting: number;
  readonly preopen: string | null;
}

/** A host as plain data, files and descriptors and all; `v8.serialize` and messages between threads take it. */
export interface SavedHost {
  readonly version: 1;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly vfs: SavedVfs;
  readonly descriptors: readonly SavedDescriptor[];
  readonly stdin: Uint8Array;
  readonly stdout: SavedOutput;
  readonly stderr: SavedOutput;
  readonly clock: SavedClock;
  readonly random: SavedRandom | null;
}

/** Saves what is open. Where a listing stands is in the guest's own cookies, so it need not be kept. */
export function saveDescriptors(table: DescriptorTable, places: ReadonlyMap<Inode, number>): SavedDescriptor[] {
  return [...table.entries()].map(([fd, { inode, offset, flags, rights, inheriting, preopen }]) => {
    const target = targetOf(inode, places);
    return { fd, target, offset, flags, rights, inheriting, preopen };
  });
}

/** Opens again what was open. A file of the host's that is gone by now stays open, and fails when it is used. */
export function restoreDescriptors(
  saved: readonly SavedDescriptor[],
  table: DescriptorTable,
  from: { readonly vfs: Vfs; readonly inodes: readonly Inode[]; readonly streams: ReadonlyMap<string, DeviceNode> },
): void {
  for (const { fd, target, offset, flags, rights, inheriting, preopen } of saved) {
    const inode = find(target, from);
    const file = inode.kind === "file" ? inode.open((rights & CHANGES) !== 0) : null;
    const descriptor = new Descriptor(inode, { file, flags, rights, inheriting, preopen });
    descriptor.offset = offset;
    table.put(fd, descriptor);
  }
}

function targetOf(inode: Inode, places: ReadonlyMap<Inode, number>): SavedTarget {
  const at = places.get(inode);
  if (at !== undefined) return { kind: "inode", at };
  if (isMounted(inode)) return { kind: "mounted", mount: inode.mount, path: inode.path };
  const { mount } = inode as DeviceNode;
  return mount.startsWith("/") ? { kind: "mounted", mount, path: "" } : { kind: "stream", name: mount };
}

function find(target: SavedTarget, from: Parameters<typeof restoreDescriptors>[2]): Inode {
  switch (target.kind) {
    case "inode":
      return expectInode(from.inodes[target.at]);
    case "stream":
      return expectInode(from.streams.get(target.name));
    default:
      return findMounted(expectInode(from.vfs.mounted.get(target.mount)), target.mount, target.path);
  }
}

function findMounted(top: Inode, mount: string, path: string): Inode {
  if (path === "" || top.kind !== "directory") return top;
  try {
    return findInode({ directory: top, isRoot: false }, path, "keep");
  } catch (error) {
    if (error instanceof FsError) return new GoneFile(mount, path);
    throw error;
  }
}

function expectInode(inode: Inode | undefined): Inode {
  if (inode === undefined) throw new Error("a saved descriptor leads nowhere; the saved state is damaged");
  return inode;
}

function isMounted(inode: Inode): inode is TreeDirectory | TreeFile | RealDirectory | RealFile | GoneFile {
  return [TreeDirectory, TreeFile, RealDirectory, RealFile, GoneFile].some((kind) => inode instanceof kind);
}
