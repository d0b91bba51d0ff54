import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { PackageError, show, systemCode } from "./errors.js";
import { MAX_FILE_BYTES, type PackageFile } from "./paths.js";
import { type PackageRecord, parseObject, placeOf, readFiles } from "./record.js";
import { isAsRecorded, type PackageStore, readBounded, recordFiles, renamed, writeFiles } from "./store.js";

/** A Python source to compile; the path is below `site-packages`. */
export interface SourceFile {
  readonly path: string;
  readonly source: Uint8Array;
}

/**
 * Compiles sources inside the guest and gives the bytes of a `.pyc` for each path; a path without one stays a source. The
 * guest compares nothing with the source if the `.pyc` is marked as an unchecked hash, which is what a read-only mount wants.
 */
export type Compile = (files: readonly SourceFile[]) => Promise<ReadonlyMap<string, Uint8Array>>;

/** The guest's name for its byte code, as `sys.implementation.cache_tag` says it: `cpython-312`. */
export type CacheTag = string;

export const GUEST_CACHE_TAG: CacheTag = "cpython-312";

const RECORD = "compiled.json";
const COMPILED = "compiled";
const TAG = /^[a-z][a-z0-9-]{0,40}$/;
const PYC_HEADER_BYTES = 16;
const MAX_RECORD_BYTES = 32 * 1024 * 1024;

/** `openpyxl/cell.py` → `openpyxl/__pycache__/cell.cpython-312.pyc`, where Python looks for it. */
function compiledPath(path: string, tag: CacheTag): string {
  const { dir, name } = posix.parse(path);
  return posix.join(dir, "__pycache__", `${name}.${tag}.pyc`);
}

/** Compiles a package unless that has been done for this guest. Gives the number of files that were compiled now. */
export async function compilePackage(
  store: PackageStore,
  record: PackageRecord,
  tag: CacheTag,
  compile: Compile,
): Promise<number> {
  checkTag(tag);
  const modules = await store.readModules(record);
  if ((await readCompiled(store, record, tag)) !== null) return 0;
  const sources = modules
    .filter(({ path }) => path.endsWith(".py"))
    .map(({ path, bytes }) => ({ path, source: bytes }));
  const compiled = sources.length === 0 ? new Map<string, Uint8Array>() : await compile(sources);
  const files = sources.flatMap(({ path }) => {
    const bytes = compiled.get(path);
    return bytes === undefined ? [] : [{ path: compiledPath(path, tag), bytes: checkPyc(record, path, bytes) }];
  });
  await putCompiled(store, record, tag, files);
  return files.length;
}

/** What was compiled for a guest, or null where nothing was, or where it does not match any more: it can be made again. */
export async function readCompiled(
  store: PackageStore,
  record: PackageRecord,
  tag: CacheTag,
): Promise<readonly PackageFile[] | null> {
  checkTag(tag);
  const folder = folderOf(store, record, tag);
  try {
    const text = (await readBounded(join(folder, RECORD), MAX_RECORD_BYTES)).toString("utf8");
    const { sha256, files: listed } = parseObject(text);
    if (sha256 !== record.sha256) return null;
    const files: PackageFile[] = [];
    for (const file of readFiles(listed)) {
      const bytes = await readBounded(join(folder, file.path), MAX_FILE_BYTES);
      if (!isAsRecorded(bytes, file)) return null;
      files.push({ path: file.path, bytes });
    }
    return files;
  } catch {
    return null;
  }
}

async function putCompiled(
  store: PackageStore,
  record: PackageRecord,
  tag: CacheTag,
  files: readonly PackageFile[],
): Promise<void> {
  const draft = await store.temporary();
  try {
    await writeFiles(draft, files);
    await writeFile(join(draft, RECORD), JSON.stringify({ sha256: record.sha256, files: recordFiles(files) }));
    const place = folderOf(store, record, tag);
    await makeBeside(record, dirname(place));
    if (await renamed(draft, place)) return;
    // Somebody else was faster, or what is there is broken.
    if ((await readCompiled(store, record, tag)) !== null) return;
    await rm(place, { recursive: true, force: true });
    await renamed(draft, place);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Only the last folder is made: whoever removed the package meanwhile wants none of it back. */
async function makeBeside(record: PackageRecord, folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    if (systemCode(error) === "EEXIST") return;
    throw new PackageError("package_missing", `the package ${record.name} was removed while it was being compiled`);
  }
}

function folderOf(store: PackageStore, record: PackageRecord, tag: CacheTag): string {
  return join(store.folder, placeOf(record), COMPILED, tag);
}

/** The tag becomes a folder and a part of file names. */
function checkTag(tag: CacheTag): void {
  if (TAG.test(tag)) return;
  throw new PackageError(
    "package_refused",
    `${show(tag)} is no cache tag of a Python; one looks like ${GUEST_CACHE_TAG}`,
  );
}

function checkPyc({ name }: PackageRecord, path: string, bytes: Uint8Array): Uint8Array {
  if (bytes.length >= PYC_HEADER_BYTES && bytes.length <= MAX_FILE_BYTES) return bytes;
  throw new PackageError(
    "package_refused",
    `compiling ${path} of ${name} gave ${bytes.length} bytes, which is no .pyc`,
  );
}
