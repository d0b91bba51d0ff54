import { spawnSync } from "node:child_process";
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { defineTool, openBursar, openStore, type Program, reviveGuest, sha256Hex, verifyChain } from "bursar";
import { describe, expect, test } from "vitest";
import { openNextBuild } from "../runs/next-build.js";

// One paused run of each kind, in a store that an earlier build has written: every later build goes on with them. make.mjs has made it, and
// docs/decisions.md (80) says when it may be made anew.

const BURSAR = fileURLToPath(new URL("../../apps/cli/bin/bursar.js", import.meta.url));
const PROGRAMS = fileURLToPath(new URL("./programs/", import.meta.url));
const RUNS = ["paused-python", "paused-javascript", "paused-plan", "paused-agent"] as const;
const DONE = { calls: 32, same: true, later: true };
/** The fixture pauses after so many calls of its tool. */
const MADE = 28;

function unpacked() {
  const home = mkdtempSync(join(tmpdir(), "bursar-paused-runs-"));
  const file = join(home, "runs.db");
  const key = join(home, "sandbox.key");
  const notes = join(home, "notes.txt");
  writeFileSync(file, gunzipSync(readFileSync(new URL("./store.db.gz", import.meta.url))));
  copyFileSync(new URL("./sandbox.key", import.meta.url), key);
  writeFileSync(notes, "");
  return {
    home,
    file,
    key,
    notes,
    noted: () => readFileSync(notes, "utf8").split("\n").slice(0, -1),
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }),
  };
}

test("the command line of this build goes on with the runs that an earlier one has paused", () => {
  using fixture = unpacked();
  const { home, file, key, notes } = fixture;
  mkdirSync(join(home, "home"));
  const cache = process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? "", ".cache");
  const env = { PATH: process.env.PATH, HOME: join(home, "home"), XDG_CACHE_HOME: cache, BURSAR_GUEST: "npm" };
  const bursar = (...args: readonly string[]) =>
    spawnSync(process.execPath, [BURSAR, ...args, "--store", `sqlite:${file}`], {
      encoding: "utf8",
      cwd: home,
      env: { ...env, BURSAR_SANDBOX_KEY: key, NOTES: notes },
    });
  for (const id of RUNS) {
    const module = ["--module", join(PROGRAMS, "tools.mjs"), "--module", join(PROGRAMS, "paused-agent.mjs")];
    // Its request expired a day after the fixture was made. A resume makes a new one.
    expect(bursar("resume", id, ...module, "--json").status).toBe(4);
    const { status, stdout, stderr } = bursar("approve", id, "--extend", "steps=+10", ...module, "--json");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({ status: "completed", result: DONE, usage: { steps: 32 } });
    expect(bursar("verify", id).status).toBe(0);
  }
  // What they had done before was not done again.
  expect(fixture.noted()).toHaveLength(RUNS.length * (32 - MADE));
  expect(bursar("store", "check").status).toBe(0);
}, 120_000);

describe("a build with other guests", () => {
  test.each(RUNS)("goes on with %s, whatever its snapshot was made with", async (id) => {
    using fixture = unpacked();
    const cacheFolder = fileURLToPath(new URL("../../node_modules/.cache/bursar-sandbox-tests", import.meta.url));
    await using sandbox = await openNextBuild({ cacheFolder, keyFile: fixture.key });
    await using store = await openStore(`sqlite:${fixture.file}`);
    const { agent } = (await import(new URL("./programs/paused-agent.mjs", import.meta.url).href)) as {
      agent: Program;
    };
    const note = defineTool({
      name: "note",
      description: "Writes a line down, and tells its length.",
      input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      run: ({ text }: { text: string }) => {
        appendFileSync(fixture.notes, `${text}\n`);
        return text.length;
      },
    });
    await using bursar = openBursar({
      store,
      tools: [note],
      revive: (ref) => reviveGuest(ref, async () => sandbox) ?? agent,
    });
    const by = { name: "ann", role: "operator" } as const;
    expect(await bursar.resume(id, by)).toMatchObject({ status: "paused" });
    const done = await bursar.approve(`${id}/checkpoint`, { by, extensions: { steps: 10 } });
    expect(done).toMatchObject({ status: "completed", result: DONE, usage: { steps: 32 } });
    expect(fixture.noted()).toHaveLength(32 - MADE);
    const lines: string[] = [];
    for await (const line of store.chain(id)) lines.push(line);
    expect(await verifyChain(lines, { hash: sha256Hex })).toMatchObject({ ok: true });
  });
});
