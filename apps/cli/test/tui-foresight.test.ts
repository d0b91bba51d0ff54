import { stripVTControlCharacters } from "node:util";
import type { RunView } from "bursar/views";
import { describe, expect, test } from "vitest";
import { styleFor, widthOf } from "../src/render/style.js";
import { drawScreen } from "./drawn-screen.js";
import { openTuiStage } from "./tui-stage.js";

const style = styleFor(false);
const BACKDROP = { title: "memory:", driving: 0 };
const SIZE = { columns: 100, rows: 32 };

type TuiStage = Awaited<ReturnType<typeof openTuiStage>>;

/** The screen as it stands. */
async function screen({ lookout, controls }: TuiStage, size = SIZE, paint = style): Promise<readonly string[]> {
  await lookout.look();
  return drawScreen(controls.view.state, lookout.sight, BACKDROP, size, paint);
}

/** A run that does not begin before somebody says so. */
async function asking(stage: TuiStage): Promise<void> {
  for (let past = 0; past < 3; past++) await stage.bursar.run(stage.program, { notes: 4 });
  await stage.bursar.run(stage.program, { notes: 4 }, { id: "asked", limits: { cost_usd: 0.05 }, preflight: "ask" });
}

describe("a request of a run that has not begun", () => {
  test("shows what it is predicted to take, what does not fit first, and where that comes from", async () => {
    await using stage = await openTuiStage();
    await asking(stage);
    const text = (await screen(stage)).join("\n");
    expect(text).toMatch(/❯ leave to begin +asked/);
    expect(text).toMatch(/asks for +leave to begin, though it is expected not to fit/);
    expect(text).toMatch(/dimension +median +95 % +limit +fits +source\n +cost_usd +\$0\.08 +\$0\.\d+ +\$0\.05 +✗/);
    expect(text).toMatch(/history +the last 3 runs/);
    expect(text).toMatch(/suggested +\+ \$0\./);
    expect(text).not.toContain("{");
  });

  test("fits into every window, with and without colour", async () => {
    await using stage = await openTuiStage();
    await asking(stage);
    for (let columns = 40; columns <= 120; columns += 5) {
      const plain = await screen(stage, { columns, rows: 24 });
      const painted = await screen(stage, { columns, rows: 24 }, styleFor(true));
      for (const line of plain) expect(widthOf(line)).toBeLessThanOrEqual(columns);
      // Colours are all there is to them: none of them is cut in two.
      expect(painted.map((line) => stripVTControlCharacters(line))).toEqual(plain);
    }
  });

  test("may begin with the limits it has: nothing has to be added", async () => {
    await using stage = await openTuiStage();
    await asking(stage);
    await stage.lookout.look();
    stage.controls.press({ name: "text", text: "a" });
    for (const name of ["clear", "enter"] as const) stage.controls.press({ name });
    // It begins, and ends where its limit is.
    await expect.poll(async () => (await stage.bursar.find("asked")).failure?.dimension).toBe("cost_usd");
  });
});

describe("the page of a run", () => {
  test("shows what was expected beside what is used, what lies before it, and what was saved", async () => {
    await using stage = await openTuiStage();
    for (const id of ["a", "b", "r"]) await stage.bursar.run(stage.program, { notes: 2 }, { id });
    const data = { budget: "r", kind: "cache", saved_usd: 0.5 };
    await stage.store.apply([{ op: "record", budget: "r", action: { action_type: "Saved", data } }]);
    await stage.lookout.look();
    stage.controls.press({ name: "text", text: "2" });
    stage.controls.press({ name: "enter" });
    const text = (await screen(stage)).join("\n");
    expect(text).toContain("saved $0.50");
    expect(text).toMatch(
      /dimension +used +median +95 % +source\n(?:.*\n)*? +cost_usd +\$0\.04 +\$0\.04 +\$0\.\d+ +history/,
    );
    const { page } = stage.lookout.sight;
    if (page === null) throw new Error("there is no page");
    const outlook = "at this rate cost_usd is exhausted in 40 s, step 17 of about 25";
    const run: RunView = { ...page.run, status: "running", outlook };
    const sight = { ...stage.lookout.sight, page: { ...page, run } };
    expect(drawScreen(stage.controls.view.state, sight, BACKDROP, SIZE, style).join("\n")).toContain(`  ${outlook}`);
  });
});
