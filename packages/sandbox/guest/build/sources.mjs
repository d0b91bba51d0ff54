import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outputOf } from "./command.mjs";
import { BuildFailure, EXIT_CODES } from "./failure.mjs";

const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";
const HELPER = "/usr/lib/apt/apt-helper";

/** What is compiled, each with the hash that it has to have. */
export const SOURCES = JSON.parse(readFileSync(new URL("sources.json", import.meta.url), "utf8"));

export function sha256(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Puts every source into a folder; those that are there already are not fetched again, but are checked again. */
export async function fetchSources(folder, signal) {
  mkdirSync(folder, { recursive: true });
  const missing = SOURCES.filter((source) => !isGenuine(join(folder, source.file), source));
  if (missing.length === 0) return;
  const scratch = mkdtempSync(join(tmpdir(), "bursar-apt-"));
  try {
    const archive = await openArchive(scratch, folder, signal);
    for (const source of missing) await fetchSource(source, archive, folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function isGenuine(file, source) {
  return existsSync(file) && sha256(readFileSync(file)) === source.sha256;
}

/**
 * Debian's index of sources, in a configuration of our own: machines usually have it switched off, and what is written
 * in /etc is not ours to change.
 */
async function openArchive(scratch, folder, signal) {
  const format = ["--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)"];
  const targets = (await outputOf("apt-get", ["indextargets", "Created-By: Packages", ...format])) ?? "";
  const repositories = targets.split("\n").filter((line) => /^\S+\/debian(?:-security)?\//.test(line));
  if (repositories.length === 0) {
    throw new BuildFailure(
      `apt knows no archive of Debian; add one to its sources, or put the files that sources.json names into ${folder}`,
      EXIT_CODES.unreachable,
    );
  }
  const signed = existsSync(KEYRING) ? `[signed-by=${KEYRING}] ` : "";
  for (const name of ["lists/partial", "cache/archives/partial"]) mkdirSync(join(scratch, name), { recursive: true });
  writeFileSync(join(scratch, "sources.list"), repositories.map((line) => `deb-src ${signed}${line}\n`).join(""));
  writeFileSync(
    join(scratch, "apt.conf"),
    [
      `Dir::Etc::SourceList "${scratch}/sources.list";`,
      'Dir::Etc::SourceParts "/nonexistent";',
      `Dir::State::Lists "${scratch}/lists";`,
      `Dir::Cache "${scratch}/cache";`,
      'APT::Sandbox::User "root";',
    ].join("\n"),
  );
  const env = { ...process.env, APT_CONFIG: join(scratch, "apt.conf") };
  await outputOf("apt-get", ["update"], { env, signal });
  // It ends well even if it could not fetch anything.
  if (!readdirSync(join(scratch, "lists")).some((name) => /_Sources(?:\.\w+)?$/.test(name))) {
    throw new BuildFailure(
      `Debian's archive cannot be reached, and not all of the sources are in ${folder}; to see why: apt-get update`,
      EXIT_CODES.unreachable,
    );
  }
  return { env, signal, scratch, addresses: [...new Set(repositories.map((line) => line.split(" ")[0]))] };
}

/** Debian's signed index has to name the very hash that we name; then it does not matter where the bytes come from. */
async function fetchSource(source, archive, folder) {
  const index = (await outputOf("apt-cache", ["showsrc", "--only-source", source.name], { env: archive.env })) ?? "";
  const listed = index.split("\n\n").filter((paragraph) => paragraph.includes(` ${source.sha256} `));
  const places = listed.flatMap((paragraph) => /^Directory: (.+)$/m.exec(paragraph)?.[1] ?? []);
  if (places.length === 0) {
    throw new BuildFailure(
      `Debian's index does not list ${source.file} with SHA-256 ${source.sha256}; is this Debian 12?`,
      EXIT_CODES.unreachable,
    );
  }
  const partial = join(archive.scratch, source.file);
  for (const address of places.flatMap((place) => archive.addresses.map((base) => `${base}${place}/${source.file}`))) {
    await outputOf(HELPER, ["download-file", address, partial, `SHA256:${source.sha256}`], {
      env: archive.env,
      signal: archive.signal,
    });
    if (!isGenuine(partial, source)) continue;
    const beside = join(folder, `.${source.file}.${process.pid}`);
    writeFileSync(beside, readFileSync(partial));
    renameSync(beside, join(folder, source.file));
    return;
  }
  throw new BuildFailure(`${source.file} could not be fetched from Debian's archive`, EXIT_CODES.unreachable);
}
