import type { Server } from "node:http";
import { Events } from "../../src/core/events.js";
import type { BudgetLimits, BudgetPolicies } from "../../src/core/input.js";
import { type GatewayOptions, openGateway } from "../../src/gateway/gateway.js";
import { Gate } from "../../src/runtime/gate.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { openScriptedModel, type ScriptedModelOptions } from "../../src/testing/scripted-model.js";

const MODELS = ["gpt-4o", "gpt-5", "claude-sonnet-4-5", "text-embedding-3-small"];

export interface OpenedOptions extends Partial<GatewayOptions> {
  readonly policies?: BudgetPolicies;
}

/** A gateway before a scripted provider, with one key for a budget of its own. */
export async function opened(
  script: ScriptedModelOptions["script"],
  limits: BudgetLimits,
  { policies = {}, ...options }: OpenedOptions = {},
) {
  const model = await openScriptedModel({ script, models: MODELS });
  const store = options.store ?? new MemoryStore();
  const gate = new Gate({ store });
  await gate.open("team", { limits, policies, scope: "shared" });
  const upstreams = [{ name: "provider", url: model.url, key: "upstream-secret" }];
  const gateway = await openGateway({ upstreams, ...options, store });
  const { secret, key } = await gateway.keys.create({ budget: "team", label: "test" });
  const { server } = (gateway as unknown as { readonly server: { readonly server: Server } }).server;
  const events = new Events(store.dimensions);
  const budget = async () => {
    const found = await store.budget("team");
    if (found === null) throw new Error("there is no budget");
    return found;
  };
  return {
    model,
    store,
    gateway,
    secret,
    key,
    gate,
    used: async () => events.consumed(await budget(), store.clock.now()),
    /** How many clients are connected. */
    connections: () =>
      new Promise<number>((resolve, reject) => {
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
      }),
    held: async () => {
      const { reserved } = await budget();
      return Object.fromEntries(Object.entries(reserved).filter(([, amount]) => amount > 0));
    },
    post: (path: string, body: unknown, key = secret, init: RequestInit = {}) =>
      fetch(`${gateway.url}${path}`, {
        ...init,
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      gate[Symbol.dispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}
