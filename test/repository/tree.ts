import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";

const root: string = fileURLToPath(new URL("../../", import.meta.url));

export function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

/** Every file a reader of the repository sees: all but those that git ignores. */
export function repositoryFiles(): readonly string[] {
  return filesUnder("", ignoredBy(read(".gitignore")));
}

/** Whether git ignores a path; of its patterns, those that need no more than `*`. */
function ignoredBy(gitignore: string): (path: string) => boolean {
  const patterns = gitignore.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const rules = patterns.map((pattern) => {
    const name = pattern.replace(/^\/|\/$/g, "");
    const matcher = new RegExp(`^${name.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^/]*")}$`);
    const anchored = pattern.slice(0, -1).includes("/");
    return (path: string) => matcher.test(anchored ? path : posix.basename(path));
  });
  return (path) => path === ".git" || rules.some((rule) => rule(path));
}

function filesUnder(folder: string, ignored: (path: string) => boolean): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (ignored(path)) return [];
    return entry.isDirectory() ? filesUnder(path, ignored) : [path];
  });
}
