import { gunzipSync } from "node:zlib";
import { PackageError, show } from "./errors.js";
import { isName, normalizeName } from "./names.js";
import { MAX_PACKAGE_BYTES, type PackageFile } from "./paths.js";
import { readTar } from "./tar.js";
import { checkMetadata, findMetadata, sift, type UnpackedPackage } from "./unpacked.js";
import { compareVersions, parseVersion, type Version } from "./version.js";

/** What the file name of a source distribution says: `tabulate-0.8.9.tar.gz`. */
export interface SdistName {
  readonly name: string;
  readonly version: Version;
}

const NATIVE_SOURCE = /\.(?:c|cc|cpp|cxx|h|hpp|pyx|pxd|rs|f|f90|f95|m|mm|s|asm|go|swg|i)$/i;
const MAX_NAME = 256;

/** Reads the name of a source distribution, or gives null where it is none that we can unpack. */
export function parseSdistName(fileName: string): SdistName | null {
  const stem = /^(.{1,250})\.tar\.gz$/.exec(fileName)?.[1];
  const dash = stem?.lastIndexOf("-") ?? -1;
  if (stem === undefined || dash <= 0 || fileName.length > MAX_NAME) return null;
  const version = parseVersion(stem.slice(dash + 1));
  const name = stem.slice(0, dash);
  return version === null || !isName(name) ? null : { name: normalizeName(name), version };
}

/**
 * Takes a source distribution apart, if that can be done by looking. We never run a stranger's `setup.py`: a package is
 * taken only when it lists its modules, holds them as they are, and has nothing to build.
 */
export async function unpackSdist(bytes: Buffer, expected: SdistName): Promise<UnpackedPackage> {
  const { files } = await readTar(gunzip(bytes));
  const content = stripFolder(files);
  const source = content.find(({ path }) => NATIVE_SOURCE.test(path));
  if (source !== undefined) {
    throw new PackageError("package_native", `it has only a source distribution, with ${source.path} to compile`);
  }
  const folder = content
    .map(({ path }) => /^((?:src\/|lib\/)?[^/]+\.egg-info)\/top_level\.txt$/.exec(path)?.[1])
    .find(Boolean);
  if (folder === undefined) {
    throw new PackageError(
      "package_refused",
      "it has only a source distribution, which would have to be built by running its own code; that is not done here",
    );
  }
  const metadata = findMetadata(content, folder);
  const version = parseVersion(metadata?.version ?? "");
  if (metadata === null || version === null || compareVersions(version, expected.version) !== 0) {
    throw new PackageError("package_refused", `its metadata does not say version ${expected.version.text}`);
  }
  if (normalizeName(metadata.name) !== expected.name) {
    throw new PackageError("package_refused", `its metadata says ${show(metadata.name)}; expected ${expected.name}`);
  }
  checkMetadata(metadata);
  const root = folder.includes("/") ? folder.slice(0, folder.indexOf("/") + 1) : "";
  const modules = moduleFiles(content, root, topLevels(content, folder));
  const info = content
    .filter(({ path }) => path.startsWith(`${folder}/`))
    .map(({ path, bytes: body }) => ({ path: path.slice(root.length), bytes: body }));
  return {
    name: metadata.name,
    version: version.text,
    requirements: metadata.requirements,
    licence: metadata.licence,
    licenceTexts: content.filter(({ path }) => /^(?:licen[cs]e|copying|notice)[^/]*$/i.test(path)),
    ...sift(metadata.name, [...modules, ...info]),
  };
}

function gunzip(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_PACKAGE_BYTES });
  } catch (cause) {
    throw new PackageError("package_refused", "it is no gzip file, is cut off, or unpacks to too much", { cause });
  }
}

/** Everything lies in one folder, which is named after the package and means nothing. */
function stripFolder(files: readonly PackageFile[]): readonly PackageFile[] {
  return files.flatMap(({ path, bytes }) => {
    const slash = path.indexOf("/");
    return slash === -1 ? [] : [{ path: path.slice(slash + 1), bytes }];
  });
}

function topLevels(content: readonly PackageFile[], folder: string): readonly string[] {
  const list = content.find(({ path }) => path === `${folder}/top_level.txt`);
  return Buffer.from(list?.bytes ?? [])
    .toString("utf8")
    .split(/\s+/)
    .filter((module) => /^\w+$/.test(module));
}

function moduleFiles(
  content: readonly PackageFile[],
  root: string,
  modules: readonly string[],
): readonly PackageFile[] {
  return modules.flatMap((module) => {
    const own = content.filter(({ path }) => path === `${root}${module}.py` || path.startsWith(`${root}${module}/`));
    if (!own.some(({ path }) => path.endsWith(".py"))) {
      throw new PackageError(
        "package_refused",
        `it promises a module ${show(module)} that only building it would make`,
      );
    }
    return own.map(({ path, bytes }) => ({ path: path.slice(root.length), bytes }));
  });
}
