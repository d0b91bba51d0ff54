// What some tests need beside the dependencies of the repository: each in a folder with a lockfile of its own, installed when it is
// wanted for the first time. Whoever only runs `npm ci` does not wait for it.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs a command to its end; when it fails, so does this process. */
export function run(command, args, { env = process.env, hint = "" } = {}) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    env,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (error === undefined && status === 0) return;
  console.error(`${command} ${args.join(" ")} failed${error === undefined ? "" : `: ${error.message}`}${hint}`);
  process.exit(status ?? 1);
}

/**
 * Installs what the lockfile of a folder says. Where just that is installed, nothing is fetched and no network is needed; what was
 * broken off, or is older than the lockfile, is installed anew.
 */
export function install(folder, what) {
  const lock = readFileSync(join(folder, "package-lock.json"), "utf8");
  const receipt = join(folder, "node_modules", ".installed.json");
  if (existsSync(receipt) && readFileSync(receipt, "utf8") === lock) return;
  const place = relative(root, folder);
  console.log(`Installing ${what} in ${place}, which is done once and takes some seconds`);
  // With the Node that runs this: npm warns of packages that are not for its own.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };
  const hint = "\nIt comes from the npm registry; try again when that can be reached.";
  run("npm", ["ci", "--prefix", folder], { env, hint });
  writeFileSync(receipt, lock);
}

/** The path of a Node 22, whatever runs this. */
export function node22() {
  const folder = join(root, "test", "node22");
  install(folder, "Node 22 (about 190 MB)");
  const { optionalDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = process.platform === "win32" ? "node.exe" : "node";
  const paths = Object.keys(optionalDependencies).map((name) => join(folder, "node_modules", name, "bin", file));
  const found = paths.find((path) => existsSync(path));
  if (found !== undefined) return found;
  console.error(`There is no Node 22 for ${process.platform} on ${process.arch} among the packages of test/node22.`);
  process.exit(1);
}
