// Makes the fixture anew: one paused run of each kind, in a SQLite store, with the sandbox key that signed their snapshots.
// `npm run build && node test/paused-runs/make.mjs`. CONTRIBUTING.md says when that is allowed.
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = fileURLToPath(new URL(".", import.meta.url));
const bursar = fileURLToPath(new URL("../../apps/cli/bin/bursar.js", import.meta.url));
const PAUSED = 4;

const home = mkdtempSync(join(tmpdir(), "bursar-paused-runs-"));
try {
  const store = join(home, "runs.db");
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    NOTES: join(home, "notes.txt"),
    BURSAR_GUEST: "npm",
    NO_COLOR: "1",
  };
  const options = { env, cwd: home, encoding: "utf8" };
  for (const [name, ...more] of [
    ["paused-python.py"],
    ["paused-javascript.js"],
    ["paused-plan.rtfs"],
    ["paused-agent.mjs", "--agent"],
  ]) {
    const id = name.replace(/\.\w+$/, "");
    const words = [
      "run",
      join(here, "programs", name),
      ...more,
      "--module",
      join(here, "programs/tools.mjs"),
      "--id",
      id,
    ];
    const terms = ["--budget", "steps=28,wall_clock_ms=600000", "--exhaustion", "steps=approval_required"];
    const ended = spawnSync(
      process.execPath,
      [bursar, ...words, ...terms, "--store", `sqlite:${store}`, "--json"],
      options,
    );
    if (ended.status !== PAUSED) throw new Error(`${id} did not pause: ${ended.stdout}${ended.stderr}`);
  }
  execFileSync(process.execPath, [bursar, "store", "check", "--store", `sqlite:${store}`], options);
  // The last process that closes the store puts all of it into one file.
  if (existsSync(`${store}-wal`)) throw new Error("the store was not closed by all that had it open");
  writeFileSync(join(here, "store.db.gz"), gzipSync(readFileSync(store), { level: 9 }));
  copyFileSync(join(home, ".local/share/bursar/sandbox.key"), join(here, "sandbox.key"));
} finally {
  rmSync(home, { recursive: true, force: true });
}
