import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import type { Operation } from "../../src/core/operation.js";
import { MemoryStore } from "../../src/stores/memory.js";

const opening = { id: "run", scope: "run", grant: { kind: "limits", limits: { steps: 5 } } };
const good: Record<string, Record<string, unknown>> = {
  open: { op: "open", parent: null, opening: { ...opening, id: "other" } },
  reserve: { op: "reserve", budget: "run", call: "b", kind: "tool", asked: { steps: 1 } },
  commit: { op: "commit", call: "a", used: { steps: 1 } },
  charge: { op: "charge", budget: "run", call: "c", used: { steps: 1 } },
  put: { op: "put", kind: "run", id: "r", budget: null, status: "Running", body: {}, version: 0 },
  journal: { op: "journal", run: "r", key: "k", entry: {} },
  extend: { op: "extend", budget: "run", additional: { steps: 1 }, approved_by: "ada", reason: null },
};

function without(operation: Record<string, unknown> | undefined, field: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(operation ?? {}).filter(([name]) => name !== field));
}

async function storeWithCall(): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.apply([{ op: "open", parent: null, opening } as unknown as Operation]);
  await store.apply([{ op: "reserve", budget: "run", call: "a", kind: "tool", asked: {} }]);
  return store;
}

const bad = fc.oneof(
  fc.constantFrom(null, undefined, Number.NaN, -1, 1.5, "", true, [], {}, 1e300, 1n, () => {}),
  fc.double(),
);

describe("operations from outside", () => {
  test.each(Object.keys(good))("a good %s is taken", async (name) => {
    const store = await storeWithCall();
    await expect(store.apply([good[name] as unknown as Operation])).resolves.toHaveLength(1);
  });

  test.each([
    ["op", { op: "spend" }],
    ["op", null],
    ["asked.steps", { ...good.reserve, asked: { steps: -1 } }],
    ["asked.steps", { ...good.reserve, asked: { steps: 1.5 } }],
    ["asked.wall_clock_ms", { ...good.reserve, asked: { wall_clock_ms: 1 } }],
    ["asked.stesp", { ...good.reserve, asked: { stesp: 1 } }],
    ["asked", { ...good.reserve, asked: [1] }],
    ["kind", { ...good.reserve, kind: "magic" }],
    ["expires", { ...good.reserve, expires: Number.NaN }],
    ["used.steps", { ...good.commit, used: { steps: Number.NaN } }],
    ["estimate.llm_tokens", { ...good.commit, estimate: { llm_tokens: -5 } }],
    ["duration_ms", { ...good.commit, duration_ms: "1" }],
    ["used.cost_usd", { ...good.charge, used: { cost_usd: 1e300 } }],
    ["additional.steps", { ...good.extend, additional: { steps: "1" } }],
    ["approved_by", { ...good.extend, approved_by: "" }],
    ["reason", { ...good.extend, reason: 1 }],
    ["opening.id", { ...good.open, opening: { ...opening, id: 7 } }],
    ["opening.id", { ...good.open, opening: { ...opening, id: "run#1" } }],
    ["chain", { ...good.open, chain: "" }],
    ["budget", without(good.reserve, "budget")],
    ["budget", without(good.put, "budget")],
    ["budget", without(good.extend, "budget")],
    ["budget", { op: "end" }],
    ["call", without(good.commit, "call")],
    ["call", { op: "release" }],
    ["call", { ...good.reserve, call: "a\0b" }],
    ["call", { ...good.charge, call: "a\ud800" }],
    ["call", { ...good.charge, call: "x".repeat(1001) }],
    ["budget", { ...good.put, budget: "a\nb" }],
    ["status", { ...good.put, status: "a\u0085" }],
    ["run", { ...good.journal, run: "a\nb" }],
    ["key", { ...good.journal, key: "a\nb" }],
    ["cause", { ...good.reserve, cause: "run#0\0" }],
    ["step_id", { ...good.reserve, step_id: "a\0" }],
    ["capability_id", { ...good.reserve, capability_id: "\udc00" }],
    ["opening.scope", { ...good.open, opening: { ...opening, id: "x", scope: "global" } }],
    ["opening.grant.kind", { ...good.open, opening: { ...opening, id: "x", grant: { kind: "gift" } } }],
    [
      "opening.grant.limits.steps",
      { ...good.open, opening: { ...opening, id: "x", grant: { kind: "limits", limits: { steps: -1 } } } },
    ],
    ["opening.policies.steps", { ...good.open, opening: { ...opening, id: "x", policies: { steps: "never" } } }],
    ["opening.thresholds", { ...good.open, opening: { ...opening, id: "x", thresholds: [80, 50] } }],
    ["opening.deadline", { ...good.open, opening: { ...opening, id: "x", deadline: Number.NaN } }],
    [
      "fraction",
      { op: "open", parent: "run", opening: { id: "x", scope: "run", grant: { kind: "fraction", of: 1.5 } } },
    ],
  ])("%s is named when it cannot be used", async (field, operation) => {
    const store = await storeWithCall();
    const before = [await store.budget("run"), await store.head("run")];

    const applied = store.apply([operation as unknown as Operation]);

    await expect(applied).rejects.toThrow(InputError);
    await expect(applied).rejects.toMatchObject({ field });
    expect([await store.budget("run"), await store.head("run")]).toEqual(before);
  });

  test("no garbage in any amount is ever a refund", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("asked", "used", "additional"),
        fc.constantFrom("steps", "cost_usd", "depth"),
        bad,
        async (field, id, value) => {
          const store = await storeWithCall();
          const name = { asked: "reserve", used: "commit", additional: "extend" }[field] ?? "";
          const operation = { ...good[name], [field]: { [id]: value } } as unknown as Operation;
          await store.apply([operation]).catch((error: unknown) => expect(error).toBeInstanceOf(InputError));
          const { used = {}, reserved = {}, extended = {} } = (await store.budget("run")) ?? {};
          for (const figure of [used, reserved, extended].flatMap((each) => Object.values(each))) {
            expect(Number.isSafeInteger(figure) && figure >= 0).toBe(true);
          }
        },
      ),
    );
  });
});
