import { describe, expect, test } from "vitest";
import type { Preflight } from "../../src/foresight/preflight.js";
import { defineAgent } from "../../src/runs/agent.js";
import { openBursar } from "../../src/runs/bursar.js";
import { defineTool } from "../../src/runs/tool.js";
import { openServer } from "../../src/server/server.js";
import { MemoryStore } from "../../src/stores/memory.js";
import type { EstimateView, Overview, RunRow } from "../../src/views/views.js";
import { Latch, settle } from "../runs/stage.js";
import { opened } from "./scene.js";

const TIGHT: Preflight = {
  program: "talker",
  fits: false,
  notes: ["the predictor could not say what it will take: no answer"],
  estimate: {
    dimensions: { cost_usd: { median: 100_000_000, upper: 600_000_000, source: "history" } },
    made: 1,
    opinions: [
      {
        source: "history",
        samples: 41,
        about: "41 of 120 runs with an input of about this size",
        dimensions: { cost_usd: { median: 100_000_000, upper: 600_000_000 } },
      },
    ],
  },
  dimensions: [
    {
      dimension: "cost_usd",
      unit: "USD",
      median: 0.1,
      upper: 0.6,
      source: "history",
      limit: 0.5,
      policy: "hard_stop",
      missing: 0.1,
    },
  ],
};

describe("estimates over HTTP", () => {
  test("are made as whoever runs the server says, in edge units and with where they come from", async () => {
    const asked: unknown[] = [];
    const estimate = async (wanted: unknown, by: unknown) => {
      asked.push([wanted, by]);
      return TIGHT;
    };
    await using at = await opened({ estimate, requireLogin: true }, ["operator", "agent", "viewer"]);
    const wanted = { program: "talker", limits: { cost_usd: 0.5 }, session: "team" };
    const { status, body } = await at.post<EstimateView>("/api/v1/estimates", wanted, at.as("agent"));
    expect(status).toBe(200);
    expect(body).toEqual({
      program: "talker",
      fits: false,
      notes: TIGHT.notes,
      dimensions: TIGHT.dimensions,
      opinions: [
        {
          source: "history",
          samples: 41,
          about: "41 of 120 runs with an input of about this size",
          dimensions: { cost_usd: { median: 0.1, upper: 0.6 } },
        },
      ],
    });
    expect(asked).toMatchObject([
      [
        { ...wanted, input: null },
        { name: "the agent", role: "agent" },
      ],
    ]);
    expect((await at.post("/api/v1/estimates", wanted, at.as("viewer"))).status).toBe(403);
  });

  test("start nothing, write nothing, and refuse what is no run", async () => {
    await using at = await opened();
    const wanted = { program: "talker", input: { words: ["a"] } };
    expect((await at.post("/api/v1/estimates", wanted)).status).toBe(200);
    expect((await at.get<{ items: readonly RunRow[] }>("/api/v1/runs")).body.items).toEqual([]);
    expect((await at.post("/api/v1/estimates", { program: "nobody" })).status).toBe(404);
    const brought = { name: "x", language: "python", code: "1" };
    expect((await at.post("/api/v1/estimates", { program: brought })).body.error.code).toBe("no_such_language");
    expect((await at.post("/api/v1/estimates", { ...wanted, id: "r" })).status).toBe(400);
  });

  test("an agent may not ask for more than it could start", async () => {
    await using at = await opened({ requireLogin: true }, ["operator", "agent"]);
    const wide = { program: "talker", limits: { steps: 1_000_000 } };
    const { status, body } = await at.post("/api/v1/estimates", wide, at.as("agent"));
    expect([status, body.error.code]).toEqual([403, "forbidden"]);
  });
});

test("figures for machines: what is held stands apart from what is used, and what was saved is told", async () => {
  const latch = new Latch();
  const slow = defineTool({
    name: "slow",
    description: "Takes its time.",
    input: {},
    quote: { cost_usd: 0.05 },
    run: () => latch.opened,
  });
  const waiter = defineAgent("waiter", async (ctx) => {
    await ctx.tool("slow");
    return null;
  });
  const store = new MemoryStore();
  await using bursar = openBursar({ store, programs: [waiter], tools: [slow] });
  await using server = await openServer({ store, bursar, port: 0 });
  const done = bursar.run("waiter", null, { id: "r" });
  await settle();
  await store.apply([
    {
      op: "record",
      budget: "r",
      action: { action_type: "Saved", data: { run_id: "r", kind: "cache", saved_usd: 0.5 } },
    },
  ]);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toContain('bursar_active_runs_held{dimension="cost_usd"} 0.05\n');
  expect(metrics).not.toContain('bursar_active_runs_usage{dimension="cost_usd"}');
  expect(metrics).toContain("bursar_saved_usd 0.5\n");
  const overview = (await (await fetch(`${server.url}/api/v1/overview`)).json()) as Overview;
  expect(overview).toMatchObject({
    held: { cost_usd: 0.05, steps: 1 },
    saved_usd: 0.5,
    active: [{ held: { steps: 1 } }],
  });
  latch.open();
  await done;
});
