import type { Program } from "../../../src/ports/program.js";
import { defineAgent } from "../../../src/runs/agent.js";

export const child: Program = defineAgent("child", async (ctx, { from }: { from: number }) => {
  const first = await ctx.tool<number>("add", { a: from, b: 1 });
  return ctx.tool<number>("add", { a: first, b: 1 });
});

/** One after the other, at once, below it, and things that are different every time. */
export const busy: Program = defineAgent("busy", async (ctx, { size }: { size: number }) => {
  let sum = 0;
  for (let turn = 0; turn < size; turn++) sum = await ctx.tool<number>("add", { a: sum, b: turn });
  const branch = async (from: number) => {
    const one = await ctx.tool<number>("add", { a: from, b: 10 });
    await ctx.model({ prompt: `about ${one}` });
    return ctx.tool<number>("add", { a: one, b: 10 });
  };
  const [a, b, c] = await Promise.all([branch(1), branch(2), ctx.spawn<number>("child", { from: 5 })]);
  const lucky = (await ctx.random()) < 2 ? 1 : 0;
  await ctx.sleep(50);
  const kept = await ctx.step("keep", () => a + b + c + lucky);
  return { sum, total: await ctx.tool<number>("add", { a: kept, b: sum }) };
});

export const OPTIONS = {
  id: "r",
  limits: { steps: 100, llm_tokens: 100_000, cost_usd: 1, wall_clock_ms: null },
} as const;
export const EXPECTED = { sum: 3, total: 54 };
