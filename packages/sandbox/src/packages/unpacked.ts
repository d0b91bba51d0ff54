import { describeError, PackageError } from "./errors.js";
import { GUEST_ENVIRONMENT } from "./marker.js";
import { type Metadata, parseMetadata, parseRequiresTxt } from "./metadata.js";
import { isNative, isSpeedUp } from "./native.js";
import { checkPlaces, type PackageFile } from "./paths.js";
import { parseRequirement } from "./requirement.js";
import { meets, parseSpecifiers } from "./specifier.js";
import { parseVersion } from "./version.js";

/**
 * Something that was in a package, or that it asked for, and that the guest gets along without.
 * - `native`: machine code that only makes it faster, or a package of machine code it can do without.
 * - `elsewhere`: a link to a file outside the package, or a dependency that is no Python package.
 * - `unused`: scripts, headers and programs, which nobody imports.
 */
export interface Omission {
  readonly kind: OmissionKind;
  readonly what: string;
  readonly reason: string;
}

export type OmissionKind = "native" | "elsewhere" | "unused";

/** A package as it goes into the store: files below `site-packages`, and what is known about them. */
export interface UnpackedPackage {
  /** As the package writes itself: `PyYAML`. */
  readonly name: string;
  readonly version: string;
  /** Requirements as PEP 508 writes them, markers included. */
  readonly requirements: readonly string[];
  readonly licence: string | null;
  readonly licenceTexts: readonly PackageFile[];
  readonly files: readonly PackageFile[];
  readonly omitted: readonly Omission[];
}

/** Which native package it was is said by whoever asked for it. */
const NATIVE_SHOWN = 3;

export interface Sifted {
  readonly files: readonly PackageFile[];
  readonly omitted: readonly Omission[];
}

/** Leaves out what the guest cannot use, and refuses a package that is nothing without it. */
export function sift(packageName: string, files: readonly PackageFile[]): Sifted {
  const kept: PackageFile[] = [];
  const omitted: Omission[] = [];
  const native: string[] = [];
  for (const file of files) {
    const { path, bytes } = file;
    if (/(?:^|\/)__pycache__\/|\.py[co]$/.test(path)) continue;
    if (/\.exe$/i.test(path)) omitted.push({ kind: "unused", what: path, reason: "a program for another system" });
    else if (!isNative(path, bytes)) kept.push(file);
    else if (isSpeedUp(packageName, path))
      omitted.push({ kind: "native", what: path, reason: "a native speed-up it works without" });
    else native.push(path);
  }
  if (native.length > 0) {
    const shown = native.slice(0, NATIVE_SHOWN).join(", ");
    const more = native.length > NATIVE_SHOWN ? ` and ${native.length - NATIVE_SHOWN} more` : "";
    throw new PackageError("package_native", `it holds native code (${shown}${more}), which the guest cannot load`);
  }
  checkPlaces(kept);
  return { files: kept, omitted };
}

/** Refuses metadata that we cannot act upon later: unreadable requirements, or a Python that is not the guest's. */
export function checkMetadata(metadata: Metadata): void {
  metadata.requirements.forEach(checkRequirement);
  if (parseVersion(metadata.version) === null) {
    throw new PackageError(
      "package_refused",
      `its version ${JSON.stringify(metadata.version)} is none that PEP 440 knows`,
    );
  }
  if (!runsInGuest(metadata.requiresPython)) {
    throw new PackageError(
      "package_refused",
      `it needs Python ${metadata.requiresPython}, and the guest is ${GUEST_ENVIRONMENT.python_full_version}`,
    );
  }
}

function checkRequirement(written: string): void {
  try {
    parseRequirement(written);
  } catch (error) {
    throw new PackageError("package_refused", `a requirement cannot be read: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/** Whether the guest's Python is one of those a package says it runs in. */
export function runsInGuest(requiresPython: string | null): boolean {
  if (requiresPython === null || requiresPython === "") return true;
  const guest = parseVersion(GUEST_ENVIRONMENT.python_full_version ?? "");
  try {
    return guest !== null && meets(guest, parseSpecifiers(requiresPython));
  } catch {
    // Old packages write what no specification knows; the hint is optional, so it does not decide.
    return true;
  }
}

/** The metadata of the `.dist-info` or `.egg-info` in a folder of files, with the requirements older packages keep beside it. */
export function findMetadata(files: readonly PackageFile[], folder: string): Metadata | null {
  const text = (path: string) => {
    const found = files.find((file) => file.path === path);
    return found === undefined ? null : Buffer.from(found.bytes).toString("utf8");
  };
  const written = text(`${folder}/METADATA`) ?? text(`${folder}/PKG-INFO`) ?? text(folder);
  if (written === null) return null;
  const metadata = parseMetadata(written);
  const older = text(`${folder}/requires.txt`);
  if (metadata.requirements.length > 0 || older === null) return metadata;
  return { ...metadata, requirements: parseRequiresTxt(older) };
}

/** Texts of licences that a package brings along in its metadata folder. */
export function findLicenceTexts(files: readonly PackageFile[], folder: string): readonly PackageFile[] {
  const own = files.filter(({ path }) => path.startsWith(`${folder}/`));
  return own
    .map(({ path, bytes }) => ({ path: path.slice(folder.length + 1), bytes }))
    .filter(({ path }) => /^(?:licen[cs]es\/.+|(?:licen[cs]e|copying|notice|authors)[^/]*)$/i.test(path));
}
