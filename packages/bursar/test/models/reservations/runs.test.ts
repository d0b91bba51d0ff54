import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import { type ChatModelOptions, chatModel } from "../../../src/models/chat/chat.js";
import { keepSites } from "../../../src/models/reservations/sites.js";
import { tieredModel } from "../../../src/models/tiers/tiered-model.js";
import { defineAgent } from "../../../src/runs/agent.js";
import { type Bursar, openBursar } from "../../../src/runs/bursar.js";
import type { BursarOptions } from "../../../src/runs/bursar-options.js";
import { type Deferred, deferred } from "../../../src/runtime/deferred.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { openScriptedModel, type ScriptedModel } from "../../../src/testing/scripted-model.js";
import { until } from "../fetch/scene.js";
import { answerOf } from "./scene.js";

const MODEL = "house-model";
const PRICES = { [MODEL]: { input_usd_per_mtok: 1, output_usd_per_mtok: 2 } };

interface Wanted {
  /** How long the answers are. */
  readonly lengths: readonly number[];
  readonly together?: boolean;
  readonly more?: JsonObject;
}

async function asking(
  ctx: { model: (request: JsonObject) => Promise<unknown> },
  { lengths, together = false, more = {} }: Wanted,
) {
  const ask = (length: number) => ctx.model({ prompt: String(length), max_tokens: 4096, ...more });
  if (together) return (await Promise.all(lengths.map(ask))) as { finish_reason: string }[];
  const answers: unknown[] = [];
  for (const length of lengths) answers.push(await ask(length));
  return answers.length;
}

const writer = defineAgent("writer", (ctx, wanted: Wanted) => asking(ctx, wanted));
const stranger = defineAgent("stranger", (ctx, wanted: Wanted) => asking(ctx, wanted));

const TIERS = { lists: { auto: { tiers: [{ name: "only", model: MODEL }] } } };
const PLENTY = { llm_tokens: null, steps: null, cost_usd: null } as const;

/** A provider that lets no answer go before it is told to, a store, and any number of processes. */
class Scene implements AsyncDisposable {
  readonly store = new MemoryStore();
  readonly server: ScriptedModel;
  private gate: Deferred<void> | null = null;
  private runs = 0;

  private constructor(server: ScriptedModel) {
    this.server = server;
  }

  static async open(): Promise<Scene> {
    let scene: Scene | null = null;
    const server = await openScriptedModel({
      models: [MODEL],
      script: async ({ text, max_tokens }) => {
        await scene?.gate?.promise;
        return answerOf(text, max_tokens);
      },
    });
    scene = new Scene(server);
    return scene;
  }

  model(more: Partial<ChatModelOptions> = {}) {
    return chatModel({ url: this.server.url, model: MODEL, prices: PRICES, ...more });
  }

  process(more: Partial<BursarOptions> = {}): Bursar {
    return openBursar({ store: this.store, model: this.model(), programs: [writer, stranger], ...more });
  }

  /** Makes it known how long answers are. */
  async warm(bursar: Bursar, count = 20, more: JsonObject = {}, program = "writer"): Promise<void> {
    const lengths = Array.from({ length: count }, () => 300);
    const { status } = await bursar.run(program, { lengths, more }, { limits: PLENTY });
    expect(status).toBe("completed");
  }

  /** What calls of one run may have that are under way at once in 10,240 tokens, and what became of the run. */
  async atOnce(bursar: Bursar, { lengths = Array(8).fill(300) as number[], more = {}, program = "writer" } = {}) {
    const before = this.server.count;
    const id = `run-${++this.runs}`;
    this.gate = deferred();
    const running = bursar.run(
      program,
      { lengths, together: true, more },
      { id, limits: { ...PLENTY, llm_tokens: 10_240 } },
    );
    let [seen, still] = [0, 0];
    await until(() => {
      const { count } = this.server;
      still = count === seen && count > before ? still + 1 : 0;
      seen = count;
      return still > 25;
    });
    const requests = this.server.requests.slice(before);
    this.gate.resolve();
    this.gate = null;
    const result = await running;
    return { id, requests, limits: requests.map(({ max_tokens }) => max_tokens).sort(descending), result };
  }

  async actions(chain: string, type: string): Promise<readonly JsonObject[]> {
    const found: JsonObject[] = [];
    for await (const line of this.store.chain(chain)) {
      const { action_type, data } = JSON.parse(line);
      if (action_type === type) found.push(data);
    }
    return found;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server[Symbol.asyncDispose]();
  }
}

function descending(a: number | null, b: number | null): number {
  return (b ?? 0) - (a ?? 0);
}

const EIGHT = [4096, 600, 600, 600, 600, 600, 600, 600];

test("the model calls of a run hold less once it is known how long their answers are, and more of them run together", async () => {
  await using scene = await Scene.open();
  await using bursar = scene.process();
  expect((await scene.atOnce(bursar)).limits).toEqual([4096, 4096]);
  await scene.warm(bursar);
  const { id, limits, result } = await scene.atOnce(bursar);
  expect(limits).toEqual(EIGHT);
  expect(result).toMatchObject({ status: "completed", usage: { llm_output_tokens: 2400 } });
  expect(await scene.actions(id, "StepStarted")).toContainEqual(
    expect.objectContaining({
      asked: expect.objectContaining({ llm_output_tokens: 600 }),
      full: expect.objectContaining({ llm_output_tokens: 4096 }),
    }),
  );
  expect(await scene.actions(id, "AnswerCut")).toEqual([]);
});

test.each([
  ["foresight is off", { foresight: false }],
  ["reservations are full", { foresight: { reservations: "full" } }],
] as const)("they hold in full when %s", async (_, more) => {
  await using scene = await Scene.open();
  await using bursar = scene.process(more);
  await scene.warm(bursar);
  expect((await scene.atOnce(bursar)).limits).toEqual([4096, 4096]);
});

test("a call that must not be cut says so, and one may name the place it comes from; the provider hears neither", async () => {
  await using scene = await Scene.open();
  await using bursar = scene.process();
  await scene.warm(bursar, 20, { bursar: { site: "notes" } });
  expect((await scene.atOnce(bursar)).limits).toEqual([4096, 4096]);
  const named = await scene.atOnce(bursar, { more: { system: "Another one each time.", bursar: { site: "notes" } } });
  expect(named.limits).toEqual(EIGHT);
  expect(named.requests.map(({ body }) => "bursar" in body)).not.toContain(true);
  const full = await scene.atOnce(bursar, { more: { bursar: { site: "notes", full: true } } });
  expect(full.limits).toEqual([4096, 4096]);
});

test.each([
  [{ site: "" }, /request\.bursar\.site is ""/],
  [{ site: 7 }, /request\.bursar\.site is 7/],
  [{ full: "yes" }, /request\.bursar\.full is "yes"/],
  [{ tier: "large" }, /request\.bursar\.tier is not known/],
  [7, /request\.bursar is 7/],
])("bursar: %j is told what is wrong", async (bursar, message) => {
  await using scene = await Scene.open();
  const model = scene.model();
  expect(() => model.quote({ prompt: "Hi.", bursar })).toThrow(message);
});

test("an answer that is longer is cut to what is held for it, which is told, and remembered for those that come after", async () => {
  await using scene = await Scene.open();
  await using bursar = scene.process();
  await scene.warm(bursar, 104);
  const { id, result, requests } = await scene.atOnce(bursar, { lengths: [300, 2000] });
  expect(result.status).toBe("completed");
  const [cut, ...none] = await scene.actions(id, "AnswerCut");
  expect(cut).toMatchObject({
    budget: id,
    capability_id: `llm:${MODEL}`,
    output_tokens: 450,
    full_output_tokens: 4096,
  });
  expect(typeof cut?.site).toBe("string");
  expect(none).toEqual([]);
  // A request that was made shorter is another one to whoever goes by its key.
  expect(requests.map(({ headers }) => headers["idempotency-key"])).toEqual([
    expect.stringMatching(/%2F0$/),
    expect.stringMatching(/%2F1%2F450$/),
  ]);
  expect((await scene.atOnce(bursar)).limits[1]).toBe(Math.ceil(450 * 1.5 * 1.5));
});

test("what one program is answered says nothing about another", async () => {
  await using scene = await Scene.open();
  await using bursar = scene.process();
  await scene.warm(bursar);
  expect((await scene.atOnce(bursar, { program: "stranger" })).limits).toEqual([4096, 4096]);
});

test("it is known in another process, too", async () => {
  await using scene = await Scene.open();
  await using first = scene.process();
  await scene.warm(first);
  await keepSites(scene.store);
  await using second = scene.process();
  // The site is looked up with its first call.
  await scene.warm(second, 1);
  expect((await scene.atOnce(second)).limits).toEqual(EIGHT);
});

test("a request that leaves its model open is held to what is known of the model that it goes to", async () => {
  await using scene = await Scene.open();
  await using bursar = scene.process({ model: tieredModel(scene.model(), TIERS) });
  await scene.warm(bursar);
  const open = { model: "bursar/auto" };
  expect((await scene.atOnce(bursar, { more: open })).limits).toEqual(EIGHT);
  const full = await scene.atOnce(bursar, { more: { ...open, bursar: { full: true } } });
  expect(full.limits).toEqual([4096, 4096]);
  expect(full.requests.map(({ body }) => "bursar" in body)).not.toContain(true);
});
