import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bursar } from "./run.js";
import { openStage, type Stage } from "./runs-stage.js";

let stage: Stage;
const words = (count: number) => JSON.stringify({ words: Array.from({ length: count }, () => "a") });
const estimate = (...more: readonly string[]) =>
  stage.run("estimate", stage.module, "--agent", "--name", "writer", "--input", words(4), ...more);

beforeAll(() => {
  stage = openStage();
});
afterAll(() => stage[Symbol.dispose]());

describe("bursar estimate", () => {
  test("without a past nobody can say, nothing is made and nothing is done", () => {
    const { status, stdout } = estimate();
    expect(status).toBe(0);
    expect(stdout).toContain("nobody can say what it will take");
    expect(existsSync(stage.at("runs.db"))).toBe(false);
    expect(readFileSync(stage.at("notes"), "utf8")).toBe("");
  });

  describe("with a past", () => {
    beforeAll(() => {
      for (const count of [3, 4, 5]) {
        const { status } = stage.run("run", stage.module, "--agent", "--input", words(count), "--quiet");
        expect(status).toBe(0);
      }
    });

    test("a table says for every dimension what is expected, what is allowed and who says so; it fits: 0", () => {
      const { status, stdout } = estimate();
      expect(stdout).toMatch(/dimension +median +95 % +limit +fits +source/);
      expect(stdout).toMatch(/cost_usd +\$0\.08 +\$0\.1\d* +\$0\.50 +✓ yes +history/);
      expect(stdout).toMatch(/steps +4 +\d+ +50 +✓ yes +history/);
      expect(stdout).toMatch(/history +the last 3 runs/);
      expect(stdout).toContain("✓ it fits");
      expect(status).toBe(0);
    });

    test("what does not fit is told, and so by the exit code", () => {
      const { status, stdout } = estimate("--budget", "cost_usd=0.05");
      expect(stdout).toMatch(/cost_usd +\$0\.08 +\$0\.1\d* +\$0\.05 +✗ \$0\.\d+ missing +history/);
      expect(stdout).toMatch(/✗ it does not fit: cost_usd may take \$0\.1\d*, and \$0\.05 is allowed/);
      expect(status).toBe(5);
      // A limit that only warns keeps nobody from fitting.
      expect(estimate("--budget", "cost_usd=0.05", "--exhaustion", "cost_usd=soft_warn").status).toBe(0);
    });

    test("a session that is not open yet counts with the limits it would have, and is not opened", () => {
      const short = estimate("--session", "team", "--session-budget", "cost_usd=0.06", "--json");
      expect(short.status).toBe(5);
      const { dimensions } = JSON.parse(short.stdout) as { dimensions: { dimension: string; limit: number }[] };
      expect(dimensions.find(({ dimension }) => dimension === "cost_usd")?.limit).toBe(0.06);
      expect(estimate("--session", "team", "--session-budget", "cost_usd=6").status).toBe(0);
    });

    test("a session that is not open, and that nothing gives limits, is refused as for a run", () => {
      const { status, stderr } = estimate("--session", "taem");
      expect(status).toBe(2);
      expect(stderr).toContain("session taem is not open, and nothing says what it may use");
      expect(stderr).toContain("--session-budget");
    });

    test("as JSON in edge units, with what each source says", () => {
      const { said } = stage.json("estimate", stage.module, "--agent", "--name", "writer", "--input", words(4));
      expect(said).toMatchObject({
        program: "writer",
        fits: true,
        notes: [],
        opinions: [{ source: "history", samples: 3, about: "the last 3 runs" }],
      });
      expect(said.dimensions).toContainEqual(
        expect.objectContaining({ dimension: "cost_usd", unit: "USD", median: 0.08, limit: 0.5, missing: 0 }),
      );
    });

    test("starts nothing and spends nothing", () => {
      const before = readFileSync(stage.at("notes"), "utf8");
      const { said } = stage.json("runs");
      estimate();
      expect(stage.json("runs").said).toEqual(said);
      expect(readFileSync(stage.at("notes"), "utf8")).toBe(before);
    });

    test("the report compares what was predicted with what happened", () => {
      const { status, stdout } = stage.run("estimate", "--report");
      expect(status).toBe(0);
      expect(stdout).toMatch(/^writer\n +dimension +the 95 % +runs +cut +within +off by +reached\n/m);
      expect(stdout).toMatch(/^ +cost_usd +too few +2 +0 +100 % /m);
      const { said } = stage.json("estimate", "--report", "--program", "writer");
      expect(said.rows).toContainEqual(expect.objectContaining({ program: "writer", dimension: "steps", runs: 2 }));
      expect(stage.run("estimate", "--report", "--program", "nobody").stdout).toContain(
        "no run of nobody was predicted",
      );
    });

    test("a run that is expected not to fit is refused, asked about, or begins with a word, as it is said", () => {
      const tight = ["--agent", "--input", words(4), "--budget", "cost_usd=0.05"] as const;
      const refused = stage.run("run", stage.module, ...tight, "--preflight", "refuse");
      expect(refused.status).toBe(5);
      expect(refused.stderr).toContain("estimated_over");
      const asked = stage.run("run", stage.module, ...tight, "--preflight", "ask", "--id", "asked");
      expect(asked.status).toBe(4);
      expect(asked.stderr).toMatch(/asks +to begin, though it is expected not to fit/);
      expect(asked.stderr).toMatch(/expected +cost_usd about \$0\.08, up to \$0\.1\d* of \$0\.05: \$0\.\d+ missing/);
      expect(stage.run("approvals").stdout).toMatch(/history +the last 3 runs/);
      const chain = stage.run("chain", "asked").stdout;
      expect(chain).toMatch(/RunEstimated +expected, which does not fit \(ask\): .*cost_usd about \$0\.08, up to/);
      expect(stage.run("chain", "asked", "--full").stdout).toMatch(/RunEstimated +\{"dimensions":/);
      const yes = stage.run("approve", "asked", "--module", stage.module, "--extend", "cost_usd=+1");
      expect(yes.status).toBe(0);
      const shown = stage.run("show", "asked").stdout;
      expect(shown).toMatch(/expected\n +dimension +used +median +95 % +source/);
      expect(shown).toMatch(/cost_usd +\$0\.08 +\$0\.08 +\$0\.1\d* +history/);
      const off = stage.run("run", stage.module, "--agent", "--input", words(2), "--preflight", "off", "--id", "off");
      expect(off.status).toBe(0);
      expect(stage.json("show", "off").said.expected).toEqual([]);
    });
  });

  test("says what is missing or wrong", () => {
    expect(stage.run("estimate")).toMatchObject({ status: 2, stderr: expect.stringContaining("is missing") });
    expect(stage.run("estimate", "x.py", "--report").stderr).toContain("--report is about all programs");
    expect(stage.run("run", stage.module, "--agent", "--preflight", "wran").stderr).toContain("did you mean warn?");
    expect(bursar(["estimate", "--help"]).stdout).toContain("5    the 95 % does not fit into the limits");
  });
});
