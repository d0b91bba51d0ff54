import { PackageError, show } from "./errors.js";
import { isName, normalizeName } from "./names.js";
import type { PackageFile } from "./paths.js";
import {
  checkMetadata,
  findLicenceTexts,
  findMetadata,
  type Omission,
  sift,
  type UnpackedPackage,
} from "./unpacked.js";
import { compareVersions, parseVersion, type Version } from "./version.js";
import { readZip } from "./zip.js";

/** What the file name of a wheel says: `MarkupSafe-2.1.2-cp312-cp312-manylinux_2_17_x86_64.whl`. */
export interface WheelName {
  readonly name: string;
  readonly version: Version;
  readonly pythons: readonly string[];
  readonly abis: readonly string[];
  readonly platforms: readonly string[];
}

const GUEST_MINOR = 12;
const MAX_NAME = 256;

/** Reads the name of a wheel, or gives null where it is none. */
export function parseWheelName(fileName: string): WheelName | null {
  if (!fileName.endsWith(".whl") || fileName.length > MAX_NAME) return null;
  const parts = fileName.slice(0, -4).split("-");
  // A build number may stand in the middle.
  if (parts.length !== 5 && parts.length !== 6) return null;
  const [name = "", written = ""] = parts;
  const version = parseVersion(written.replaceAll("_", "-"));
  const [pythons = "", abis = "", platforms = ""] = parts.slice(-3);
  if (version === null || !isName(name)) return null;
  return {
    name: normalizeName(name),
    version,
    pythons: pythons.split("."),
    abis: abis.split("."),
    platforms: platforms.split("."),
  };
}

/** Whether a wheel runs anywhere with the guest's Python, going by its name. */
export function isPure({ pythons, abis, platforms }: WheelName): boolean {
  return abis.includes("none") && platforms.includes("any") && pythons.some(isForGuest);
}

/** Whether a native wheel is at least made for the guest's version of Python, so that its Python files are right. */
export function isForGuestVersion({ pythons, abis }: WheelName): boolean {
  return (
    pythons.some(isForGuest) && abis.some((abi) => abi === `cp3${GUEST_MINOR}` || abi === "abi3" || abi === "none")
  );
}

/** Takes a wheel apart, after its bytes have been found to be those that were promised. */
export function unpackWheel(
  bytes: Buffer,
  expected: { readonly name: string; readonly version: Version },
): UnpackedPackage {
  const content = readZip(bytes);
  const folder = infoFolder(content);
  const metadata = findMetadata(content, folder);
  if (metadata === null) throw new PackageError("package_refused", `it has no ${folder}/METADATA, so it is no wheel`);
  checkMetadata(metadata);
  const version = parseVersion(metadata.version);
  if (
    normalizeName(metadata.name) !== expected.name ||
    version === null ||
    compareVersions(version, expected.version) !== 0
  ) {
    throw new PackageError(
      "package_refused",
      `its metadata says ${show(`${metadata.name} ${metadata.version}`)}; expected ${expected.name} ${expected.version.text}`,
    );
  }
  const { placed, left } = placeFiles(content);
  const { files, omitted } = sift(metadata.name, placed);
  return {
    name: metadata.name,
    version: version.text,
    requirements: metadata.requirements,
    licence: metadata.licence,
    licenceTexts: findLicenceTexts(content, folder),
    files,
    omitted: [...omitted, ...left],
  };
}

function infoFolder(content: readonly PackageFile[]): string {
  const folders = new Set(
    content.flatMap(({ path }) => {
      const folder = path.split("/")[0] ?? "";
      return folder.endsWith(".dist-info") ? [folder] : [];
    }),
  );
  const [folder] = folders;
  if (folder === undefined || folders.size !== 1) {
    throw new PackageError("package_refused", `it has ${folders.size} .dist-info folders; a wheel has one`);
  }
  return folder;
}

/** `x.data/purelib` belongs to the other modules; its scripts and headers have no place in the guest. */
function placeFiles(content: readonly PackageFile[]): { placed: readonly PackageFile[]; left: readonly Omission[] } {
  const placed: PackageFile[] = [];
  const left: Omission[] = [];
  for (const file of content) {
    const [, scheme, inner] = /^[^/]+\.data\/([^/]+)\/(.+)$/.exec(file.path) ?? [];
    if (scheme === undefined || inner === undefined) placed.push(file);
    else if (scheme === "purelib" || scheme === "platlib") placed.push({ path: inner, bytes: file.bytes });
    else
      left.push({
        kind: "unused",
        what: file.path,
        reason: "not a module: a script, header or data file for the system",
      });
  }
  return { placed, left };
}

/** `py3`, `py2.py3`, `py312`, `cp312`, and `py37` too, because what runs in 3.7 is meant to run in what follows. */
function isForGuest(python: string): boolean {
  const [, kind, minor] = /^(py|cp)3(\d+)?$/.exec(python) ?? [];
  if (kind === undefined) return false;
  if (minor === undefined) return kind === "py";
  return kind === "py" ? Number(minor) <= GUEST_MINOR : Number(minor) === GUEST_MINOR;
}
