import { STANDARD } from "bursar";
import type { Position } from "bursar/views";
import { describe, expect, test } from "vitest";
import { renderFrame } from "../src/demo/frame.js";
import { LiveView } from "../src/demo/live-view.js";
import type { Moment } from "../src/demo/moment.js";
import { follow, IDLE } from "../src/demo/underway.js";
import { styleFor, widthOf } from "../src/render/style.js";
import { FakeScreen } from "./screen.js";

const PLAIN = styleFor(false);

function steps(used: number, held = 0): Position {
  const dimension = STANDARD.get("steps");
  return { dimension, budget: "run:research", used, held, limit: 20, thresholds: [50, 80] };
}

function link(action_type: string, data: Record<string, string>): Moment {
  const chain = { chain: "c", id: "c#0", seq: 0, prev: "", hash: "", at: 0, cause: null };
  return { kind: "link", link: { action_type, data, ...chain } };
}

const headline = (text: string): Moment => ({ kind: "promise", number: 2, text });

describe("the live view", () => {
  test("keeps lines above one frame that is redrawn in place", async () => {
    const screen = new FakeScreen();
    let used = 1;
    using view = new LiveView(screen, PLAIN, async () => [steps(used)]);
    await view.show(headline("first"));
    used = 7;
    await view.show(headline("second"));
    await view.show(link("StepStarted", { step_id: "plan" }));
    expect(screen.text.split("\n")).toEqual([
      "",
      "2. first",
      "",
      "2. second",
      "",
      `  limits on the run${" ".repeat(14)}█ spent  ▒ held  ░ free  │ warns at 50 %, 80 %`,
      "  steps         run      █████████░░░│░░░░░░░│░░░░  7 of 20",
      expect.stringMatching(/^ {2}\S plan$/),
    ]);
  });

  test("writes nothing when nothing has changed, and clears nothing when something has", async () => {
    const screen = new FakeScreen();
    using view = new LiveView(screen, PLAIN, async () => [steps(1)]);
    await view.show(headline("first"));
    const before = screen.written.length;
    await view.show(link("RunStarted", {}));
    expect(screen.written).toHaveLength(before);
    await view.ask("[a]pprove / [d]eny ?");
    expect(screen.written[before]).not.toContain("A\x1b[J");
    expect(screen.text).toContain("  [a]pprove / [d]eny ?");
  });

  test("finds its place again when the terminal has become narrower", async () => {
    const screen = new FakeScreen(80);
    using view = new LiveView(screen, PLAIN, async () => [steps(1)]);
    await view.show(headline("first"));
    const drawn = screen.lines.map((line) => widthOf(line.trimEnd()));
    screen.columnCount = 40;
    await view.show(link("StepStarted", { step_id: "plan" }));
    const broken = drawn.slice(-4).reduce((rows, width) => rows + Math.max(1, Math.ceil(width / 40)), 0);
    expect(screen.written.at(-1)).toContain(`\x1b[${broken - 1}A`);
  });

  test("hides the cursor, shows it for a question, and gives it back at the end", async () => {
    const screen = new FakeScreen();
    const view = new LiveView(screen, PLAIN, async () => [steps(1)]);
    expect(screen.cursorShown).toBe(false);
    await view.ask("[a]pprove / [d]eny ?");
    expect(screen.cursorShown).toBe(true);
    await view.ask(null);
    expect(screen.cursorShown).toBe(false);
    view[Symbol.dispose]();
    expect(screen.cursorShown).toBe(true);
  });

  test("leaves the last bars where they are when the run has ended, and goes on below", async () => {
    const screen = new FakeScreen();
    using view = new LiveView(screen, PLAIN, async () => [steps(10)]);
    await view.show(headline("first"));
    await view.show(link("RunEnded", { status: "Completed" }));
    await view.show(headline("last"));
    const lines = screen.text.split("\n");
    expect(lines.filter((line) => line.includes("10 of 20"))).toHaveLength(1);
    expect(lines.findIndex((line) => line.includes("10 of 20"))).toBeLessThan(lines.indexOf("2. last"));
  });
});

describe("a frame", () => {
  const scene = { positions: [steps(3, 2), steps(5)], underway: IDLE, question: null, tick: 0 };

  test("is empty before there is a budget", () => {
    expect(renderFrame({ ...scene, positions: [] }, 80, 24, PLAIN)).toEqual([]);
  });

  test("fits any terminal", () => {
    const busy = { inFlight: ["one", "two"], waiting: ["a call with a very long name"] };
    for (let columns = 1; columns < 100; columns += 7) {
      for (const rows of [1, 2, 4, 24]) {
        const lines = renderFrame({ ...scene, underway: busy }, columns, rows, styleFor(true));
        expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
      }
    }
  });
});

test("calls are followed from their start to their end", () => {
  const data = { step_id: "plan" };
  const waiting = {
    kind: "waiting",
    step_id: "plan",
    budget: "b",
    dimension: "steps",
    asked: 1,
    left: 0,
    held: 1,
  } as const;
  const waited = follow(IDLE, waiting);
  expect(waited).toEqual({ inFlight: [], waiting: ["plan"] });
  const begun = follow(waited, link("StepStarted", data));
  expect(begun).toEqual({ inFlight: ["plan"], waiting: [] });
  expect(follow(waited, link("StepRefused", data))).toEqual(IDLE);
});
