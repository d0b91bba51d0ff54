import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./command.mjs";
import { SOURCES } from "./sources.mjs";

/** A folder for one build. Inside, every path is the same for every build; outside, none of them may show. */
export function createWorkspace(width, signal) {
  const root = mkdtempSync(join(tmpdir(), "bursar-guest-"));
  for (const name of ["log", "tree", "library", "include", "python"]) mkdirSync(join(root, name));
  return {
    root,
    /** How many commands may run at a time. */
    width,
    /** Where the libraries are that get linked in, and their headers. */
    library: join(root, "library"),
    include: join(root, "include"),
    /** Where CPython is built. */
    python: join(root, "python"),
    treeOf: (name) => join(root, "tree", name),
    /** Runs a command to its end, with all it says in the log of that name. */
    run: (command, args, { log, ...options }) =>
      run(command, args, { ...options, log: join(root, "log", `${log}.log`), signal }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Unpacks every source into a folder of its own name. */
export async function unpackSources(workspace, folder) {
  for (const { name, file } of SOURCES) {
    mkdirSync(workspace.treeOf(name));
    const options = ["--strip-components=1", "--no-same-owner", "-C", workspace.treeOf(name)];
    await workspace.run("tar", ["-xf", join(folder, file), ...options], { log: "unpack" });
  }
}
