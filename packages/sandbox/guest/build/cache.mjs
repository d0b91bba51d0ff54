import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { sha256 } from "./sources.mjs";

const NAME_LENGTH = 16;

/** Where guests are kept unless somebody says otherwise: where the sandbox looks for them on Linux. */
export function defaultFolder(env = process.env) {
  const cache = env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache");
  return env.BURSAR_GUESTS || join(cache, "bursar", "guests");
}

export function folderOf(guests, hash) {
  return join(guests, hash.slice(0, NAME_LENGTH));
}

/** The manifest of a guest whose files are all there and are what it says; null for anything less. */
export function readGuest(folder) {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
    // Guests that were built before there were profiles have none.
    const files = [manifest.wasm, manifest.stdlib, manifest.profile].filter((file) => file !== undefined);
    const intact = files.every(({ file, sha256: expected }) => sha256(readFileSync(join(folder, file))) === expected);
    return intact ? manifest : null;
  } catch {
    return null;
  }
}

/** A guest that these very scripts have built, with whatever compiler; for machines that have none any more. */
export function findByScripts(guests, scripts) {
  const names = existsSync(guests) ? readdirSync(guests) : [];
  const folders = names.filter((name) => /^[0-9a-f]{16}$/.test(name)).map((name) => join(guests, name));
  return folders.find((folder) => readGuest(folder)?.build.scripts === scripts) ?? null;
}

/** Writes a guest beside its place and moves it there, so that nobody ever sees half of one. */
export function writeGuest(guests, hash, files) {
  const folder = folderOf(guests, hash);
  mkdirSync(guests, { recursive: true });
  const unfinished = mkdtempSync(join(guests, ".unfinished-"));
  try {
    for (const [name, bytes] of files) {
      mkdirSync(dirname(join(unfinished, name)), { recursive: true });
      writeFileSync(join(unfinished, name), bytes);
    }
    chmodSync(unfinished, 0o755);
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  } catch (error) {
    // Somebody else may have finished the same build at the same moment; theirs is as good as ours.
    if (readGuest(folder) === null) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

/** Says which guest a host is to prefer; it cannot know the hash, because it has no compiler. */
export function prefer(guests, hash) {
  const beside = join(guests, `.cpython.json.${process.pid}`);
  writeFileSync(beside, `${JSON.stringify({ folder: hash.slice(0, NAME_LENGTH), hash })}\n`);
  renameSync(beside, join(guests, "cpython.json"));
}
