import { type CacheTag, GUEST_CACHE_TAG, readCompiled } from "./compiled.js";
import { PackageError, show } from "./errors.js";
import { hintFor } from "./known-names.js";
import { GUEST_ENVIRONMENT } from "./marker.js";
import { MAX_PACKAGE_BYTES, type PackageFile } from "./paths.js";
import type { PackageRecord } from "./record.js";
import { parseRequirement, type Requirement } from "./requirement.js";
import { type Choice, resolve } from "./resolve.js";
import type { Candidate, Offers } from "./source.js";
import { PackageStore, type Stored } from "./store.js";
import { compareVersions, parseVersion } from "./version.js";

interface TreeEntry {
  readonly name: string;
  readonly kind: "file" | "directory";
  /** How many bytes `read` will give; 0 for a directory. */
  readonly size: number;
}

/**
 * The files of several packages as one `site-packages`, in memory and verified: what is read is what was added. Paths are
 * relative, without a slash at either end; the root is the empty path. It has the shape of a tree that can be mounted.
 */
export interface PackageTree {
  /** What is in the tree, dependencies included. */
  readonly packages: readonly PackageRecord[];
  /** The names of those that are not compiled for this Python: importing them costs several times as much. */
  readonly uncompiled: readonly string[];
  /** What lies in a directory, sorted by name; nothing where there is none. */
  entries(path: string): readonly TreeEntry[];
  /** The bytes of a file; they are shared and must not be changed. */
  read(path: string): Uint8Array;
}

export interface OpenOptions {
  /** For which Python compiled files are served; `cpython-312` where it is not said. */
  readonly cacheTag?: CacheTag;
}

interface StoredCandidate extends Candidate {
  readonly record: PackageRecord;
}

const MAX_TREE_BYTES = 2 * MAX_PACKAGE_BYTES;
const MAX_ATTEMPTS = 3;

/**
 * Opens packages that have been added to a folder, with everything they need. All files are read and compared with their
 * records; a file that has changed is an error that names its package.
 */
export async function openPackages(
  folder: string,
  names: readonly string[],
  { cacheTag = GUEST_CACHE_TAG }: OpenOptions = {},
): Promise<PackageTree> {
  const requirements = names.map(parseRequirement);
  const store = new PackageStore(folder);
  for (let attempt = 1; ; attempt++) {
    try {
      return await openOnce(store, requirements, cacheTag);
    } catch (error) {
      // Whoever replaces a package at this moment makes it look damaged; a second look finds the new one.
      const mayBeReplaced = error instanceof PackageError && error.code === "package_damaged";
      if (!mayBeReplaced || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** The versions that the requirements mean among those in a store, with all that they need. */
export async function chooseStored(
  stored: readonly Stored[],
  requirements: readonly Requirement[],
): Promise<readonly PackageRecord[]> {
  const choices: ReadonlyMap<string, Choice<StoredCandidate>> = await resolve(
    requirements,
    new StoredOffers(stored),
    GUEST_ENVIRONMENT,
  );
  return [...choices.values()].map(({ candidate }) => candidate.record);
}

/** The same, or an error where they are too large to be mounted together. */
export async function chooseMountable(
  stored: readonly Stored[],
  requirements: readonly Requirement[],
): Promise<readonly PackageRecord[]> {
  const packages = await chooseStored(stored, requirements);
  const total = packages.flatMap(({ files }) => files).reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= MAX_TREE_BYTES) return packages;
  throw new PackageError(
    "package_refused",
    `these packages have ${total} bytes; at most ${MAX_TREE_BYTES} can be mounted`,
  );
}

async function openOnce(
  store: PackageStore,
  requirements: readonly Requirement[],
  tag: CacheTag,
): Promise<PackageTree> {
  const packages = await chooseMountable(await store.list(), requirements);
  const tree = new MemoryTree(packages);
  for (const record of packages) {
    tree.add(record, await store.readModules(record));
    const compiled = await readCompiled(store, record, tag);
    tree.add(record, compiled ?? []);
    if (compiled === null) tree.uncompiled.push(record.name);
  }
  return tree;
}

class StoredOffers implements Offers<StoredCandidate> {
  readonly #stored: readonly Stored[];

  constructor(stored: readonly Stored[]) {
    this.#stored = stored;
  }

  async candidates(name: string): Promise<readonly StoredCandidate[]> {
    const own = this.#stored.filter((each) => nameOf(each) === name);
    const broken = own.find((each) => each.kind === "damaged");
    if (broken?.kind === "damaged") {
      throw new PackageError(
        "package_damaged",
        `the package ${name} ${broken.version} is damaged: ${broken.problem}; add it again: bursar packages add ${name}`,
      );
    }
    const candidates = own.flatMap((each) => (each.kind === "sound" ? (candidateOf(name, each.record) ?? []) : []));
    if (candidates.length > 0) return candidates.sort((a, b) => compareVersions(b.version, a.version));
    const hint = hintFor(name, this.#stored.map(nameOf));
    throw new PackageError(
      "package_missing",
      `the package ${name} has not been added; to add it: bursar packages add ${name}${hint}`,
    );
  }

  async requirements({ record }: StoredCandidate): Promise<readonly Requirement[]> {
    return record.requirements.map(parseRequirement);
  }
}

function nameOf(stored: Stored): string {
  return stored.kind === "sound" ? parseRequirement(stored.record.name).name : stored.name;
}

function candidateOf(name: string, record: PackageRecord): StoredCandidate | null {
  const version = parseVersion(record.version);
  return version === null ? null : { name, version, record };
}

class MemoryTree implements PackageTree {
  readonly packages: readonly PackageRecord[];
  readonly uncompiled: string[] = [];
  readonly #files = new Map<string, { readonly bytes: Uint8Array; readonly owner: PackageRecord }>();
  readonly #folders = new Map<string, Map<string, TreeEntry>>([["", new Map()]]);

  constructor(packages: readonly PackageRecord[]) {
    this.packages = packages;
  }

  add(owner: PackageRecord, files: readonly PackageFile[]): void {
    for (const { path, bytes } of files) {
      const other = this.#files.get(path);
      // Packages that share a namespace bring the same empty file; Python could not tell either.
      if (other !== undefined && Buffer.compare(other.bytes, bytes) === 0) continue;
      if (other !== undefined) throw overlap(path, owner, other.owner);
      if (this.#folders.has(path)) throw overlap(path, owner, owner);
      this.#files.set(path, { bytes, owner });
      this.#enter(path, owner, bytes.length);
    }
  }

  entries(path: string): readonly TreeEntry[] {
    return [...(this.#folders.get(path)?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  read(path: string): Uint8Array {
    const file = this.#files.get(path);
    if (file === undefined) throw new PackageError("package_missing", `no package has a file ${show(path)}`);
    return file.bytes;
  }

  #enter(path: string, owner: PackageRecord, size: number): void {
    const parts = path.split("/");
    let folder = "";
    for (const [index, name] of parts.entries()) {
      const isLast = index === parts.length - 1;
      const here = this.#folders.get(folder) ?? new Map<string, TreeEntry>();
      this.#folders.set(folder, here);
      here.set(name, isLast ? { name, kind: "file", size } : { name, kind: "directory", size: 0 });
      folder = folder === "" ? name : `${folder}/${name}`;
      const file = isLast ? undefined : this.#files.get(folder);
      if (file !== undefined) throw overlap(folder, owner, file.owner);
    }
  }
}

function overlap(path: string, one: PackageRecord, other: PackageRecord): PackageError {
  return new PackageError(
    "package_conflict",
    `${one.name} and ${other.name} both have ${show(path)}, and not the same; they cannot be mounted together`,
  );
}
