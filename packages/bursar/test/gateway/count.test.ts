import { describe, expect, test } from "vitest";
import { openGateway } from "../../src/gateway/gateway.js";
import { Gate } from "../../src/runtime/gate.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { openScriptedModel, type ScriptedModelOptions } from "../../src/testing/scripted-model.js";

/** 40,000 bytes, which a tokenizer that we do not have would make about 9,000 tokens of. */
const LONG = "A bursar keeps the money of a college. ".repeat(1026).slice(0, 40_000);
const TOKENS = 9000;
const PRICES = { scripted: { input_usd_per_mtok: 1, output_usd_per_mtok: 10 } };
const BODIES = {
  "/v1/messages": { model: "scripted", max_tokens: 100, messages: [{ role: "user", content: LONG }] },
  "/v1/responses": { model: "scripted", max_output_tokens: 100, input: LONG },
  "/v1/chat/completions": { model: "scripted", max_tokens: 100, messages: [{ role: "user", content: LONG }] },
} as const;

async function opened(count: "bytes" | "provider", counting: ScriptedModelOptions["counting"] = () => TOKENS) {
  const usage = { prompt_tokens: TOKENS, completion_tokens: 10 };
  const model = await openScriptedModel({ script: () => ({ kind: "text", text: "Hi.", usage }), counting });
  const store = new MemoryStore();
  const gate = new Gate({ store });
  await gate.open("team", { limits: { llm_tokens: 20_000 }, policies: { llm_tokens: "hard_stop" }, scope: "shared" });
  const upstreams = [{ name: "provider", url: model.url, key: "upstream-secret" }];
  const gateway = await openGateway({ store, upstreams, prices: PRICES, count });
  const { secret } = await gateway.keys.create({ budget: "team", label: "test" });
  return {
    model,
    store,
    post: (path: keyof typeof BODIES) =>
      fetch(`${gateway.url}${path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${secret}`,
          "idempotency-key": "once",
          ...(path === "/v1/messages" && { "anthropic-version": "2023-06-01" }),
        },
        body: JSON.stringify(BODIES[path]),
      }),
    used: async () => (await store.budget("team"))?.used,
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      gate[Symbol.dispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

describe.each(["/v1/messages", "/v1/responses"] as const)("%s", (path) => {
  test("is refused by its bytes, and let in by the provider's own count", async () => {
    await using strict = await opened("bytes");
    expect((await strict.post(path)).status).toBe(402);
    expect([strict.model.countingRequests.length, strict.model.count]).toEqual([0, 0]);

    await using at = await opened("provider");
    const response = await at.post(path);
    expect([response.status, at.model.countingRequests.length, at.model.count]).toEqual([200, 1, 1]);
    expect(await at.used()).toMatchObject({ steps: 2, llm_tokens: TOKENS + 10 });
    const [question] = at.model.countingRequests;
    expect(question?.path).toBe(path === "/v1/messages" ? `${path}/count_tokens` : `${path}/input_tokens`);
    // It is asked with the gateway's own key, and is no repetition of anything.
    expect(JSON.stringify(question?.headers)).toContain("upstream-secret");
    expect(JSON.stringify(question?.headers)).not.toContain("bursar_");
    expect(question?.headers["idempotency-key"]).toBeUndefined();
  });

  test("is refused as before where the provider does not count", async () => {
    await using at = await opened("provider", () => ({ kind: "status", status: 401 }));
    const response = await at.post(path);
    expect([response.status, at.model.count]).toEqual([402, 0]);
    expect(await response.text()).not.toContain("upstream-secret");
  });
});

test("a protocol that cannot be counted is not asked about", async () => {
  await using at = await opened("provider");
  expect((await at.post("/v1/chat/completions")).status).toBe(402);
  expect(at.model.countingRequests).toEqual([]);
});
