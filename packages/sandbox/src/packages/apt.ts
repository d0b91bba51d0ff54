import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PackageError } from "./errors.js";
import type { ProcessEnvironment } from "./index-url.js";
import { parseHeaders } from "./metadata.js";
import { MAX_PACKAGE_BYTES } from "./paths.js";
import { runTool, type ToolOptions, type ToolResult } from "./tool.js";

/** What Debian says about one of its packages. */
export interface DebianPackage {
  readonly debianName: string;
  readonly debianVersion: string;
  /** `all`, or the processor it was built for. */
  readonly architecture: string;
  /** Groups of alternatives, of which each needs one. */
  readonly depends: readonly (readonly string[])[];
  readonly fileName: string;
  readonly sha256: string;
}

/** A `.deb` after its hash was compared: the tar with the files it would install. */
export interface DebianFile {
  readonly about: DebianPackage;
  readonly tar: Buffer;
}

interface RunSettings extends Partial<Pick<ToolOptions, "folder" | "limitBytes">> {
  /** Exit codes that are no failure. */
  readonly accepted?: readonly number[];
}

const MAX_TEXT_BYTES = 64 * 1024 * 1024;
const NAME = /^[a-z0-9][a-z0-9+.-]*$/;
const VERSION = /^[0-9A-Za-z.+:~-]+$/;
const UPDATE = "run `sudo apt-get update` and try again";

/**
 * Debian's package tools, as far as we use them. None of it needs root, and nothing is installed. Between two calls apt keeps
 * what it has read of its lists in a folder of ours, because reading them is most of its work.
 */
export class Apt implements AsyncDisposable {
  readonly #options: ToolOptions;
  #folder: Promise<string> | null = null;

  constructor(env: ProcessEnvironment, signal: AbortSignal | undefined) {
    this.#options = { env, signal, limitBytes: MAX_TEXT_BYTES };
  }

  /** The names of all Python packages that apt knows. */
  async names(): Promise<ReadonlySet<string>> {
    await this.#checkLists();
    const { stdout } = await this.#run("apt-cache", ["pkgnames", "python3-"]);
    return new Set(stdout.toString("utf8").split("\n"));
  }

  /** What apt would install under these names; names that it does not know are missing in the answer. */
  async show(names: readonly string[]): Promise<ReadonlyMap<string, DebianPackage>> {
    const known = names.filter((name) => NAME.test(name));
    if (known.length === 0) return new Map();
    const { stdout } = await this.#run("apt-cache", ["show", "--no-all-versions", ...known], { accepted: [0, 100] });
    const found = new Map<string, DebianPackage>();
    for (const paragraph of stdout.toString("utf8").split(/\n\n+/)) {
      const about = readParagraph(paragraph);
      if (about !== null && !found.has(about.debianName)) found.set(about.debianName, about);
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#folder !== null) await rm(await this.#folder, { recursive: true, force: true });
  }

  /** Downloads packages in one go, because starting apt takes longer than the download. */
  async *download(packages: readonly DebianPackage[]): AsyncGenerator<DebianFile> {
    if (packages.length === 0) return;
    const folder = await mkdtemp(join(await this.#ownFolder(), "download-"));
    const wanted = packages.map(({ debianName, debianVersion }) => `${debianName}=${debianVersion}`);
    await this.#run("apt-get", ["download", "-q", ...wanted], { folder });
    const files = await readdir(folder);
    // One after the other, because each may unpack to a lot.
    for (const about of packages) yield await this.#open(about, folder, files);
    await rm(folder, { recursive: true, force: true });
  }

  /** The version is escaped in the name of the downloaded file, so it is found by the package's name. */
  async #open(about: DebianPackage, folder: string, files: readonly string[]): Promise<DebianFile> {
    const file = files.find((each) => each.startsWith(`${about.debianName}_`) && each.endsWith(".deb"));
    if (file === undefined) {
      throw new PackageError("source_answer", `apt-get downloaded nothing for ${about.debianName}; ${UPDATE}`);
    }
    const path = join(folder, file);
    const hash = createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
    if (hash !== about.sha256) {
      throw new PackageError(
        "source_answer",
        `${file} is not the file Debian's list promises (SHA-256 ${hash}, expected ${about.sha256}); ${UPDATE}`,
      );
    }
    const { stdout } = await this.#run("dpkg-deb", ["--fsys-tarfile", path], { limitBytes: MAX_PACKAGE_BYTES });
    return { about, tar: stdout };
  }

  /** A machine whose lists were never fetched still knows what is installed, but not where to get anything. */
  async #checkLists(): Promise<void> {
    const { stdout } = await this.#run("apt-get", ["indextargets", "--format", "$(FILENAME)", "Created-By: Packages"]);
    if (stdout.toString("utf8").trim() !== "") return;
    throw new PackageError("source_unreachable", `apt has no lists of packages yet; ${UPDATE}`);
  }

  async #run(program: string, args: readonly string[], settings: RunSettings = {}): Promise<ToolResult> {
    const { accepted = [0], ...changes } = settings;
    const cache = program.startsWith("apt-")
      ? [
          "-o",
          `Dir::Cache::pkgcache=${join(await this.#ownFolder(), "pkgcache.bin")}`,
          "-o",
          "Dir::Cache::srcpkgcache=",
        ]
      : [];
    const result = await runTool(program, [...cache, ...args], { ...this.#options, ...changes });
    if (!accepted.includes(result.exitCode)) throw failure(`${program} ${args[0] ?? ""}`, result);
    return result;
  }

  #ownFolder(): Promise<string> {
    this.#folder ??= mkdtemp(join(tmpdir(), "bursar-packages-"));
    return this.#folder;
  }
}

function failure(what: string, { exitCode, stderr }: ToolResult): PackageError {
  const errors = stderr.split("\n").filter((line) => line.startsWith("E:") || line.startsWith("dpkg-deb:"));
  const said = (errors.length > 0 ? errors : [stderr]).join(" ").slice(0, 500);
  return new PackageError("source_unreachable", `${what} failed with ${exitCode}: ${said}; ${UPDATE}`);
}

/** Null for a paragraph that cannot be downloaded, such as that of a package somebody installed by hand. */
function readParagraph(paragraph: string): DebianPackage | null {
  const headers = parseHeaders(paragraph.trim());
  const field = (name: string) => headers.get(name)?.[0] ?? "";
  const debianName = field("package");
  const debianVersion = field("version");
  const sha256 = field("sha256").toLowerCase();
  const fileName = field("filename").split("/").at(-1) ?? "";
  if (!NAME.test(debianName) || !VERSION.test(debianVersion) || !/^[0-9a-f]{64}$/.test(sha256) || fileName === "") {
    return null;
  }
  const depends = [field("pre-depends"), field("depends")].flatMap(readDepends);
  return { debianName, debianVersion, architecture: field("architecture"), depends, fileName, sha256 };
}

/** `python3-six (>= 1.5), python3-a | python3 (>> 3.10), python3:any` → names in groups of alternatives. */
function readDepends(text: string): readonly (readonly string[])[] {
  const groups = text.split(",").map((group) => group.split("|").map((each) => each.trim().replace(/[\s(:].*$/s, "")));
  return groups.map((group) => group.filter((name) => NAME.test(name))).filter((group) => group.length > 0);
}
