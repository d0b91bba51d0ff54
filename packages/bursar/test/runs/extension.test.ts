import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { STANDARD } from "../../src/core/dimensions.js";
import type { BudgetAmounts, BudgetLimits } from "../../src/core/input.js";
import type { Program } from "../../src/ports/program.js";
import { defineAgent } from "../../src/runs/agent.js";
import { defineTool, type Tool } from "../../src/runs/tool.js";
import { ANN, listOf, pausedOf, Theatre } from "./stage.js";

/** How a run gets past the limit of one dimension, and what it may have more of it. */
interface Case {
  readonly programs: readonly Program[];
  readonly tools: readonly Tool[];
  readonly limits: BudgetLimits;
  readonly extension: BudgetAmounts;
}

/** Each call of it is quoted at so much of a dimension. */
function quoting(id: string, each: number): Tool {
  return defineTool({ name: "use", description: "Uses it.", input: {}, quote: { [id]: each }, run: () => "used" });
}

const twice = defineAgent("program", async (ctx) => [await ctx.tool("use"), await ctx.tool("use")].length);
const thinker = defineAgent(
  "program",
  async (ctx) => [await ctx.model({ prompt: "1" }), await ctx.model({ prompt: "2" })].length,
);
const child = defineAgent("child", async () => 1);
const parent = defineAgent(
  "program",
  async (ctx) => [await ctx.spawn("child", null, "share"), await ctx.spawn("child", null, "share")].length,
);
const sleeper = defineAgent("program", async (ctx) => {
  await ctx.sleep(5000);
  return 2;
});

const CASES: Readonly<Record<string, Case>> = {
  steps: { programs: [twice], tools: [quoting("fuel", 0)], limits: { steps: 1 }, extension: { steps: 1 } },
  wall_clock_ms: {
    programs: [sleeper],
    tools: [],
    limits: { wall_clock_ms: 1000 },
    extension: { wall_clock_ms: 9000 },
  },
  llm_tokens: { programs: [thinker], tools: [], limits: { llm_tokens: 100 }, extension: { llm_tokens: 100 } },
  llm_input_tokens: {
    programs: [thinker],
    tools: [],
    limits: { llm_input_tokens: 60 },
    extension: { llm_input_tokens: 60 },
  },
  llm_output_tokens: {
    programs: [thinker],
    tools: [],
    limits: { llm_output_tokens: 40 },
    extension: { llm_output_tokens: 40 },
  },
  cost_usd: { programs: [thinker], tools: [], limits: { cost_usd: 0.01 }, extension: { cost_usd: 0.01 } },
  network_egress_bytes: quoted("network_egress_bytes", 100),
  storage_write_bytes: quoted("storage_write_bytes", 100),
  fuel: quoted("fuel", 100),
  memory_peak_bytes: {
    programs: [twice],
    tools: [quoting("memory_peak_bytes", 1000)],
    limits: { memory_peak_bytes: 600 },
    extension: { memory_peak_bytes: 400 },
  },
  iterations: quoted("iterations", 1),
  subcalls: { programs: [parent, child], tools: [], limits: { subcalls: 1 }, extension: { subcalls: 1 } },
  depth: { programs: [parent, child], tools: [], limits: { depth: 0 }, extension: { depth: 1 } },
};

function quoted(id: string, each: number): Case {
  return { programs: [twice], tools: [quoting(id, each)], limits: { [id]: each }, extension: { [id]: each } };
}

test("there is a case for every dimension", () => {
  expect(Object.keys(CASES).toSorted()).toEqual(STANDARD.all.map(({ id }) => id).toSorted());
});

for (const [id, { programs, tools, limits, extension }] of Object.entries(CASES)) {
  test(`an extension of ${id} takes effect`, async () => {
    const theatre = new Theatre(programs, tools);
    const policies = { [id]: "approval_required" } as const;
    const paused = pausedOf(await theatre.until(theatre.process().run("program", null, { id: "r", limits, policies })));
    expect(paused.exhausted_dimension).toBe(id);
    const [request] = await listOf(theatre.process().approvals());
    expect(request).toMatchObject({ kind: "budget_extension", exhausted_dimension: id, budget: "r" });
    expect(request?.limits[id]).toBe(limits[id]);
    expect(Object.keys(request?.suggested_extension ?? {})).toEqual([id]);
    const approving = theatre.process().approve(paused.checkpoint_id, { by: ANN, extensions: extension });
    expect(await theatre.until(approving)).toMatchObject({ status: "completed", result: 2 });
    const budget = await theatre.store.budget("r");
    expect(Object.keys(budget?.extended ?? {})).toEqual([id]);
    const extended = (await theatre.links("r")).filter(({ event }) => event === "Extended");
    expect(extended.map(({ data }) => data)).toMatchObject([{ dimension: id, additional: extension[id] }]);
  });

  test(`to say yes to ${id} as it was asked takes effect, as often as it takes`, async () => {
    const theatre = new Theatre(programs, tools);
    const policies = { [id]: "approval_required" } as const;
    let result = await theatre.until(theatre.process().run("program", null, { id: "r", limits, policies }));
    for (let turn = 0; turn < 12 && result.status === "paused"; turn++) {
      result = await theatre.until(theatre.process().approve(result.checkpoint_id, { by: ANN }));
    }
    expect(result).toMatchObject({ status: "completed", result: 2 });
  });
}

const ALIASES: readonly (readonly [string, string])[] = [
  ["wall_clock", "wall_clock_ms"],
  ["network_egress", "network_egress_bytes"],
  ["storage_write", "storage_write_bytes"],
  ["max_cost_usd", "cost_usd"],
  ["token_budget", "llm_tokens"],
  ["cost-usd", "cost_usd"],
];

for (const [alias, id] of ALIASES) {
  test(`an extension under the name ${alias} is one of ${id}`, async () => {
    const { programs, tools, limits, extension } = CASES[id] as Case;
    const theatre = new Theatre(programs, tools);
    const policies = { [id]: "approval_required" } as const;
    const paused = pausedOf(await theatre.until(theatre.process().run("program", null, { id: "r", limits, policies })));
    const extensions = { [alias]: extension[id] as number };
    const done = await theatre.until(theatre.process().approve(paused.checkpoint_id, { by: ANN, extensions }));
    expect(done).toMatchObject({ status: "completed", result: 2 });
  });
}

test("an extension that makes no sense is refused with the field, and the run stays as it is", async () => {
  const { programs, tools, limits } = CASES.steps as Case;
  const theatre = new Theatre(programs, tools);
  const policies = { steps: "approval_required" } as const;
  await theatre.until(theatre.process().run("program", null, { id: "r", limits, policies }));
  const answer = (extensions: BudgetAmounts) => theatre.process().approve("r/checkpoint", { by: ANN, extensions });
  await expect(answer({ stpes: 1 })).rejects.toThrow("did you mean steps");
  await expect(answer({ steps: -1 })).rejects.toThrow("steps");
  await expect(answer({ steps: 0 })).rejects.toThrow("steps");
  await expect(answer({ steps: 0.5 })).rejects.toThrow("steps");
  await expect(answer({ steps: Number.NaN })).rejects.toThrow("steps");
  await expect(answer({ fuel: 5 })).rejects.toThrow("fuel has no limit");
  expect((await theatre.process().find("r")).status).toBe("paused");
  expect(await listOf(theatre.process().approvals())).toHaveLength(1);
  expect((await theatre.store.budget("r"))?.extended).toEqual({});
});

test("bytes that a tool really sends pause the run, and are sent after a yes", async () => {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(request.url ?? "");
    response.end("ok");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const get = defineTool({
    name: "get",
    description: "Gets a page.",
    input: {},
    run: async (_: unknown, { fetch }) => (await fetch(`http://127.0.0.1:${port}/page`)).text(),
  });
  const reader = defineAgent("reader", async (ctx) => ctx.tool("get"));
  const theatre = new Theatre([reader], [get]);
  const policies = { network_egress_bytes: "approval_required" } as const;
  const options = { id: "r", limits: { network_egress_bytes: 10 }, policies };
  try {
    const paused = pausedOf(await theatre.process().run("reader", null, options));
    expect(received).toEqual([]);
    const extensions = { network_egress_bytes: 10_000 };
    const done = await theatre.process().approve(paused.checkpoint_id, { by: ANN, extensions });
    expect(done).toMatchObject({ status: "completed", result: "ok" });
    expect(received).toEqual(["/page"]);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test("what is suggested for a clock that is far beyond its limit lets the run go on", async () => {
  const sleeper = defineAgent("sleeper", async (ctx) => {
    await ctx.sleep(50);
    return "awake";
  });
  const theatre = new Theatre([sleeper]);
  const policies = { wall_clock_ms: "approval_required" } as const;
  await theatre.process().start("sleeper", null, { id: "r", limits: { wall_clock_ms: 1000 }, policies });
  const stuck = theatre.process({ timer: { after: () => ({ [Symbol.dispose]() {} }) }, claim_ms: 1e9 });
  await stuck.claim(await stuck.find("r"));
  // Its machine sleeps for a day, and lets go of it then.
  theatre.clock.advance(86_400_000);
  await stuck.close();
  const paused = await theatre.until(theatre.process().resume("r", ANN));
  expect(paused).toMatchObject({ status: "paused", exhausted_dimension: "wall_clock_ms" });
  expect(await theatre.until(theatre.process().approve("r/checkpoint", { by: ANN }))).toMatchObject({
    result: "awake",
  });
});

test("one yes lets all go on that wait for the same", async () => {
  const three = defineAgent("three", async (ctx) => {
    const used = await Promise.all(["a", "b", "c"].map((each) => ctx.tool("use", { each })));
    return used.length;
  });
  const use = defineTool({
    name: "use",
    description: "Uses it.",
    input: { type: "object" } as const,
    run: () => "used",
    quote: { llm_tokens: 400 },
  });
  const theatre = new Theatre([three], [use]);
  const budget = { limits: { llm_tokens: 100 }, policies: { llm_tokens: "approval_required" } } as const;
  const paused = pausedOf(await theatre.until(theatre.process().run("three", null, { id: "r", ...budget })));
  const [request, ...others] = await listOf(theatre.process().approvals());
  expect(others).toEqual([]);
  // What is missing for 1200 under a limit of 100, and half of that limit.
  expect(request?.suggested_extension).toEqual({ llm_tokens: 1200 });
  const over = await theatre.until(theatre.process().approve(paused.checkpoint_id, { by: ANN }));
  expect(over).toMatchObject({ status: "completed", result: 3 });
});
