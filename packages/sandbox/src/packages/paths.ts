import { PackageError, show } from "./errors.js";

/** A file of a package: where it belongs below `site-packages`, and what is in it. */
export interface PackageFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** How much a package may hold. Far above every pure-Python package, far below what would hurt a machine. */
export const MAX_FILES = 20_000;
export const MAX_FILE_BYTES: number = 64 * 1024 * 1024;
export const MAX_PACKAGE_BYTES: number = 256 * 1024 * 1024;
/** How much all packages of one call may hold together, because they are in memory until all are known to be sound. */
const MAX_TOTAL_BYTES = 1024 * 1024 * 1024;
/** What may be downloaded as one file. */
export const MAX_DOWNLOAD_BYTES: number = 128 * 1024 * 1024;

const MAX_PATH_LENGTH = 512;
const MAX_PART_BYTES = 240;

/**
 * Gives a relative path in normal form, or refuses it. A path from a downloaded file decides where we write, so it may
 * neither climb nor mean something else on another system.
 */
export function checkPath(written: string): string {
  const path = written.replace(/^(?:\.\/)+/, "");
  const parts = path.split("/");
  const isUnsafe =
    path.length > MAX_PATH_LENGTH ||
    isAbsolute(path) ||
    path.includes("\\") ||
    hasControlCharacter(path) ||
    parts.some((part) => part === "" || part === "." || part === ".." || Buffer.byteLength(part) > MAX_PART_BYTES);
  if (isUnsafe) {
    throw new PackageError("package_refused", `it holds a file at ${show(written)}, which is no path inside a package`);
  }
  return path;
}

/** Counts the bytes of one more package, and refuses it when it is too much. */
export function addUp(before: number, files: readonly PackageFile[]): number {
  const total = files.reduce((sum, { bytes }) => sum + bytes.length, before);
  if (total <= MAX_TOTAL_BYTES) return total;
  throw new PackageError(
    "package_refused",
    `all packages together hold more than ${MAX_TOTAL_BYTES} bytes; add fewer at once`,
  );
}

/** Refuses two files at one place, or at places that only some file systems tell apart, or a file where a folder is. */
export function checkPlaces(files: readonly { readonly path: string }[]): void {
  const places = new Map<string, string>();
  for (const { path } of files) {
    const place = path.toLowerCase();
    const other = places.get(place);
    if (other !== undefined) throw collision(path, other);
    places.set(place, path);
  }
  for (const [place, path] of places) {
    for (let end = place.lastIndexOf("/"); end > 0; end = place.lastIndexOf("/", end - 1)) {
      const other = places.get(place.slice(0, end));
      if (other !== undefined) throw collision(path, other);
    }
  }
}

function collision(path: string, other: string): PackageError {
  return new PackageError(
    "package_refused",
    `it holds both ${show(path)} and ${show(other)}, which cannot be side by side`,
  );
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/") || /^[a-z]:/i.test(path);
}

function hasControlCharacter(path: string): boolean {
  for (let index = 0; index < path.length; index++) {
    const code = path.charCodeAt(index);
    if (code < 32 || code === 127) return true;
  }
  return false;
}
