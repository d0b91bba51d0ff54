import { EventEmitter } from "node:events";
import { type ApprovalRequest, defineAgent, defineTool, MemoryStore, openBursar } from "bursar";
import { describe, expect, test } from "vitest";
import { approvalText, subjectOf } from "../src/render/approval.js";
import { RunNarrator } from "../src/render/run-lines.js";
import { styleFor } from "../src/render/style.js";
import { askPerson } from "../src/terminal/ask-approval.js";
import { FramePainter } from "../src/terminal/frame-painter.js";
import { readLine } from "../src/terminal/line-reader.js";
import { ProgramOutput } from "../src/terminal/program-output.js";
import { Watching } from "../src/terminal/run-watch.js";
import { FakeScreen } from "./screen.js";

const style = styleFor(false);

class FakeKeys extends EventEmitter {
  raw = false;

  setRawMode(on: boolean): void {
    this.raw = on;
  }

  resume(): void {}

  pause(): void {}

  type(text: string): void {
    this.emit("data", Buffer.from(text));
  }
}

function reading(question = "? ") {
  const keys = new FakeKeys();
  const screen = new FakeScreen();
  const ending = new AbortController();
  let interrupts = 0;
  const interrupt = () => {
    interrupts++;
    ending.abort();
  };
  const line = readLine(question, { keys, write: screen.write, interrupt, signal: ending.signal });
  return { keys, screen, line, interrupts: () => interrupts };
}

/** What a terminal would show: it goes back, and writes over what is there. */
function seen({ written }: FakeScreen): string {
  const cells: string[] = [];
  let at = 0;
  for (const key of written.join("")) {
    if (key === "\b") at--;
    else cells[at++] = key;
  }
  return cells.join("").trimEnd();
}

describe("a line at the keyboard", () => {
  test("is shown while it is typed, and can be mended", async () => {
    const { keys, screen, line } = reading("how much? ");
    expect(keys.raw).toBe(true);
    keys.type("stepz");
    keys.type("\x7f");
    keys.type("s=+5");
    expect(seen(screen)).toBe("how much? steps=+5");
    keys.type("\r");
    expect(await line).toBe("steps=+5");
    expect(keys.raw).toBe(false);
    expect(keys.listenerCount("data")).toBe(0);
  });

  test("may be pasted, cleared, and holds nothing that a terminal would obey", async () => {
    const { keys, screen, line } = reading();
    keys.type("nonsense\x15");
    keys.type("\x1b[A");
    keys.type("y\x07é\n");
    expect(await line).toBe("yé");
    expect(seen(screen)).toMatch(/^\? yé\s*$/);
  });

  test("ends with nothing when the keyboard is gone, at Ctrl-D, and when it is interrupted", async () => {
    const gone = reading();
    gone.keys.emit("end");
    expect(await gone.line).toBeNull();
    const done = reading();
    done.keys.type("\x04");
    expect(await done.line).toBeNull();
    const interrupted = reading();
    interrupted.keys.type("\x03");
    expect(await interrupted.line).toBeNull();
    expect(interrupted.interrupts()).toBe(1);
  });
});

const REQUEST: ApprovalRequest = {
  id: "a-1",
  status: "pending",
  kind: "budget_extension",
  run: "r",
  checkpoint_id: "r/checkpoint",
  about: "r llm_tokens",
  budget: "r",
  exhausted_dimension: "llm_tokens",
  digest: "",
  consumed: { llm_tokens: 1900, cost_usd: 0.02, steps: 0 },
  held: {},
  limits: { llm_tokens: 2000, cost_usd: 0.5, steps: 9 },
  suggested_extension: { llm_tokens: 1000 },
  waiting: [],
  needs: {},
  needs_together: {},
  left: {},
  least_extension: {},
  message: "",
  action: { name: "tool", args: { name: "search", args: { query: "\x1b[31mtea" } } },
  requested: 0,
  expires: 7_200_000,
  decision: null,
  consumed_by: null,
  version: 1,
};

async function answered(request: ApprovalRequest, ...lines: readonly string[]) {
  const said: string[] = [];
  const left = [...lines];
  const choice = await askPerson(
    request,
    async () => left.shift() ?? null,
    (text) => said.push(text),
    style,
  );
  return { choice, said: said.join("") };
}

describe("the question to a person", () => {
  test("shows the dimension, all consumption against its limits, and what is suggested", () => {
    const text = approvalText(REQUEST, 0, style);
    expect(text).toMatch(/dimension +llm_tokens/);
    expect(text).toMatch(/consumed +1,900 of 2,000 tokens/);
    expect(text).toMatch(/besides +\$0\.02 of \$0\.50\n/);
    expect(text).toMatch(/suggested +\+ 1,000 tokens/);
    expect(text).toMatch(/expires +in 2 hours/);
    expect(text).not.toContain("\x1b");
    expect(approvalText(REQUEST, 7_200_000, style)).toContain("`bursar resume r` asks anew");
    const long = { ...REQUEST, action: { name: "tool", args: { name: "x", args: { a: "b".repeat(500) } } } };
    for (const line of approvalText(long, 0, style).split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("shows apart what others hold, which is why the rest does not suffice", () => {
    const held = { ...REQUEST, held: { llm_tokens: 80, cost_usd: 0.1 } };
    expect(approvalText(held, 0, style)).toMatch(/held +80 tokens, \$0\.10, for calls under way/);
    expect(approvalText(REQUEST, 0, style)).not.toContain("held");
  });

  test("shows why the gateway asks, which knows no tool and no arguments", () => {
    const asked = { ...REQUEST, action: { asked: 0.03, message: "cost_usd of budget key-1 has less left than asked" } };
    expect(approvalText(asked, 0, style)).toMatch(/waits +cost_usd of budget key-1 has less left than asked\n/);
    expect(approvalText({ ...REQUEST, action: { asked: 0.03 } }, 0, style)).toMatch(/waits +\{"asked":0\.03\}\n/);
  });

  test("names the key that was shown to the gateway, but believes no program that says it has one", () => {
    const action = { key: "billing bot", asked: 0.03, message: "too little" };
    const asked = { ...REQUEST, run: null, budget: "key-1", action };
    expect(approvalText(asked, 0, style)).toMatch(/of key +billing bot\n/);
    expect(subjectOf(asked)).toBe("key billing bot");
    expect(approvalText({ ...REQUEST, action }, 0, style)).not.toContain("billing bot");
    expect(subjectOf({ ...REQUEST, action })).toBe("run r");
  });

  test("takes yes, other amounts, no with a reason, and later", async () => {
    // What was shown is what is granted.
    expect((await answered(REQUEST, "y")).choice).toEqual({
      kind: "approve",
      reason: null,
      extensions: { llm_tokens: 1000 },
    });
    expect((await answered(REQUEST, "llm_tokens=+500, steps=2")).choice).toEqual({
      kind: "approve",
      reason: null,
      extensions: { llm_tokens: 500, steps: 2 },
    });
    expect((await answered(REQUEST, "n", "too dear")).choice).toEqual({ kind: "deny", reason: "too dear" });
    expect((await answered(REQUEST, "NO", "")).choice).toEqual({ kind: "deny", reason: null });
    expect((await answered(REQUEST, "l")).choice).toEqual({ kind: "leave" });
    expect((await answered(REQUEST)).choice).toEqual({ kind: "leave" });
  });

  test("asks again after what is no answer, and not without an end", async () => {
    const { choice, said } = await answered(REQUEST, "perhaps", "llm_tokns=5", "llm_tokens=-5", "y");
    expect(choice).toMatchObject({ kind: "approve", reason: null });
    expect(said).toContain("that is no answer");
    expect(said).toContain("did you mean llm_tokens?");
    expect((await answered(REQUEST, ...Array.from({ length: 50 }, () => "what"))).choice).toEqual({ kind: "leave" });
  });

  test("an action has no amounts", async () => {
    const { consumed, limits } = REQUEST;
    const action: ApprovalRequest = { ...REQUEST, kind: "capability_execution", exhausted_dimension: null };
    const { choice, said } = await answered({ ...action, consumed, limits }, "llm_tokens=5", "y");
    expect(said).toContain("allowed: y, n, l\n");
    expect(choice).toEqual({ kind: "approve", reason: null });
  });
});

describe("the view of a run", () => {
  test("a frame is drawn over itself, lines stay above it, and it goes without a trace", () => {
    const screen = new FakeScreen(40);
    const painter = new FramePainter(screen);
    painter.show([], ["one", "two"]);
    painter.show(["stays"], ["three"]);
    expect(screen.text).toBe("stays\nthree");
    expect(screen.cursorShown).toBe(false);
    const written = screen.written.length;
    painter.show([], ["three"]);
    expect(screen.written.length).toBe(written);
    painter[Symbol.dispose]();
    expect(screen.text).toBe("stays\n");
    expect(screen.cursorShown).toBe(true);
  });

  test("a call that failed has another sign than a good one, and says why", async () => {
    await using store = new MemoryStore();
    const tool = defineTool({
      name: "look",
      description: "",
      input: { type: "object" },
      run: ({ well }: { readonly well: boolean }) => {
        if (!well) throw new Error("it is dark");
        return "seen";
      },
    });
    const agent = defineAgent("looker", async (ctx) => {
      await ctx.tool("look", { well: true });
      await ctx.tool("look", { well: false }).catch(() => {});
      await Promise.all([ctx.tool("look", { well: false }), ctx.tool("look", { well: false })]);
    });
    await using bursar = openBursar({ store, tools: [tool], programs: [agent] });
    const run = await bursar.start("looker", null, { id: "r" });
    const lines: string[] = [];
    const watching = new Watching({ store, run, style, write: (text) => void lines.push(text), screen: null, from: 0 });
    watching.start();
    await bursar.drive("r");
    await watching.rest();
    const told = lines.join("");
    expect(told).toMatch(/✓ #0 +look/);
    expect(told).toMatch(/✗ #1 +look .*\n +\w+: it is dark\n/);
    // The first of the two ended the run, and its program was not told of the other.
    expect(told).toMatch(/\? #3 +look .*\n +whether it has worked is not known\n/);
    expect(told.match(/it is dark/g)).toHaveLength(2);
  });

  test("what a program prints stands above the bars, in whole lines, and each line once", () => {
    const screen = new FakeScreen(40);
    const painter = new FramePainter(screen);
    const output = new ProgramOutput(
      { output: { stdout: "before\n", stderr: "" } },
      { write: screen.write, isTerminal: true },
      false,
    );
    painter.show([], ["bars"]);
    for (const stdout of ["before\n", "before\none\ntw", "before\none\ntwo\nth"]) {
      painter.show([], []);
      output.showLines({ stdout, stderr: "" });
      painter.show([], ["bars"]);
    }
    expect(screen.text).toBe("one\ntwo\nbars");
    painter.show([], []);
    // Somebody replays it from its beginning.
    output.show({ stdout: "before\none\n", stderr: "" });
    output.show({ stdout: "before\none\ntwo\nthree\n", stderr: "" });
    expect(screen.text).toBe("one\ntwo\nthree\n");
  });

  test("a deadline that has passed is an instant and no amount; what a guest did not burn is not told", () => {
    const link = { chain: "r", id: "r#0", seq: 0, prev: "", hash: "", at: 0, cause: null };
    const data = { dimension: "deadline", consumed: Date.UTC(2027, 0, 2), limit: Date.UTC(2027, 0, 1) };
    const narrator = new RunNarrator(style);
    expect(narrator.tell({ ...link, action_type: "Budget", event: "Exhausted", data })).toEqual([
      "  !      the deadline has passed, 2027-01-01T00:00:00Z",
    ]);
    const released = { capability_id: "sandbox", step_id: null, why: "released" };
    expect(narrator.tell({ ...link, action_type: "StepReleased", data: released })).toEqual([]);
  });

  test("a run that was denied is neither resumed nor taken up, but those above it are", () => {
    const link = { chain: "r", id: "r#0", seq: 0, prev: "", hash: "", at: 0, cause: null };
    const narrator = new RunNarrator(style);
    const claimed = (run_id: string) => ({
      ...link,
      action_type: "RunClaimed",
      data: { run_id, epoch: 2, worker: "w" },
    });
    const resumed = (run_id: string) => ({ ...link, action_type: "RunResumed", data: { run_id } });
    const denied = { dimension: "steps", checkpoint_id: "r.0/checkpoint.1", denied_by: "ann", reason: null };
    expect(narrator.tell(claimed("r.0"))).toHaveLength(1);
    narrator.tell({ ...link, action_type: "Budget", event: "Denied", data: denied });
    for (const told of [resumed("r.0"), claimed("r.0")]) expect(narrator.tell(told)).toEqual([]);
    for (const told of [resumed("r"), claimed("r")]) expect(narrator.tell(told)).toHaveLength(1);
  });

  test("tells every step once, with bars on a terminal and without them elsewhere", async () => {
    await using store = new MemoryStore();
    const tool = defineTool({ name: "look", description: "", input: { type: "object" }, run: () => "seen" });
    const agent = defineAgent("looker", async (ctx) => {
      for (let round = 0; round < 3; round++) await ctx.tool("look");
    });
    await using bursar = openBursar({ store, tools: [tool], programs: [agent] });
    const run = await bursar.start("looker", null, { id: "r", limits: { steps: 2 } });
    const screen = new FakeScreen(80);
    const lines: string[] = [];
    const write = (text: string) => void lines.push(text);
    const live = new Watching({ store, run, style, write, screen, from: 0 });
    const plain = new Watching({ store, run, style, write, screen: null, from: 0 });
    live.start();
    plain.start();
    await bursar.drive("r");
    await live.rest();
    await plain.rest();
    expect(screen.text).toMatch(/✓ #0 +look[\s\S]*✓ #1 +look[\s\S]*✗ #2 +look +not made; the run is stopped/);
    expect(screen.text).toContain("asks 1 step, 0 steps left (steps)");
    // The frame is gone when it rests.
    expect(screen.text).not.toContain("wall_clock_ms");
    expect(lines.join("")).toBe(screen.text);
    expect(lines.join("").match(/✓ #0/g)).toHaveLength(1);
  });
});
