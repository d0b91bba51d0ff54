import { expect, test } from "vitest";
import { Dimensions, STANDARD } from "../../src/core/dimensions.js";
import { Events } from "../../src/core/events.js";
import { readAmounts, readLimits } from "../../src/core/input.js";
import { MemoryStore } from "../../src/stores/memory.js";

test("a denial is a budget event with who, what and why", async () => {
  const store = new MemoryStore();
  const grant = { kind: "limits", limits: {} } as const;
  const denied = new Events(STANDARD).denied("llm_tokens", "checkpoint-1", "ada", "enough");

  await store.apply([
    { op: "open", parent: null, opening: { id: "run", scope: "run", grant } },
    { op: "record", budget: "run", action: denied },
  ]);

  const lines: string[] = [];
  for await (const line of store.chain("run")) lines.push(line);
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({
    action_type: "BudgetConsumptionRecorded",
    event: "Denied",
    cause: "run#0",
    data: { dimension: "llm_tokens", checkpoint_id: "checkpoint-1", denied_by: "ada", reason: "enough" },
  });
});

test("a model call is settled in a table that counts no tokens", async () => {
  const dimensions = new Dimensions([STANDARD.get("steps"), STANDARD.get("cost_usd")]);
  const store = new MemoryStore({ dimensions });
  const grant = { kind: "limits", limits: readLimits({ steps: 5 }, dimensions) } as const;
  const asked = readAmounts({ steps: 1 }, dimensions);

  await store.apply([
    { op: "open", parent: null, opening: { id: "run", scope: "run", grant } },
    { op: "reserve", budget: "run", call: "a", kind: "model", asked },
    { op: "commit", call: "a", used: {} },
  ]);

  expect((await store.budget("run"))?.used).toEqual({ steps: 1 });
});
