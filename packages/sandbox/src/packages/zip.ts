import { readZipEntries, unpackZipEntry, type ZipEntry, ZipError } from "../archive/zip-archive.js";
import { PackageError, show } from "./errors.js";
import { checkPath, MAX_FILE_BYTES, MAX_FILES, MAX_PACKAGE_BYTES, type PackageFile } from "./paths.js";

/**
 * Reads all files of a downloaded zip. Links, encrypted files and paths that lead elsewhere are refused, and so is what the directory states to
 * be too large, before anything is unpacked.
 */
export function readZip(zip: Buffer): readonly PackageFile[] {
  try {
    const entries = readZipEntries(zip);
    if (entries.length > MAX_FILES) throw refuse(`it holds ${entries.length} files; at most ${MAX_FILES} are taken`);
    const files = entries.filter(checkEntry);
    const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total > MAX_PACKAGE_BYTES) {
      throw refuse(`it unpacks to ${total} bytes; at most ${MAX_PACKAGE_BYTES} are taken`);
    }
    return files.map((entry) => ({ path: checkPath(entry.name), bytes: unpackZipEntry(zip, entry) }));
  } catch (error) {
    if (error instanceof ZipError) throw refuse(error.message, error);
    throw error;
  }
}

/** Whether an entry is a file. A folder exists by what is in it. */
function checkEntry({ name, bytes, isLink, isEncrypted }: ZipEntry): boolean {
  if (isLink) throw refuse(`it holds a link at ${show(name)}; a wheel has files only`);
  const isFolder = name.endsWith("/");
  const path = checkPath(isFolder ? name.slice(0, -1) : name);
  if (bytes > MAX_FILE_BYTES) throw refuse(`${show(path)} unpacks to more than ${MAX_FILE_BYTES} bytes`);
  if (isEncrypted) throw refuse(`${show(path)} is encrypted`);
  return !isFolder;
}

function refuse(problem: string, cause?: unknown): PackageError {
  return new PackageError("package_refused", problem, { cause });
}
