import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import type { ScriptedAnswer } from "../../../src/testing/scripted/answer.js";
import { ASK, type Asked, AT_ONCE, errorOf, HELLO, openScene, PRICES, spent, toldWhile } from "./scene.js";

const ANSWER = { kind: "text", text: "Hi", usage: { prompt_tokens: 30, completion_tokens: 7 } } as const;
const ALL: readonly Asked[] = ["chat", "responses", "embeddings", "messages"];

function failing(status: number): ScriptedAnswer {
  return { kind: "status", status, headers: AT_ONCE };
}

describe("what the provider refuses costs a step and no more", () => {
  test.each(ALL)("an SDK that tries again pays for what it got: %s", async (protocol) => {
    await using at = await openScene([failing(429), failing(429), ANSWER]);
    const { used, held } = await spent({ cost_usd: 1 }, () => ASK[protocol](at));
    expect(at.model.count).toBe(3);
    expect(used).toMatchObject({ llm_input_tokens: 30, steps: 3 });
    expect(used.cost_usd).toBe(protocol === "embeddings" ? 0.00003 : 0.0001);
    expect(held).toEqual({});
  });

  test.each([400, 401, 403, 404, 413, 422, 429, 503, 529])("status %d", async (status) => {
    await using at = await openScene(() => failing(status), { maxRetries: 0 });
    const { used, held } = await spent({ cost_usd: 1 }, async () => {
      expect(await errorOf(ASK.chat(at))).toMatchObject({ status });
      expect(await errorOf(ASK.messages(at))).toMatchObject({ status });
    });
    expect(used).toMatchObject({ steps: 2 });
    expect(used.cost_usd ?? 0).toBe(0);
    expect(used.llm_tokens ?? 0).toBe(0);
    expect(held).toEqual({});
  });

  test("each attempt asks the budget, so that a storm of them ends with the steps", async () => {
    await using at = await openScene(() => failing(429), { maxRetries: 10 });
    const { used } = await spent({ steps: 4 }, async () => {
      expect(await errorOf(ASK.chat(at))).toMatchObject({ status: 402 });
    });
    expect(at.model.count).toBe(4);
    expect(used.steps).toBe(4);
  });

  test("even if the refusal does not arrive whole", async () => {
    const server = createServer((_, response) => {
      response.writeHead(429, { "content-length": 1000 });
      response.write("{", () => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`;
    const body = JSON.stringify({ model: "scripted", messages: HELLO });
    const { used, held } = await spent({ cost_usd: 1 }, async () => {
      await errorOf(governedFetch({ prices: PRICES })(url, { method: "POST", body }));
    });
    server.close();
    expect(used).toMatchObject({ steps: 1 });
    expect(used.cost_usd ?? 0).toBe(0);
    expect(held).toEqual({});
  });
});

describe("arguments that no request can be made of", () => {
  const WRONG: readonly object[] = [
    { mode: "navigate" },
    { mode: "no-cors", cache: "nowhere" },
    { redirect: "sideways" },
    { credentials: "all" },
    { referrer: "no address" },
    { referrerPolicy: "some" },
    { window: {} },
    { signal: "stop" },
  ];

  test.each(WRONG)("are found before anything is paid for: %j", async (wrong) => {
    await using at = await openScene([ANSWER]);
    const body = JSON.stringify({ model: "gpt-4-scripted", messages: HELLO, max_tokens: 100 });
    const init = { method: "POST", body, ...wrong } as RequestInit;
    const url = `${at.model.url}/chat/completions`;
    const plain = await errorOf(fetch(url, init));
    const { used, held } = await spent({ cost_usd: 1 }, async () => {
      const error = await errorOf(at.fetch(url, init));
      expect([error.name, error.message]).toEqual(["TypeError", plain.message]);
    });
    const { steps = 0, llm_tokens = 0, cost_usd = 0, network_egress_bytes = 0 } = used;
    expect([steps, llm_tokens, cost_usd, network_egress_bytes, held]).toEqual([0, 0, 0, 0, {}]);
    expect(at.model.count).toBe(0);
  });

  test("are no others than those", async () => {
    await using at = await openScene([ANSWER]);
    const init = { mode: "cors", cache: "no-store", credentials: "omit", redirect: "error", keepalive: true } as const;
    const body = JSON.stringify({ model: "gpt-4-scripted", messages: HELLO, max_tokens: 100 });
    const { used } = await spent({ cost_usd: 1 }, () =>
      at.fetch(`${at.model.url}/chat/completions`, { method: "POST", body, ...init }),
    );
    expect(used).toMatchObject({ steps: 1, llm_output_tokens: 7 });
  });
});

describe("what may have been computed is charged as it was reserved", () => {
  test.each([408, 409, 500, 502, 504])("status %d", async (status) => {
    await using at = await openScene(() => failing(status), { maxRetries: 0 });
    const told = await toldWhile(() =>
      spent({ cost_usd: 1 }, async () => {
        expect(await errorOf(ASK.chat(at))).toMatchObject({ status });
        expect(await errorOf(ASK.messages(at))).toMatchObject({ status });
      }),
    );
    expect(told).toMatchObject([
      { estimated: true, charged: { llm_output_tokens: 100, steps: 1 } },
      { estimated: true, charged: { llm_output_tokens: 100, steps: 1 } },
    ]);
    for (const { charged } of told) expect(charged.llm_input_tokens).toBeGreaterThan(64);
  });

  test("every attempt, when an SDK tries again", async () => {
    await using at = await openScene([failing(500), failing(500), ANSWER]);
    const { used } = await spent({ cost_usd: 1 }, () => ASK.chat(at));
    expect(used).toMatchObject({ steps: 3, llm_output_tokens: 207 });
  });

  test.each<readonly [string, ScriptedAnswer]>([
    ["cut in the middle", { ...ANSWER, kind: "half" }],
    ["ended in the middle", { ...ANSWER, kind: "half", ending: "end" }],
    ["no JSON", { kind: "garbage", body: "<html>" }],
    ["no object", { kind: "garbage", body: "[1]" }],
    ["without usage", { ...ANSWER, usage: null }],
    ["with a negative usage", { ...ANSWER, usage: { prompt_tokens: -1, completion_tokens: 7 } }],
    ["with half a token", { ...ANSWER, usage: { prompt_tokens: 30, completion_tokens: 1.5 } }],
    ["with a usage of nothing", { ...ANSWER, usage: { prompt_tokens: 0, completion_tokens: 0 } }],
    ["with a usage in words", { ...ANSWER, usage: { raw: "much" } }],
    [
      "with more cached than there was",
      { ...ANSWER, usage: { prompt_tokens: 30, completion_tokens: 1, cached_tokens: 31 } },
    ],
  ])("an answer %s", async (_, answer) => {
    await using at = await openScene(() => answer, { maxRetries: 0 });
    for (const protocol of ["chat", "responses", "messages"] as const) {
      const told = await toldWhile(() => spent({ cost_usd: 1 }, () => errorOf(ASK[protocol](at))));
      expect(told, protocol).toMatchObject([{ estimated: true, charged: { llm_output_tokens: 100, steps: 1 } }]);
    }
  });

  test("a connection that is cut before there is an answer", async () => {
    const server = createServer((request) => request.socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const baseURL = `http://127.0.0.1:${port}/v1`;
    const openai = new OpenAI({ baseURL, apiKey: "k", maxRetries: 0, fetch: governedFetch({ prices: PRICES }) });
    const told = await toldWhile(() =>
      spent({ cost_usd: 1 }, () =>
        errorOf(openai.chat.completions.create({ model: "scripted", messages: HELLO, max_tokens: 100 })),
      ),
    );
    server.close();
    expect(told).toMatchObject([{ outcome: "failed", estimated: true, charged: { llm_output_tokens: 100 } }]);
  });
});

describe("what was never sent is free", () => {
  test("a connection that is refused", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const fetch = governedFetch({ prices: PRICES });
    const openai = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: "k", maxRetries: 0, fetch });
    const anthropic = new Anthropic({ baseURL: `http://127.0.0.1:${port}`, apiKey: "k", maxRetries: 0, fetch });
    const { used, held } = await spent({ cost_usd: 1 }, async () => {
      const body = { model: "scripted", messages: HELLO, max_tokens: 100 };
      expect(await errorOf(openai.chat.completions.create(body))).toBeInstanceOf(OpenAI.APIConnectionError);
      expect(await errorOf(anthropic.messages.create(body))).toBeInstanceOf(Anthropic.APIConnectionError);
    });
    expect(used).toMatchObject({ steps: 2 });
    for (const id of ["cost_usd", "llm_tokens", "network_egress_bytes"]) expect(used[id] ?? 0, id).toBe(0);
    expect(held).toEqual({});
  });

  test("a name that nobody has", async () => {
    const { used } = await spent({ cost_usd: 1 }, () =>
      errorOf(
        governedFetch({ prices: PRICES })("http://nowhere.invalid/v1/chat/completions", {
          method: "POST",
          body: JSON.stringify({ model: "scripted", messages: HELLO }),
        }),
      ),
    );
    expect(used).toMatchObject({ steps: 1 });
    expect(used.cost_usd ?? 0).toBe(0);
  });
});

test("a dispatcher that does not take the request costs nothing", async () => {
  const dispatcher = {
    dispatch: () => {
      throw Object.assign(new Error("invalid onRequestStart method"), { code: "UND_ERR_INVALID_ARG" });
    },
  };
  const { used, held } = await spent({ cost_usd: 1 }, () =>
    errorOf(
      governedFetch({ prices: PRICES })("http://127.0.0.1:9999/v1/chat/completions", {
        method: "POST",
        body: JSON.stringify({ model: "scripted", messages: HELLO }),
        ...({ dispatcher } as object),
      }),
    ),
  );
  expect(used).toMatchObject({ steps: 1 });
  expect(used.cost_usd ?? 0).toBe(0);
  expect(held).toEqual({});
});

describe("addresses that fetch sends nothing to", () => {
  const PATH = "/v1/chat/completions";
  const init = { method: "POST", body: JSON.stringify({ model: "scripted", messages: HELLO, max_tokens: 100 }) };

  test.each(["file://", "http://127.0.0.1:1", "ws://127.0.0.1"])("cost nothing: %s", async (origin) => {
    const { used, held } = await spent({ cost_usd: 1 }, async () => {
      const error = await errorOf(governedFetch({ prices: PRICES })(`${origin}${PATH}`, init));
      expect([error.name, error.message]).toEqual(["TypeError", "fetch failed"]);
    });
    expect(used).toMatchObject({ steps: 1 });
    for (const id of ["cost_usd", "llm_tokens", "network_egress_bytes"]) expect(used[id] ?? 0, id).toBe(0);
    expect(held).toEqual({});
  });

  test("are paid for by who was led there: the one before may have computed an answer", async () => {
    const server = createServer((_, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:1${PATH}` }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;
    const { used } = await spent({ cost_usd: 1 }, () => errorOf(governedFetch({ prices: PRICES })(url, init)));
    server.close();
    expect(used).toMatchObject({ steps: 1, llm_output_tokens: 100 });
  });
});

describe("what nobody can believe", () => {
  test("a usage beyond the limit is recorded, and the budget takes nothing more", async () => {
    await using at = await openScene(() => ({
      ...ANSWER,
      ignores_limit: true,
      usage: { prompt_tokens: 30, completion_tokens: 5000 },
    }));
    const state = await spent({ llm_output_tokens: 1000 }, async () => {
      expect((await ASK.chat(at)).choices[0]?.message.content).toBe("Hi");
      expect(await errorOf(ASK.chat(at))).toMatchObject({ status: 402 });
    });
    expect(state.used).toMatchObject({ llm_output_tokens: 5000, steps: 1 });
    expect(state.exhausted).toEqual(["llm_output_tokens"]);
    expect(at.model.count).toBe(1);
  });

  test("a usage that cannot be counted does not lose the answer", async () => {
    const usage = { prompt_tokens: 30, completion_tokens: 9_007_199_254_740_000 };
    await using at = await openScene(() => ({ ...ANSWER, ignores_limit: true, usage }));
    const state = await spent({ cost_usd: 1, llm_tokens: 1_000_000 }, async () => {
      expect((await ASK.chat(at)).choices[0]?.message.content).toBe("Hi");
    });
    expect(state.used.cost_usd).toBeGreaterThan(0.001);
    expect(state.held).toEqual({});
  });
});
