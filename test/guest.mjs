// Builds the fast CPython guest, or takes the one that is there, and runs the sandbox's tests on it. Where it cannot be built,
// it says what is missing; with --if-possible that is no failure.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const optional = process.argv.includes("--if-possible");
const build = spawnSync(process.execPath, ["packages/sandbox/guest/build/build.mjs", "--no-compare"], {
  cwd: root,
  stdio: "inherit",
});
if (build.status !== 0) {
  console.error("the fast guest was not built, so its tests were not run; what is missing stands above");
  process.exit(optional ? 0 : 1);
}
const tests = ["python", "sessions", "escape"].map((folder) => `packages/sandbox/test/${folder}`);
const env = { ...process.env, BURSAR_GUEST: "fast" };
const { status } = spawnSync("npx", ["vitest", "run", ...tests], { cwd: root, stdio: "inherit", env });
process.exit(status ?? 1);
