import { spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { describe, expect, test } from "vitest";
import { bursar, inOne, MAIN } from "./run.js";

describe("bursar demo --sandbox", () => {
  test("shows a program that is stopped, what its author is told, and a session that lives on", () => {
    const { status, stdout } = bursar(["demo", "--sandbox"]);
    expect(status).toBe(0);
    expect(stdout).toContain("400M of 400M fuel, 100 %");
    expect(stdout).toContain("OutOfFuel: Execution trapped: OutOfFuel");
    expect(stdout).toContain("still here, and 'find primes' is what I was asked for");
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });
});

describe("bursar demo --budgets without a terminal", () => {
  test("runs to its end in plain lines, asks nobody, and says that it is simulated", () => {
    const { status, stdout, stderr } = bursar(["demo", "--budgets", "--fast"]);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(stdout).not.toContain("\x1b");
    expect(stdout).toContain("SIMULATED");
    expect(stdout).toContain("no terminal to ask, so decided as --yes would");
    expect(stdout).toMatch(/✓ verified {6}\d+ links, head:\n {4}[0-9a-f]{64}\n/);
    expect(stdout).toContain("its content does not match its hash");
    expect(stdout).toContain("Completed: 10 simulated calls made");
  });

  test("--deny ends the run cancelled, which is no failure", () => {
    const { status, stdout } = bursar(["demo", "--budgets", "--fast", "--deny"]);
    expect(status).toBe(0);
    expect(stdout).toContain("denied        by --deny");
    expect(stdout).toContain("Cancelled:");
  });

  test("--json gives one object a line, and a summary last", () => {
    const { status, stdout } = bursar(["demo", "--budgets", "--fast", "--json", "--yes", "--seed", "3"]);
    expect(status).toBe(0);
    const moments = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind: string });
    expect(moments[0]).toMatchObject({ kind: "started", simulated: true, seed: 3 });
    expect(moments.at(-1)).toMatchObject({
      kind: "summary",
      simulated: true,
      status: "Completed",
      chain: { links: moments.filter(({ kind }) => kind === "link").length, verified: true, tampering_detected: true },
    });
  });

  test("FORCE_COLOR is heard, and so is NO_COLOR", () => {
    expect(bursar(["demo", "--budgets", "--fast"], { FORCE_COLOR: "1" }).stdout).toContain("\x1b[32m");
    expect(bursar(["demo", "--budgets", "--fast"], { NO_COLOR: "1" }).stdout).not.toContain("\x1b");
  });

  test("ends with 130 when it is interrupted", async () => {
    const child = spawn(process.execPath, [MAIN, "demo", "--budgets"], { stdio: ["ignore", "pipe", "ignore"] });
    child.stdout.once("data", () => child.kill("SIGINT"));
    const code = await new Promise((resolve) => child.once("exit", resolve));
    expect(code).toBe(130);
  });

  test("ends quietly when nobody reads any more", async () => {
    const child = spawn(process.execPath, [MAIN, "demo", "--budgets", "--fast"], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.once("data", () => child.stdout.destroy());
    let complaint = "";
    child.stderr.on("data", (data) => {
      complaint += String(data);
    });
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect([code, complaint]).toEqual([141, ""]);
  });
});

const MISTAKEN: readonly (readonly [readonly string[], string])[] = [
  [["demo", "--fats"], "the flag --fats is not known; did you mean --fast?"],
  [["dmeo"], "the command dmeo is not known; did you mean demo?"],
  [["demo", "extra"], '"extra" is not expected here'],
  [["demo", "--seed", "-1"], "--seed"],
  [["demo", "--seed", "many"], '--seed is "many"; allowed: a whole number'],
  [["demo", "--yes", "--deny"], "--yes and --deny exclude each other"],
  [["demo", "--seed", "2"], "--seed says nothing without --budgets"],
  [["demo", "--sandbox", "--store", "sqlite:x.db"], "--store says nothing without --run"],
  [["--verison"], "did you mean --version?"],
];
const HELPED: readonly (readonly [readonly string[], string])[] = [
  [["dmeo"], "See bursar --help."],
  [["demo", "--fats"], "See bursar demo --help."],
  [["verify"], "See bursar verify --help."],
  [["store", "chekc"], "See bursar store --help."],
  [["store", "archive"], "See bursar store archive --help."],
  [["store", "--jsno"], "See bursar store --help."],
];
const mistaken = inOne([...MISTAKEN, ...HELPED].map(([args]) => args));

describe("the command line", () => {
  test.each(MISTAKEN)("%j is not understood and says why", (args, message) => {
    const { status, stdout, stderr } = mistaken(args);
    expect(status).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain(message);
  });

  test.each(HELPED)("%j names the help that helps", (args, message) => {
    expect(mistaken(args)).toMatchObject({ status: 2, stderr: expect.stringContaining(message) });
  });

  const JSON_MISTAKES: readonly (readonly [readonly string[], string, string])[] = [
    [["run", "x.py", "--budgt", "steps=1", "--json"], "did you mean --budget?", "bursar run --help"],
    [["runs", "--json", "extra"], '"extra" is not expected here', "bursar runs --help"],
    [["show", "--json"], "the run to show is missing", "bursar show --help"],
    [["store", "info", "--jsn", "--json"], "did you mean --json?", "bursar store info --help"],
    [["frobnicate", "--json"], "the command frobnicate is not known", "bursar --help"],
  ];
  const jsonMistakes = inOne(JSON_MISTAKES.map(([args]) => args));

  test.each(JSON_MISTAKES)("%j is not understood, and says so in JSON", (args, message, help) => {
    const { status, stdout, stderr } = jsonMistakes(args);
    expect([status, stderr]).toEqual([2, ""]);
    const error = { code: "usage", message: expect.stringContaining(message), help };
    expect(JSON.parse(stdout)).toEqual({ ok: false, error });
  });

  test("what cannot be done is said in JSON too, whichever command it is", () => {
    for (const args of [
      ["verify", "no-such-run"],
      ["exec", "/no/such/file.py"],
    ]) {
      const { status, stdout, stderr } = bursar([...args, "--json"], { BURSAR_STORE: "sqlite:/nowhere/at/all.db" });
      expect([status, stderr]).toEqual([1, ""]);
      expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: expect.any(String) } });
    }
  });

  test("help is a command too", () => {
    expect(bursar(["help"]).stdout).toBe(bursar(["--help"]).stdout);
    expect(bursar(["help", "demo"]).stdout).toBe(bursar(["demo", "--help"]).stdout);
    expect(bursar(["help", "store", "archive"]).stdout).toBe(bursar(["store", "archive", "--help"]).stdout);
    expect(bursar(["store", "help", "archive"]).stdout).toBe(bursar(["store", "archive", "--help"]).stdout);
    expect(bursar(["help", "dmeo"])).toMatchObject({ status: 2, stderr: expect.stringContaining("mean demo?") });
  });

  test("says in one line that its output cannot be written", () => {
    for (const args of [["--help"], ["demo", "--fast"]]) {
      const { status, stderr } = intoNowhere(args);
      expect(status).toBe(1);
      expect(stderr).toMatch(/^bursar: the output cannot be written: .+ \((?:ENOSPC|EBADF)\)\n$/);
    }
  });

  test("helps, with examples and exit codes", () => {
    const stores = ["info", "check", "migrate", "export", "import", "vacuum", "backup", "archive"];
    const commands = [[], ["demo"], ["verify"], ["store"], ...stores.map((name) => ["store", name])];
    for (const args of [[], ["demo", "-h"], ...commands.map((command) => [...command, "--help"])]) {
      const { status, stdout } = bursar(args);
      expect(status).toBe(0);
      expect(stdout).toContain("Usage: bursar");
      expect(stdout).toContain("Examples:");
      expect(stdout).toContain("Exit codes:");
      for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    }
  });

  test("tells its version", () => {
    expect(bursar(["--version"]).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

/** With an output that takes nothing: a full disk where the system has one to try, else a file that is open for reading. */
function intoNowhere(args: readonly string[]) {
  const output = existsSync("/dev/full") ? openSync("/dev/full", "w") : openSync(devNull, "r");
  try {
    return spawnSync(process.execPath, [MAIN, ...args], { stdio: ["ignore", output, "pipe"], encoding: "utf8" });
  } finally {
    closeSync(output);
  }
}
