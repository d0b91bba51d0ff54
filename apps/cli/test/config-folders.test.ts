import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { MAIN } from "./run.js";
import { openStage } from "./runs-stage.js";

const folder = mkdtempSync(join(tmpdir(), "bursar-folders-"));
const stage = openStage();
afterAll(() => {
  stage[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

const OWN = "governance: {policies: {default: {ceilings: {cost_usd: 0.05, steps: 3}}}}\n";
const PLANTED = `store: sqlite:planted.db
governance:
  policies:
    default:
      budgets: {cost_usd: 9000000, steps: null}
      exhaustion_policies: {cost_usd: soft_warn, steps: soft_warn}
`;
const FIVE = `(run :body (do ${'(call "note" {:word "a"}) '.repeat(5)}))\n`;
const RUN = ["run", "plan.rtfs", "--module", stage.module];

let count = 0;

/** A user, with a file of their own or without, in a folder where an agent has planted another. */
function place(own: string | null, planted: string): { readonly cwd: string; readonly env: NodeJS.ProcessEnv } {
  const root = join(folder, String(count++));
  const [home, cwd] = [join(root, "home"), join(root, "work")];
  mkdirSync(join(home, ".config/bursar"), { recursive: true });
  mkdirSync(join(cwd, ".git"), { recursive: true });
  if (own !== null) writeFileSync(join(home, ".config/bursar/bursar.yaml"), own);
  writeFileSync(join(cwd, "bursar.yaml"), planted);
  writeFileSync(join(cwd, "plan.rtfs"), FIVE);
  const { FORCE_COLOR: _, BURSAR_CONFIG: __, XDG_CONFIG_HOME: ___, BURSAR_STORE: ____, ...inherited } = process.env;
  return {
    cwd,
    env: {
      ...inherited,
      NOTES: stage.at("notes"),
      HOME: home,
      XDG_STATE_HOME: join(root, "state"),
      XDG_DATA_HOME: join(root, "data"),
    },
  };
}

function bursar(where: ReturnType<typeof place>, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    ...where,
    encoding: "utf8",
    timeout: 60_000,
    input: "",
  });
  return { status, stdout, stderr };
}

describe("what an agent has planted in its folder", () => {
  test("does not let the next run use more, and is told with its line", () => {
    const { status, stderr } = bursar(place(OWN, PLANTED), ...RUN);
    expect([status, stderr]).toEqual([5, expect.stringContaining("$0.02 of $0.05")]);
    expect(stderr).toContain("bursar: configuration: ~/.config/bursar/bursar.yaml, tightened by bursar.yaml\n");
    expect(stderr).toMatch(
      /^bursar: warning: bursar\.yaml:5:43: governance\.policies\.default\.budgets\.steps is ignored: no limit is above 3 \(ceiling of policy default, .*bursar\.yaml:1\)/m,
    );
    expect(stderr).toMatch(/^bursar: warning: bursar\.yaml:1:8: store is ignored/m);
  });

  test("is told to programs, too", () => {
    const { stdout } = bursar(place(OWN, PLANTED), ...RUN, "--json");
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({
      status: "failed",
      configuration: { file: expect.stringContaining("home"), tightened_by: ["bursar.yaml"] },
    });
    expect(report.configuration.ignored).toContainEqual(
      expect.objectContaining({ field: "store", place: { file: "bursar.yaml", line: 1, column: 8 } }),
    );
  });

  test("is shown by `bursar config`", () => {
    const where = place(OWN, PLANTED);
    const { stdout } = bursar(where, "config");
    expect(stdout).toMatch(/^ {2}tightened +by bursar\.yaml$/m);
    // Both files are called alike, and a place has to say which of them is meant.
    expect(stdout).toMatch(/^ {2}steps +3 {2}hard_stop +ceiling,\s+~\/\.config\/bursar\/bursar\.yaml:1$/m);
    expect(stdout).toMatch(/^warning bursar\.yaml:5:\d+: .*cost_usd is ignored: 9000000/m);
    const report = JSON.parse(bursar(where, "config", "show", "--json").stdout);
    expect(report).toMatchObject({ tightened_by: ["bursar.yaml"] });
    expect(report.dimensions.find(({ dimension }: { dimension: string }) => dimension === "cost_usd").limit).toBe(0.05);
    expect(bursar(where, "config", "check").stdout).toContain("tightened by bursar.yaml can be used");
  });

  test("counts without a file of the user's own, and where it is named", () => {
    const bare = bursar(place(null, PLANTED), ...RUN);
    expect([bare.status, bare.stderr]).toEqual([0, expect.stringContaining("bursar: configuration: bursar.yaml\n")]);
    const named = bursar(place(OWN, PLANTED), ...RUN, "--config", "bursar.yaml");
    expect([named.status, named.stderr]).toEqual([0, expect.not.stringContaining("warning")]);
  });
});

describe("what serves says it when it starts", () => {
  /** What a process has written until it has written this; then it is stopped. */
  async function begun(where: ReturnType<typeof place>, args: readonly string[], until: string): Promise<string> {
    const child: ChildProcess = spawn(process.execPath, [MAIN, ...args], { ...where, stdio: ["pipe", "pipe", "pipe"] });
    let text = "";
    const over = new Promise((resolve) => child.once("close", resolve));
    await new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on("data", (chunk) => {
          text += chunk;
          if (text.includes(until)) resolve();
        });
      }
      child.once("close", () => resolve());
    });
    child.kill("SIGTERM");
    await over;
    return text;
  }

  test.for([
    [["serve", "--port", "0"], "API"],
    [["gateway", "--port", "0", "--upstream", "openai=http://127.0.0.1:9/v1"], "for clients"],
    [["mcp"], "warning: bursar.yaml:5"],
    [["worker"], "driving"],
  ] as const)("%j", async ([args, until]) => {
    const text = await begun(place(OWN, PLANTED), args, until);
    expect(text).toContain("bursar: configuration: ~/.config/bursar/bursar.yaml, tightened by bursar.yaml\n");
    expect(text).toContain("bursar: warning: bursar.yaml:5:");
  });

  test.for([
    ["serve", "--port", "0", "--json"],
    ["gateway", "--port", "0", "--upstream", "openai=http://127.0.0.1:9/v1", "--json"],
  ] as const)("%j", async (args) => {
    const [line = ""] = (await begun(place(OWN, PLANTED), args, "\n")).split("\n");
    expect(JSON.parse(line)).toMatchObject({ event: "listening", configuration: { tightened_by: ["bursar.yaml"] } });
  });
});
