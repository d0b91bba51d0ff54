// Runs all tests under Node 22, which npm can install beside the one at hand. It lives in a cache of its own, because a
// `node` among the dependencies would be the one that every npm script runs.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "node_modules", ".cache", "node22");
const node = join(folder, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");

function run(command, args) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (error !== undefined || status !== 0) {
    console.error(`${command} ${args.join(" ")} failed${error === undefined ? "" : `: ${error.message}`}`);
    process.exit(status ?? 1);
  }
}

if (!existsSync(node)) {
  mkdirSync(folder, { recursive: true });
  run("npm", ["install", "--prefix", folder, "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "node@22"]);
}
if (!existsSync(node)) {
  console.error("Node 22 could not be installed from the registry, so nothing was tested under it.");
  process.exit(1);
}
run(node, ["--version"]);
const chosen = process.argv.slice(2);
run(node, [join(root, "node_modules", "vitest", "vitest.mjs"), "run", ...chosen]);
// The newest majors of the SDKs need it, so their tests run here too, unless only some were asked for.
if (chosen.length === 0) run(node, [join(root, "test", "newer-sdks", "run.mjs")]);
