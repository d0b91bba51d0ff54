import { openBursar } from "bursar";
import { cleanup, render } from "ink-testing-library";
import { createElement } from "react";
import { afterEach, describe, expect, test } from "vitest";
import { scenario } from "../../../specs/scenario.js";
import { reviver } from "../src/app/equipment/equipment.js";
import { FLAG_REMEDIES } from "../src/arguments/deployments.js";
import { styleFor, widthOf } from "../src/render/style.js";
import { Acts } from "../src/tui/acts.js";
import { App } from "../src/tui/app.js";
import type { Controls } from "../src/tui/controls.js";
import { press } from "../src/tui/press.js";
import { NOTHING, type Sight } from "../src/tui/sight.js";
import { BEGIN } from "../src/tui/state.js";
import { Verifying } from "../src/tui/verifying.js";
import { drawScreen } from "./drawn-screen.js";
import { openTuiStage } from "./tui-stage.js";

const style = styleFor(false);
const ENTER = "\r";
const ESCAPE = "\x1b";
const DOWN = "\x1b[B";

afterEach(cleanup);

function shown(controls: Controls) {
  const { stdin, lastFrame } = render(createElement(App, { controls, title: "memory:", style }));
  const press = async (...keys: readonly string[]) => {
    // Before the panel listens, keys are lost.
    await until(() => stdin.listenerCount("readable") + stdin.listenerCount("data") > 0);
    for (const key of keys) {
      stdin.write(key);
      await soon();
    }
  };
  return { press, screen: () => lastFrame() ?? "" };
}

/** A lone Esc is told only when nothing has followed it. */
function soon(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

async function until(what: () => boolean): Promise<void> {
  // Longer than a busy machine takes, and shorter than the time of a test, which would not say what is missing.
  for (let turn = 0; turn < 20_000; turn++) {
    if (what()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`it did not come to ${what}`);
}

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe("the approvals", () => {
  test("show what was exhausted, consumption against limits, and what is suggested", async () => {
    await using stage = await openTuiStage();
    await stage.paused("nightly");
    const { screen } = shown(stage.controls);
    expect(screen()).toContain("looking at the store");
    await stage.lookout.look();
    await until(() => screen().includes("nightly"));
    expect(screen()).toMatch(/\[1 approvals \(1\)\]/);
    expect(screen()).toMatch(/exhausted +steps/);
    expect(screen()).toMatch(/steps +█+ +2 of 2 steps/);
    expect(screen()).toMatch(/cost_usd +█+░+ +\$0\.04 of \$/);
    expect(screen()).toMatch(/suggested +\+ 1 step/);
    expect(screen()).toMatch(/expires +in 1 day/);
    expect(screen()).toContain("a approve  d deny");
    // The word of the program was an escape sequence.
    expect(screen()).not.toContain("\x1b");
    expect(screen()).toContain("[31mred");
  });

  /** The panel with one request. */
  async function panel(proof: (screen: string) => void): Promise<void> {
    await using stage = await openTuiStage();
    await stage.paused("nightly");
    await stage.lookout.look();
    proof(shown(stage.controls).screen());
  }

  scenario("004/tui-budget-extension", () =>
    panel((screen) => expect(screen).toMatch(/approvals \(1\)[\s\S]*nightly/)),
  );

  scenario("004/tui-dimension", () => panel((screen) => expect(screen).toMatch(/exhausted +steps/)));

  scenario("004/tui-consumption", () => panel((screen) => expect(screen).toMatch(/steps +█+ +2 of 2 steps/)));

  scenario("004/tui-suggested-extension", () => panel((screen) => expect(screen).toMatch(/suggested +\+ 1 step/)));

  scenario("004/tui-actions", () => panel((screen) => expect(screen).toContain("a approve  d deny")));

  test("are approved with other amounts and a reason, and the run goes on in the background", async () => {
    await using stage = await openTuiStage();
    await stage.paused("nightly");
    await stage.lookout.look();
    const { press, screen } = shown(stage.controls);
    await press("a");
    expect(screen()).toContain("approve nightly");
    expect(screen()).toMatch(/❯ steps +\+1▏ +2 of 2 steps → 3 steps/);
    await press("\x15", "x", ENTER);
    expect(screen()).toContain("steps: x is no amount");
    await press("\x7f", ENTER);
    expect(screen()).toContain("nothing would be added");
    // What comes at once is taken apart: the clearing, and what was typed behind it. An end of line in it decides nothing.
    await press("9\x153\r");
    expect(screen()).toMatch(/❯ steps +\+3▏ +2 of 2 steps → 5 steps/);
    expect((await stage.bursar.find("nightly")).status).toBe("paused");
    await press("\x1b[A");
    await press("worth it", ENTER);
    await until(() => screen().includes("run nightly is completed"));
    const [approved] = await all(stage.bursar.approvals("approved"));
    expect(approved?.decision).toMatchObject({ by: "ann", reason: "worth it", extension: { steps: 3 } });
    await until(() => screen().includes("nothing waits for an approval"));
    expect(stage.acts.notes.map(({ text }) => text)).toEqual([
      "✓ approved: run nightly, 3 steps more",
      "run nightly is completed",
    ]);
  });

  test("are denied with a reason, and the run is cancelled", async () => {
    await using stage = await openTuiStage();
    await stage.paused("nightly");
    await stage.lookout.look();
    const { press, screen } = shown(stage.controls);
    await press("d", "too dear");
    expect(screen()).toContain("deny nightly");
    await press(ESCAPE);
    expect(screen()).not.toContain("too dear");
    await press("d", "too dear", ENTER);
    await until(() => screen().includes("run nightly is denied"));
    expect((await stage.bursar.find("nightly")).cancel).toMatchObject({ by: "ann", reason: "too dear" });
    await stage.lookout.look();
    await press("\t");
    expect(screen()).toMatch(/✗ denied +nightly/);
    await press(ENTER);
    await until(() => screen().includes("more steps was denied by ann: too dear"));
  });

  test("of an action have no amounts; denied, the program is told and goes on", async () => {
    await using stage = await openTuiStage();
    await stage.asking("post");
    await stage.lookout.look();
    const { press, screen } = shown(stage.controls);
    await until(() => screen().includes("leave to do something, this once"));
    await press("d");
    expect(screen()).toContain("The program is told so, and goes on.");
    await press(ENTER);
    await until(() => screen().includes("run post is completed"));
    expect((await stage.bursar.find("post")).result).toEqual([expect.stringContaining("denied")]);
  });

  test("a request about a server moves no run", async () => {
    await using stage = await openTuiStage();
    await stage.paused("nightly");
    const request = await stage.bursar.request("nightly", "server_discovery", { name: "https://a.example" });
    await stage.lookout.look();
    const { press, screen } = shown(stage.controls);
    const isChosen = () => screen().includes("leave to use a server that it has found");
    // Both may be of the same millisecond, and then either may come first.
    await until(() => /nightly.*nightly/s.test(screen()));
    if (!isChosen()) await press(DOWN);
    await until(isChosen);
    await press("a", ENTER);
    await until(() => screen().includes("✓ approved: run nightly"));
    expect(await stage.store.document("approval", request.id)).toMatchObject({ status: "approved" });
    expect((await stage.bursar.find("nightly")).status).toBe("paused");
  });

  test("whoever comes second is told, and nothing is granted twice", async () => {
    await using stage = await openTuiStage();
    await stage.paused("nightly");
    await stage.lookout.look();
    const { press, screen } = shown(stage.controls);
    await press("a");
    const [request] = await all(stage.bursar.approvals());
    await stage.bursar.decide(request?.id ?? "", "approve", { by: { name: "bob", role: "operator" } });
    await press(ENTER);
    await until(() => /was approved by bob already|somebody else has answered this request meanwhile/.test(screen()));
    await until(() => screen().includes("nothing waits for an approval"));
    const budget = await stage.store.budget("nightly");
    expect(budget?.extended.steps).toBe(1);
  });

  test("a form whose request somebody else has answered is closed, and says so", async () => {
    await using stage = await openTuiStage();
    await stage.paused("nightly");
    await stage.lookout.look();
    const { press, screen } = shown(stage.controls);
    await press("a");
    const [request] = await all(stage.bursar.approvals());
    await stage.bursar.decide(request?.id ?? "", "approve", { by: { name: "bob", role: "operator" } });
    await stage.lookout.look();
    await until(() => screen().includes("somebody else has answered this request meanwhile"));
    expect(screen()).not.toContain("Enter decides");
  });

  test("one that has expired is not answered; the run asks anew", async () => {
    await using stage = await openTuiStage();
    await stage.paused("nightly");
    await stage.lookout.look();
    const { controls } = stage;
    const expires = controls.view.sight.requests[0]?.expires ?? 0;
    controls.see({ ...controls.view.sight, now: expires });
    const { press, screen } = shown(controls);
    expect(screen()).toContain("it has; r asks anew");
    await press("a");
    expect(screen()).toContain("it has expired; r lets the run go on, and it asks anew");
    await press("r");
    await until(() => screen().includes("run nightly is paused"));
  });

  test("what nobody here can drive takes a further yes", async () => {
    await using stage = await openTuiStage();
    await stage.paused("nightly");
    await using poor = await openTuiStage();
    await stage.lookout.look();
    const { controls } = poor;
    const { sandbox } = stage.equipment;
    const nothing = {
      programs: [],
      tools: [],
      model: null,
      prices: null,
      deployments: {},
      allow: {},
      remedies: FLAG_REMEDIES,
      flags: [],
    };
    const bare = { ...nothing, sandbox, async [Symbol.asyncDispose]() {} };
    const away = openBursar({ store: stage.store, revive: reviver(bare) });
    await using acts = new Acts(away, { name: "ann", role: "operator" }, controls.tell);
    controls.connect(acts, stage.lookout);
    controls.see(stage.controls.view.sight);
    const { press, screen } = shown(controls);
    await press("a", ENTER);
    await until(() => screen().includes("only a worker can drive it on"));
    expect((await stage.bursar.find("nightly")).status).toBe("paused");
    await press("y");
    await until(() => screen().includes("✓ approved: run nightly"));
    expect((await stage.bursar.find("nightly")).status).toBe("queued");
  });
});

describe("the runs", () => {
  test("have bars, a page with steps, and a chain that is verified as it grows", async () => {
    await using stage = await openTuiStage();
    await stage.paused("nightly");
    await stage.lookout.look();
    const { press, screen } = shown(stage.controls);
    await press("\t");
    expect(screen()).toMatch(/❯ ‖ paused +nightly +\S+ +\$0\.04 +█+│██│██ writer/);
    await press(ENTER);
    await until(() => screen().includes("‖ #2"));
    expect(screen()).toMatch(/✓ #0 .* note +\$0\.02/);
    expect(screen()).toContain("waits for 1 approval: steps; a approves, d denies");
    await press("\t");
    await until(() => /chain: ✓ verified, \d+ links/.test(screen()));
    const before = /verified, (\d+)/.exec(screen())?.[1];
    expect(screen()).toContain("ApprovalRequested");
    await press("a", "\x15", "2", ENTER);
    await until(() => screen().includes("✓ completed") && /verified, (\d+)/.exec(screen())?.[1] !== before);
    await press(ESCAPE);
    await until(() => /✓ completed +nightly/.test(screen()));
  });

  test("keep a space between what they cost, however exactly, and their bar", async () => {
    await using stage = await openTuiStage();
    await stage.paused("nightly");
    await stage.lookout.look();
    const { sight } = stage.lookout;
    const runs = sight.runs.map((run) => ({ ...run, usage: { ...run.usage, cost_usd: 12.013335 } }));
    const state = { ...BEGIN, tab: "runs" as const };
    const lines = drawScreen(state, { ...sight, runs }, { title: "", driving: 0 }, { columns: 80, rows: 24 }, style);
    expect(lines[2]).toMatch(/\$12\.013335 █/);
  });

  test("are cancelled after a question, and not without it", async () => {
    await using stage = await openTuiStage();
    await stage.paused("nightly");
    await stage.lookout.look();
    const { press, screen } = shown(stage.controls);
    await press("2", "c");
    expect(screen()).toContain("cancel run nightly? y yes, any other key no");
    await press("x", "c", "y");
    await until(() => screen().includes("run nightly is cancelled"));
    await press("c");
    await until(() => screen().includes("it is cancelled already"));
  });

  test("of a screen of many, the chosen one is always shown, and lists are bounded", async () => {
    await using stage = await openTuiStage();
    for (let at = 0; at < 60; at++) await stage.bursar.start("writer", null, { id: `run-${at}`, limits: { steps: 1 } });
    await stage.lookout.look();
    const { press, screen } = shown(stage.controls);
    await press("\t", "\x1b[6~", "\x1b[6~");
    expect(screen()).toMatch(/❯ · queued +run-39 /);
    expect(screen()).toContain(" of 60");
    expect(screen().split("\n").length).toBeLessThanOrEqual(23);
    await press("\x1b[F");
    expect(screen()).toMatch(/❯ · queued +run-0 /);
  });
});

describe("the screen", () => {
  test("quits at once at Ctrl-C, and asks when something is driven", async () => {
    await using stage = await openTuiStage();
    const { press, screen } = shown(stage.controls);
    await press("?");
    expect(stage.left).toEqual([]);
    await press("q", "\x0c", "q", "\x03");
    expect(stage.left).toEqual(["repaint", "quit", "interrupt"]);
    expect(screen()).toContain("? help");
  });

  test("fits into any window, and says so when it does not", async () => {
    await using stage = await openTuiStage();
    for (const id of ["one", "two", "three", "four"]) await stage.paused(`${id}-${"long".repeat(30)}`);
    await stage.lookout.look();
    const run = stage.controls.view.sight.runs[0]?.id ?? "";
    stage.lookout.watch(run);
    await until(() => stage.controls.view.sight.page !== null);
    const { sight } = stage.controls.view;
    const states = [
      BEGIN,
      { ...BEGIN, tab: "runs" as const },
      { ...BEGIN, page: { run, part: "chain" as const, back: 0 } },
      { ...BEGIN, mode: { kind: "help" } as const },
    ];
    for (const state of states) {
      for (const [columns, rows] of [
        [40, 10],
        [41, 11],
        [80, 24],
        [200, 60],
        [300, 100],
      ] as const) {
        const lines = drawScreen(state, sight, { title: "t".repeat(300), driving: 1 }, { columns, rows }, style);
        expect(lines.length).toBe(rows - 1);
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
      }
    }
    const small = drawScreen(BEGIN, sight, { title: "", driving: 0 }, { columns: 39, rows: 10 }, style);
    expect(small).toEqual(["window too small: 39 × 10", "at least 40 × 10; q quits"]);
  });

  test("keeps every row whole in the smallest window: the run, its mark and what waits", async () => {
    await using stage = await openTuiStage();
    for (const id of ["one", "two", "three", "four"]) await stage.paused(`nightly-${id}`);
    await stage.lookout.look();
    const { sight } = stage.controls.view;
    const lines = drawScreen(BEGIN, sight, { title: "memory:", driving: 0 }, { columns: 40, rows: 12 }, style);
    expect(lines[0]).toMatch(/^ \[1 approvals \(4\)\] {2}2 runs {2,}memory: ?$/);
    expect(lines[2]).toMatch(/^❯ steps {2,}nightly-\S* expires in/);
    expect(lines[3]).toMatch(/^ {2}steps {2,}nightly-\S* expires in/);
    expect(lines[4]).toMatch(/^── 1 of 4 ─+$/);
    expect(lines[5]).toMatch(/exhausted +steps$/);
    const runs = drawScreen(
      { ...BEGIN, tab: "runs" },
      sight,
      { title: "", driving: 0 },
      { columns: 40, rows: 12 },
      style,
    );
    expect(runs.slice(2, 6).every((line) => /^[❯ ] ‖ paused +nightly-\w+ /.test(line))).toBe(true);
  });

  test("shows below the steps what the sandbox says of a program, also in a small window", async () => {
    await using stage = await openTuiStage();
    await stage.paused("nightly");
    await stage.lookout.look();
    stage.lookout.watch("nightly");
    await until(() => stage.controls.view.sight.page !== null);
    const { page } = stage.controls.view.sight;
    if (page === null) throw new Error("there is no page");
    const fuel_analysis = { consumed: 5e6, budget: 5e6, utilization_percent: 100, status: "exhausted" };
    const error_guidance = {
      error_type: "OutOfFuel",
      error_message: "trapped",
      actionable_guidance: ["do \x1b[1mless"],
    };
    const run = { ...page.run, execution: { fuel_analysis, error_guidance } };
    const sight = { ...stage.controls.view.sight, page: { ...page, run } };
    const state = { ...BEGIN, page: { run: "nightly", part: "steps" as const, back: 0 } };
    const lines = drawScreen(state, sight, { title: "", driving: 0 }, { columns: 80, rows: 24 }, style);
    expect(lines.join("\n")).toMatch(/── 5M of 5M fuel, 100 %, exhausted\n {2}OutOfFuel: trapped\n {4}• do .\[1mless/);
    expect(lines.join("\n")).not.toContain("\x1b");
    // What does not fit can be gone back to, though no step is above it.
    const seen = { ...sight, page: { ...page, run, steps: [] } };
    const back = press(state, { name: "up" }, seen).state.page?.back;
    expect(back).toBe(1);
  });

  test("says when the store cannot be read, and shows what it has", () => {
    const broken: Sight = { ...NOTHING, now: 1, problem: "disk I/O error" };
    const lines = drawScreen(BEGIN, broken, { title: "", driving: 0 }, { columns: 80, rows: 24 }, style);
    expect(lines.join("\n")).toContain("the store cannot be read: disk I/O error");
  });
});

describe("a chain", () => {
  test("that was changed is not verified", async () => {
    await using stage = await openTuiStage();
    await stage.paused("nightly");
    const { store } = stage;
    const lines = await all(store.chain("nightly"));
    const tampered = lines.map((line, at) => (at === 3 ? line.replace("nightly", "nightlz") : line));
    const forged = (of: readonly string[]) => ({
      head: (chain: string) => store.head(chain),
      async *chain(_: string, from = 0) {
        yield* of.slice(from);
      },
    });
    const changed = new Verifying(forged(tampered), "nightly");
    await until(() => changed.mark.kind === "broken");
    const cut = new Verifying(forged(lines.slice(0, -2)), "nightly");
    await until(() => cut.mark.kind === "broken");
    expect(cut.mark).toMatchObject({ message: "the last 2 of its links are missing" });
    const good = new Verifying(store, "nightly");
    await until(() => good.mark.kind === "verified");
    expect(good.mark).toEqual({ kind: "verified", links: lines.length });
    for (const each of [changed, cut, good]) each.stop();
  });
});
