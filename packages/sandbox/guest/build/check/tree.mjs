/** Files and folders in memory, just enough to try a guest out: no permissions, no links, no quotas. */

let nextInode = 1;

export function createFolder() {
  return { kind: "folder", inode: nextInode++, entries: new Map() };
}

export function createFile(bytes = new Uint8Array(0)) {
  return { kind: "file", inode: nextInode++, bytes, size: bytes.length };
}

/** Puts a file below a folder, with the folders in between. A path that ends in a slash is a folder. */
export function place(root, path, bytes) {
  const names = path.split("/").filter(Boolean);
  const file = path.endsWith("/") ? undefined : names.pop();
  let folder = root;
  for (const name of names) {
    const found = folder.entries.get(name) ?? createFolder();
    folder.entries.set(name, found);
    folder = found;
  }
  if (file !== undefined) folder.entries.set(file, createFile(bytes));
}

/** What a path leads to: the folder above, the last name, and the node if there is one; null when there is no way. */
export function find(start, path) {
  const above = [];
  let node = start;
  let name = "";
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (node?.kind !== "folder") return null;
    if (part === "..") {
      node = above.pop() ?? null;
      continue;
    }
    above.push(node);
    name = part;
    node = node.entries.get(part);
  }
  return { folder: above.at(-1) ?? start, name, node };
}

/** Makes room in a file, or cuts it off. */
export function resize(file, size) {
  if (size > file.bytes.length) {
    const larger = new Uint8Array(Math.max(size, file.bytes.length * 2));
    larger.set(file.bytes.subarray(0, file.size));
    file.bytes = larger;
  } else if (size < file.size) {
    file.bytes.fill(0, size, file.size);
  }
  file.size = size;
}

export function contentOf(root, path) {
  const node = find(root, path)?.node;
  if (node?.kind !== "file") throw new Error(`the guest has left no file ${path}`);
  return Buffer.from(node.bytes.subarray(0, node.size));
}
