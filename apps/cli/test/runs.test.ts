import { readFileSync, writeFileSync } from "node:fs";
import { Gate, openStore, readAmounts, requestExtension } from "bursar";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bursar, severally } from "./run.js";
import { openStage, type Stage } from "./runs-stage.js";

let stage: Stage;
beforeAll(() => {
  stage = openStage();
});
afterAll(() => stage[Symbol.dispose]());

const ASKS = ["--exhaustion", "steps=approval_required"];
const words = (...all: readonly string[]) => ["--input", JSON.stringify({ words: all })];
const writer = (...args: readonly string[]) => ["run", stage.module, "--agent", ...args];

describe("bursar run", () => {
  test("gives the result to standard output, and tells the rest beside it", () => {
    const { status, stdout, stderr } = stage.run(...writer("--id", "plain", ...words("a", "b")));
    expect([status, stdout]).toEqual([0, "A B\n"]);
    expect(stderr).toContain("run plain  writer, trusted code of");
    expect(stderr).toMatch(/✓ #0 +note +\$0\.02/);
    expect(stderr).toContain("✓ completed  run plain");
    expect(stderr).toMatch(/steps +run +[█│░]+ +2 of 50/);
    expect(stderr).not.toContain("\x1b");
    for (const line of stderr.split("\n")) expect(line.length).toBeLessThanOrEqual(80 + stage.module.length);
  });

  test("--json gives one object, --quiet nothing but the result", () => {
    const { status, said } = stage.json(...writer("--id", "spoken", ...words("a")));
    expect(status).toBe(0);
    expect(said).toMatchObject({ run_id: "spoken", status: "completed", result: "A", usage: { cost_usd: 0.02 } });
    expect(stage.run(...writer("--quiet", ...words("b")))).toEqual({ status: 0, stdout: "B\n", stderr: "" });
  });

  test("a limit ends it with a code of its own, and a second start of the same run starts nothing", () => {
    const failing = writer("--id", "short", "--budget", "steps=1", ...words("a", "b"));
    const { status, said } = stage.json(...failing);
    expect(status).toBe(5);
    expect(said).toMatchObject({ status: "failed", failure: { code: "exhausted", dimension: "steps" } });
    const before = readFileSync(stage.at("notes"), "utf8");
    const again = stage.run(...failing);
    expect(again.status).toBe(5);
    expect(again.stderr).toContain("it is there already, and failed; nothing is started anew");
    expect(readFileSync(stage.at("notes"), "utf8")).toBe(before);
    const changed = stage.run(...writer("--id", "short", "--quiet", ...words("c")));
    expect(changed).toMatchObject({ status: 1, stdout: "", stderr: expect.stringContaining("with another input") });
    const other = stage.run("run", stage.at("x.py"), "--id", "short");
    expect(other).toMatchObject({ status: 1, stderr: expect.stringContaining("is not there") });
  });

  test("a session that is used up lets nothing begin, with the code of a limit", () => {
    const inside = (...flags: string[]) => stage.run(...writer("--session", "spent", ...flags));
    inside("--session-budget", "steps=1", ...words("a"));
    const told = inside(...words("b"));
    expect(told).toMatchObject({
      status: 5,
      stderr: expect.stringContaining("no run can be started in session spent"),
    });
    const { status, said } = stage.json(...writer("--session", "spent", ...words("b")));
    expect([status, said]).toMatchObject([5, { ok: false, error: { code: "exhausted" } }]);
  });

  test("takes its input from a file and from a pipe", () => {
    writeFileSync(stage.at("input.json"), '{"words":["file"]}');
    expect(stage.run(...writer("--quiet", "--input", `@${stage.at("input.json")}`)).stdout).toBe("FILE\n");
    const piped = bursar(writer("--quiet", "--input", "-"), stage.env, '{"words":["pipe"]}');
    expect(piped.stdout).toBe("PIPE\n");
  });

  test("sessions clamp their runs, and keep what was used", () => {
    const inside = (...args: readonly string[]) => stage.json(...writer("--session", "team", ...args));
    expect(inside("--session-budget", "cost_usd=0.06", ...words("a")).status).toBe(0);
    // A call of the second run asks for more than the first has left.
    const second = inside(...words("b", "c"));
    expect(second.status).toBe(5);
    expect(second.said).toMatchObject({ failure: { dimension: "cost_usd" }, usage: { cost_usd: 0 } });
    const wider = stage.run(...writer("--session", "team", "--session-budget", "cost_usd=5"));
    expect(wider).toMatchObject({ status: 1, stderr: expect.stringContaining("those never change") });
  });

  test("a session that nobody has opened is refused, with the one that was meant, unless it is given limits", () => {
    stage.run(...writer("--session", "weavers", "--session-budget", "cost_usd=1", ...words("a")));
    expect(stage.run(...writer("--session", "weavres", ...words("b")))).toMatchObject({
      status: 2,
      stdout: "",
      stderr: expect.stringContaining("weavres is not open, and nothing says what it may use; did you mean weavers?"),
    });
    const { status, said } = stage.json(...writer("--session", "elsewhere", ...words("b")));
    expect([status, said]).toMatchObject([2, { error: { message: expect.stringContaining("--session-budget") } }]);
    writeFileSync(stage.at("named.yaml"), "governance: { sessions: { elsewhere: { budgets: { steps: 9 } } } }\n");
    const named = writer("--config", stage.at("named.yaml"), "--session");
    expect(stage.run(...named, "elswhere", ...words("b")).stderr).toContain("did you mean elsewhere?");
    expect(stage.run(...named, "elsewhere", ...words("b")).status).toBe(0);
    const again = stage.run(...writer("--session", "weavers", ...words("b")));
    // Nothing was said of its limits, so there is nothing to note.
    expect([again.status, again.stderr.includes("never change")]).toEqual([0, false]);
  });

  test("a deadline that is over is said to be, before anything is started", () => {
    for (const deadline of ["2020-01-01T00:00:00Z", "0s"]) {
      const { status, stdout, stderr } = stage.run(...writer("--deadline", deadline, ...words("late")));
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(`--deadline is ${deadline}, and that is over: it is 20`);
    }
    expect(readFileSync(stage.at("notes"), "utf8")).not.toContain("late");
  });

  test("a tenant's limits count for all runs, in a session or not", () => {
    writeFileSync(stage.at("tenant.yaml"), "governance: { tenant: { budgets: { cost_usd: 0.1 } } }\n");
    const tenant = (...args: readonly string[]) => stage.json(...writer("--config", stage.at("tenant.yaml"), ...args));
    expect(tenant("--id", "tenant-1", ...words("a", "b")).status).toBe(0);
    expect(tenant("--session", "guild", ...words("c")).status).toBe(0);
    expect(tenant("--session", "guild", ...words("d"))).toMatchObject({ status: 5, said: { usage: { cost_usd: 0 } } });
    const { said } = stage.json("show", "tenant-1");
    expect(said).toMatchObject({ budgets: [{ dimensions: [{ used: 0.06, limit: 0.1 }] }, { budget: "tenant-1" }] });
  });

  test("the configuration's policy counts, and its store", () => {
    writeFileSync(
      stage.at("bursar.yaml"),
      "store: sqlite:of-config.db\ngovernance: { agents: { writer: { budgets: { steps: 1 } } } }\n",
    );
    const config = ["--config", stage.at("bursar.yaml")];
    expect(stage.json(...writer(...config, "--id", "configured", ...words("a", "b"))).status).toBe(5);
    expect(stage.json("runs", ...config).said).toMatchObject({ runs: [{ id: "configured" }], more: 0 });
    expect(stage.json(...writer(...config, "--budget", "steps=5", ...words("a", "b"))).status).toBe(0);
  });
});

describe("approvals", () => {
  test("a run pauses with a code of its own, and goes on from there after a yes", () => {
    const paused = stage.run(...writer("--id", "asks", "--budget", "steps=1", ...ASKS, ...words("x", "y")));
    expect([paused.status, paused.stdout]).toEqual([4, ""]);
    expect(paused.stderr).toContain("‖ paused  run asks");
    expect(paused.stderr).toMatch(/dimension +steps/);
    expect(paused.stderr).toMatch(/consumed +1 of 1 step/);
    expect(paused.stderr).toMatch(/suggested +\+ 1 step/);
    expect(paused.stderr).toContain(`--module ${stage.module}`);
    const waiting = stage.json("approvals").said as unknown as { approvals: { id: string; run: string }[] };
    expect(waiting.approvals.map(({ run }) => run)).toEqual(["asks"]);
    expect(stage.run("resume", "asks", "--module", stage.module).status).toBe(4);

    const unequipped = stage.run("approve", "asks");
    expect(unequipped.status).toBe(1);
    expect(unequipped.stderr).toContain(`add --module ${stage.module}`);
    const approved = stage.run("approve", "ask", "--module", stage.module, "--as", "ann", "--reason", "go on");
    expect([approved.status, approved.stdout]).toEqual([0, "X Y\n"]);
    expect(approved.stderr).toContain("approved by ann: go on");
    expect(stage.run("approve", "asks").stderr).toContain("is completed, and waits for no approval");
    expect(stage.run("verify", "asks")).toMatchObject({ status: 0, stdout: expect.stringContaining("✓ verified") });
  });

  test("by checkpoint, with other amounts; --yes says yes by itself", () => {
    stage.run(...writer("--id", "more", "--budget", "steps=1", ...ASKS, ...words("a", "b", "c", "d")));
    const { status, said } = stage.json("approve", "more/checkpoint", "--extend", "steps=+9", "--module", stage.module);
    expect(status).toBe(0);
    expect(said).toMatchObject({ status: "completed", result: "A B C D" });
    const eager = stage.json(...writer("--yes", "--budget", "steps=1", ...ASKS, ...words("a", "b", "c")));
    expect(eager).toMatchObject({ status: 0, said: { result: "A B C", usage: { steps: 3 } } });
  });

  test("a no cancels the run, and needs nothing of what it runs", () => {
    stage.run(...writer("--id", "dear", "--budget", "steps=1", ...ASKS, ...words("a", "b")));
    const denied = stage.run("deny", "dear", "--reason", "too dear", "--as", "bob");
    expect(denied).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/✗ denied {2}run dear[\s\S]*more steps was denied by bob: too dear/),
    });
    expect(stage.json("show", "dear").said).toMatchObject({ cancel: { by: "bob" }, requests: [] });
  });

  test("one action can be allowed, and denied", () => {
    const send = ["--input", '{"letter":true}'];
    expect(stage.run(...writer("--id", "post-1", ...send)).stderr).toMatch(/waits +letter \{\}/);
    expect(stage.run("approve", "post-1", "--module", stage.module).stdout).toBe("sent\n");
    expect(stage.run(...writer("--id", "post-2", ...send)).status).toBe(4);
    expect(stage.run("approve", "post-2", "--extend", "steps=1").status).toBe(2);
    expect(stage.run("deny", "post-2", "--module", stage.module).stdout).toContain("denied");
  });
});

describe("looking", () => {
  test("shows a run with its budgets, its steps and what went wrong", () => {
    stage.run(...writer("--id", "seen", "--session", "crew", "--session-budget", "steps=40", ...words("a", "fail")));
    const { stdout } = stage.run("show", "see");
    expect(stdout).toContain("seen  ✓ completed");
    expect(stdout).toMatch(/session:crew[\s\S]*└ seen/);
    expect(stdout).toMatch(/✓ #0 .*note/);
    expect(stdout).toMatch(/✗ #1 .*note[\s\S]*the pen is empty/);
    const { said } = stage.json("show", "seen");
    expect(said).toMatchObject({
      steps: [
        { number: 0, state: "done", used: { cost_usd: 0.02 } },
        { number: 1, state: "failed" },
      ],
      budgets: [{ budget: "session:crew" }, { budget: "seen" }],
    });
  });

  test("requests say apart what is held in their budgets, to people and to programs", async () => {
    {
      await using store = await openStore(stage.env.BURSAR_STORE ?? "");
      using gate = new Gate({ store });
      await gate.open("crowd", { limits: { cost_usd: 2 }, scope: "shared" });
      const call = { budget: "crowd", call: "c", kind: "model", capability_id: "model:x" } as const;
      await store.apply([{ op: "reserve", ...call, asked: readAmounts({ cost_usd: 1.5 }) }]);
      await requestExtension(store, { budget: "crowd", dimension: "cost_usd", action: {} });
    }
    const { approvals } = stage.json("approvals").said as unknown as { approvals: readonly object[] };
    expect(approvals).toContainEqual(expect.objectContaining({ budget: "crowd", held: { cost_usd: 1.5 } }));
    expect(stage.run("approvals").stdout).toMatch(
      /consumed +\$0\.00 of \$2\.00\n[\s\S]*held +\$1\.50, for calls under way/,
    );
  });

  test("lists runs by status, the latest first, and chains as they were hashed", () => {
    const { said } = stage.json("runs", "--status", "failed");
    expect((said as unknown as { runs: { id: string }[] }).runs.map(({ id }) => id)).toContain("short");
    expect(stage.run("runs", "--most", "2").stdout).toMatch(/^✓ completed {2}seen .*writer\n.*\nand \d+ runs before/);
    const { stdout } = stage.run("chain", "seen", "--json");
    writeFileSync(stage.at("seen.jsonl"), stdout);
    expect(bursar(["verify", stage.at("seen.jsonl"), "--json"]).stdout).toContain('"ok":true');
    expect(stage.run("chain", "seen").stdout).toMatch(/^0 +[\d:.]+ +Allocation/);
    writeFileSync(stage.at("forged.jsonl"), stdout.replace('"cost_usd":0.02', '"cost_usd":0.01'));
    expect(bursar(["verify", stage.at("forged.jsonl")]).status).toBe(1);
  });

  test("nothing is cut off a line that goes to a pipe", () => {
    const id = `whole-${"long-".repeat(12)}end`;
    const why = `, ${"and there is no other ".repeat(10)}anywhere`;
    stage.run(...writer("--id", id, ...words(`fail${why}`)));
    const { stdout } = stage.run("show", id);
    expect(stdout).toContain(`  ${id}\n`);
    expect(stdout).toMatch(new RegExp(`^ {11}.*the pen is empty${why}$`, "m"));
    expect(stage.run("runs").stdout).toMatch(new RegExp(`${id} .*writer\n`));
  });

  test("to resume what has ended needs nothing that it was started with, and says how it ended", () => {
    stage.run(...writer("--id", "over", ...words("a")));
    const { status, stderr } = stage.run("resume", "over");
    expect(stderr).toContain("✓ completed  run over");
    expect(status).toBe(0);
  });

  test("cancels what waits, once", () => {
    stage.run(...writer("--id", "idle", "--detach", ...words("a")));
    expect(stage.run("cancel", "idle", "--reason", "no use")).toMatchObject({ status: 0, stderr: "" });
    expect(stage.run("cancel", "idle")).toMatchObject({ status: 1, stdout: expect.stringContaining("ended before") });
  });
});

const REFUSED: readonly (readonly [readonly string[], number, string])[] = [
  [["run"], 2, "the program to run is missing"],
  [["run", "nope.py"], 1, "nope.py is not there"],
  [["run", "nope.txt"], 2, "allowed: .py, .js"],
  [["run", "nope.py", "--budgt", "steps=1"], 2, "did you mean --budget?"],
  [["run", "MODULE"], 1, "add --agent"],
  [["run", "MODULE", "--agent", "--name", "writr"], 2, "did you mean writer?"],
  [["run", "MODULE", "--agent", "--input", "{"], 2, "--input is no JSON"],
  [["run", "MODULE", "--agent", "--input", "@/no/such"], 1, "cannot be read (ENOENT)"],
  [["run", "MODULE", "--agent", "--budget", "stps=1"], 2, "did you mean steps?"],
  [["run", "MODULE", "--agent", "--budget", "steps=-1"], 2, "allowed: a whole number"],
  [
    ["run", "MODULE", "--agent", "--exhaustion", "steps=explode"],
    2,
    '--exhaustion: steps is "explode"; allowed: hard_stop',
  ],
  [["run", "MODULE", "--agent", "--policy", "modrate"], 2, "did you mean moderate?"],
  [["estimate", "MODULE", "--agent", "--policy", "modrate"], 2, "did you mean moderate?"],
  [["run", "MODULE", "--agent", "--session-budget", "steps=1"], 2, "without --session"],
  [["run", "MODULE", "--agent", "--id", "a/b"], 2, "--id is a/b"],
  [["run", "MODULE", "--agent", "--deadline", "soon"], 2, "--deadline is soon"],
  [["run", "MODULE", "--agent", "--detach", "--store", "memory:"], 2, "nothing can be left to a worker"],
  [["run", "MODULE", "--agent", "--model-url", "http://ada:secret@h/v1"], 2, "BURSAR_MODEL_KEY"],
  [["run", "MODULE", "--agent", "--model-url", "http://h/v1"], 2, "--model is missing"],
  [["run", "MODULE", "--agent", "--price", "0.1,0.2"], 2, "--price says nothing without a model"],
  [["run", "MODULE", "--agent", "--module", "/no/such.mjs"], 1, "is not there"],
  [["runs", "--status", "pausd"], 2, "did you mean paused?"],
  [["show"], 2, "the run to show is missing"],
  [["show", "nope"], 1, "there is no run nope; `bursar runs` lists them"],
  [["show", "x", "--store", "sqlite:/no/such.db"], 1, "there is no store at /no/such.db"],
  [["approve", "nope"], 1, "there is no request, checkpoint or run nope"],
  [["approve", "nope", "--extend", "steps=0"], 2, "allowed: an amount"],
  [["deny", "LONG"], 1, "at most 300 characters"],
  [["cancel", "nope"], 1, "there is no run nope"],
  [["resume", "nope"], 1, "there is no run nope"],
  [["chain", "nope"], 1, "there is no run nope"],
  [["verify", "nope"], 1, "there is no run nope"],
  [["worker", "--most", "0"], 2, "allowed: a whole number from 1"],
  [["worker", "--claim", "1d"], 2, "allowed: a time from 1s to 1h"],
  [["worker", "--store", "memory:"], 2, "no run can be in it"],
];

describe("a command line that cannot be carried out", () => {
  let refused: ReturnType<typeof severally>;
  beforeAll(() => {
    const meant: Readonly<Record<string, string>> = { MODULE: stage.module, LONG: "x".repeat(400) };
    const lines = REFUSED.map(([args]) => args.map((word) => meant[word] ?? word));
    refused = severally(lines, stage.env);
  });

  test.each(REFUSED.map((each, at) => [...each, at] as const))("%j fails with %i, %j", (_, code, message, at) => {
    const { status, stdout, stderr } = refused[at] ?? {};
    expect([status, stdout]).toEqual([code, ""]);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("secret");
    expect(stderr).not.toContain("    at ");
  });

  test("ends the process with the same code", () => {
    for (const at of [0, 1]) {
      const [args = [], code, message] = REFUSED[at] ?? [];
      expect(stage.run(...args)).toMatchObject({ status: code, stderr: expect.stringContaining(String(message)) });
    }
  });
});

test("a beginning that several runs have is refused, with their names", () => {
  for (const id of ["twin-1", "twin-2"]) stage.run(...writer("--id", id, "--quiet"));
  const { status, stderr } = stage.run("show", "twin");
  expect(status).toBe(1);
  expect(stderr).toContain("twin is the beginning of more than one run: twin-1, twin-2");
});
