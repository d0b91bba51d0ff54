import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStage, type Stage } from "./runs-stage.js";

let stage: Stage;
beforeAll(() => {
  stage = openStage();
});
afterAll(() => stage[Symbol.dispose]());

const COUPLE = `
import { defineAgent } from "bursar";
export const child = defineAgent("child", (ctx) => ctx.tool("note", { word: "c" }));
export const couple = defineAgent("couple", async (ctx) => {
  const inner = ctx.spawn("child", null, { limits: { cost_usd: 0 } });
  await ctx.tool("letter", {});
  for (const word of ["a", "b"]) await ctx.tool("note", { word });
  return inner;
});
`;

test("outer budgets are extended first, so that inner ones find room", () => {
  const file = join(dirname(stage.module), "couple.mjs");
  writeFileSync(file, COUPLE);
  const module = ["--module", stage.module, "--module", file];
  const limits = ["--budget", "cost_usd=0.06", "--exhaustion", "cost_usd=approval_required"];
  expect(stage.run("run", file, "--agent", ...module, "--name", "couple", "--id", "rooms", ...limits).status).toBe(4);
  const { approvals } = stage.json("approvals").said as unknown as { approvals: { id: string; kind: string }[] };
  const letter = approvals.find(({ kind }) => kind === "capability_execution")?.id ?? "";
  // A note takes 0.05 USD at most, and costs 0.02: the outer budget asks after the inner one.
  expect(stage.run("approve", letter, ...module).status).toBe(4);
  const { status, said } = stage.json("approve", "rooms", "--all", "--yes", "--detach");
  expect(said).toMatchObject({ approved: [{ budget: "rooms" }, { budget: "rooms.0" }], failed: [] });
  expect(status).toBe(0);
});

const THINKER = `
import { defineAgent, defineTool } from "bursar";
export const think = defineTool({
  name: "think",
  description: "Thinks.",
  input: { type: "object" },
  quote: { llm_tokens: 5 },
  meter: () => ({ llm_tokens: 5 }),
  run: () => "thought",
});
export const thinker = defineAgent("thinker", (ctx) => ctx.tool("think", {}));
`;

test("other runs that have waited for the same answer are driven on too", () => {
  const file = join(dirname(stage.module), "thinker.mjs");
  writeFileSync(file, THINKER);
  const session = ["--session", "crew", "--session-budget", "llm_tokens=5"];
  for (const id of ["crew-1", "crew-2", "crew-3"])
    expect(stage.run("run", file, "--agent", "--detach", "--id", id, ...session).status).toBe(0);
  expect(stage.run("worker", "--once", "--module", file).status).toBe(0);
  const { runs } = stage.json("runs", "--status", "paused").said as unknown as { runs: { id: string }[] };
  const [first, second] = runs.map(({ id }) => id).filter((id) => id.startsWith("crew-"));
  expect(stage.run("approve", first ?? "", "--all", "--yes", "--module", file).status).toBe(0);
  for (const id of [first, second]) expect(stage.json("show", id ?? "").said).toMatchObject({ status: "completed" });
});
