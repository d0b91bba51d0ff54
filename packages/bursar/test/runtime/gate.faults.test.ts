import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Operation } from "../../src/core/operation.js";
import type { Outcomes } from "../../src/ports/store.js";
import { BudgetContext } from "../../src/runtime/context.js";
import { Gate } from "../../src/runtime/gate.js";
import { recordBudgetConsumption } from "../../src/runtime/host.js";
import { SettlementError } from "../../src/runtime/settlement-error.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

/** A memory store that can be told to be slow, to fail, or to tell of changes without a cause. */
class Moody extends MemoryStore {
  failing = 0;
  chatty = false;
  slow: Promise<void> | null = null;
  private readonly heard = new Set<() => void>();

  override async apply<const Ops extends readonly Operation[]>(operations: Ops): Promise<Outcomes<Ops>> {
    if (operations.some(({ op }) => op === "commit") && this.failing-- > 0) throw new Error("the store is gone");
    const outcomes = await super.apply(operations);
    await this.slow;
    if (this.chatty) for (const listener of this.heard) listener();
    return outcomes;
  }

  override watch(listener: () => void): Disposable {
    this.heard.add(listener);
    return super.watch(listener);
  }
}

async function scene(limits: Record<string, number>, deadline_ms?: number) {
  const clock = new FakeClock();
  const store = new Moody({ clock });
  const gate = new Gate({ store, clock, timer: clock });
  const deadline = deadline_ms === undefined ? null : new Date(clock.now().instant + deadline_ms);
  await gate.open("run", { limits: { wall_clock_ms: null, ...limits }, deadline });
  return { clock, store, gate };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const call = { budget: "run", capability_id: "tool" } as const;
const never = () => new Promise<never>(() => {});

describe("faults of the gate that must not come back", () => {
  test("what an effect gave is kept when the store fails once, and not lost when it fails for good", async () => {
    const { gate, store } = await scene({ cost_usd: 10 });
    const effect = async () => ({ value: "answer", usage: { cost_usd: 3 } });

    store.failing = 1;
    expect(await gate.call({ ...call, asked: { cost_usd: 1 } }, effect)).toMatchObject({
      kind: "done",
      value: "answer",
    });
    expect((await store.budget("run"))?.used.cost_usd).toBe(3_000_000_000);
    store.failing = 2;
    const error: unknown = await gate.call(call, effect).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SettlementError);
    expect(error).toMatchObject({ value: "answer", code: "not_settled" });
  });

  test("whoever gives up while his attempt is under way leaves no hold behind", async () => {
    const { gate, store, clock } = await scene({ cost_usd: 1 });
    let free: () => void = () => {};
    const first = gate.call(
      { ...call, asked: { cost_usd: 1 } },
      () =>
        new Promise<{ value: number; usage: unknown }>((resolve) => {
          free = () => resolve({ value: 1, usage: { cost_usd: 0 } });
        }),
    );
    await settled();
    const waiting = gate.call({ ...call, asked: { cost_usd: 1 }, wait_ms: 100 }, never);
    await settled();
    let go: () => void = () => {};
    store.slow = new Promise((resolve) => {
      go = resolve;
    });
    free();
    await settled();
    clock.advance(100);
    go();
    store.slow = null;
    await first;

    expect((await waiting).kind).toBe("refused");
    await settled();
    expect((await store.budget("run"))?.reserved.cost_usd ?? 0).toBe(0);
  });

  test("a dead holder's reservation is settled by whoever waits for it", async () => {
    const { gate, clock } = await scene({ cost_usd: 1 });
    await gate.admit({ ...call, call_id: "dead", asked: { cost_usd: 1 }, expires_ms: 100 });
    const waiting = gate.call({ ...call, asked: { cost_usd: 0.5 } }, async () => ({ value: 1 }));
    await settled();
    clock.advance(1000);
    await settled();

    expect((await waiting).kind).toBe("done");
  });

  test("a child does not wait for those who wait for what it holds", async () => {
    const { gate, store } = await scene({ cost_usd: 10 });
    const opening = { id: "child", scope: "run", grant: { kind: "fraction", of: 1 } } as const;
    await store.apply([{ op: "open", parent: "run", opening }]);
    void gate.call({ ...call, asked: { cost_usd: 1 } }, never);
    await settled();

    const made = await gate.call({ ...call, budget: "child", asked: { cost_usd: 1 } }, async () => ({ value: 1 }));

    expect(made.kind).toBe("done");
  });

  test("the final answer may use the time set aside for it", async () => {
    const { gate, store, clock } = await scene({ wall_clock_ms: 1000 });
    const amounts = { wall_clock_ms: 500 as never, steps: 1 as never };
    const opening = { id: "final", scope: "run", grant: { kind: "wrap_up", amounts } } as const;
    await store.apply([{ op: "open", parent: "run", opening }]);
    clock.advance(600);

    expect((await gate.call(call, never)).kind).toBe("refused");
    const made = await gate.call({ ...call, budget: "final" }, async () => ({ value: "answer" }));
    expect(made).toMatchObject({ kind: "done", value: "answer" });
  });

  test("an effect that was never started is not charged, and a report that cannot be read is none", async () => {
    const { gate, store } = await scene({ cost_usd: 5 });
    const controller = new AbortController();
    const apply = store.apply.bind(store);
    store.apply = async (operations) => {
      const outcomes = await apply(operations);
      if (operations.some(({ op }) => op === "reserve")) controller.abort(new Error("changed my mind"));
      return outcomes;
    };
    await expect(gate.call({ ...call, signal: controller.signal, asked: { cost_usd: 1 } }, never)).rejects.toThrow(
      "changed my mind",
    );
    expect(await store.budget("run")).toMatchObject({ used: {}, open: 0 });
    store.apply = apply;
    const usage = {
      get total_tokens(): number {
        throw new Error("no");
      },
    };
    expect(await gate.call({ ...call, asked: { cost_usd: 1 } }, async () => ({ value: 7, usage }))).toMatchObject({
      kind: "done",
      value: 7,
      settled: { estimated: true },
    });
  });

  test("an answer that is lost on the way leaves no hold behind", async () => {
    const { gate, store } = await scene({ cost_usd: 5 });
    const apply = store.apply.bind(store);
    store.apply = async (operations) => {
      const outcomes = await apply(operations);
      if (operations.some(({ op }) => op === "reserve")) throw new Error("connection reset");
      return outcomes;
    };

    await expect(gate.call({ ...call, asked: { cost_usd: 1 } }, never)).rejects.toThrow("connection reset");
    expect(await store.budget("run")).toMatchObject({ reserved: { cost_usd: 0 }, open: 0 });
  });

  test("an answer that is lost on the way does not give back another's call of the same id", async () => {
    const { gate, store } = await scene({ cost_usd: 1 });
    void gate.call({ ...call, call_id: "shared", asked: { cost_usd: 1 } }, never);
    await settled();
    const apply = store.apply.bind(store);
    store.apply = async (operations) => {
      await apply(operations);
      throw new Error("connection reset");
    };

    await expect(gate.call({ ...call, call_id: "shared", asked: { cost_usd: 1 } }, never)).rejects.toThrow("reset");
    expect(await store.budget("run")).toMatchObject({ reserved: { cost_usd: 1_000_000_000 }, open: 1 });
  });

  test("a store that tells of changes without end starves nobody", async () => {
    const { gate, store, clock } = await scene({ cost_usd: 1 });
    void gate.call({ ...call, asked: { cost_usd: 1 } }, never);
    await settled();
    store.chatty = true;
    const waiting = gate.call({ ...call, asked: { cost_usd: 1 }, wait_ms: 10 }, never);
    await settled();
    clock.advance(10);

    expect((await waiting).kind).toBe("refused");
    store.chatty = false;
  });

  test("an extension during a call moves the moment at which it is aborted", async () => {
    const { gate, store, clock } = await scene({ wall_clock_ms: 1000 });
    const waiting = gate.call(call, never);
    await settled();
    const additional = { wall_clock_ms: 500 as never };
    await store.apply([{ op: "extend", budget: "run", additional, approved_by: "ada", reason: null }]);
    clock.advance(1000);
    await settled();
    let over = false;
    void waiting.then(() => {
      over = true;
    });
    await settled();
    expect(over).toBe(false);
    clock.advance(500);

    expect((await waiting).kind).toBe("failed");
  });

  test("whoever waits is told when the deadline has passed, not when his patience ends", async () => {
    const { gate, clock } = await scene({ cost_usd: 1 }, 500);
    void gate.call({ ...call, asked: { cost_usd: 1 } }, never);
    await settled();
    const waiting = gate.call({ ...call, asked: { cost_usd: 1 } }, never);
    await settled();
    clock.advance(500);

    expect(await waiting).toMatchObject({ kind: "refused", decision: { kind: "stopped" } });
  });

  test("a signal that has fired before makes no call", async () => {
    const { gate, store } = await scene({ steps: 5 });
    const made = gate.call({ ...call, signal: AbortSignal.abort(new Error("too late")) }, never);

    await expect(made).rejects.toThrow("too late");
    expect((await store.budget("run"))?.used).toEqual({});
  });

  test.each([
    ["effect", [call, undefined]],
    ["call.ask", [{ ...call, ask: {} }, never]],
    ["call.wait_ms", [{ ...call, wait_ms: Number.NaN }, never]],
    ["asked.cots_usd", [{ ...call, asked: { cots_usd: 1 } }, never]],
  ])("%s is named when it cannot be used, before anything is reserved", async (field, args) => {
    const { gate, store } = await scene({ steps: 5 });

    await expect(gate.call(...(args as Parameters<typeof gate.call>))).rejects.toMatchObject({ field });
    expect((await store.budget("run"))?.reserved).toEqual({});
  });

  test("a gate whose clock is ahead of the store's makes no call after the deadline", async () => {
    const { store, clock } = await scene({ steps: 5 }, 1000);
    const ahead = new FakeClock({ instant: clock.now().instant + 5000 });
    using gate = new Gate({ store, clock: ahead, timer: ahead });
    let isMade = false;

    const result = gate.call(call, async () => {
      isMade = true;
      return { value: 1 };
    });

    await expect(result).rejects.toMatchObject({ name: "OutOfTime" });
    expect(isMade).toBe(false);
    expect((await store.budget("run"))?.used).toEqual({});
  });

  test("a deadline that is no date is named", async () => {
    const { gate } = await scene({ steps: 5 });

    await expect(gate.open("other", { deadline: "tomorrow" as never })).rejects.toMatchObject({
      field: "options.deadline",
    });
  });

  test("an effect may throw at once, and has to say what is its value", async () => {
    const { gate } = await scene({ steps: 5 });
    const loud = () => {
      throw new Error("boom");
    };

    expect(await gate.call(call, loud)).toMatchObject({ kind: "failed", error: { message: "boom" } });
    expect(await gate.call(call, (async () => "hello") as never)).toMatchObject({
      kind: "failed",
      error: { field: "effect" },
    });
  });

  test("a refusal says in words what does not fit", async () => {
    const { gate } = await scene({ cost_usd: 1 });

    expect(await gate.call({ ...call, asked: { cost_usd: 1.5 } }, never)).toMatchObject({
      message:
        "cost_usd of budget run has less left than the call asks for: asked $1.50, used $0.00, limit $1.00; policy hard_stop",
    });
  });

  test("a limit of time keeps a process alive that has nothing else to wait for", () => {
    const dist = new URL("../../dist/index.js", import.meta.url).href;
    const script = `
      import { Gate, MemoryStore } from ${JSON.stringify(dist)};
      const gate = new Gate({ store: new MemoryStore() });
      await gate.open("run", { limits: { wall_clock_ms: 3_600_000 } });
      const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
      const before = timers();
      void gate.call({ budget: "run", capability_id: "hangs" }, () => {
        // The timer is set before the effect begins, or right after.
        setImmediate(() => {
          console.log(before, timers());
          process.exit(0);
        });
        return new Promise(() => {});
      });
    `;
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: fileURLToPath(new URL(".", import.meta.url)),
      encoding: "utf8",
    });

    expect(output.trim()).toBe("0 1");
  });
});

describe("faults of the context that must not come back", () => {
  test("the same call id does not proceed twice", () => {
    const context = new BudgetContext({ limits: { cost_usd: 1 } });
    context.checkPreCall({ call_id: "retry", asked: { cost_usd: 1 } });

    expect(() => context.checkPreCall({ call_id: "retry", asked: { cost_usd: 1 } })).toThrow("needs an id of its own");
  });

  test("usage beside metadata is read, misspelt options are refused, and what is handed out is a copy", () => {
    const context = new BudgetContext({ limits: { steps: 5 } });
    const check = context.checkPreCall({ kind: "model" });
    if (check.proceed) recordBudgetConsumption(context, check.call_id, { metadata: {}, usage: { total_tokens: 1000 } });

    expect(context.consumed.llm_tokens).toBe(1000);
    expect(() => new BudgetContext({ limit: { steps: 1 } } as never)).toThrow(
      "options.limit is not known here; did you mean limits?",
    );
    expect(() => context.checkPreCall("search" as never)).toThrow(`call is "search"`);
    (context.chain as string[]).pop();
    Object.assign(context.policies, { steps: "soft_warn" });
    expect(context.chain.length).toBeGreaterThan(2);
    expect(context.policies.steps).toBe("hard_stop");
  });

  test("a call that is not made is given back, and ending twice does no harm", () => {
    const context = new BudgetContext({ limits: { cost_usd: 1 } });
    const check = context.checkPreCall({ asked: { cost_usd: 1 } });
    if (check.proceed) context.release(check.call_id);
    context.complete();
    context.complete();

    expect(context.consumed.cost_usd).toBe(0);
    expect(() => new BudgetContext({ session_budget_limits: { wall_clock_ms: 0 } })).toThrow("leave nothing for a run");
  });
});
