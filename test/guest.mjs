// Builds the fast CPython guest, or takes the one that is there, and runs the sandbox's tests on it. Where it cannot be built,
// it says what is missing; with --if-possible that is no failure.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const optional = process.argv.includes("--if-possible");

/** A build that takes longer is not going to end well, and others wait for the machine. */
const BUILD_MS = 20 * 60_000;
/** What the build ends with where packages are missing, where Debian's archive cannot be reached, and when it is stopped. */
const IMPOSSIBLE = [3, 4, 130];

const build = spawnSync(process.execPath, ["packages/sandbox/guest/build/build.mjs", "--no-compare", "--json"], {
  cwd: root,
  stdio: ["ignore", "pipe", "inherit"],
  encoding: "utf8",
  timeout: BUILD_MS,
});
if (build.status !== 0) {
  if (build.error?.code === "ETIMEDOUT") console.error(`it was not built within ${BUILD_MS / 60_000} minutes`);
  console.error("the fast guest was NOT built, so its tests were NOT run; the reason stands above");
  // What cannot be built here is nobody's fault; what was built and is not sound is ours.
  process.exit(optional && IMPOSSIBLE.includes(build.status) ? 0 : 1);
}
const { built, folder, seconds, manifest } = JSON.parse(build.stdout);
console.log(
  `CPython ${manifest.version}, ${built ? `built in ${(seconds / 60).toFixed(1)} minutes` : "built before"}: ${folder}`,
);

// In a folder of its own, so that it is this one that is tested, whatever else was built on this machine.
const guests = mkdtempSync(join(tmpdir(), "bursar-guests-"));
process.exitCode = 1;
try {
  cpSync(folder, join(guests, basename(folder)), { recursive: true });
  const tests = ["guests", "python", "sessions", "escape"].map((name) => `packages/sandbox/test/${name}`);
  const env = { ...process.env, BURSAR_GUEST: "fast", BURSAR_GUESTS: guests };
  const { status } = spawnSync("npx", ["vitest", "run", ...tests], { cwd: root, stdio: "inherit", env });
  process.exitCode = status ?? 1;
} finally {
  rmSync(guests, { recursive: true, force: true });
}
