import type { DebianFile } from "./apt.js";
import { PackageError } from "./errors.js";
import { nameOfDebian } from "./known-names.js";
import { type Metadata, parseHeaders } from "./metadata.js";
import { normalizeName } from "./names.js";
import type { PackageFile } from "./paths.js";
import { parseRequirement } from "./requirement.js";
import { readTar } from "./tar.js";
import { findMetadata, type Omission, sift, type UnpackedPackage } from "./unpacked.js";
import { parseVersion } from "./version.js";

const MODULES = /^usr\/lib\/python3(?:\.\d+)?\/dist-packages\/(.+)$/;

/**
 * Takes a Debian package apart. Its requirements are left as the package itself states them; Debian states its own, and
 * which of the two counts is decided by whoever knows both.
 */
export async function unpackDeb({ about, tar }: DebianFile): Promise<UnpackedPackage> {
  const { files: content, danglingLinks } = await readTar(tar);
  const modules = below(content);
  if (modules.length === 0) {
    throw new PackageError("package_refused", `${about.debianName} holds no Python modules`);
  }
  const guess = nameOfDebian(about.debianName);
  const metadata = bestMetadata(modules, guess);
  const name = metadata?.name ?? guess;
  const copyright = content.find(({ path }) => path === `usr/share/doc/${about.debianName}/copyright`);
  const { files, omitted } = sift(name, modules);
  const links: readonly Omission[] = danglingLinks.flatMap((path) => {
    const module = MODULES.exec(path)?.[1];
    return module === undefined
      ? []
      : [{ kind: "elsewhere", what: module, reason: "a link to a file of Debian that is not in the package" }];
  });
  return {
    name,
    version: versionOf(metadata, about.debianVersion),
    requirements: (metadata?.requirements ?? []).filter(isReadable),
    licence: licenceName(copyright) ?? metadata?.licence ?? null,
    licenceTexts: copyright === undefined ? [] : [{ path: "copyright", bytes: copyright.bytes }],
    files,
    omitted: [...omitted, ...links],
  };
}

function below(content: readonly PackageFile[]): readonly PackageFile[] {
  return content.flatMap(({ path, bytes }) => {
    const module = MODULES.exec(path)?.[1];
    // Copied, so that the documentation around it need not be kept in memory.
    return module === undefined ? [] : [{ path: module, bytes: Uint8Array.from(bytes) }];
  });
}

/** Debian states the dependencies that count; what old metadata writes in its own way is no reason to refuse a package. */
function isReadable(requirement: string): boolean {
  try {
    parseRequirement(requirement);
    return true;
  } catch {
    return false;
  }
}

/** A package may bring several; the one of its own name counts, else the first. */
function bestMetadata(modules: readonly PackageFile[], guess: string): Metadata | null {
  const folders = new Set(
    modules.flatMap(({ path }) => {
      const folder = path.split("/")[0] ?? "";
      return /\.(?:dist|egg)-info$/.test(folder) ? [folder] : [];
    }),
  );
  const all = [...folders].sort().flatMap((folder) => {
    const metadata = findMetadata(modules, folder);
    return metadata === null ? [] : [metadata];
  });
  return all.find(({ name }) => normalizeName(name) === guess) ?? all[0] ?? null;
}

/**
 * The version that the package states. Where its build could not find that out, it says 0.0.0; then Debian knows better, whose
 * `1:2.0~rc1+dfsg-3` is upstream's `2.0`.
 */
function versionOf(metadata: Metadata | null, debianVersion: string): string {
  const stated = metadata === null ? null : parseVersion(metadata.version);
  if (stated?.release.some((part) => part !== 0) === true) return stated.text;
  const upstream = debianVersion.replace(/^\d+:/, "").replace(/-[^-]*$/, "");
  return parseVersion(/^\d+(?:\.\d+)*/.exec(upstream)?.[0] ?? "")?.text ?? "0";
}

/** Debian's machine-readable copyright says in its paragraph about all files under which licence they are. */
function licenceName(copyright: PackageFile | undefined): string | null {
  if (copyright === undefined) return null;
  const paragraphs = Buffer.from(copyright.bytes)
    .toString("utf8")
    .split(/\n[ \t]*\n+/, 500);
  for (const paragraph of paragraphs) {
    const headers = parseHeaders(paragraph.trim());
    const covers = headers.get("files")?.[0]?.split(/\s+/) ?? [];
    const licence = headers.get("license")?.[0]?.split("\n")[0];
    if (covers.includes("*") && licence !== undefined && licence !== "") return licence;
  }
  return null;
}
