import { PackageError } from "./errors.js";
import { isName, normalizeName } from "./names.js";
import { checkPath, checkPlaces } from "./paths.js";
import { parseRequirement } from "./requirement.js";
import type { Omission, OmissionKind } from "./unpacked.js";
import { parseVersion } from "./version.js";

/** A file in the store, as it was when it was put there. */
export interface RecordedFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Everything the store knows about one version of a package. */
export interface PackageRecord {
  /** As the package writes itself: `PyYAML`. */
  readonly name: string;
  readonly version: string;
  readonly source: "pypi" | "debian";
  /** The address it came from, or the name of the `.deb`. */
  readonly origin: string;
  /** Of the wheel, source distribution or `.deb`. */
  readonly sha256: string;
  /** The licence's name where the package states one. */
  readonly licence: string | null;
  readonly licenceTexts: readonly RecordedFile[];
  /** Requirements as PEP 508 writes them. */
  readonly requirements: readonly string[];
  readonly files: readonly RecordedFile[];
  /** Files that were left out, such as native speed-ups. */
  readonly omitted: readonly Omission[];
  /** Requirements that were left out. */
  readonly omittedRequirements: readonly Omission[];
}

const FORMAT = 1;
const OMISSIONS: readonly OmissionKind[] = ["native", "elsewhere", "unused"];
const SHA256 = /^[0-9a-f]{64}$/;

type Json = Readonly<Record<string, unknown>>;

export function writeRecord(record: PackageRecord): string {
  return `${JSON.stringify({ format: FORMAT, ...record }, null, 1)}\n`;
}

/** Reads a record and believes none of it: the paths in it are where we will read. */
export function readRecord(text: string): PackageRecord {
  const json = parseObject(text);
  if (json.format !== FORMAT) throw damaged(`is of format ${JSON.stringify(json.format ?? null)}; known is ${FORMAT}`);
  const { name, version, source, origin, sha256, licence } = json;
  if (typeof name !== "string" || !isName(name)) throw damaged("has no name");
  if (typeof version !== "string" || parseVersion(version) === null) throw damaged("has no version");
  if (source !== "pypi" && source !== "debian") throw damaged("does not say where it came from");
  if (typeof origin !== "string" || typeof sha256 !== "string" || !SHA256.test(sha256)) throw damaged("has no hash");
  if (licence !== null && typeof licence !== "string") throw damaged("has an unreadable licence");
  const files = readFiles(json.files);
  const licenceTexts = readFiles(json.licenceTexts);
  return {
    name,
    version,
    source,
    origin,
    sha256,
    licence,
    licenceTexts,
    requirements: readRequirements(json.requirements),
    files,
    omitted: readOmissions(json.omitted),
    omittedRequirements: readOmissions(json.omittedRequirements),
  };
}

/** Reads a list of files with their hashes, refusing paths that lead elsewhere. */
export function readFiles(json: unknown): readonly RecordedFile[] {
  const files = list(json).map((entry) => {
    const { path, bytes, sha256 } = object(entry);
    const isWhole = typeof bytes === "number" && Number.isSafeInteger(bytes) && bytes >= 0;
    if (typeof path !== "string" || !isWhole || typeof sha256 !== "string" || !SHA256.test(sha256)) {
      throw damaged("lists a file without its path, length and hash");
    }
    return { path: checkPath(path), bytes, sha256 };
  });
  checkPlaces(files);
  return files;
}

/** Where a version lies in the store: `et-xmlfile/1.0.1`. */
export function placeOf({ name, version }: { readonly name: string; readonly version: string }): string {
  return `${normalizeName(name)}/${parseVersion(version)?.text ?? version}`;
}

export function parseObject(text: string): Json {
  try {
    return object(JSON.parse(text));
  } catch (error) {
    if (error instanceof PackageError) throw error;
    throw damaged("is no JSON");
  }
}

function readRequirements(json: unknown): readonly string[] {
  return list(json).map((entry) => {
    if (typeof entry !== "string") throw damaged("lists a requirement that is no text");
    parseRequirement(entry);
    return entry;
  });
}

function readOmissions(json: unknown): readonly Omission[] {
  return list(json).map((entry) => {
    const { kind, what, reason } = object(entry);
    const known = OMISSIONS.find((each) => each === kind);
    if (known === undefined || typeof what !== "string" || typeof reason !== "string") {
      throw damaged("lists an omission without its reason");
    }
    return { kind: known, what, reason };
  });
}

function list(json: unknown): readonly unknown[] {
  if (!Array.isArray(json)) throw damaged("lacks a list");
  return json;
}

function object(json: unknown): Json {
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw damaged("is no JSON object");
  return Object.fromEntries(Object.entries(json));
}

function damaged(problem: string): PackageError {
  return new PackageError("package_damaged", `its record ${problem}`);
}
