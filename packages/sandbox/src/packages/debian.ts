import type { Apt, DebianFile, DebianPackage } from "./apt.js";
import { unpackDeb } from "./deb.js";
import { PackageError } from "./errors.js";
import { DEBIAN_NAMES, hintFor, nameOfDebian } from "./known-names.js";
import { GUEST_ENVIRONMENT } from "./marker.js";
import { normalizeName } from "./names.js";
import { hasOptionalNative } from "./native.js";
import { addUp, type PackageFile } from "./paths.js";
import { applies, parseRequirement, type Requirement } from "./requirement.js";
import type { Candidate, Delivery, PackageSource } from "./source.js";
import type { Omission, UnpackedPackage } from "./unpacked.js";
import { parseVersion } from "./version.js";

interface DebianCandidate extends Candidate {
  readonly debianName: string;
}

/** A package that has been downloaded and taken apart, with the requirements that count. */
interface Opened {
  readonly about: DebianPackage;
  readonly unpacked: UnpackedPackage;
}

interface Wants {
  readonly requirements: readonly string[];
  readonly omitted: readonly Omission[];
}

type DeliverProgress = (name: string, version: string, origin: string) => void;

const MAX_PACKAGES = 300;
const MAX_LEVELS = 30;

/** Packages from Debian: one version of each, which fit together, with dependencies that Debian states itself. */
export class DebianSource implements PackageSource<DebianCandidate> {
  readonly kind = "debian";
  readonly #apt: Apt;
  readonly #downloading: DeliverProgress;
  readonly #about = new Map<string, DebianPackage | null>();
  readonly #opened = new Map<string, Opened>();
  readonly #aliases = new Map<string, string>();
  readonly #notes: string[] = [];
  #names: ReadonlySet<string> | null = null;
  #bytes = 0;

  constructor(apt: Apt, downloading: DeliverProgress) {
    this.#apt = apt;
    this.#downloading = downloading;
  }

  notes(): readonly string[] {
    return this.#notes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#apt[Symbol.asyncDispose]();
  }

  /** Starting apt is what takes time, so everything that belongs together is looked up and fetched in few calls. */
  async prepare(requirements: readonly Requirement[]): Promise<void> {
    const names = await this.#allNames();
    const first = requirements.flatMap(({ name }) => this.#guesses(name, names).slice(0, 1));
    await this.#openAll(first);
    const extra = requirements.flatMap(({ name, extras }) =>
      extras.length === 0 ? [] : this.#extraNames(name, extras, names),
    );
    await this.#openAll(extra);
  }

  async candidates(name: string): Promise<readonly DebianCandidate[]> {
    const names = await this.#allNames();
    for (const debianName of this.#guesses(name, names)) {
      const opened = await this.#open(debianName, name);
      if (opened === null || !this.#isMeant(name, debianName, opened)) continue;
      const version = parseVersion(opened.unpacked.version);
      if (version !== null) return [{ name: normalizeName(opened.unpacked.name), version, debianName }];
    }
    const known = [...names].map((each) => each.replace(/^python3-/, ""));
    throw new PackageError("package_unknown", `Debian has no package for ${name}${hintFor(name, known)}`);
  }

  async requirements(candidate: DebianCandidate): Promise<readonly Requirement[]> {
    return this.#wants(await this.#mustOpen(candidate)).requirements.map(parseRequirement);
  }

  async deliver(candidate: DebianCandidate): Promise<Delivery> {
    const opened = await this.#mustOpen(candidate);
    const { requirements, omitted } = this.#wants(opened);
    return {
      unpacked: { ...opened.unpacked, requirements },
      origin: opened.about.fileName,
      sha256: opened.about.sha256,
      omittedRequirements: omitted,
    };
  }

  async #allNames(): Promise<ReadonlySet<string>> {
    this.#names ??= await this.#apt.names();
    return this.#names;
  }

  /** Debian's possible names for a package, the likeliest first; only those that exist. */
  #guesses(name: string, names: ReadonlySet<string>): readonly string[] {
    const known = Object.hasOwn(DEBIAN_NAMES, name) ? DEBIAN_NAMES[name] : undefined;
    const alias = this.#aliases.get(name);
    const guesses = [
      alias,
      known,
      `python3-${name}`,
      `python3-${name.replaceAll("-", ".")}`,
      `python3-${name.replace(/^python-?/, "")}`,
      `python3-${name.replace(/^py-?/, "")}`,
    ];
    return [...new Set(guesses)].filter((guess): guess is string => guess !== undefined && names.has(guess));
  }

  /** A guess may be somebody else's package: then only what it says about itself counts. */
  #isMeant(name: string, debianName: string, { unpacked }: Opened): boolean {
    const found = normalizeName(unpacked.name);
    if (found === name || this.#aliases.get(name) === debianName) return true;
    if (DEBIAN_NAMES[name] !== debianName && debianName !== `python3-${name}`) return false;
    this.#notes.push(`${name} is called ${unpacked.name}; it was added under that name`);
    this.#aliases.set(name, debianName);
    return true;
  }

  async #mustOpen({ debianName, name }: DebianCandidate): Promise<Opened> {
    const opened = await this.#open(debianName, name);
    if (opened === null) throw new PackageError("package_unknown", `Debian has no package ${debianName}`);
    return opened;
  }

  /** Null when apt knows the name, but has nothing to download under it. */
  async #open(debianName: string, askedName: string): Promise<Opened | null> {
    if (!this.#opened.has(debianName)) await this.#openAll([debianName]);
    const opened = this.#opened.get(debianName);
    if (opened !== undefined) return opened;
    const about = this.#about.get(debianName) ?? null;
    if (about === null) return null;
    throw new PackageError(
      "package_native",
      `${askedName} is native: Debian builds ${debianName} for ${about.architecture}, and the guest cannot load native code`,
    );
  }

  /** Opens packages and all that they depend on, level by level, then downloads everything at once. */
  async #openAll(first: readonly string[]): Promise<void> {
    const wanted = new Map<string, DebianPackage>();
    let level = [...new Set(first)];
    for (let depth = 0; level.length > 0 && depth < MAX_LEVELS; depth++) {
      await this.#look(level);
      const found = level.flatMap((name) => this.#about.get(name) ?? []).filter(isUsable);
      for (const about of found) if (!this.#opened.has(about.debianName)) wanted.set(about.debianName, about);
      if (wanted.size > MAX_PACKAGES) {
        throw new PackageError(
          "package_refused",
          `more than ${MAX_PACKAGES} packages are needed; ask for fewer at once`,
        );
      }
      level = [...new Set(found.flatMap((about) => this.#dependencies(about)))].filter(
        (name) => !this.#about.has(name),
      );
    }
    for (const { debianName, debianVersion, fileName } of wanted.values()) {
      this.#downloading(debianName, debianVersion, fileName);
    }
    for await (const file of this.#apt.download([...wanted.values()])) await this.#take(file);
  }

  async #look(names: readonly string[]): Promise<void> {
    const unknown = names.filter((name) => !this.#about.has(name));
    const found = await this.#apt.show(unknown);
    for (const name of unknown) this.#about.set(name, found.get(name) ?? null);
  }

  async #take(file: DebianFile): Promise<void> {
    const { about } = file;
    try {
      const unpacked = await unpackDeb(file);
      this.#bytes = addUp(this.#bytes, unpacked.files);
      this.#opened.set(about.debianName, { about, unpacked });
      this.#aliases.set(normalizeName(unpacked.name), about.debianName);
    } catch (error) {
      if (!(error instanceof PackageError)) throw error;
      throw new PackageError(error.code, `${about.debianName} is not taken: ${error.message}`, { cause: error });
    }
  }

  /** The Python packages a package depends on; the guest is the Python that others accept instead. */
  #dependencies({ depends }: DebianPackage): readonly string[] {
    return depends.flatMap((group) => {
      if (group.some((name) => /^python3(?:\.\d+)?(?:-minimal)?$/.test(name))) return [];
      return group.filter((name) => name.startsWith("python3-") && this.#names?.has(name) === true).slice(0, 1);
    });
  }

  /**
   * What a package really needs: what Debian says, without what the guest cannot have. A native dependency is left out when
   * the package neither asks for it nor imports it always; Debian then only meant to make it faster or more complete.
   */
  #wants({ about, unpacked }: Opened): Wants {
    const requirements: string[] = [];
    const omitted: Omission[] = [];
    const ownDemands = unpacked.requirements.map(parseRequirement);
    for (const debianName of this.#dependencies(about)) {
      const dependency = this.#opened.get(debianName);
      if (dependency !== undefined) {
        requirements.push(dependency.unpacked.name);
        continue;
      }
      const name = nameOfDebian(debianName);
      const isThere = this.#about.get(debianName) !== null;
      const isOwnDemand = ownDemands.some((demand) => demand.name === name && applies(demand, GUEST_ENVIRONMENT, []));
      if (isOwnDemand || importsAlways(unpacked.files, debianName)) {
        throw new PackageError(
          isThere ? "package_native" : "package_unknown",
          `${unpacked.name} ${unpacked.version} needs ${name}, which ${
            isThere ? "is native, and the guest cannot load native code" : "Debian's lists do not offer"
          }`,
        );
      }
      const what = isThere ? "native" : "not in Debian's lists";
      omitted.push({
        kind: isThere ? "native" : "elsewhere",
        what: name,
        reason: `${what}; Debian asks for it, the package imports it only where it is`,
      });
    }
    for (const name of about.depends.flat()) {
      if (/^(?:python|lib|sphinx-doc)/.test(name)) continue;
      omitted.push({ kind: "elsewhere", what: name, reason: "not a Python package" });
    }
    return { requirements: [...requirements, ...this.#extraDemands(unpacked)], omitted };
  }

  /** Extras are known to the package alone; Debian has none. */
  #extraDemands({ requirements }: UnpackedPackage): readonly string[] {
    return requirements.filter((written) => /;.*\bextra\b/.test(written));
  }

  #extraNames(name: string, extras: readonly string[], names: ReadonlySet<string>): readonly string[] {
    const [debianName = ""] = this.#guesses(name, names);
    const opened = this.#opened.get(debianName);
    const demands = opened?.unpacked.requirements.map(parseRequirement) ?? [];
    return demands
      .filter((demand) => applies(demand, GUEST_ENVIRONMENT, extras))
      .flatMap((demand) => this.#guesses(demand.name, names).slice(0, 1));
  }
}

/**
 * Whether a module of a package imports another package unconditionally: the statement stands at the beginning of a line,
 * not inside a `try` or a function. Debian names packages after the module they are imported by.
 */
function importsAlways(files: readonly PackageFile[], debianName: string): boolean {
  const module = debianName.replace(/^python3-/, "").replace(/[^a-z0-9]/g, "[-_.]");
  const statement = new RegExp(`^(?:import|from) +${module}\\b`, "im");
  return files.some(({ path, bytes }) => {
    if (!path.endsWith(".py") || /(?:^|\/)(?:tests?|testing|conftest\.py)(?:\/|$)/.test(path)) return false;
    return statement.test(Buffer.from(bytes).toString("latin1"));
  });
}

function isUsable({ architecture, debianName }: DebianPackage): boolean {
  return architecture === "all" || hasOptionalNative(nameOfDebian(debianName));
}
