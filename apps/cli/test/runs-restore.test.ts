import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bursar } from "./run.js";
import { openStage, type Stage } from "./runs-stage.js";

// What becomes of paused runs on a machine that cannot go on with them.

let stage: Stage;
beforeAll(() => {
  stage = openStage();
});
afterAll(() => stage[Symbol.dispose]());

const TERMS = ["--exhaustion", "steps=approval_required"];

/** A machine of its own: all that it shares with others is the store. */
function machine(name: string) {
  const home = stage.at(name);
  mkdirSync(home, { recursive: true });
  const env = { ...stage.env, HOME: home, XDG_CACHE_HOME: `${process.env.HOME}/.cache`, XDG_DATA_HOME: "" };
  const run = (...args: readonly string[]) => bursar(args, env);
  return {
    run,
    key: join(home, ".local/share/bursar/sandbox.key"),
    with:
      (more: Record<string, string>) =>
      (...args: readonly string[]) =>
        bursar(args, { ...env, ...more }),
  };
}

interface Shown {
  readonly status: string;
  readonly missing: readonly string[];
  readonly usage: { readonly wall_clock_ms: number };
  readonly pause: { readonly problem?: string } | null;
}

function shown({ run }: ReturnType<typeof machine>, id: string): Shown {
  return JSON.parse(run("show", id, "--json").stdout);
}

function claimsOf({ run }: ReturnType<typeof machine>, id: string): number {
  return run("chain", id, "--json")
    .stdout.split("\n")
    .filter((line) => line.includes('"RunClaimed"')).length;
}

const POLLER = `
lengths = []
for turn in range(6):
    lengths.append(await host.tool("note", {"word": f"poll{turn}"}))
await host.call("result", len(lengths))
`;

test("a worker with another sandbox key leaves a run to the one that has its key, and its clock stands still", () => {
  const [first, second] = [machine("h1"), machine("h2")];
  writeFileSync(stage.at("poller.py"), POLLER);
  const module = ["--module", stage.module];
  const started = first.run("run", stage.at("poller.py"), ...module, "--id", "a", "--budget", "steps=2", ...TERMS);
  expect(started.status).toBe(4);
  // Before anything is decided, everything that shows the run names what is missing.
  for (const command of ["show a", "approvals"]) {
    expect(second.run(...command.split(" ")).stdout.replaceAll(/\s+/g, " ")).toContain("BURSAR_SANDBOX_KEY");
    expect(first.run(...command.split(" ")).stdout).not.toContain("BURSAR_SANDBOX_KEY");
  }
  expect(shown(second, "a").missing).toEqual([expect.stringContaining("there is none here")]);
  for (const command of [["approve"], ["resume"]]) {
    const refused = second.run(...command, "a", ...module);
    expect(refused).toMatchObject({ status: 1, stdout: "" });
    expect(refused.stderr).toContain("BURSAR_SANDBOX_KEY");
    expect(JSON.parse(first.run("approvals", "--json").stdout).approvals).toHaveLength(1);
  }
  expect(second.run("approve", "a", "--extend", "steps=+30", "--detach").status).toBe(0);
  const before = shown(second, "a");
  expect(before.status).toBe("queued");
  const claims = claimsOf(first, "a");
  const lacking = second.run("worker", "--once", ...module);
  expect(lacking.stderr).toContain("BURSAR_SANDBOX_KEY");
  expect(claimsOf(first, "a")).toBe(claims);
  expect(shown(second, "a")).toEqual(before);
  // Given the key, the second machine can.
  const done = second.with({ BURSAR_SANDBOX_KEY: first.key })("worker", "--once", ...module, "--json");
  expect(JSON.parse(done.stdout)).toMatchObject({ run_id: "a", status: "completed" });
  expect(readFileSync(stage.at("notes"), "utf8").trim().split("\n")).toHaveLength(6);
});

test("a key file that cannot be read is missing too, and a worker with it takes no run that it could not save", () => {
  const [first, damaged] = [machine("h3"), machine("h4")];
  writeFileSync(stage.at("poller.py"), POLLER);
  writeFileSync(stage.at("damaged.key"), "no key");
  const away = { ...damaged, run: damaged.with({ BURSAR_SANDBOX_KEY: stage.at("damaged.key") }) };
  const module = ["--module", stage.module];
  const limits = [...module, "--budget", "steps=2", ...TERMS];
  expect(first.run("run", stage.at("poller.py"), "--id", "kept", ...limits).status).toBe(4);
  expect(first.run("run", stage.at("poller.py"), "--id", "fresh", "--detach", ...limits).status).toBe(0);
  for (const command of [["show", "kept"], ["show", "fresh"], ["approvals"]]) {
    const { status, stdout } = away.run(...command);
    expect([status, stdout.replaceAll(/\s+/g, " ")]).toEqual([0, expect.stringMatching(/BURSAR_SANDBOX_KEY.*damaged/)]);
  }
  const refused = away.run("approve", "kept", ...module);
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringMatching(/^bursar: .*damaged.*--detach/)]);
  const lacking = away.run("worker", "--once", ...module);
  expect(lacking.stderr).toContain("BURSAR_SANDBOX_KEY");
  expect(claimsOf(first, "fresh")).toBe(0);
  expect(first.run("worker", "--once", ...module).status).toBe(0);
  expect(shown(first, "fresh")).toMatchObject({ status: "paused", missing: [] });
});

const AGENT = `
import { defineAgent } from "bursar";
import { LAST } from "./wording.mjs";
export const speaker = defineAgent("speaker", async (context) => {
  for (const word of ["one", "two", LAST]) await context.tool("note", { word });
  return "said";
});
`;

function writeAgent(name: string, text = AGENT, last = "three"): string {
  const folder = join(dirname(stage.module), name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "speaker.mjs"), text);
  writeFileSync(join(folder, "wording.mjs"), `export const LAST = ${JSON.stringify(last)};\n`);
  return join(folder, "speaker.mjs");
}

function pausedSpeaker(id: string): string {
  const file = writeAgent(id);
  const started = stage.run(
    "run",
    file,
    "--agent",
    "--module",
    stage.module,
    "--id",
    id,
    "--budget",
    "steps=2",
    ...TERMS,
  );
  expect(started.status).toBe(4);
  return file;
}

const given = (file: string) => ["--module", file, "--module", stage.module];

test.each([
  ["the program itself", AGENT.replace('"two"', '"zwei"'), "three"],
  ["a file that it imports", AGENT, "four"],
])("a change in %s is noticed before the yes, and the old program goes on", (what, text, last) => {
  const id = `changed-${what.length}`;
  const file = pausedSpeaker(id);
  writeAgent(id, text, last);
  for (const command of [["approve"], ["resume"]]) {
    const refused = stage.run(...command, id, ...given(file));
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("--replay-changed");
  }
  expect(stage.json("show", id).said).toMatchObject({
    status: "paused",
    missing: [expect.stringContaining("was changed")],
  });
  expect(stage.run("approvals").stdout.replaceAll(/\s+/g, " ")).toContain("was changed");
  writeAgent(id);
  expect(stage.json("show", id).said).toMatchObject({ missing: [] });
  expect(stage.run("approve", id, ...given(file)).status).toBe(0);
});

test("an operator may allow a changed program, which goes on where it does the same and pauses where it differs", () => {
  const later = pausedSpeaker("later");
  writeAgent("later", AGENT.replace('"said"', '"said it all"'));
  expect(stage.run("approve", "later", "--replay-changed", ...given(later))).toMatchObject({
    status: 0,
    stdout: "said it all\n",
  });
  const before = pausedSpeaker("before");
  writeAgent("before", AGENT.replace('"two"', '"zwei"'));
  const stopped = stage.json("approve", "before", "--replay-changed", "--extend", "steps=+5", ...given(before));
  expect(stopped).toMatchObject({
    status: 4,
    said: { status: "paused", problem: expect.stringContaining("as its effect 1") },
  });
  expect(stage.run("show", "before").stdout).toMatch(/^ {2}problem {5}run before stands still/m);
  writeAgent("before");
  expect(stage.run("resume", "before", ...given(before)).status).toBe(0);
});

test("of all that wait, those with a changed program are approved only where that is allowed", () => {
  pausedSpeaker("among-all");
  writeAgent("among-all", AGENT.replace('"said"', '"said differently"'));
  const all = ["approve", "among-all", "--all", "--yes", "--detach"];
  expect(stage.json(...all)).toMatchObject({
    status: 1,
    said: { approved: [], failed: [{ problem: expect.stringContaining("--replay-changed") }] },
  });
  expect(stage.run("approve", "among-all", "--detach").stderr).toContain("--replay-changed");
  expect(stage.json(...all, "--replay-changed")).toMatchObject({ status: 0, said: { failed: [] } });
});

test("a change above a run that waits is shown with its request", () => {
  const text = (last: string) => `
import { defineAgent } from "bursar";
export const child = defineAgent("child", async (context) => {
  for (const word of ["one", "two"]) await context.tool("note", { word });
});
export const speaker = defineAgent("speaker", async (context) => {
  await context.spawn("child", null, "share");
  return "${last}";
});
`;
  const file = writeAgent("above", text("said"));
  const module = ["--module", file, "--module", stage.module];
  const limits = ["--budget", "steps=2", ...TERMS];
  const started = stage.run("run", file, "--agent", "--name", "speaker", ...module, "--id", "above", ...limits);
  expect(started.status).toBe(4);
  expect(stage.run("show", "above.0").stdout).not.toContain("changed");
  writeAgent("above", text("shouted"));
  for (const command of ["show above", "show above.0", "approvals"]) {
    expect(stage.run(...command.split(" ")).stdout.replaceAll(/\s+/g, " ")).toContain("was changed");
  }
  expect(stage.run("approve", "above", "--detach").stderr).toContain("--replay-changed");
});

test("a module that is not on this machine is not called changed", () => {
  const file = pausedSpeaker("away");
  rmSync(file);
  expect(stage.json("show", "away").said).toMatchObject({ status: "paused", missing: [] });
  expect(stage.run("approve", "away", "--detach").status).toBe(0);
});

test("a worker with a changed program leaves its runs alone", () => {
  const file = pausedSpeaker("left-alone");
  stage.run("approve", "left-alone", "--detach");
  writeAgent("left-alone", AGENT.replace('"said"', '"shouted"'));
  const worker = stage.run("worker", "--once", ...given(file));
  expect(worker.stderr).toContain("was changed");
  expect(stage.json("show", "left-alone").said).toMatchObject({ status: "queued" });
  expect(stage.run("resume", "left-alone", "--replay-changed", ...given(file)).stdout).toBe("shouted\n");
});
