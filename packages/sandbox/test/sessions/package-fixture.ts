import { join } from "node:path";
import { openSandbox, type Sandbox } from "@bursar/sandbox";
import { addPackages, compilePackages, GuestCompiler, licences, PackageError } from "@bursar/sandbox/packages";
import { CACHE } from "../python/parts.js";

/** What the tests use for real. */
export const NAMES = ["openpyxl", "PyPDF2", "jinja2", "python-dateutil", "tabulate", "PyYAML", "markdown"];

/** Both are kept from one run of the tests to the next: one as it was fetched, one compiled. */
export const PLAIN = join(CACHE, "packages-plain");
export const COMPILED = join(CACHE, "packages");

/** Fetches packages from Debian unless an earlier run has; without Debian there is nothing to test. */
export async function fetchPackages(folder: string, names: readonly string[]): Promise<void> {
  try {
    await licences(folder, names);
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    await addPackages(names, { folder, source: "debian" }).catch((cause: Error) => {
      throw new Error(`these tests fetch real packages from Debian and could not: ${cause.message}`, { cause });
    });
  }
}

/** Makes sure that all packages are there, and compiled for the guest at hand. */
export async function compileAll(): Promise<void> {
  await fetchPackages(COMPILED, NAMES);
  await using compiler = new GuestCompiler({ sandbox: placesOf(COMPILED) });
  await compilePackages(COMPILED, NAMES, compiler.compile, await compiler.tag());
}

export function openWith(packagesFolder: string): Promise<Sandbox> {
  return openSandbox({ ...placesOf(packagesFolder), workers: 1 });
}

export function placesOf(packagesFolder: string) {
  return { cacheFolder: CACHE, packagesFolder, keyFile: join(CACHE, "key") };
}
