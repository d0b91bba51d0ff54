import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStage, type Stage } from "./runs-stage.js";

let stage: Stage;
beforeAll(() => {
  stage = openStage();
});
afterAll(() => stage[Symbol.dispose]());

const words = (...all: readonly string[]) => ["--input", JSON.stringify({ words: all })];
const writer = (...args: readonly string[]) => ["run", stage.module, "--agent", "--quiet", ...args];

interface Made {
  readonly key: { readonly budget: string };
}

describe("bursar extend", () => {
  test("adds to a run's budget, says how it goes on, and leaves word of who and why", () => {
    const asks = ["--budget", "steps=1", "--exhaustion", "steps=approval_required"];
    expect(stage.run(...writer("--id", "nightly", ...asks, ...words("a", "b"))).status).toBe(4);
    const extended = stage.run("extend", "nigh", "--add", "steps=+4", "--reason", "the report", "--as", "ann");
    expect([extended.status, extended.stderr]).toEqual([0, ""]);
    expect(extended.stdout).toMatch(/^✓ extended {2}budget nightly: 4 steps more\n {2}steps +█+[░│]+ +1 of 5 steps\n/);
    expect(extended.stdout).toContain("`bursar resume nightly` lets it go on");
    expect(stage.run("chain", "nightly", "--json").stdout).toMatch(/"approved_by":"ann".*"reason":"the report"/);
    expect(stage.run("resume", "nightly", "--module", stage.module, "--quiet").stdout).toBe("A B\n");
    const ended = stage.run("extend", "nightly", "--add", "steps=1");
    expect(ended).toMatchObject({ status: 1, stderr: expect.stringContaining("has ended") });
  });

  test("is a flag of run and resume too", () => {
    const asks = ["--budget", "steps=1", "--exhaustion", "steps=approval_required"];
    const started = writer("--id", "hinted", ...asks, "--budget-extend", "steps=+1", ...words("a", "b", "c"));
    expect(stage.run(...started).status).toBe(4);
    const goOn = (...more: readonly string[]) =>
      stage.run("resume", "hinted", "--module", stage.module, "--quiet", ...more);
    expect(goOn("--budget-extend", "steps=0")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("steps is 0"),
    });
    expect(goOn("--budget-extend", "step=1")).toMatchObject({ status: 2, stderr: expect.stringContaining("steps") });
    expect(goOn("--budget-extend", "steps=+1", "--as", "ann")).toMatchObject({ status: 0, stdout: "A B C\n" });
    const chain = stage.run("chain", "hinted", "--json").stdout;
    expect(chain.match(/"event":"Extended"/g)).toHaveLength(2);
    expect(chain).toMatch(/"approved_by":"ann".*"reason":"budget_extend"/);
  });

  test("adds to a session's budget and to a key's, as far as those above have room", () => {
    stage.run(...writer("--session", "team", "--session-budget", "cost_usd=0.05", ...words("a")));
    const refused = stage.run(...writer("--session", "team", ...words("b")));
    expect(refused.status).toBe(5);
    const { key } = stage.json("keys", "create", "--session", "team", "--limits", "cost_usd=0.01")
      .said as never as Made;
    const far = stage.json("extend", key.budget, "--add", "cost_usd=9");
    expect(far).toMatchObject({ status: 1, said: { ok: false, error: { code: "no_room" } } });
    expect(stage.run("extend", key.budget, "--add", "cost_usd=9").stderr).toContain(
      "budget session:team has no room for it, with 0.03 left; extend that one first",
    );
    const wider = stage.json("extend", "session:te", "--add", "cost_usd=10", "--as", "ann");
    expect(wider).toMatchObject({
      status: 0,
      said: {
        ok: true,
        budget: "session:team",
        owner: "session",
        added: { cost_usd: 10 },
        by: "ann",
        reason: null,
        dimensions: [{ dimension: "cost_usd", limit: 10.05 }],
      },
    });
    expect(stage.run("extend", key.budget, "--add", "cost_usd=9", "--quiet")).toEqual({
      status: 0,
      stdout: "",
      stderr: "",
    });
    expect(stage.run(...writer("--session", "team", ...words("b"))).status).toBe(0);
  });

  test.each([
    [["extend"], 2, "the run or budget to extend is missing"],
    [["extend", "session:team"], 2, "give --add cost_usd=0.5"],
    [["extend", "session:team", "--ad", "steps=1"], 2, "did you mean --add?"],
    [["extend", "session:team", "--add", "cots_usd=1"], 2, "did you mean cost_usd?"],
    [["extend", "session:team", "--add", "steps=0"], 2, "steps is 0"],
    [["extend", "session:team", "--add", "steps=1"], 1, "has no limit in budget session:team"],
    [
      ["extend", "sesion:team", "--add", "steps=1"],
      1,
      "there is no run or budget sesion:team; did you mean session:team?",
    ],
    [["extend", "elsewhere-altogether", "--add", "steps=1"], 1, "`bursar runs` and `bursar keys` list them"],
    [["exten"], 2, "did you mean extend?"],
  ])("%j: %d", (args, code, message) => {
    const { status, stdout, stderr } = stage.run(...args);
    expect([status, stdout]).toEqual([code, ""]);
    expect(stderr).toContain(message);
  });
});
