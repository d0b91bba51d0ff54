import { expect, test } from "vitest";
import { verifyChain } from "../../src/core/chain/verify.js";
import { defineAgent } from "../../src/runs/agent.js";
import { openBursar } from "../../src/runs/bursar.js";
import { defineTool } from "../../src/runs/tool.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

const ANN = { name: "ann", role: "operator" } as const;

function setUp(agents: Parameters<typeof openBursar>[0]["programs"]) {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const said: string[] = [];
  const echo = defineTool({
    name: "echo",
    description: "Says it again.",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    run: ({ text }: { text: string }) => {
      said.push(text);
      return text;
    },
  });
  const options = { store, timer: clock, tools: [echo], programs: agents ?? [] };
  return { clock, store, said, options, bursar: openBursar(options) };
}

async function eventsOf(store: MemoryStore, run: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of store.chain(run)) lines.push(line);
  const verified = await verifyChain(lines, { hash: sha256Hex });
  expect(verified).toMatchObject({ ok: true });
  return lines.map((line) => {
    const { event, action_type } = JSON.parse(line) as { event?: string; action_type: string };
    return event ?? action_type;
  });
}

const talker = defineAgent("talker", async (ctx, { words }: { words: string[] }) => {
  const heard: string[] = [];
  for (const text of words) heard.push(await ctx.tool("echo", { text }));
  return heard.join(" ");
});

test("a run ends with its result, its usage and a chain that verifies", async () => {
  const { bursar, store, said } = setUp([talker]);
  const result = await bursar.run("talker", { words: ["a", "b"] }, { id: "r" });
  expect(result).toMatchObject({ status: "completed", result: "a b", usage: { steps: 2 } });
  expect(said).toEqual(["a", "b"]);
  const events = await eventsOf(store, "r");
  expect(events[0]).toBe("Allocation");
  expect(events.at(-1)).toBe("RunCompleted");
});

test("steps 1 with approval_required pauses before its second call, and goes on after a yes", async () => {
  const { bursar, store, said } = setUp([talker]);
  const options = { id: "r", limits: { steps: 1 }, policies: { steps: "approval_required" } } as const;
  const paused = await bursar.run("talker", { words: ["a", "b"] }, options);
  expect(paused).toMatchObject({
    status: "paused",
    checkpoint_id: "r/checkpoint.1",
    exhausted_dimension: "steps",
    policy: "approval_required",
  });
  expect(said).toEqual(["a"]);
  if (paused.status !== "paused") throw new Error("not paused");
  const done = await bursar.approve(paused.approval_id ?? "", { by: ANN, reason: "go on" });
  expect(done).toMatchObject({ status: "completed", result: "a b", usage: { steps: 2 } });
  expect(said).toEqual(["a", "b"]);
  expect(await eventsOf(store, "r")).toContain("Extended");
});

test("with the default policy it ends Failed, and nothing is called", async () => {
  const { bursar, said } = setUp([talker]);
  const result = await bursar.run("talker", { words: ["a", "b"] }, { limits: { steps: 1 } });
  expect(result).toMatchObject({ status: "failed", failure: { code: "exhausted", dimension: "steps" } });
  expect(said).toEqual(["a"]);
});
