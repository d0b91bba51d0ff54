import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { openGateway } from "../../src/gateway/gateway.js";
import { BudgetExceededError } from "../../src/models/meter/budget-exceeded-error.js";
import { opened } from "./opened.js";
import { openRaw, readRaw, written } from "./raw.js";
import { until } from "./until.js";

const HELLO = { kind: "text", text: "Hello.", usage: { prompt_tokens: 100, completion_tokens: 20 } } as const;
const USER = [{ role: "user" as const, content: "Hi" }];

describe("the gateway", () => {
  test("serves OpenAI's client, whole and streamed, and charges the key's budget", async () => {
    await using at = await opened([HELLO, HELLO, HELLO], { cost_usd: 1 });
    const client = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.secret });
    const whole = await client.chat.completions.create({ model: "gpt-4o", messages: USER });
    expect(whole.choices[0]?.message.content).toBe("Hello.");
    let text = "";
    const stream = await client.chat.completions.create({ model: "gpt-4o", messages: USER, stream: true });
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    expect(text).toBe("Hello.");
    const { output_text } = await client.responses.create({ model: "gpt-4o", input: "Hi" });
    expect(output_text).toBe("Hello.");
    expect(await at.used()).toMatchObject({ steps: 3, llm_input_tokens: 300, llm_output_tokens: 60 });
    expect(await at.held()).toEqual({});
  });

  test("serves Anthropic's client with its own base address", async () => {
    await using at = await opened([HELLO, HELLO], { cost_usd: 1 });
    const client = new Anthropic({ baseURL: at.gateway.url, apiKey: at.secret });
    const request = { model: "claude-sonnet-4-5", max_tokens: 100, messages: USER };
    const whole = await client.messages.create(request);
    expect(whole.content).toMatchObject([{ type: "text", text: "Hello." }]);
    const message = await client.messages.stream(request).finalMessage();
    expect(message.content).toMatchObject([{ type: "text", text: "Hello." }]);
    expect(await at.used()).toMatchObject({ steps: 2, llm_input_tokens: 200, llm_output_tokens: 40 });
  });

  test("says what was reserved, used and what remains", async () => {
    await using at = await opened([HELLO], { cost_usd: 1, llm_tokens: 10_000 });
    const response = await at.post("/v1/chat/completions", { model: "gpt-4o", messages: USER });
    expect(response.status).toBe(200);
    const told = Object.fromEntries([...response.headers].filter(([name]) => name.startsWith("x-bursar-")));
    expect(told).toMatchObject({
      "x-bursar-budget": "team",
      "x-bursar-used-llm-tokens": "120",
      "x-bursar-remaining-llm-tokens": "9880",
      "x-bursar-used-cost-usd": "0.00045",
      "x-bursar-remaining-cost-usd": "0.99955",
    });
    expect(Number(told["x-bursar-reserved-cost-usd"])).toBeGreaterThan(0.00045);
  });

  test("refuses before anything is sent, with figures and a way to ask for more", async () => {
    await using at = await opened([], { llm_tokens: 10 }, { policies: { llm_tokens: "hard_stop" } });
    const client = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.secret });
    const error = await client.chat.completions
      .create({ model: "gpt-4o", messages: USER })
      .catch((each: unknown) => each);
    expect(BudgetExceededError.from(error)?.report).toMatchObject({
      scope: "team",
      dimension: "llm_tokens",
      limit: 10,
      used: 0,
      reserved: 0,
      remaining: 10,
      hint: expect.stringContaining("extend"),
    });
    expect(at.model.count).toBe(0);
  });

  test("never shows the provider's key, and takes no other than its own", async () => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    await at.post("/v1/chat/completions", { model: "gpt-4o", messages: USER });
    expect(at.model.requests[0]?.headers.authorization).toBe("Bearer upstream-secret");
    expect(JSON.stringify(at.model.requests[0]?.headers)).not.toContain(at.secret);
    const wrong = await at.post("/v1/chat/completions", { model: "gpt-4o", messages: USER }, "bursar_0_wrong");
    expect(wrong.status).toBe(401);
    expect(await wrong.text()).not.toContain("upstream-secret");
    expect(at.model.count).toBe(1);
  });

  test("says who could answer what none of its providers speaks", async () => {
    await using at = await opened([], { cost_usd: 1 });
    const upstreams = [{ name: "openai", url: at.model.url, speaks: ["openai"] as const }];
    await using gateway = await openGateway({ upstreams, store: at.store });
    for (const path of ["/v1/messages", "/openai/v1/messages", "/v1/messages/count_tokens"]) {
      const answer = await fetch(`${gateway.url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${at.secret}`, "content-type": "application/json" },
        body: "{}",
      });
      expect(answer.status).toBe(404);
      const { error } = (await answer.json()) as { readonly error: { readonly message: string } };
      expect(error.message).toContain("speaks as Anthropic does");
    }
    expect(at.model.count).toBe(0);
  });

  test("tells a client whose model has no price who can state one", async () => {
    await using at = await opened([], { cost_usd: 1 });
    const answer = await at.post("/v1/chat/completions", { model: "nobody-knows-it", messages: USER });
    expect(answer.status).toBe(402);
    const { error } = (await answer.json()) as { readonly error: { readonly message: string } };
    expect(error.message).toContain("whoever runs the gateway can state it: --price nobody-knows-it=in,out");
    expect(error.message).not.toContain("input_usd_per_mtok");
  });

  test.each(["/v1/files", "/v1/images/generations", "/v1/messages/batches", "/v1/completions", "/"])(
    "refuses %s, which it does not know",
    async (path) => {
      await using at = await opened([], { cost_usd: 1 });
      const response = await at.post(path, { model: "gpt-4o" });
      expect([response.status, await response.json()]).toMatchObject([404, { error: { code: "not_governed" } }]);
    },
  );

  test("refuses a WebSocket with the status after which Codex sends the same request without one", async () => {
    await using at = await opened([], { steps: 5 });
    for (const [key, status] of [
      [at.secret, 426],
      ["bursar_wrong", 401],
    ] as const) {
      const socket = ["connection: Upgrade", "upgrade: websocket", "sec-websocket-version: 13"];
      const lines = ["host: localhost", `authorization: Bearer ${key}`, ...socket];
      using connection = await openRaw(at.gateway.url);
      connection.write(written("GET /v1/responses", lines));
      await until("an answer", () => connection.heard().includes("}"));
      expect(readRaw(connection.heard()).status).toBe(status);
    }
    expect(at.model.requests).toEqual([]);
  });
});
