import type { Json } from "../../../src/core/chain/canonical.js";
import { verifyChain } from "../../../src/core/chain/verify.js";
import type { Model } from "../../../src/ports/model.js";
import type { Program } from "../../../src/ports/program.js";
import { type Bursar, openBursar } from "../../../src/runs/bursar.js";
import { readRun } from "../../../src/runs/record.js";
import { defineTool } from "../../../src/runs/tool.js";
import { sha256Hex } from "../../../src/runtime/crypto.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import { Dice } from "./dice.js";
import { type Fate, Handle } from "./handle.js";

const LONGEST = 20_000;

/** One store, any number of processes on it, and a world outside that counts what was done to it. */
export class World {
  readonly clock = new FakeClock();
  readonly store: MemoryStore;
  /** Every effect that was made, by its key, as often as it was made. */
  readonly effects = new Map<string, number>();
  /** The tries of effects that were admitted, by their keys: each is a call of its own. */
  readonly tries = new Map<string, Set<string>>();
  /** The keys of effects that are model calls. */
  readonly asked = new Set<string>();
  readonly handles: Handle[] = [];
  /** Whether nobody has looked for more than a day. */
  idled = false;
  private readonly dice: Dice;
  private readonly programs: readonly Program[];

  constructor(seed: number, programs: readonly Program[]) {
    this.dice = new Dice(seed);
    this.store = new MemoryStore({ clock: this.clock });
    this.programs = programs;
  }

  /** A process of its own. */
  process(fate: Fate = {}): Bursar {
    const handle = new Handle(this.store, this.clock, this.dice, fate);
    handle.happened = (operations, outcomes) =>
      operations.forEach((operation, at) => {
        if (operation.op === "reserve" && isAdmitted(outcomes[at])) this.tried(operation.call);
      });
    this.handles.push(handle);
    const count = async (key: string) => {
      this.effects.set(key, (this.effects.get(key) ?? 0) + 1);
      for (let turns = this.dice.below(4); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
      if (handle.dead) await new Promise(() => {});
    };
    const add = defineTool({
      name: "add",
      description: "Adds two numbers.",
      input: { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } }, required: ["a", "b"] },
      run: async ({ a, b }: { a: number; b: number }, { key }) => {
        await count(key);
        return a + b;
      },
    });
    const model: Model = {
      quote: () => ({ llm_input_tokens: 50, llm_output_tokens: 50, cost_usd: 0.001 }),
      call: async (request: Json, { key }) => {
        this.asked.add(key);
        await count(key);
        return { value: { echo: request }, usage: { input_tokens: 10, output_tokens: 5, cost_usd: 0.0002 } };
      },
    };
    const options = { store: handle, timer: handle.timer, tools: [add], model, programs: this.programs };
    return openBursar({ ...options, worker: `worker-${this.handles.length}`, claim_ms: 3000 });
  }

  private tried(call: string): void {
    const [, key] = /^(.+\/\d+)@\d+$/.exec(call) ?? [];
    if (key !== undefined) this.tries.set(key, (this.tries.get(key) ?? new Set()).add(call));
  }

  /** Lets everything go on, and time pass, until something is so. */
  async until<Value>(work: Promise<Value>): Promise<Value> {
    let settled = false;
    const done = work.finally(() => {
      settled = true;
    });
    done.catch(() => {});
    for (let turn = 0; !settled; turn++) {
      if (turn > LONGEST) throw new Error("nothing comes of it any more");
      for (let quick = 0; quick < 5; quick++) await new Promise((resolve) => setImmediate(resolve));
      if (!settled) this.clock.advance(this.dice.below(100));
    }
    return done;
  }

  /** Nothing is held any more, every chain verifies, begins with its allocation and ends with its completion. */
  async check(): Promise<readonly string[]> {
    const problems: string[] = [];
    for await (const document of this.store.documents("run")) {
      const run = readRun(document);
      const budget = await this.store.budget(run.budget);
      if (budget === null || !budget.ended) problems.push(`budget ${run.budget} has not ended`);
      else if (Object.values(budget.reserved).some((each) => each > 0))
        problems.push(`${run.budget} still holds something`);
      if (run.shares) continue;
      const lines: string[] = [];
      for await (const line of this.store.chain(run.id)) lines.push(line);
      const verified = await verifyChain(lines, { hash: sha256Hex });
      if (!verified.ok) problems.push(`chain ${run.id}: ${JSON.stringify(verified)}`);
      const events = lines.map((line) => (JSON.parse(line) as { event?: string }).event);
      if (events[0] !== "Allocation" || events.at(-1) !== "RunCompleted") problems.push(`chain ${run.id} has no frame`);
      if (events.filter((event) => event === "RunCompleted").length !== 1) problems.push(`chain ${run.id} ends twice`);
    }
    return problems;
  }
}

function isAdmitted(outcome: unknown): boolean {
  return (outcome as { readonly decision?: { readonly kind: string } }).decision?.kind === "admitted";
}
