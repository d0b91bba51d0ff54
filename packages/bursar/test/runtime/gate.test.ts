import { describe, expect, test } from "vitest";
import type { BudgetAmounts } from "../../src/core/input.js";
import { readLimits } from "../../src/core/input.js";
import { type Effected, Gate, type Gated } from "../../src/runtime/gate.js";
import { OutOfTime } from "../../src/runtime/time-limit.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
}

function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Lets everything that can go on, go on. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function gateOf(limits: BudgetAmounts, deadline_ms?: number) {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const gate = new Gate({ store, clock, timer: clock });
  const deadline = deadline_ms === undefined ? null : clock.now().instant + deadline_ms;
  const grant = { kind: "limits", limits: readLimits(limits, store.dimensions) } as const;
  await store.apply([{ op: "open", parent: null, opening: { id: "run", scope: "run", grant, deadline } }]);
  const used = async (id: string) => (await store.budget("run"))?.used[id] ?? 0;
  return { clock, store, gate, used };
}

const call = { budget: "run", capability_id: "llm", kind: "model" } as const;

describe("the gate", () => {
  test("a thousand callers at once, five dollars, a tenth each: fifty calls are made, and no run fails for holds in flight", async () => {
    const { gate, used } = await gateOf({ cost_usd: 5 });
    let made = 0;
    const one = () =>
      gate.call({ ...call, asked: { cost_usd: 0.1 } }, async () => {
        made++;
        await new Promise((resolve) => setImmediate(resolve));
        return { value: null, usage: { cost_usd: 0.1, total_tokens: 0 } };
      });

    const results = await Promise.all(Array.from({ length: 1000 }, one));

    expect(made).toBe(50);
    expect(await used("cost_usd")).toBe(5_000_000_000);
    const refused = results.filter((each) => each.kind === "refused");
    expect(refused).toHaveLength(950);
    expect(new Set(refused.map((each) => each.decision.findings[0]?.refusal))).toEqual(new Set(["exhausted"]));
  });

  test("a hold in flight makes others wait, first come, first served", async () => {
    const { gate } = await gateOf({ cost_usd: 1 });
    const first = deferred<void>();
    const order: string[] = [];
    const start = (name: string, cost_usd: number, until: Promise<void>) =>
      gate.call({ ...call, asked: { cost_usd } }, async () => {
        order.push(name);
        await until;
        return { value: name, usage: { cost_usd: 0.1, total_tokens: 0 } };
      });

    const running = start("first", 0.8, first.promise);
    await settled();
    const large = start("large", 0.9, Promise.resolve());
    await settled();
    const small = start("small", 0.1, Promise.resolve());
    await settled();
    expect(order).toEqual(["first"]);
    first.resolve();

    const kinds = (await Promise.all([running, large, small])).map(({ kind }) => kind);
    expect(kinds).toEqual(["done", "done", "done"]);
    expect(order).toEqual(["first", "large", "small"]);
  });

  test("waiting is bounded, and giving up is no exhaustion but is recorded", async () => {
    const { gate, clock, store } = await gateOf({ cost_usd: 1 });
    const never = new Promise<never>(() => {});
    void gate.call({ ...call, asked: { cost_usd: 1 } }, () => never);
    await settled();
    const waiting = gate.call({ ...call, asked: { cost_usd: 0.5 }, wait_ms: 100 }, async () => ({ value: 1 }));
    await settled();
    clock.advance(100);

    const result = await waiting;

    expect(result).toMatchObject({ kind: "refused", decision: { kind: "busy" } });
    const lines: string[] = [];
    for await (const line of store.chain("run")) lines.push(line);
    expect(lines.filter((line) => line.includes("StepRefused"))).toHaveLength(1);
    expect(lines.filter((line) => line.includes("Exhausted"))).toHaveLength(0);
  });

  test("a caller who gives up leaves the queue to the others", async () => {
    const { gate } = await gateOf({ cost_usd: 1 });
    const first = deferred<void>();
    const impatient = new AbortController();
    const effect = async () => ({ value: "made", usage: { cost_usd: 0.2, total_tokens: 0 } });
    const running = gate.call({ ...call, asked: { cost_usd: 0.5 } }, async () => {
      await first.promise;
      return { value: "first", usage: { cost_usd: 0.5, total_tokens: 0 } };
    });
    await settled();
    const left = gate.call({ ...call, asked: { cost_usd: 1 }, signal: impatient.signal }, effect);
    await settled();
    const behind = gate.call({ ...call, asked: { cost_usd: 0.2 } }, effect);
    await settled();

    impatient.abort();

    expect((await left).kind).toBe("refused");
    expect((await behind).kind).toBe("done");
    first.resolve();
    expect((await running).kind).toBe("done");
  });

  test("a call that fails is charged for what it used, else for what it reserved", async () => {
    const { gate, used } = await gateOf({ cost_usd: 1 });
    const fail = (error: Error) =>
      gate.call({ ...call, asked: { cost_usd: 0.2 } }, async () => {
        throw error;
      });

    expect(await fail(new Error("boom"))).toMatchObject({ kind: "failed", settled: { estimated: true } });
    expect(await used("cost_usd")).toBe(200_000_000);
    await fail(Object.assign(new Error("boom"), { usage: { cost_usd: 0.05, total_tokens: 0 } }));
    expect(await used("cost_usd")).toBe(250_000_000);
    expect(await used("steps")).toBe(2);
  });

  test.each([
    ["the run's clock", { wall_clock_ms: 500 }, undefined],
    ["a deadline", {}, 500],
  ])("an effect is aborted when %s runs out, and settled at that moment", async (_, limits, deadline) => {
    const { gate, clock, used } = await gateOf({ cost_usd: 1, ...limits }, deadline);
    const reasons: unknown[] = [];
    const waiting: Promise<Gated<never>> = gate.call({ ...call, asked: { cost_usd: 0.3 } }, (signal) => {
      signal.addEventListener("abort", () => reasons.push(signal.reason));
      return new Promise<never>(() => {});
    });
    await settled();
    clock.advance(499);
    await settled();
    expect(reasons).toEqual([]);
    clock.advance(1);

    const result = await waiting;

    expect(result).toMatchObject({ kind: "failed" });
    expect(reasons[0]).toBeInstanceOf(OutOfTime);
    expect(await used("cost_usd")).toBe(300_000_000);
    expect((await gate.call(call, async () => ({ value: 1 }))).kind).toBe("refused");
  });

  test("the same call id never makes an effect twice", async () => {
    const { gate, used } = await gateOf({ cost_usd: 1 });
    let made = 0;
    const again = () =>
      gate.call({ ...call, call_id: "once", asked: { cost_usd: 0.1 } }, async () => {
        made++;
        return { value: 1, usage: { cost_usd: 0.1, total_tokens: 0 } };
      });

    await again();

    await expect(again()).rejects.toThrow("a further attempt needs an id of its own");
    expect(made).toBe(1);
    expect(await used("cost_usd")).toBe(100_000_000);
  });

  test("an effect that heeds its signal is waited for, and charged what it says", async () => {
    const { gate } = await gateOf({ cost_usd: 1 });
    const controller = new AbortController();
    const heeding = gate.call(
      { ...call, signal: controller.signal, heeds: true, asked: { cost_usd: 0.5 } },
      (signal) => {
        return new Promise<Effected<string>>((resolve) => {
          signal.addEventListener("abort", () =>
            setImmediate(() => resolve({ value: "half", usage: { cost_usd: 0.2 } })),
          );
        });
      },
    );
    await settled();
    controller.abort(new Error("enough"));
    expect(await heeding).toMatchObject({
      kind: "done",
      value: "half",
      settled: { charged: { cost_usd: 200_000_000 } },
    });
  });

  test("the caller's own signal reaches the effect", async () => {
    const { gate } = await gateOf({ cost_usd: 1 });
    const controller = new AbortController();
    const waiting = gate.call({ ...call, signal: controller.signal }, () => new Promise<never>(() => {}));
    await settled();

    controller.abort(new Error("changed my mind"));

    expect(await waiting).toMatchObject({ kind: "failed", error: { message: "changed my mind" } });
  });

  test("calls on budgets that share nothing do not wait for each other", async () => {
    const { gate, store } = await gateOf({ cost_usd: 1 });
    const grant = { kind: "limits", limits: readLimits({ cost_usd: 1 }, store.dimensions) } as const;
    await store.apply([{ op: "open", parent: null, opening: { id: "other", scope: "run", grant } }]);
    void gate.call({ ...call, asked: { cost_usd: 1 } }, () => new Promise<never>(() => {}));
    await settled();
    void gate.call({ ...call, asked: { cost_usd: 1 } }, async () => ({ value: 1 }));
    await settled();

    const other = await gate.call({ ...call, budget: "other", asked: { cost_usd: 1 } }, async () => ({ value: 1 }));

    expect(other.kind).toBe("done");
  });
});
