import { posix } from "node:path";
import { type TarHeader, unpackTar } from "modern-tar";
import { describeError, PackageError, show } from "./errors.js";
import { checkPath, MAX_FILE_BYTES, MAX_FILES, MAX_PACKAGE_BYTES, type PackageFile } from "./paths.js";

/** What a tar holds: files, and links that did not lead to one of them. */
export interface TarContent {
  readonly files: readonly PackageFile[];
  readonly danglingLinks: readonly string[];
}

const MAX_LINK_STEPS = 8;

/**
 * Reads a tar that is in memory, which bounds what its files hold together. Links are counted as the copies they become.
 * Nothing of it becomes a file by itself. A link that leads out of the tar leads nowhere.
 */
export async function readTar(tar: Buffer): Promise<TarContent> {
  let count = 0;
  const check = (header: TarHeader): boolean => {
    checkHeader(header);
    if (++count > MAX_FILES) throw refuse(`it holds more than ${MAX_FILES} files`);
    return header.type !== "directory";
  };
  const entries = await unpackTar(tar, { strict: true, filter: check }).catch((error: unknown) => {
    if (error instanceof PackageError) throw error;
    throw refuse(`it is no tar, is cut off or damaged: ${describeError(error)}`, error);
  });
  const files = new Map<string, Uint8Array>();
  const links = new Map<string, string>();
  for (const { header, data } of entries) {
    const path = checkPath(header.name);
    if (header.type === "file") files.set(path, data ?? new Uint8Array());
    else links.set(path, findTarget(path, header));
  }
  return followLinks(files, links);
}

/** Refuses an entry before its content is read. */
function checkHeader({ name, type, size }: TarHeader): void {
  switch (type) {
    case "file":
    case "link":
    case "symlink":
      checkPath(name);
      break;
    case "directory":
      // A folder exists by what is in it; the root itself is written "./".
      if (!/^\.?\/?$/.test(name)) checkPath(name.replace(/\/+$/, ""));
      break;
    default:
      throw refuse(`it holds ${show(name)}, which is neither a file nor a folder nor a link (${type})`);
  }
  if (size > MAX_FILE_BYTES) throw refuse(`${show(name)} holds more than ${MAX_FILE_BYTES} bytes`);
}

/** Where a link leads inside the tar. A hard link names a path from the root, a symbolic one a path from its own folder. */
function findTarget(path: string, { type, linkname = "" }: TarHeader): string {
  const folder = type === "link" ? "/" : posix.dirname(`/${path}`);
  return posix.resolve(folder, linkname).slice(1);
}

/** A chain of links ends after a few steps, or goes round in circles. */
function followLinks(files: ReadonlyMap<string, Uint8Array>, links: ReadonlyMap<string, string>): TarContent {
  const found = [...files].map(([path, bytes]) => ({ path, bytes }));
  const danglingLinks: string[] = [];
  for (const [path, first] of links) {
    let target: string | undefined = first;
    for (let step = 0; step < MAX_LINK_STEPS && target !== undefined && !files.has(target); step++) {
      target = links.get(target);
    }
    const bytes = target === undefined ? undefined : files.get(target);
    if (bytes === undefined) danglingLinks.push(path);
    else found.push({ path, bytes });
  }
  const total = found.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (total > MAX_PACKAGE_BYTES) throw refuse(`it unpacks to more than ${MAX_PACKAGE_BYTES} bytes`);
  return { files: found, danglingLinks };
}

function refuse(problem: string, cause?: unknown): PackageError {
  return new PackageError("package_refused", problem, { cause });
}
