import { PackageError, removePackage } from "@bursar/sandbox/packages";
import { facts } from "../render/report.js";
import { COMMON_HELP, type PackagesCommand } from "./packages-work.js";

export const remove: PackagesCommand = {
  help: `Usage: bursar packages remove <package> … [flags]

Removes packages: openpyxl in all its versions, openpyxl==3.0.9 in one. What
others need is kept, unless they are removed as well; what a package brought
along stays.

Flags:
${COMMON_HELP}

Exit codes: 0 done, 1 missing or needed by others, 2 not understood

Examples:
  bursar packages remove tabulate
  bursar packages remove openpyxl et-xmlfile
`,
  names: "needed",
  async run({ folder, names, style }) {
    const removed = await removeAll(folder, names);
    const pairs = [["folder", folder] as const, ["removed", removed.join(", ")] as const];
    return { report: { ok: true, folder, removed }, text: facts(pairs, style) };
  },
};

/** In whatever order they were given: one that another one needs has its turn after that one. */
async function removeAll(folder: string, names: readonly string[]): Promise<readonly string[]> {
  const removed: string[] = [];
  let waiting = names;
  while (waiting.length > 0) {
    const needed: string[] = [];
    let reason: PackageError | null = null;
    for (const name of waiting) {
      try {
        removed.push(...(await removePackage(folder, name)));
      } catch (error) {
        if (!(error instanceof PackageError)) throw error;
        if (error.code !== "package_conflict") throw also(error, removed);
        reason ??= error;
        needed.push(name);
      }
    }
    if (reason !== null && needed.length === waiting.length) throw also(reason, removed);
    waiting = needed;
  }
  return removed;
}

/** Whoever sees an error has to know what was done nevertheless. */
function also(error: PackageError, removed: readonly string[]): PackageError {
  if (removed.length === 0) return error;
  return new PackageError(error.code, `${error.message}; removed before that: ${removed.join(", ")}`, { cause: error });
}
