import { Apt } from "./apt.js";
import { type CacheTag, type Compile, compilePackage, GUEST_CACHE_TAG } from "./compiled.js";
import { DebianSource } from "./debian.js";
import { PackageError } from "./errors.js";
import type { Fetch } from "./http.js";
import { findIndex, type ProcessEnvironment } from "./index-url.js";
import { GUEST_ENVIRONMENT } from "./marker.js";
import { PypiSource } from "./pypi.js";
import type { PackageRecord } from "./record.js";
import { parseRequirement, type Requirement } from "./requirement.js";
import { resolve } from "./resolve.js";
import type { Delivery, PackageSource } from "./source.js";
import { PackageStore } from "./store.js";

/** What `addPackages` tells while it works. */
export type AddProgress =
  | { readonly kind: "source"; readonly source: "pypi" | "debian"; readonly reason: string | null }
  | { readonly kind: "downloading"; readonly name: string; readonly version: string; readonly origin: string }
  | { readonly kind: "stored"; readonly name: string; readonly version: string }
  | { readonly kind: "compiled"; readonly name: string; readonly version: string; readonly files: number };

export interface AddOptions {
  /** Where the store of packages lives; it is made if need be. */
  readonly folder: string;
  /** `auto` takes the index where it answers, else Debian's packages. */
  readonly source?: "auto" | "pypi" | "debian";
  /** An index that speaks the simple API in JSON; else as pip is configured, else the public one. */
  readonly indexUrl?: string;
  /** Compiles modules inside the guest, once per package. */
  readonly compile?: Compile;
  readonly cacheTag?: CacheTag;
  readonly progress?: (progress: AddProgress) => void;
  readonly signal?: AbortSignal;
  readonly fetch?: Fetch;
  /** Where pip's and apt's variables are read; the process's own where it is not given. */
  readonly env?: ProcessEnvironment;
}

export interface AddReport {
  readonly source: "pypi" | "debian";
  /** What was asked for and all it needs, as it is in the store now. */
  readonly packages: readonly PackageRecord[];
  /** Those among them, as `name version`, that had not been there. */
  readonly added: readonly string[];
  /** What a user should know: why it was this source, what was left out. */
  readonly notes: readonly string[];
}

const MAX_ASKED = 200;

/**
 * Adds packages to a folder, with everything they need. Versions are chosen and all files are fetched and checked before
 * the first is stored, so a refusal leaves the folder as it was.
 *
 * @example
 * ```ts
 * const report = await addPackages(["openpyxl", "jinja2>=3"], { folder: "/var/lib/bursar/packages" });
 * for (const note of report.notes) console.log(note);
 * ```
 */
export async function addPackages(names: readonly string[], options: AddOptions): Promise<AddReport> {
  const requirements = names.map(parseRequirement);
  if (requirements.length === 0) throw new PackageError("package_name", "name at least one package, as in openpyxl");
  if (requirements.length > MAX_ASKED)
    throw new PackageError("package_name", `name at most ${MAX_ASKED} packages at once`);
  options.signal?.throwIfAborted();
  const chosen = await chooseSource(requirements, options);
  await using source = chosen.source;
  const { reason } = chosen;
  options.progress?.({ kind: "source", source: source.kind, reason });
  const deliveries = await fetchAll(source, requirements);
  options.signal?.throwIfAborted();
  return await storeAll(source, deliveries, reason === null ? [] : [reason], options);
}

/** Whether the index answers is found out with the first name, because asking costs nothing that is not needed anyway. */
async function chooseSource(
  requirements: readonly Requirement[],
  options: AddOptions,
): Promise<{ source: PackageSource; reason: string | null }> {
  const wanted = options.source ?? "auto";
  if (wanted === "debian") return { source: debianSource(options), reason: null };
  const source = await pypiSource(options);
  if (wanted === "pypi") return { source, reason: null };
  try {
    await source.candidates(requirements[0]?.name ?? "");
    return { source, reason: null };
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    const isSilent = error.code === "source_unreachable" || error.code === "source_answer";
    if (!isSilent) return { source, reason: null };
    return { source: await fallback(error, options), reason: `took Debian's packages, because ${error.message}` };
  }
}

async function fallback(problem: PackageError, options: AddOptions): Promise<PackageSource> {
  const source = debianSource(options);
  try {
    await source.prepare([]);
    return source;
  } catch (error) {
    await source[Symbol.asyncDispose]();
    if (!(error instanceof PackageError)) throw error;
    throw new PackageError("source_unreachable", `${problem.message}; Debian cannot help either: ${error.message}`, {
      cause: error,
    });
  }
}

async function pypiSource(options: AddOptions): Promise<PackageSource> {
  const index = await findIndex(options.indexUrl, options.env ?? process.env);
  const http = { fetch: options.fetch ?? globalThis.fetch, signal: options.signal };
  return new PypiSource(index, http, downloading(options));
}

function debianSource(options: AddOptions): PackageSource {
  return new DebianSource(new Apt(options.env ?? process.env, options.signal), downloading(options));
}

function downloading({ progress }: AddOptions): (name: string, version: string, origin: string) => void {
  return (name, version, origin) => progress?.({ kind: "downloading", name, version, origin });
}

async function fetchAll(source: PackageSource, requirements: readonly Requirement[]): Promise<readonly Delivery[]> {
  await source.prepare(requirements);
  const choices = await resolve(requirements, source, GUEST_ENVIRONMENT);
  const deliveries: Delivery[] = [];
  for (const { candidate } of choices.values()) deliveries.push(await source.deliver(candidate));
  return deliveries;
}

async function storeAll(
  source: PackageSource,
  deliveries: readonly Delivery[],
  reasons: readonly string[],
  options: AddOptions,
): Promise<AddReport> {
  const store = new PackageStore(options.folder);
  const packages: PackageRecord[] = [];
  const added: string[] = [];
  for (const delivery of deliveries) {
    const { record, isNew } = await store.put(source.kind, delivery);
    const { name, version } = record;
    packages.push(record);
    if (isNew) added.push(`${name} ${version}`);
    options.progress?.({ kind: "stored", name, version });
  }
  if (options.compile !== undefined) await compileAll(store, packages, options.compile, options);
  return {
    source: source.kind,
    packages,
    added,
    notes: [...reasons, ...source.notes(), ...packages.flatMap(omissions)],
  };
}

async function compileAll(
  store: PackageStore,
  packages: readonly PackageRecord[],
  compile: Compile,
  { cacheTag = GUEST_CACHE_TAG, progress, signal }: AddOptions,
): Promise<void> {
  for (const record of packages) {
    signal?.throwIfAborted();
    const files = await compilePackage(store, record, cacheTag, compile);
    progress?.({ kind: "compiled", name: record.name, version: record.version, files });
  }
}

function omissions({ name, omitted, omittedRequirements }: PackageRecord): readonly string[] {
  const telling = [...omitted, ...omittedRequirements].filter(({ kind }) => kind !== "unused");
  return telling.map(({ what, reason }) => `${name}: left out ${what} (${reason})`);
}
