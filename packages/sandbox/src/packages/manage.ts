import { type CacheTag, type Compile, compilePackage, GUEST_CACHE_TAG } from "./compiled.js";
import { PackageError } from "./errors.js";
import { hintFor } from "./known-names.js";
import { GUEST_ENVIRONMENT } from "./marker.js";
import { normalizeName } from "./names.js";
import type { PackageRecord } from "./record.js";
import { applies, parseRequirement } from "./requirement.js";
import { meets } from "./specifier.js";
import { PackageStore, type Stored } from "./store.js";
import { chooseMountable, chooseStored } from "./tree.js";
import { parseVersion } from "./version.js";

/** The licence of a package, with the texts it brings along. */
export interface PackageLicence {
  readonly name: string;
  readonly version: string;
  /** Null where the package names none; its texts then say more. */
  readonly licence: string | null;
  readonly texts: readonly { readonly path: string; readonly text: string }[];
}

/** All packages in a folder, by name; a damaged one is listed with what is wrong. */
export async function listPackages(folder: string): Promise<readonly Stored[]> {
  return await new PackageStore(folder).list();
}

/** Why packages, or what they need, are not in the folder as they should be: a sentence for each; nothing when all are. */
export async function storedProblems(folder: string, names: readonly string[]): Promise<readonly string[]> {
  const stored = await new PackageStore(folder).list();
  const problems: string[] = [];
  for (const name of names) {
    try {
      await chooseStored(stored, [parseRequirement(name)]);
    } catch (error) {
      if (!(error instanceof PackageError)) throw error;
      problems.push(error.message);
    }
  }
  return problems;
}

/**
 * The names of all packages in a folder that one session can mount together: by name, and without those that are damaged, lack
 * what they need, or do not fit beside the ones before them.
 */
export async function mountablePackages(folder: string): Promise<readonly string[]> {
  const stored = (await new PackageStore(folder).list()).filter((each) => each.kind === "sound");
  const names = [...new Set(stored.map(nameOf))].sort();
  const fits = (wanted: readonly string[]): Promise<boolean> =>
    chooseMountable(stored, wanted.map(parseRequirement)).then(
      () => true,
      (error: unknown) => {
        if (error instanceof PackageError) return false;
        throw error;
      },
    );
  if (await fits(names)) return names;
  let mountable: readonly string[] = [];
  for (const name of names) if (await fits([...mountable, name])) mountable = [...mountable, name];
  return mountable;
}

/** The licences of packages and of all they need, or of everything in the folder. */
export async function licences(folder: string, names?: readonly string[]): Promise<readonly PackageLicence[]> {
  const store = new PackageStore(folder);
  const stored = await store.list();
  const records =
    names === undefined
      ? stored.flatMap((each) => (each.kind === "sound" ? [each.record] : []))
      : await chooseStored(stored, names.map(parseRequirement));
  const found: PackageLicence[] = [];
  for (const record of records) {
    const texts = (await store.readLicences(record)).map(({ path, bytes }) => ({
      path,
      text: Buffer.from(bytes).toString("utf8"),
    }));
    found.push({ name: record.name, version: record.version, licence: record.licence, texts });
  }
  return found.sort((a, b) => (normalizeName(a.name) < normalizeName(b.name) ? -1 : 1));
}

/** Compiles packages and all they need for a guest, unless that has been done. Gives the number of files compiled now. */
export async function compilePackages(
  folder: string,
  names: readonly string[],
  compile: Compile,
  cacheTag: CacheTag = GUEST_CACHE_TAG,
): Promise<number> {
  const store = new PackageStore(folder);
  let files = 0;
  for (const record of await chooseStored(await store.list(), names.map(parseRequirement))) {
    files += await compilePackage(store, record, cacheTag, compile);
  }
  return files;
}

/**
 * Removes a package, `openpyxl` in all versions or `openpyxl==3.0.9` in one, and says what was removed. One that others
 * need is kept, because they would break when they are next opened.
 */
export async function removePackage(folder: string, requirement: string): Promise<readonly string[]> {
  const store = new PackageStore(folder);
  const { name, specifiers } = parseRequirement(requirement);
  const stored = await store.list();
  const doomed = stored.filter((each) => {
    const version = parseVersion(versionOf(each));
    return nameOf(each) === name && (specifiers.length === 0 || (version !== null && meets(version, specifiers)));
  });
  if (doomed.length === 0) {
    const hint = hintFor(name, stored.map(nameOf));
    throw new PackageError("package_missing", `there is no package ${requirement} in ${folder}${hint}`);
  }
  const kept = stored.filter((each) => !doomed.includes(each));
  const needy = kept.flatMap((each) =>
    each.kind === "sound" && isLeftAlone(each.record, name, kept) ? [each.record] : [],
  );
  if (needy.length > 0) {
    const who = needy.map((record) => `${record.name} ${record.version}`).join(", ");
    throw new PackageError("package_conflict", `${requirement} is needed by ${who}; remove that first`);
  }
  for (const each of doomed) await store.remove({ name: nameOf(each), version: versionOf(each) });
  return doomed.map((each) => `${nameOf(each)} ${versionOf(each)}`);
}

/** Whether a package needs another one of which no version that fits would be left. */
function isLeftAlone(record: PackageRecord, name: string, kept: readonly Stored[]): boolean {
  const demands = record.requirements
    .map(parseRequirement)
    .filter((each) => each.name === name && applies(each, GUEST_ENVIRONMENT, []));
  return demands.some(({ specifiers }) => {
    return !kept.some((each) => {
      const version = parseVersion(versionOf(each));
      return nameOf(each) === name && version !== null && meets(version, specifiers);
    });
  });
}

function nameOf(stored: Stored): string {
  return stored.kind === "sound" ? normalizeName(stored.record.name) : stored.name;
}

function versionOf(stored: Stored): string {
  return stored.kind === "sound" ? stored.record.version : stored.version;
}
