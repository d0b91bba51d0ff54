import { execFile } from "node:child_process";
import { mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { ProcessEnvironment } from "../../src/packages/index-url.js";
import { sha256 } from "./packing.js";

/** A Debian package to build; paths are below `/usr/lib/python3/dist-packages` unless they begin with a slash. */
export interface Deb {
  readonly name: string;
  readonly version?: string;
  /** Built for this machine's processor instead of for all. */
  readonly native?: boolean;
  readonly depends?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
  /** What the list claims where it differs. */
  readonly claimedSha256?: string;
}

const run = promisify(execFile);

/**
 * Builds real packages, a real list of them, and a configuration under which the real apt knows nothing else. Gives the
 * environment in which apt finds it; the system's own lists are not touched.
 */
export async function buildDebian(
  folder: string,
  debs: readonly Deb[],
  { update = true } = {},
): Promise<ProcessEnvironment> {
  const repository = join(folder, "repository");
  for (const path of ["repository", "state/lists/partial", "cache/archives/partial"])
    await mkdir(join(folder, path), { recursive: true });
  const paragraphs: string[] = [];
  for (const deb of debs) paragraphs.push(await buildDeb(join(folder, "build", deb.name), repository, deb));
  await writeFile(join(repository, "Packages"), paragraphs.join("\n"));
  await writeFile(join(folder, "status"), "");
  await writeFile(join(folder, "sources.list"), `deb [trusted=yes] file:${repository} ./\n`);
  await writeFile(
    join(folder, "apt.conf"),
    [
      `Dir::State "${join(folder, "state")}";`,
      `Dir::State::status "${join(folder, "status")}";`,
      `Dir::Cache "${join(folder, "cache")}";`,
      `Dir::Etc::SourceList "${join(folder, "sources.list")}";`,
      `Dir::Etc::SourceParts "${join(folder, "none")}";`,
      `APT::Sandbox::User "";`,
    ].join("\n"),
  );
  const env = { ...process.env, APT_CONFIG: join(folder, "apt.conf") };
  if (update) await run("apt-get", ["update", "-q"], { env });
  return env;
}

async function buildDeb(root: string, repository: string, deb: Deb): Promise<string> {
  const architecture = deb.native === true ? await ownArchitecture() : "all";
  const { name, version = "1.0-1", depends = "python3:any", files = {}, links = {} } = deb;
  const control = [
    `Package: ${name}`,
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    "Maintainer: Nobody <nobody@localhost>",
    `Depends: ${depends}`,
    `Description: ${name}`,
    "",
  ].join("\n");
  await put(join(root, "DEBIAN/control"), control);
  for (const [path, text] of Object.entries(files)) await put(placeIn(root, path), text);
  for (const [path, target] of Object.entries(links)) {
    await mkdir(dirname(placeIn(root, path)), { recursive: true });
    await symlink(target, placeIn(root, path));
  }
  const file = join(repository, `${name}_${version}_${architecture}.deb`);
  await run("dpkg-deb", ["--build", "--root-owner-group", root, file]);
  const hash = deb.claimedSha256 ?? sha256(await readFile(file));
  const { size } = await stat(file);
  return `${control}Filename: ./${name}_${version}_${architecture}.deb\nSize: ${size}\nSHA256: ${hash}\n`;
}

async function ownArchitecture(): Promise<string> {
  return (await run("dpkg", ["--print-architecture"])).stdout.trim();
}

function placeIn(root: string, path: string): string {
  return path.startsWith("/") ? join(root, path) : join(root, "usr/lib/python3/dist-packages", path);
}

async function put(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
