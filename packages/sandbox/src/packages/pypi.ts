import { createHash } from "node:crypto";
import { PackageError } from "./errors.js";
import { get, type HttpOptions, shownUrl } from "./http.js";
import type { IndexAddress } from "./index-url.js";
import { hintFor } from "./known-names.js";
import { parseMetadata } from "./metadata.js";
import { hasOptionalNative } from "./native.js";
import { addUp, MAX_DOWNLOAD_BYTES } from "./paths.js";
import { type IndexFile, parseProjectPage } from "./project-page.js";
import { parseRequirement, type Requirement } from "./requirement.js";
import { parseSdistName, unpackSdist } from "./sdist.js";
import type { Candidate, Delivery, PackageSource } from "./source.js";
import { checkMetadata, runsInGuest, type UnpackedPackage } from "./unpacked.js";
import { compareVersions, isPrerelease, type Version } from "./version.js";
import { isForGuestVersion, isPure, parseWheelName, unpackWheel } from "./wheel.js";

interface PypiCandidate extends Candidate {
  readonly shape: "wheel" | "sdist";
  readonly file: IndexFile;
}

interface Offered {
  readonly version: Version;
  readonly shape: "pure" | "native" | "sdist";
  readonly file: IndexFile;
}

type DeliverProgress = (name: string, version: string, origin: string) => void;

const PAGE_TYPE = "application/vnd.pypi.simple.v1+json";
const MAX_PAGE_BYTES = 64 * 1024 * 1024;
const MAX_METADATA_BYTES = 4 * 1024 * 1024;

/** Packages from an index that speaks the simple API in JSON (PEP 691), as PyPI does. */
export class PypiSource implements PackageSource<PypiCandidate> {
  readonly kind = "pypi";
  readonly #index: IndexAddress;
  readonly #http: HttpOptions;
  readonly #downloading: DeliverProgress;
  readonly #projects = new Map<string, Promise<readonly PypiCandidate[]>>();
  readonly #unpacked = new Map<string, UnpackedPackage>();
  readonly #notes: string[] = [];
  #bytes = 0;

  constructor(index: IndexAddress, http: HttpOptions, downloading: DeliverProgress) {
    this.#index = index;
    this.#http = { ...http, authorization: index.authorization };
    this.#downloading = downloading;
  }

  notes(): readonly string[] {
    return this.#notes;
  }

  async prepare(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  candidates(name: string): Promise<readonly PypiCandidate[]> {
    const known = this.#projects.get(name);
    if (known !== undefined) return known;
    const asked = this.#askFor(name);
    this.#projects.set(name, asked);
    return asked;
  }

  async requirements(candidate: PypiCandidate): Promise<readonly Requirement[]> {
    const metadata = await this.#metadataBeside(candidate);
    const requirements = metadata ?? (await this.#unpack(candidate)).requirements;
    return requirements.map(parseRequirement);
  }

  async deliver(candidate: PypiCandidate): Promise<Delivery> {
    const unpacked = await this.#unpack(candidate);
    const { url, sha256 } = candidate.file;
    return { unpacked, origin: shownUrl(url), sha256, omittedRequirements: [] };
  }

  async #askFor(name: string): Promise<readonly PypiCandidate[]> {
    const page = await get(`${this.#index.url}${name}/`, PAGE_TYPE, MAX_PAGE_BYTES, this.#http);
    if (page.kind === "missing") {
      throw new PackageError("package_unknown", `the index ${this.#index.url} has no package ${name}${hintFor(name)}`);
    }
    const files = parseProjectPage(page.body, page.contentType, page.url);
    const offered = files.flatMap((file) => offeredBy(name, file));
    return this.#choose(name, offered);
  }

  /** One file per version: a pure wheel, else a native one that can be stripped, else the source if there is no wheel. */
  #choose(name: string, offered: readonly Offered[]): readonly PypiCandidate[] {
    const chosen: PypiCandidate[] = [];
    const native: Version[] = [];
    for (const files of byVersion(offered)) {
      const { version } = files[0];
      const pure = files.find(({ shape }) => shape === "pure");
      const wheel = pure ?? (hasOptionalNative(name) ? strippable(files) : undefined);
      const source = files.every(({ shape }) => shape === "sdist") ? files[0] : undefined;
      if (wheel !== undefined) chosen.push({ name, version, shape: "wheel", file: wheel.file });
      else if (source !== undefined) chosen.push({ name, version, shape: "sdist", file: source.file });
      else native.push(version);
    }
    const [newest] = chosen.filter(({ version }) => !isPrerelease(version));
    const [newestNative] = native.filter((version) => !isPrerelease(version));
    if (chosen.length === 0 && native.length > 0) {
      throw new PackageError("package_native", `${name} has native wheels only, and the guest cannot load native code`);
    }
    if (chosen.length === 0) {
      throw new PackageError(
        "package_refused",
        `${name} has no file at the index that the guest's Python 3.12 could use`,
      );
    }
    if (newest !== undefined && newestNative !== undefined && compareVersions(newestNative, newest.version) > 0) {
      this.#notes.push(
        `${name} is native since ${newestNative.text}; ${newest.version.text} is the newest that is not`,
      );
    }
    return chosen;
  }

  /** The requirements without the wheel, where the index serves its metadata as a file of its own (PEP 658). */
  async #metadataBeside(candidate: PypiCandidate): Promise<readonly string[] | null> {
    const { file, shape } = candidate;
    if (file.metadataSha256 === null || shape !== "wheel" || this.#unpacked.has(file.url)) return null;
    const url = `${file.url}.metadata`;
    const answer = await get(url, "*/*", MAX_METADATA_BYTES, this.#http);
    if (answer.kind === "missing") return null;
    checkHash(answer.body, file.metadataSha256, url);
    return await named(candidate, () => {
      const metadata = parseMetadata(answer.body.toString("utf8"));
      checkMetadata(metadata);
      return metadata.requirements;
    });
  }

  async #unpack(candidate: PypiCandidate): Promise<UnpackedPackage> {
    const { name, version, file, shape } = candidate;
    const known = this.#unpacked.get(file.url);
    if (known !== undefined) return known;
    this.#downloading(name, version.text, shownUrl(file.url));
    const answer = await get(file.url, "*/*", MAX_DOWNLOAD_BYTES, this.#http);
    if (answer.kind === "missing") {
      throw new PackageError(
        "source_answer",
        `${shownUrl(file.url)} is gone, though the index lists it; try again later`,
      );
    }
    checkHash(answer.body, file.sha256, file.url);
    const unpacked = await named(candidate, () =>
      shape === "wheel" ? unpackWheel(answer.body, { name, version }) : unpackSdist(answer.body, { name, version }),
    );
    this.#bytes = addUp(this.#bytes, unpacked.files);
    this.#unpacked.set(file.url, unpacked);
    return unpacked;
  }
}

/** Says of which package a problem was found. */
async function named<Result>({ name, version }: Candidate, read: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    throw new PackageError(error.code, `${name} ${version.text} is not taken: ${error.message}`, { cause: error });
  }
}

function checkHash(body: Buffer, expected: string, url: string): void {
  const found = createHash("sha256").update(body).digest("hex");
  if (found === expected) return;
  throw new PackageError(
    "source_answer",
    `${shownUrl(url)} is not the file the index promised (SHA-256 ${found}, expected ${expected}); nothing was added`,
  );
}

function offeredBy(name: string, file: IndexFile): readonly Offered[] {
  if (file.yanked || !runsInGuest(file.requiresPython)) return [];
  const wheel = parseWheelName(file.name);
  if (wheel?.name === name) return [{ version: wheel.version, shape: isPure(wheel) ? "pure" : "native", file }];
  const sdist = parseSdistName(file.name);
  return sdist?.name === name ? [{ version: sdist.version, shape: "sdist", file }] : [];
}

/** Newest version first, each with at least one file. */
function byVersion(offered: readonly Offered[]): readonly (readonly [Offered, ...Offered[]])[] {
  const groups = new Map<string, [Offered, ...Offered[]]>();
  for (const each of offered) {
    const group = groups.get(each.version.text);
    if (group === undefined) groups.set(each.version.text, [each]);
    else group.push(each);
  }
  return [...groups.values()].sort(([a], [b]) => compareVersions(b.version, a.version));
}

/** The Python files of a native wheel for the guest's version are the right ones; which system it is for does not matter. */
function strippable(files: readonly Offered[]): Offered | undefined {
  const usable = files.filter(({ file }) => {
    const wheel = parseWheelName(file.name);
    return wheel !== null && isForGuestVersion(wheel);
  });
  return usable.sort((a, b) => (a.file.name < b.file.name ? -1 : 1))[0];
}
