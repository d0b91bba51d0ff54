import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { STANDARD } from "bursar";
import { configSchema } from "bursar/config";
import { afterAll, describe, expect, test } from "vitest";
import { MAIN } from "./run.js";

const folder = mkdtempSync(join(tmpdir(), "bursar-cli-config-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FILE = `governance:
  default_policy: house
  policies:
    house:
      extends: moderate
      description: Everyday work
      budgets:
        cost_usd: 0.50
        steps: 40
      exhaustion_policies:
        cost_usd: approval_required
      ceilings:
        cost_usd: 2.00
      wrap_up_reserve:
        cost_usd: 0.05
      approval_expiry_ms: 90m
  agents:
    researcher:
      budgets: {steps: 200}
  sessions:
    nightly:
      budgets: {llm_tokens: 500}
`;

let count = 0;

/** A folder of its own for one test, a repository, so that nothing above it is looked at. */
function place(files: Readonly<Record<string, string>> = {}): string {
  const made = join(folder, `place-${count++}`);
  mkdirSync(join(made, ".git"), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(made, name), text);
  return made;
}

/** Runs the built command in a folder, as a user who has no configuration of their own. */
function config(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { FORCE_COLOR: _, BURSAR_CONFIG: __, XDG_CONFIG_HOME: ___, ...inherited } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, "config", ...args], {
    cwd,
    env: { ...inherited, HOME: join(folder, "home"), ...env },
    encoding: "utf8",
    timeout: 60_000,
  });
  return { status, stdout, stderr };
}

describe("bursar config show", () => {
  test("prints every limit and the line that says so, in 80 columns", () => {
    const { status, stdout, stderr } = config(place({ "bursar.yaml": FILE }), [
      "show",
      "--agent",
      "researcher",
      "--budget",
      "wall_clock=5m",
      "--session",
      "nightly",
    ]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^ {2}file +bursar\.yaml$/m);
    expect(stdout).toMatch(/^ {2}policy +house \(line 4\)$/m);
    expect(stdout).toMatch(/^ {2}agent +researcher \(line 18\)$/m);
    expect(stdout).toMatch(/^ {2}steps +200 {2}hard_stop +agent, bursar\.yaml:19$/m);
    expect(stdout).toMatch(/^ {2}wall_clock_ms +300,000 {2}hard_stop +--budget$/m);
    expect(stdout).toMatch(/^ {2}llm_tokens +500 {2}approval_required +session, bursar\.yaml:22$/m);
    expect(stdout).toMatch(/^ {2}cost_usd +\$0\.50 {2}approval_required +policy, bursar\.yaml:8$/m);
    expect(stdout).toMatch(/^ {2}network_egress_bytes +10,485,760 {2}hard_stop +preset moderate$/m);
    expect(stdout).toContain("expire after 90 minutes (policy, bursar.yaml:16)");
    expect(stdout).toContain("reserve     cost_usd $0.05 for the final answer");
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("is what `bursar config` does, and needs no file", () => {
    const { status, stdout } = config(place(), []);
    expect(status).toBe(0);
    expect(stdout).toContain("none, so the defaults count");
    expect(stdout).toMatch(/^ {2}steps +50 {2}hard_stop +default$/m);
  });

  test("shows the shipped policies, in which 0 is 0", () => {
    const { status, stdout } = config(place(), ["show", "--policy", "strict"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ {2}cost_usd +\$0\.00 {2}hard_stop +preset strict$/m);
    expect(stdout).toMatch(/^ {2}llm_tokens +0 {2}hard_stop +preset strict$/m);
  });

  test("--json gives the same to programs", () => {
    const { status, stdout } = config(place({ "bursar.yaml": FILE }), ["--json", "--budget", "steps=20"]);
    const report = JSON.parse(stdout);
    expect(status).toBe(0);
    expect(report).toMatchObject({ ok: true, file: "bursar.yaml", policy: "house", approval_expiry_ms: 5_400_000 });
    expect(report.dimensions).toHaveLength(13);
    expect(report.dimensions[0]).toMatchObject({ dimension: "steps", limit: 20, limit_from: { name: "--budget" } });
    expect(report.dimensions.find(({ dimension }: { dimension: string }) => dimension === "cost_usd")).toMatchObject({
      limit: 0.5,
      limit_from: { kind: "policy", name: "house", place: { file: "bursar.yaml", line: 8, column: 19 } },
      exhaustion_policy: "approval_required",
      exhaustion_policy_from: { place: { line: 11 } },
      wrap_up_reserve: 0.05,
    });
  });

  test.for([
    [["--budget", "cost_usd=3"], "refused cost_usd 3.00 is above the ceiling 2.00 (policy house, bursar.yaml:13)"],
    [
      ["--budget", "cost_usd=1", "--authority", "agent"],
      "refused an agent may only tighten: cost_usd 1.00 is above 0.50 (policy house, bursar.yaml:8)",
    ],
  ] as const)("%j is refused, with exit code 1", ([args, message]) => {
    const { status, stdout } = config(place({ "bursar.yaml": FILE }), ["show", ...args]);
    expect(status).toBe(1);
    expect(stdout).toContain(message);
    expect(JSON.parse(config(place({ "bursar.yaml": FILE }), [...args, "--json"]).stdout)).toMatchObject({
      ok: false,
      refusals: [{ message: expect.any(String) }],
    });
  });

  test.for([
    [["show", "--budget", "stps=1"], "--budget, column 1: stps is not a dimension; did you mean steps?"],
    [["show", "--session", "steps=1,fuel=x"], "--session, column 14: fuel is"],
    [["show", "--authority", "agnet"], "the authority agnet is not known; did you mean agent?"],
    [["show", "--policy", "modrate"], '--policy: there is no policy "modrate"; did you mean moderate?'],
    [["show", "--session", "a:b"], '--session is "a:b"; allowed: 1 to 100 letters'],
    [["show", "extra"], '"extra" is not expected here'],
    [["shwo"], "the command config shwo is not known; did you mean show?"],
    [["check", "a", "b"], '"b" is not expected here'],
  ] as const)("%j is not understood", ([args, message]) => {
    const { status, stdout, stderr } = config(place(), args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(message);
  });

  test("names that are almost in the file are worth a note", () => {
    const { stdout } = config(place({ "bursar.yaml": FILE }), ["--agent", "reseacher", "--session", "nightl"]);
    expect(stdout).toContain("the file says nothing of the agent reseacher; did you mean researcher?");
    expect(stdout).toContain("the file says nothing of the session nightl; did you mean nightly?");
  });

  test("finds its file by flag, by environment, above, and with the user", () => {
    const where = place({ "bursar.yml": "{}", "other.yaml": "{}" });
    const inner = join(where, "inner");
    mkdirSync(inner);
    const file = (args: readonly string[], env = {}) => JSON.parse(config(inner, ["--json", ...args], env).stdout).file;
    expect(file(["--config", "../other.yaml"])).toBe("../other.yaml");
    expect(file([], { BURSAR_CONFIG: "../other.yaml" })).toBe("../other.yaml");
    expect(file([])).toBe("../bursar.yml");
    const XDG_CONFIG_HOME = join(folder, "xdg");
    mkdirSync(join(XDG_CONFIG_HOME, "bursar"), { recursive: true });
    writeFileSync(join(XDG_CONFIG_HOME, "bursar", "bursar.yaml"), "{}");
    const own = JSON.parse(config(place(), ["--json"], { XDG_CONFIG_HOME }).stdout).file;
    expect(own).toMatch(/xdg\/bursar\/bursar\.yaml$/);
  });
});

describe("bursar config check", () => {
  test("says what there is, when nothing is wrong", () => {
    const where = place({ "bursar.yaml": `${FILE}store: sqlite:x.db\n` });
    const { status, stdout } = config(where, ["check"]);
    expect(status).toBe(0);
    expect(stdout).toContain("bursar.yaml can be used: 1 policy, 1 agent, 1 session");
    expect(stdout).toMatch(/^ {2}agents +researcher$/m);
    expect(JSON.parse(config(where, ["check", "--json"]).stdout)).toMatchObject({
      ok: true,
      default_policy: "house",
      policies: ["house"],
    });
  });

  test("tells everything that is wrong, with exit code 1", () => {
    const text = FILE.replace("cost_usd: 0.50", "cots_usd: 0.50").replace("steps: 200", "steps: -200");
    const where = place({ "wrong.yaml": `${text}store: sqlit:x.db\n` });
    const { status, stdout, stderr } = config(where, ["check", "wrong.yaml"]);
    expect([status, stderr]).toEqual([1, ""]);
    expect(stdout).toContain("wrong.yaml:8:9: governance.policies.house.budgets.cots_usd is not a dimension");
    expect(stdout).toContain("\n  8 |         cots_usd: 0.50\n    |         ^^^^^^^^\n");
    expect(stdout).toContain("wrong.yaml:19:24: governance.agents.researcher.budgets.steps is -200");
    expect(stdout).toContain("wrong.yaml:23:8: store cannot be used: the URL of the store");
    expect(stdout).toContain("3 problems");
    const report = JSON.parse(config(where, ["check", "--config", "wrong.yaml", "--json"]).stdout);
    expect(report.ok).toBe(false);
    expect(report.problems.map(({ place }: { place: { line: number } }) => place.line)).toEqual([8, 19, 23]);
  });

  test("does not repeat a password", () => {
    const where = place({ "bursar.yaml": "store: postgres://me:hunter2/x@host/db\n" });
    const { status, stdout, stderr } = config(where, ["check"]);
    expect(status).toBe(1);
    expect(stdout + stderr).not.toContain("hunter2");
    expect(config(where, ["check", "--json"]).stdout).not.toContain("hunter2");
  });

  test("says so when there is nothing to check", () => {
    expect(config(place(), ["check"])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("there is no configuration here, so the defaults count; bursar config init"),
    });
    expect(config(place(), ["check", "none.yaml"])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("none.yaml is not there"),
    });
    expect(JSON.parse(config(place(), ["check", "none.yaml", "--json"]).stdout)).toMatchObject({
      ok: false,
      error: { code: "config_location" },
    });
  });
});

test("bursar config schema prints the JSON Schema for editors", () => {
  const { status, stdout, stderr } = config(place(), ["schema"]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(configSchema(STANDARD))));
  expect(JSON.parse(config(place(), ["schema", "--json"]).stdout)).toMatchObject({ type: "object" });
});

describe("bursar config init", () => {
  test("writes a file that can be used, and never writes over one", () => {
    const where = place();
    expect(config(where, ["init"])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("bursar.yaml is written"),
    });
    expect(config(where, ["check"]).status).toBe(0);
    const before = readFileSync(join(where, "bursar.yaml"), "utf8");
    expect(config(where, ["init"])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("bursar.yaml is there already, and is left as it is"),
    });
    expect(readFileSync(join(where, "bursar.yaml"), "utf8")).toBe(before);
    expect(config(where, ["init", "none/x.yaml"])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("its folder is not there"),
    });
  });
});

test("every command has its help, with its exit codes", () => {
  for (const args of [
    ["--help"],
    ["show", "--help"],
    ["check", "-h"],
    ["init", "--help"],
    ["schema", "--help"],
    ["help", "show"],
  ]) {
    const { status, stdout } = config(place(), args);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Usage: bursar config/);
    expect(stdout).toMatch(/Exit codes/);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  }
});
