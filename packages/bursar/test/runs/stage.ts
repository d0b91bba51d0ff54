import { expect } from "vitest";
import type { Json } from "../../src/core/chain/canonical.js";
import { verifyChain } from "../../src/core/chain/verify.js";
import type { Model } from "../../src/ports/model.js";
import type { Program } from "../../src/ports/program.js";
import { type Bursar, openBursar } from "../../src/runs/bursar.js";
import type { RunResult } from "../../src/runs/result.js";
import { defineTool, type Tool } from "../../src/runs/tool.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

export const ANN = { name: "ann", role: "operator" } as const;

/** A store, a clock and a world, in which everything that is done is written down. */
export class Theatre {
  readonly clock = new FakeClock();
  readonly store = new MemoryStore({ clock: this.clock });
  readonly said: string[] = [];
  readonly prompts: Json[] = [];
  private readonly programs: readonly Program[];
  private readonly tools: readonly Tool[];

  constructor(programs: readonly Program[], tools: readonly Tool[] = []) {
    this.programs = programs;
    this.tools = tools;
  }

  /** Another process on the same store. */
  process(more: Partial<Parameters<typeof openBursar>[0]> = {}): Bursar {
    const echo = defineTool({
      name: "echo",
      description: "Says it again.",
      input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      run: ({ text }: { text: string }) => {
        this.said.push(text);
        return text;
      },
    });
    const model: Model = {
      quote: () => ({ llm_input_tokens: 60, llm_output_tokens: 40, cost_usd: 0.01 }),
      call: async (request) => {
        this.prompts.push(request);
        return { value: { text: "yes" }, usage: { input_tokens: 50, output_tokens: 30, cost_usd: 0.008 } };
      },
    };
    const { programs, store, clock: timer } = this;
    return openBursar({ store, timer, tools: [echo, ...this.tools], model, programs, ...more });
  }

  async links(run: string): Promise<readonly { event?: string; action_type: string; data: Record<string, Json> }[]> {
    const lines: string[] = [];
    for await (const line of this.store.chain(run)) lines.push(line);
    expect(await verifyChain(lines, { hash: sha256Hex })).toMatchObject({ ok: true });
    return lines.map((line) => JSON.parse(line));
  }

  async events(run: string): Promise<readonly string[]> {
    return (await this.links(run)).map(({ event, action_type }) => event ?? action_type);
  }

  /** Lets everything go on until something is so; time passes only as far as it is said. */
  async until<Value>(work: Promise<Value>, step_ms = 100): Promise<Value> {
    let settled = false;
    const done = work.finally(() => {
      settled = true;
    });
    done.catch(() => {});
    for (let turn = 0; !settled && turn < 8000; turn++) {
      for (let quick = 0; quick < 10; quick++) await new Promise((resolve) => setImmediate(resolve));
      // Real files take real time, and on a busy machine more of it.
      if (turn >= 5000) await new Promise((resolve) => setTimeout(resolve, 10));
      if (!settled) this.clock.advance(step_ms);
    }
    if (!settled) throw new Error("nothing comes of it any more");
    return done;
  }
}

/** Something that happens when a test says so. */
export class Latch {
  readonly opened: Promise<void>;
  open: () => void = () => {};

  constructor() {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}

/** Lets everything go on that needs no time to pass. */
export async function settle(turns = 50): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export function pausedOf(result: RunResult): Extract<RunResult, { status: "paused" }> {
  if (result.status === "paused") return result;
  throw new Error(`it is ${JSON.stringify(result)}`);
}

export async function listOf<Value>(values: AsyncIterable<Value>): Promise<readonly Value[]> {
  const list: Value[] = [];
  for await (const value of values) list.push(value);
  return list;
}

/** A store that answers nobody any more from one moment on, as for a process that was killed. */
export function mortal(store: MemoryStore): { readonly seen: MemoryStore; readonly kill: () => void } {
  let alive = true;
  const seen = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => (alive ? Reflect.apply(value, target, args) : new Promise(() => {}));
    },
  });
  const kill = () => {
    alive = false;
  };
  return { seen, kill };
}
