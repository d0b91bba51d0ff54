import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSandbox, type Sandbox } from "@bursar/sandbox";
import { type ApprovalRequest, MemoryStore, openStore, sha256Hex, verifyChain } from "bursar";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Choice } from "../src/app/runs/drive-run.js";
import { waitingLine } from "../src/demo/program-line.js";
import type { RunMoment, RunSummary } from "../src/demo/run-moment.js";
import { playRun } from "../src/demo/run-scene.js";
import { JsonShow, TextShow } from "../src/demo/run-show.js";
import { PROGRAM } from "../src/demo/triage.js";
import { widthOf } from "../src/render/style.js";
import type { KeySource } from "../src/terminal/keyboard.js";
import type { Terminal } from "../src/terminal/terminal.js";
import { bursar, MAIN } from "./run.js";

const YES: Choice = { kind: "approve", reason: "test" };
const WAITING = { number: 6, text: "    note = await host.llm(ask)" };

let folder = "";
let sandbox: Sandbox;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "bursar-demo-test-"));
  sandbox = await openSandbox({ workers: 1 });
}, 120_000);

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await sandbox[Symbol.asyncDispose]();
});

/** Plays the scene in this process, with these answers one after the other. */
async function play(choices: readonly Choice[]) {
  await using store = new MemoryStore();
  const moments: RunMoment[] = [];
  const asked: ApprovalRequest[] = [];
  const notes: string[] = [];
  const show = new JsonShow(() => {}, { kind: "approve", reason: null });
  const summary = await playRun({
    store: { store, url: "memory:" },
    sandbox: async () => sandbox,
    run_id: "triage",
    by: { name: "ada", role: "operator" },
    latency_ms: 0,
    signal: new AbortController().signal,
    show: {
      tell: async (moment) => void moments.push(moment),
      follow: (of, run) => show.follow(of, run),
      decide: async (request) => choices[asked.push(request) - 1] ?? { kind: "leave" },
      note: (text) => void notes.push(text),
    },
  });
  return { summary, moments, asked, notes };
}

function linesIn(stdout: string): { kind: string }[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { kind: string });
}

describe("the run of the demo", () => {
  test("pauses before the call that does not fit, goes on at that line, and does nothing twice", async () => {
    const { summary, moments, asked } = await play([YES]);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      exhausted_dimension: "llm_tokens",
      limits: { llm_tokens: 1050 },
      suggested_extension: { llm_tokens: 525 },
    });
    expect(moments.filter(({ kind }) => kind === "stands" || kind === "goes_on")).toMatchObject([
      { kind: "stands", line: WAITING },
      { kind: "goes_on", line: WAITING },
    ]);
    const printed = moments.flatMap((moment) => (moment.kind === "printed" ? [moment.text] : []));
    expect(printed).toHaveLength(2);
    expect(printed[0]?.trimEnd().split("\n").at(-1)).toBe("truck-12: 5 notes so far");
    expect(printed[1]).toMatch(/^printer: 6 notes so far\n7 notes, \d+ tokens left\n$/);
    expect(summary).toMatchObject({ status: "completed", within_limits: true, model_calls: 7, model_requests: 7 });
    expect(summary.result).toHaveLength(7);
    expect(summary.chain).toMatchObject({ verified: true, tampering_detected: true });
  });

  test("is told the smallest amount when it was granted too little, and asks again", async () => {
    const little: Choice = { kind: "approve", extensions: { llm_tokens: 1 }, reason: "see how far it comes" };
    const { summary, asked, notes } = await play([little, YES]);
    expect(asked.map(({ limits }) => limits.llm_tokens)).toEqual([1050, 1050]);
    expect(notes).toEqual([expect.stringMatching(/add at least \d+ tokens \(llm_tokens=\+\d+\); nothing was decided/)]);
    expect(summary).toMatchObject({ status: "completed", model_calls: 7, model_requests: 7 });
  });

  test("ends cancelled when the answer is no, and keeps what it had", async () => {
    const { summary } = await play([{ kind: "deny", reason: "too dear" }]);
    expect(summary).toMatchObject({ status: "cancelled", model_calls: 5, model_requests: 5 });
    expect(summary.chain.verified).toBe(true);
  });

  test("stays paused when nobody answers", async () => {
    const { summary } = await play([{ kind: "leave" }]);
    expect(summary).toMatchObject({ status: "paused", model_requests: 5 });
  });
});

describe("bursar demo", () => {
  test("tells it in lines of 80 columns without a colour, says what is scripted, and leaves nothing behind", () => {
    const { status, stdout, stderr } = bursar(["demo", "--fast"], { TMPDIR: folder, NO_COLOR: "1" });
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).not.toContain("\x1b");
    expect(stdout.split("\n").filter((line) => widthOf(line) > 80)).toEqual([]);
    expect(stdout).toContain("The model is SCRIPTED");
    expect(stdout).toContain("approved: no terminal to ask, so decided as --yes would");
    expect(stdout).toContain(`it goes on at line 6:\n   6 │ ${WAITING.text}\n`);
    expect(stdout).toContain("7 requests to the model for 7 answers: nothing was done twice");
    expect(stdout).toContain("\nTry next\n");
    for (const line of PROGRAM.trimEnd().split("\n")) expect(stdout).toContain(` │ ${line}\n`);
    expect(readdirSync(folder).filter((name) => name.startsWith("bursar-demo"))).toEqual([]);
  });

  test("--json gives one object a line for every story, and a summary last; --store keeps the run", async () => {
    const url = `sqlite:${join(folder, "kept.db")}`;
    const { status, stdout } = bursar(["demo", "--fast", "--json", "--run", "--sandbox", "--store", url]);
    expect(status).toBe(0);
    const lines = linesIn(stdout);
    expect(lines[0]).toMatchObject({ kind: "opened", scripted: true, program: { name: "triage.py", code: PROGRAM } });
    const summary = lines.find(({ kind }) => kind === "summary") as unknown as RunSummary;
    expect(summary).toMatchObject({ scripted: true, status: "completed", chain: { verified: true } });
    expect(lines.filter(({ kind }) => kind === "link")).toHaveLength(summary.chain.links);
    expect(lines.at(-1)).toMatchObject({ stopped: { success: false }, after: { success: true } });
    const { run_id, chain } = summary;
    await using store = await openStore(url);
    const verified = await verifyChain(store.chain(run_id), { hash: sha256Hex });
    expect(verified).toMatchObject({ ok: true, links: chain.links, head: { hash: chain.head } });
    expect((await store.document("run", run_id))?.status).toBe("completed");
  });

  test("--deny ends it cancelled, which is no failure", () => {
    const { status, stdout } = bursar(["demo", "--fast", "--deny"]);
    expect(status).toBe(0);
    expect(stdout).toContain("denied: decided on the command line");
    expect(stdout).toContain("✗ cancelled");
    expect(stdout).not.toContain("it goes on at");
  });

  test("ends with 130 when it is interrupted, cancels its run, and leaves nothing behind", async () => {
    const url = `sqlite:${join(folder, "interrupted.db")}`;
    const child = spawn(process.execPath, [MAIN, "demo", "--store", url], { stdio: ["ignore", "pipe", "ignore"] });
    let said = "";
    let interrupted = false;
    child.stdout.on("data", (data) => {
      said += String(data);
      // Once: whoever interrupts a second time does not want to wait for an orderly end.
      if (!interrupted && said.includes("#2 ")) interrupted = child.kill("SIGINT");
    });
    const code = await new Promise((resolve) => child.once("exit", resolve));
    expect(code).toBe(130);
    await using store = await openStore(url);
    const runs: string[] = [];
    for await (const { status } of store.documents("run")) runs.push(status);
    expect(runs).toEqual(["cancelled"]);
  });

  test("leaves nothing behind when nobody reads it to its end", async () => {
    const env = { ...process.env, TMPDIR: folder };
    const child = spawn(process.execPath, [MAIN, "demo", "--fast"], { stdio: ["ignore", "pipe", "pipe"], env });
    child.stdout.once("data", () => child.stdout.destroy());
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect(code).toBe(141);
    expect(readdirSync(folder).filter((name) => name.startsWith("bursar-demo"))).toEqual([]);
  });
});

describe("the question at the prompt", () => {
  const request: ApprovalRequest = {
    id: "approval-1",
    status: "pending",
    kind: "budget_extension",
    run: "triage",
    about: "triage llm_tokens",
    checkpoint_id: "triage/checkpoint",
    budget: "triage",
    exhausted_dimension: "llm_tokens",
    action: {},
    consumed: { llm_tokens: 565 },
    held: {},
    limits: { llm_tokens: 1050 },
    suggested_extension: { llm_tokens: 525 },
    waiting: [],
    needs: {},
    needs_together: {},
    left: {},
    least_extension: {},
    message: "",
    digest: "",
    requested: 0,
    expires: Number.MAX_SAFE_INTEGER,
    decision: null,
    consumed_by: null,
    version: 1,
  };

  /** Types a line as soon as one is wanted, and then the next. */
  async function answer(lines: readonly string[]): Promise<{ choice: Choice; said: string }> {
    const typed = [...lines];
    let said = "";
    const keys: KeySource = {
      setRawMode: () => {},
      resume: () => {},
      pause: () => {},
      off: () => {},
      on: (event, listener) => {
        if (event === "data") setImmediate(() => listener(Buffer.from(typed.shift() ?? "\x04")));
      },
    };
    const terminal: Terminal = {
      isTerminal: true,
      env: { NO_COLOR: "1" },
      keys,
      signal: new AbortController().signal,
      interrupt: () => {},
      columns: () => 80,
      rows: () => 24,
      aside: null,
      input: null,
      finish: (code) => code,
      pour: async () => {},
      write: (text) => {
        said += text;
      },
    };
    return { choice: await new TextShow(terminal, null).decide(request), said };
  }

  test("shows the request, and takes yes, no with a reason, an amount, and no answer", async () => {
    const { choice, said } = await answer(["y\r"]);
    // What was shown is what is granted.
    expect(choice).toEqual({ kind: "approve", reason: null, extensions: { llm_tokens: 525 } });
    expect(said).toMatch(/565 .*of 1,050 tokens/);
    expect((await answer(["n\r", "too dear\r"])).choice).toEqual({ kind: "deny", reason: "too dear" });
    for (const amount of ["600\r", " +600 \r", "llm_tokens=+600\r"]) {
      expect((await answer([amount])).choice).toMatchObject({ kind: "approve", extensions: { llm_tokens: 600 } });
    }
    expect((await answer([])).choice).toEqual({ kind: "leave" });
  });

  test("is put again when the answer is none", async () => {
    const { choice, said } = await answer(["many\r", "12x\r", "y\r"]);
    expect(choice).toMatchObject({ kind: "approve" });
    expect(said.split("that is no answer")).toHaveLength(3);
  });
});

test("the line a program waits at is known only if one line asks for such a thing", () => {
  expect(waitingLine(PROGRAM, { name: "llm", args: {} })).toEqual(WAITING);
  expect(waitingLine(PROGRAM, { name: "tool", args: {} })).toBeNull();
  expect(waitingLine(PROGRAM, { name: "spawn", args: {} })).toBeNull();
  expect(waitingLine(PROGRAM, {})).toBeNull();
});
