import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describeError, PackageError, systemCode } from "./errors.js";
import { MAX_FILE_BYTES, type PackageFile } from "./paths.js";
import { type PackageRecord, placeOf, type RecordedFile, readRecord, writeRecord } from "./record.js";
import type { Delivery } from "./source.js";

const RECORD = "package.json";
const MODULES = "site-packages";
const LICENCES = "licences";
const TEMPORARY = ".temporary";
const MAX_RECORD_BYTES = 32 * 1024 * 1024;
const MAX_LISTED = 10_000;
const MAX_ATTEMPTS = 5;
const READ_AT_ONCE = 32;
/** Nobody takes a day to write a package; whoever began then has died. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;

/** A version as it lies in the folder: with its record, or with what keeps us from reading it. */
export type Stored =
  | { readonly kind: "sound"; readonly record: PackageRecord }
  | { readonly kind: "damaged"; readonly name: string; readonly version: string; readonly problem: string };

/**
 * A folder of packages: `<name>/<version>/` with a record, the modules and the texts of the licences. A version appears
 * and disappears as a whole, by renaming, so that processes that add, read and remove at once never see half of one.
 */
export class PackageStore {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** All versions in the folder, by name and version; their files are not looked at. */
  async list(): Promise<readonly Stored[]> {
    const stored: Stored[] = [];
    for (const name of await namesIn(this.folder)) {
      for (const version of await namesIn(join(this.folder, name))) {
        const found = await this.#look(name, version);
        if (found !== null) stored.push(found);
      }
    }
    return stored;
  }

  /** Puts a package there, in the place of one that is damaged or came from elsewhere. */
  async put(source: PackageRecord["source"], delivery: Delivery): Promise<{ record: PackageRecord; isNew: boolean }> {
    const record = recordOf(source, delivery);
    await this.#sweep();
    const place = join(this.folder, placeOf(record));
    const draft = await this.temporary();
    try {
      await writeFiles(join(draft, MODULES), delivery.unpacked.files);
      await writeFiles(join(draft, LICENCES), delivery.unpacked.licenceTexts);
      await writeFile(join(draft, RECORD), writeRecord(record));
      await mkdir(dirname(place), { recursive: true });
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        if (await renamed(draft, place)) return { record, isNew: true };
        if (await this.#holds(record)) return { record, isNew: false };
        await this.#discard(place);
      }
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
    throw new PackageError("package_damaged", `${place} is replaced by others all the time; try again`);
  }

  /** The bytes of all modules of a package, each compared with its record. */
  async readModules(record: PackageRecord): Promise<readonly PackageFile[]> {
    return await this.#readAll(record, MODULES, record.files);
  }

  async readLicences(record: PackageRecord): Promise<readonly PackageFile[]> {
    return await this.#readAll(record, LICENCES, record.licenceTexts);
  }

  async remove(record: { readonly name: string; readonly version: string }): Promise<void> {
    await this.#discard(join(this.folder, placeOf(record)));
  }

  /** A new folder on the same file system, from which a whole can be renamed into its place. */
  async temporary(): Promise<string> {
    const folder = join(this.folder, TEMPORARY, randomUUID());
    await mkdir(folder, { recursive: true });
    return folder;
  }

  async #look(name: string, version: string): Promise<Stored | null> {
    const file = join(this.folder, name, version, RECORD);
    try {
      const record = readRecord((await readBounded(file, MAX_RECORD_BYTES)).toString("utf8"));
      if (placeOf(record) !== `${name}/${version}`)
        throw new Error(`its record says it is ${record.name} ${record.version}`);
      return { kind: "sound", record };
    } catch (error) {
      // Between listing and reading, somebody may have removed it.
      if (systemCode(error) === "ENOENT" && (await isMissing(dirname(file)))) return null;
      return { kind: "damaged", name, version, problem: describeError(error) };
    }
  }

  /** Whether the very same package is there already, complete and unharmed. */
  async #holds(record: PackageRecord): Promise<boolean> {
    const [name = "", version = ""] = placeOf(record).split("/");
    const found = await this.#look(name, version);
    if (found?.kind !== "sound" || found.record.sha256 !== record.sha256) return false;
    if (writeRecord(found.record) !== writeRecord(record)) return false;
    try {
      await this.readModules(found.record);
      await this.readLicences(found.record);
      return true;
    } catch {
      return false;
    }
  }

  async #readAll(record: PackageRecord, part: string, files: readonly RecordedFile[]): Promise<readonly PackageFile[]> {
    const read: PackageFile[] = [];
    for (let start = 0; start < files.length; start += READ_AT_ONCE) {
      const some = files.slice(start, start + READ_AT_ONCE);
      read.push(...(await Promise.all(some.map((file) => this.#readOne(record, part, file)))));
    }
    return read;
  }

  async #readOne(record: PackageRecord, part: string, file: RecordedFile): Promise<PackageFile> {
    try {
      const bytes = await readBounded(join(this.folder, placeOf(record), part, file.path), MAX_FILE_BYTES);
      if (isAsRecorded(bytes, file)) return { path: file.path, bytes };
    } catch (error) {
      throw damaged(record, `${file.path} cannot be read (${describeError(error)})`);
    }
    throw damaged(record, `${file.path} has been changed`);
  }

  /** Out of sight first, in one step; how long deleting takes does not matter then. */
  async #discard(place: string): Promise<void> {
    const grave = await this.temporary();
    try {
      await rename(place, join(grave, "package"));
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
    } finally {
      await rm(grave, { recursive: true, force: true });
    }
  }

  /** Removes what processes that died have left behind. */
  async #sweep(): Promise<void> {
    const folder = join(this.folder, TEMPORARY);
    for (const name of (await namesIn(folder)).slice(0, MAX_LISTED)) {
      const path = join(folder, name);
      const age = Date.now() - ((await stat(path).catch(() => null))?.mtimeMs ?? Number.POSITIVE_INFINITY);
      if (age > ABANDONED_MS) await rm(path, { recursive: true, force: true });
    }
  }
}

/** Moves a folder into a place, unless something is there. */
export async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (["EEXIST", "ENOTEMPTY", "EPERM"].includes(systemCode(error) ?? "")) return false;
    throw error;
  }
}

/** Writes files below a folder of our own, which nobody else knows yet. */
export async function writeFiles(folder: string, files: readonly PackageFile[]): Promise<void> {
  for (const { path, bytes } of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, bytes, { flag: "wx" });
  }
}

export async function readBounded(file: string, limitBytes: number): Promise<Buffer> {
  const { size } = await stat(file);
  if (size > limitBytes) throw new Error(`it has ${size} bytes, more than the ${limitBytes} that are read`);
  return await readFile(file);
}

export function recordFiles(files: readonly PackageFile[]): readonly RecordedFile[] {
  return files.map(({ path, bytes }) => ({ path, bytes: bytes.length, sha256: sha256Of(bytes) }));
}

export function isAsRecorded(bytes: Uint8Array, { bytes: length, sha256 }: RecordedFile): boolean {
  return bytes.length === length && sha256Of(bytes) === sha256;
}

function damaged({ name, version }: PackageRecord, problem: string): PackageError {
  return new PackageError(
    "package_damaged",
    `the package ${name} ${version} is damaged: ${problem}; add it again: bursar packages add ${name}`,
  );
}

function recordOf(source: PackageRecord["source"], delivery: Delivery): PackageRecord {
  const { unpacked, origin, sha256, omittedRequirements } = delivery;
  const { name, version, licence, requirements, omitted } = unpacked;
  return {
    name,
    version,
    source,
    origin,
    sha256,
    licence,
    licenceTexts: recordFiles(unpacked.licenceTexts),
    requirements,
    files: recordFiles(unpacked.files),
    omitted,
    omittedRequirements,
  };
}

/** Sorted, without what is hidden; a folder that does not exist holds nothing. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const names = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith(".")).map(({ name }) => name);
    return names.sort().slice(0, MAX_LISTED);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

async function isMissing(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) === null;
}

function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
