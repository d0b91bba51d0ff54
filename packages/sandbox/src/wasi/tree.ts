/** One name in a read-only tree. */
export interface TreeEntry {
  readonly name: string;
  readonly kind: "file" | "directory";
  /** How many bytes `read` will give; 0 for a directory. */
  readonly size: number;
  /** In milliseconds since 1970; 0 when left out. */
  readonly modifiedMs?: number;
}

/**
 * Files that never change and that many sessions share, such as a standard library. Paths are relative, without a slash
 * at either end; "" is the root. Each directory and each file is asked for when somebody first looks at it.
 */
export interface ReadOnlyTree {
  entries(path: string): readonly TreeEntry[];
  /** Gives the bytes themselves, not a copy; nobody writes to them. */
  read(path: string): Uint8Array;
}

/** The names of one directory, in order and by name. */
export interface TreeListing {
  readonly list: readonly TreeEntry[];
  readonly byName: ReadonlyMap<string, TreeEntry>;
}

const LISTINGS = new WeakMap<ReadOnlyTree, Map<string, TreeListing>>();

/** What a directory of a tree holds; asked for once, whatever the number of sessions. */
export function listingOf(tree: ReadOnlyTree, path: string): TreeListing {
  let known = LISTINGS.get(tree);
  if (known === undefined) {
    known = new Map();
    LISTINGS.set(tree, known);
  }
  let listing = known.get(path);
  if (listing === undefined) {
    const list = tree.entries(path);
    listing = { list, byName: new Map(list.map((entry) => [entry.name, entry])) };
    known.set(path, listing);
  }
  return listing;
}
