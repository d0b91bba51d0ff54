import { Gate, readAmounts, requestExtension } from "bursar";
import { listSteps, runView } from "bursar/views";
import { expect, test } from "vitest";
import { styleFor } from "../src/render/style.js";
import { stepsTitle } from "../src/tui/page-panel.js";
import { drawScreen } from "./drawn-screen.js";
import { openTuiStage } from "./tui-stage.js";

test("a request shows apart what is held for calls under way, in its panel and in the form", async () => {
  await using stage = await openTuiStage();
  using gate = new Gate({ store: stage.store });
  await gate.open("crew", { limits: { cost_usd: 2, llm_tokens: 5000, steps: 9 }, scope: "shared" });
  const call = { budget: "crew", call: "c", kind: "model", capability_id: "model:x" } as const;
  const asked = readAmounts({ cost_usd: 1.5, llm_tokens: 300 });
  await stage.store.apply([{ op: "reserve", ...call, asked }]);
  await requestExtension(stage.store, { budget: "crew", dimension: "cost_usd", action: {} });
  await stage.lookout.look();
  const screen = () => {
    const { state } = stage.controls.view;
    const size = { columns: 100, rows: 32 };
    return drawScreen(state, stage.lookout.sight, { title: "memory:", driving: 0 }, size, styleFor(false)).join("\n");
  };

  expect(screen()).toMatch(/cost_usd .*\$0\.00 \+ \$1\.50 of \$2\.00/);
  expect(screen()).toMatch(/llm_tokens .* 0 \+ 300 of 5,000 tokens/);
  expect(screen()).toContain("nothing is used of 1 further limit");
  stage.controls.press({ name: "text", text: "a" });
  expect(screen()).toMatch(/❯ cost_usd .*\$0\.00 \+ \$1\.50 of \$2\.00 → \$3\.00/);
});

test("what was refused is told beside the steps that were made", async () => {
  await using stage = await openTuiStage();
  await stage.paused("nightly");
  const run = await runView(stage.store, "nightly");
  if (run === null) throw new Error("it is there");
  const { items } = await listSteps(stage.store, await stage.bursar.find("nightly"));
  expect(stepsTitle({ run, steps: items })).toBe("2 steps, 1 refused");
  expect(stepsTitle({ run, steps: items.slice(1) })).toBe("steps: the last 2 of 3");
  expect(stepsTitle({ run: { ...run, refused: 0 }, steps: items.slice(1) })).toBe("2 steps");
});
