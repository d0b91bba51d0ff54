import { expect } from "vitest";
import type { Json } from "../../../src/core/chain/canonical.js";
import { verifyChain } from "../../../src/core/chain/verify.js";
import type { BatchesOptions } from "../../../src/models/batch/batch-options.js";
import { type Batches, openBatches } from "../../../src/models/batch/batches.js";
import type { Clock } from "../../../src/ports/clock.js";
import type { Program } from "../../../src/ports/program.js";
import type { Store } from "../../../src/ports/store.js";
import { type Bursar, openBursar } from "../../../src/runs/bursar.js";
import { sha256Hex } from "../../../src/runtime/crypto.js";
import { Gate } from "../../../src/runtime/gate.js";
import type { Purse } from "../../../src/runtime/purse.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import type { ScriptedBatching } from "../../../src/testing/scripted/batching.js";
import { openScriptedModel, type Script, type ScriptedModel } from "../../../src/testing/scripted-model.js";

export const MODEL = "small";
/** A dollar for a million tokens in, two for a million out; half of it in a batch. */
export const PRICES = { [MODEL]: { input_usd_per_mtok: 1, output_usd_per_mtok: 2 } };
const USAGE = { prompt_tokens: 100, completion_tokens: 20 };
/** What an answer with that usage costs in a batch, and otherwise. */
export const COST = 0.00007;
export const COST_NANO = 70_000;
export const FULL = 0.00014;
export const HOUR_MS = 60 * 60_000;

export const ECHO: Script = ({ text }) =>
  text === "bad"
    ? { kind: "status", status: 400, message: "no" }
    : { kind: "text", text: `You said: ${text}`, usage: text === "silent" ? null : USAGE };

export interface SceneOptions {
  readonly script?: Script;
  readonly batching?: ScriptedBatching;
  readonly provider?: "openai" | "anthropic";
  readonly models?: readonly string[];
  /** The provider's own clock; the same as ours unless it is said. */
  readonly clock?: Clock;
}

/** A store, a clock and a provider over HTTP, and any number of desks and processes on them. */
export class Scene implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly store = new MemoryStore({ clock: this.clock });
  readonly server: ScriptedModel;
  readonly provider: "openai" | "anthropic";
  private readonly gates: Gate[] = [];

  private constructor(server: ScriptedModel, provider: "openai" | "anthropic") {
    this.server = server;
    this.provider = provider;
  }

  static async open(options: SceneOptions = {}): Promise<Scene> {
    const { script = ECHO, batching = {}, provider = "openai", models = [MODEL] } = options;
    const { clock = { now: () => scene.clock.now() } } = options;
    const server = await openScriptedModel({ script, models, batches: batching, clock, apiKey: "sk-1" });
    const scene: Scene = new Scene(server, provider);
    return scene;
  }

  desk(more: Partial<BatchesOptions> = {}): Batches {
    const { store, clock: timer, provider, server } = this;
    const url = provider === "openai" ? server.url : server.origin;
    const about = { store, timer, provider, url, apiKey: "sk-1", model: MODEL, prices: PRICES, price_factor: 0.5 };
    return openBatches({ ...about, window_ms: 1000, poll_ms: 1000, ...more });
  }

  process(programs: readonly Program[], more: Partial<Parameters<typeof openBursar>[0]> = {}): Bursar {
    const { store, clock: timer } = this;
    return openBursar({ store, timer, programs, foresight: false, batches: this.desk(), ...more });
  }

  /** A purse of its own, with so much money. */
  async purse(budget: string, cost_usd: number): Promise<Purse> {
    const gate = new Gate({ store: this.store, timer: this.clock });
    this.gates.push(gate);
    await gate.open(budget, { limits: { cost_usd, wall_clock_ms: null, llm_tokens: null } });
    return { gate, store: this.store, budget, chain: budget };
  }

  /** Lets everything go on, and time pass, until something is so. */
  async until<Value>(work: Promise<Value>, step_ms = 500): Promise<Value> {
    let settled = false;
    const done = work.finally(() => {
      settled = true;
    });
    done.catch(() => {});
    for (let turn = 0; !settled; turn++) {
      if (turn > 4000) throw new Error("nothing comes of it any more");
      await quiet();
      if (!settled) this.clock.advance(step_ms);
    }
    return done;
  }

  /** Lets so many rounds pass at a desk. */
  async rounds(desk: Pick<Batches, "round">, count: number, step_ms = 1000): Promise<void> {
    for (let turn = 0; turn < count; turn++) {
      this.clock.advance(step_ms);
      await desk.round();
    }
  }

  async used(budget: string): Promise<{ readonly used: object; readonly reserved: object }> {
    const found = await this.store.budget(budget);
    const held = Object.entries(found?.reserved ?? {}).filter(([, amount]) => amount > 0);
    return { used: found?.used ?? {}, reserved: Object.fromEntries(held) };
  }

  async links(chain: string, store: Store = this.store): Promise<readonly Link[]> {
    const lines: string[] = [];
    for await (const line of store.chain(chain)) lines.push(line);
    expect(await verifyChain(lines, { hash: sha256Hex })).toMatchObject({ ok: true });
    return lines.map((line) => JSON.parse(line));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const gate of this.gates) gate[Symbol.dispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

export interface Link {
  readonly event?: string;
  readonly action_type: string;
  readonly data: Record<string, Json>;
}

export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export function ofType(links: readonly Link[], action_type: string): readonly Record<string, Json>[] {
  return links.filter((link) => link.action_type === action_type).map(({ data }) => data);
}
