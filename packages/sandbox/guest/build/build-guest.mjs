import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { defaultFolder, findByScripts, folderOf, prefer, readGuest, writeGuest } from "./cache.mjs";
import { compareGuests } from "./check/compare.mjs";
import { BuildFailure, EXIT_CODES, told } from "./failure.mjs";
import { buildHash, SCRIPTS_HASH } from "./fingerprint.mjs";
import { makeGuestFiles } from "./guest-files.mjs";
import { createProgress } from "./progress.mjs";
import { fetchSources } from "./sources.mjs";
import { compilerVersions, installTools, missingTools } from "./tools.mjs";
import { createWorkspace, unpackSources } from "./workspace.mjs";

export { BuildFailure } from "./failure.mjs";

/** Builds the fast CPython guest, or finds the one that these very scripts have built before. */
export async function buildGuest({
  folder: guests = defaultFolder(),
  compilers = availableParallelism(),
  force = false,
  compare = false,
  signal,
  onStep,
} = {}) {
  const progress = createProgress({ onStep, signal });
  const where = { guests: resolve(guests), compilers, signal };
  const found = force ? null : await findGuest(where.guests);
  const folder = found ?? (await build(where, progress));
  const manifest = readGuest(folder);
  if (manifest === null) throw new BuildFailure(`${folder} was changed while it was written`, EXIT_CODES.failed);
  prefer(where.guests, manifest.build.hash);
  const built = found === null;
  const comparison =
    built && compare
      ? await progress.step("Comparing it with the guest on npm", () => compareGuests(folder, signal))
      : null;
  return { built, folder, manifest, comparison, seconds: progress.totalSeconds(), steps: progress.steps };
}

/** The guest that is there already. */
async function findGuest(guests) {
  if (missingTools().length > 0) return findByScripts(guests, SCRIPTS_HASH);
  const folder = folderOf(guests, buildHash(await compilerVersions()));
  return readGuest(folder) === null ? null : folder;
}

async function build({ guests, compilers, signal }, progress) {
  const missing = missingTools();
  if (missing.length > 0) await progress.step(`Installing ${missing.join(", ")}`, () => installTools(missing));
  const compiler = await compilerVersions();
  const sources = join(guests, "sources");
  await progress.step("Fetching the sources", () => fetchSources(sources, signal));

  const workspace = createWorkspace(compilers, signal);
  let files;
  try {
    await progress.step("Unpacking them", () => unpackSources(workspace, sources));
    files = await makeGuestFiles(workspace, compiler, progress);
  } catch (error) {
    // Whoever stops a build wants nothing of it; whoever sees it fail wants to see why.
    if (!signal?.aborted) throw kept(error, workspace);
    workspace.remove();
    throw signal.reason;
  }
  workspace.remove();
  return writeGuest(guests, buildHash(compiler), files);
}

function kept(error, { root }) {
  const { exitCode = EXIT_CODES.failed } = error;
  return new BuildFailure(`${told(error)}\nWhat was built so far is kept in ${root}`, exitCode, { cause: error });
}
