import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Amount, Amounts } from "../../src/core/amount.js";
import { appendLink, emptyHead, parseLine } from "../../src/core/chain/link.js";
import type { Store } from "../../src/ports/store.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import { LeasingStore } from "../../src/stores/lease/leasing.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { describeStore } from "../../src/testing/describe-store.js";
import { temporaryFolder } from "./folder.js";

const TTL_MS = 30_000;

async function pool(limit: number, clock = new FakeClock(), more: Amounts = {}) {
  const store = new MemoryStore({ clock });
  const grant = { kind: "limits", limits: { steps: limit as Amount, ...more } } as const;
  await store.apply([{ op: "open", parent: null, opening: { id: "tenant", scope: "shared", grant } }]);
  const holder = (name: string, log?: string) => {
    const options = { store, budgets: ["tenant"], name, clock, timer: clock, ttl_ms: TTL_MS };
    return LeasingStore.open(log === undefined ? options : { ...options, log });
  };
  const used = async () => (await store.budget("tenant"))?.used.steps ?? 0;
  const reserved = async () => (await store.budget("tenant"))?.reserved.steps ?? 0;
  return { store, clock, holder, used, reserved };
}

let calls = 0;
/** Who is dead gives nothing back and closes no file; but nobody may clear him away either. */
const GRAVES: LeasingStore[] = [];

/** Makes one call of one step, and says how it was decided. */
async function spend(store: Store, steps = 1): Promise<string> {
  const call = `call-${calls++}`;
  const asked = { steps: steps as Amount };
  const [{ decision }] = await store.apply([{ op: "reserve", budget: "tenant", call, kind: "tool", asked }]);
  if (decision.kind === "admitted") await store.apply([{ op: "commit", call, used: asked }]);
  return decision.kind;
}

describe("leases", () => {
  test("uneven workers use up a limit of 100,003 exactly", async () => {
    const { store, holder, used } = await pool(100_003);
    const holders = await Promise.all(["a", "b", "c", "d"].map((name) => holder(name)));
    const work = async (leasing: Store, pause: number) => {
      for (let done = 0; ; done++) {
        const kind = await spend(leasing);
        if (kind !== "admitted" && kind !== "busy") return done;
        if (kind === "busy") done--;
        if (done % pause === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const callers = holders.flatMap((each, index) =>
      Array.from({ length: 2 + index * 3 }, () => work(each, 1 + index * 50)),
    );
    const done = await Promise.all(callers);
    expect(done.reduce((sum, each) => sum + each, 0)).toBe(100_003);
    for (const each of holders) await each[Symbol.asyncDispose]();
    expect(await used()).toBe(100_003);
    expect(await spend(store)).toBe("stopped");
  });

  test("most calls never reach the store", async () => {
    const { store, holder } = await pool(1_000_000);
    await using leasing = await holder("a");
    let transactions = 0;
    const { apply } = store;
    store.apply = ((operations: never) => {
      transactions++;
      return apply.call(store, operations);
    }) as never;
    for (let at = 0; at < 10_000; at++) await spend(leasing);
    expect(transactions).toBeLessThan(100);
  });

  test("one idle holder strands nobody: what it does not use is recalled", async () => {
    const { holder, used } = await pool(1000);
    await using idle = await holder("idle");
    await using busy = await holder("busy");
    for (let at = 0; at < 100; at++) await spend(idle);
    let done = 100;
    while ((await spend(busy)) === "admitted") done++;
    expect(done).toBe(1000);
    expect(await used()).toBe(1000);
  });

  test("a recall leaves calls under way what they hold, and nothing else", async () => {
    const { store, holder, reserved } = await pool(100);
    await using first = await holder("first");
    await using second = await holder("second");
    const asked = { steps: 5 as Amount };
    await first.apply([{ op: "reserve", budget: "tenant", call: "long", kind: "model", asked }]);
    let done = 0;
    while ((await spend(second)) === "admitted") done++;
    expect(done).toBe(95);
    expect(await reserved()).toBe(5);
    await first.apply([{ op: "commit", call: "long", used: { steps: 5 as Amount } }]);
    await first[Symbol.asyncDispose]();
    expect((await store.budget("tenant"))?.used.steps).toBe(100);
  });

  test("slices that nobody uses go back by themselves", async () => {
    const { clock, holder, reserved } = await pool(1000);
    await using leasing = await holder("a");
    await spend(leasing);
    expect(await reserved()).toBeGreaterThan(0);
    for (let tick = 0; tick < 4; tick++) {
      clock.advance(TTL_MS / 8);
      await settled();
    }
    expect(await reserved()).toBe(0);
  });

  test("a holder that was asleep for too long is fenced off, and its slice is charged until it says what it used", async () => {
    const { store, clock, holder, used } = await pool(1000);
    // It hears nothing, and its timer stands still.
    const deaf: Store = Object.assign(Object.create(store), { watch: () => ({ [Symbol.dispose]: () => {} }) });
    const options = { store: deaf, budgets: ["tenant"], name: "asleep", clock, timer: new FakeClock(), ttl_ms: TTL_MS };
    await using asleep = await LeasingStore.open(options);
    await using awake = await holder("awake");
    const asked = { steps: 3 as Amount };
    await asleep.apply([{ op: "reserve", budget: "tenant", call: "under-way", kind: "model", asked }]);
    clock.jump(TTL_MS + 1);
    let done = 0;
    while ((await spend(awake)) === "admitted") done++;
    expect(await used()).toBe(1000);
    expect(done).toBeLessThan(1000 - 3);
    const expired: unknown[] = [];
    for await (const { body } of store.documents("lease", "expired")) expired.push(body.holder);
    expect(expired).toEqual([expect.stringMatching(/^asleep-/)]);
    expect(await spend(asleep)).toBe("stopped");
    await asleep.apply([{ op: "commit", call: "under-way", used: asked }]);
    await settled();
    expect(await used()).toBe(done + 3);
    expect(await spend(asleep)).toBe("stopped");
  });

  test("usage that was never reserved is told to the store at once", async () => {
    const { holder, used } = await pool(1000);
    await using leasing = await holder("a");
    const asked = { steps: 1 as Amount };
    await leasing.apply([{ op: "reserve", budget: "tenant", call: "greedy", kind: "tool", asked }]);
    await leasing.apply([{ op: "commit", call: "greedy", used: { steps: 900 as Amount } }]);
    await settled();
    expect(await used()).toBe(900);
  });

  test.each([
    { what: "steps", asked: { steps: 1 }, used: { steps: 1 } },
    { what: "what nobody asked for and nobody limits", asked: { steps: 1 }, used: { steps: 1, llm_tokens: 9 } },
    { what: "what nobody asked for and is limited", asked: { steps: 1 }, used: { steps: 1, cost_usd: 9 } },
  ])("whatever settles while slices change hands is counted: $what", async ({ asked, used }) => {
    const { store } = await pool(1000, new FakeClock(), { cost_usd: 1_000_000 as Amount });
    const slow = slowed(store);
    const options = { store: slow, budgets: ["tenant"], ttl_ms: TTL_MS, recall_ms: 50 };
    const holders = await Promise.all(["a", "b"].map((name) => LeasingStore.open({ ...options, name })));
    let done = 0;
    const caller = async (leasing: Store, at: number) => {
      for (let turn = 0; turn < 60; turn++) {
        const call = `${at}/${turn}/${calls++}`;
        const kind = turn % 2 === 0 ? "model" : "tool";
        const reserve = {
          op: "reserve",
          budget: "tenant",
          call,
          kind,
          asked: amounts(asked),
        } as const;
        const [{ decision }] = await leasing.apply([reserve]);
        if (decision.kind === "busy") turn--;
        if (decision.kind !== "admitted") {
          if (decision.kind !== "busy") return;
          await new Promise((resolve) => setTimeout(resolve, 5));
          continue;
        }
        await new Promise((resolve) => setTimeout(resolve, calls % 5));
        await leasing.apply([{ op: "commit", call, used: amounts(used) }]);
        done++;
      }
    };
    await Promise.all(Array.from({ length: 32 }, (_, at) => caller(holders[at % 2] as Store, at)));
    for (const each of holders) await each[Symbol.asyncDispose]();
    const budget = await store.budget("tenant");
    expect(done).toBe(1000);
    expect([budget?.used.steps, budget?.reserved.steps]).toEqual([1000, 0]);
    for (const [id, each] of Object.entries(used)) expect(budget?.used[id]).toBe(each * 1000);
  });

  test("a call counts once, a late report corrects it, and lists that need the store go there", async () => {
    const { store, holder, used } = await pool(1000);
    const leasing = await holder("a");
    const asked = { steps: 2 as Amount, cost_usd: 50 as Amount };
    const reserve = { op: "reserve", budget: "tenant", call: "x", kind: "model", asked } as const;
    await leasing.apply([reserve]);
    expect((await leasing.apply([reserve]))[0].repeated).toBe(true);
    const commit = { op: "commit", call: "x", used: { steps: 2 as Amount } } as const;
    expect((await leasing.apply([commit]))[0].charged.cost_usd).toBe(50);
    expect((await leasing.apply([commit]))[0].repeated).toBe(true);
    await leasing.apply([{ ...commit, used: { cost_usd: 20 as Amount } }]);
    await leasing.apply([{ ...reserve, call: "y" }]);
    const [settledCall, entry] = await leasing.apply([
      { op: "commit", call: "y", used: asked },
      { op: "journal", run: "run", key: "1", entry: { ok: true } },
    ]);
    expect([settledCall.op, entry.repeated]).toEqual(["commit", false]);
    await leasing[Symbol.asyncDispose]();
    expect(await used()).toBe(4);
    expect((await store.budget("tenant"))?.used.cost_usd).toBe(70);
  });
});

describe("a holder that dies", () => {
  test("is charged for all it held, unless its log proves less", async () => {
    await using folder = await temporaryFolder();
    const { store, clock, holder, used } = await pool(1000);
    await die(store, clock, folder.path);
    clock.jump(TTL_MS + 1);
    await store.apply([{ op: "expire" }]);
    expect(await used()).toBe(16);
    await using next = await holder("next", folder.path);
    expect(await used()).toBe(1 + 1);
    expect(await readdir(folder.path)).toContain("dead.jsonl.settled");
    expect(next.dimensions).toBe(store.dimensions);
  });

  test("is not settled by its log before its time is over, nor by a log that was changed", async () => {
    await using folder = await temporaryFolder();
    const { store, clock, holder, used } = await pool(1000);
    const text = await die(store, clock, folder.path);
    await using early = await holder("early", folder.path);
    expect(await used()).toBe(0);
    await writeFile(join(folder.path, "dead.jsonl"), text.replace('"steps":1', '"steps":0'));
    clock.jump(TTL_MS + 1);
    await store.apply([{ op: "expire" }]);
    await using late = await holder("late", folder.path);
    expect(await used()).toBe(16);
    expect([early, late]).toHaveLength(2);
  });
});

/** A process that has committed one call and has a model call and a tool call under way, and is gone. */
async function die(store: MemoryStore, clock: FakeClock, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const elsewhere = join(folder, "elsewhere");
  const options = { store, budgets: ["tenant"], name: "dead", clock, timer: new FakeClock(), ttl_ms: TTL_MS };
  const dead = await LeasingStore.open({ ...options, log: elsewhere });
  await spend(dead);
  const asked = { steps: 1 as Amount };
  await dead.apply([{ op: "reserve", budget: "tenant", call: `m${calls++}`, kind: "model", asked }]);
  await dead.apply([{ op: "reserve", budget: "tenant", call: `t${calls++}`, kind: "tool", asked }]);
  GRAVES.push(dead);
  const [name = ""] = await readdir(elsewhere);
  const text = asIfDead(await readFile(join(elsewhere, name), "utf8"));
  await writeFile(join(folder, "dead.jsonl"), text);
  return text;
}

/** The same log, written by a process that is not there any more. */
function asIfDead(text: string): string {
  let head = emptyHead("dead");
  const lines = text
    .split("\n")
    .slice(0, -1)
    .map((line, index) => {
      const { action_type, at, cause, data } = parseLine(line);
      const [[, host] = []] = data.notes as [number, string][];
      const changed = index === 0 ? { notes: [[2 ** 22 + 1, host ?? ""]] } : data;
      const next = appendLink(head, { action_type, at, cause, data: changed }, sha256Hex);
      head = next.head;
      return next.line;
    });
  return `${lines.join("\n")}\n`;
}

function amounts(values: Readonly<Record<string, number>>): Amounts {
  return values as unknown as Amounts;
}

/** A store that takes its time, as one behind a network does. */
function slowed(store: MemoryStore): Store {
  const apply = async (operations: never) => {
    await new Promise((resolve) => setTimeout(resolve, 2));
    const outcomes = await store.apply(operations);
    await new Promise((resolve) => setTimeout(resolve, 2));
    return outcomes;
  };
  return Object.assign(Object.create(store), { apply }) as Store;
}

/** Lets everything that was set going come to rest. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describeStore(
  "a leasing store that leases nothing",
  async (options) => LeasingStore.open({ store: new MemoryStore(options), budgets: [], clock: options.clock }),
  { describe, test },
);
