import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { deferred } from "../../../src/runtime/deferred.js";
import { HELLO, openScene, PRICES, spent, toldWhile } from "./scene.js";

const ANSWER = { kind: "text", text: "Hello.", usage: { prompt_tokens: 30, completion_tokens: 7 } } as const;
const BODY = JSON.stringify({ model: "gpt-4-scripted", messages: HELLO, max_tokens: 100 });
const JSON_TYPE = { "content-type": "application/json" };

interface Received {
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A server that answers as it is told to, and remembers what it was sent. */
async function openServer(answer: (response: ServerResponse) => void) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    received.push({ headers: request.headers, body });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`;
  return {
    received,
    url,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const COMPLETION = {
  id: "c",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Grüße" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 30, completion_tokens: 7, total_tokens: 37 },
};

function complete(response: ServerResponse): void {
  response.writeHead(200, JSON_TYPE).end(JSON.stringify(COMPLETION));
}

describe("whatever fetch takes is metered", () => {
  const forms: Readonly<Record<string, (url: string) => readonly [string | URL | Request, RequestInit?]>> = {
    "a text": (url) => [url, { method: "POST", body: BODY, headers: JSON_TYPE }],
    "a URL": (url) => [new URL(url), { method: "post", body: BODY, headers: JSON_TYPE }],
    bytes: (url) => [url, { method: "POST", body: Buffer.from(BODY), headers: JSON_TYPE }],
    "a blob": (url) => [url, { method: "POST", body: new Blob([BODY], { type: "application/json" }) }],
    "a stream": (url) => [
      url,
      { method: "POST", body: new Blob([BODY]).stream(), headers: JSON_TYPE, duplex: "half" } as RequestInit,
    ],
    "a request": (url) => [new Request(url, { method: "POST", body: BODY, headers: JSON_TYPE })],
    "a request with another body": (url) => [
      new Request(url, { method: "POST", body: "{}", headers: JSON_TYPE }),
      { body: BODY },
    ],
    "pairs of headers": (url) => [url, { method: "POST", body: BODY, headers: [["content-type", "application/json"]] }],
  };

  test.each(Object.keys(forms))("%s", async (name) => {
    await using server = await openServer(complete);
    const form = forms[name];
    const { used } = await spent({ cost_usd: 1 }, async () => {
      const [input, init] = form?.(server.url) ?? [""];
      const response = await governedFetch({ prices: PRICES })(input, init);
      expect(response.url).toBe(server.url);
      expect(await response.json()).toEqual(COMPLETION);
    });
    expect(used).toMatchObject({ llm_tokens: 37, steps: 1, network_egress_bytes: Buffer.byteLength(BODY) });
    expect(server.received[0]?.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(server.received[0]?.body ?? "")).toEqual(JSON.parse(BODY));
  });

  test("a form, or any other body that is no JSON, is not", async () => {
    await using server = await openServer(complete);
    await withBudget({ cost_usd: 1 }, async () => {
      const governed = governedFetch({ prices: PRICES });
      const form = new FormData();
      form.set("model", "scripted");
      for (const body of [form, "model=scripted", new URLSearchParams({ model: "scripted" }), "[]", "", null]) {
        const response = await governed(server.url, { method: "POST", body });
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error" } });
      }
    });
    expect(server.received).toEqual([]);
  });

  test("a body too long to look at is refused, and not tried again", async () => {
    await using server = await openServer(complete);
    const megabyte = new Uint8Array(1024 * 1024).fill(32);
    let left = 65;
    const body = new ReadableStream({
      pull: (controller) => (left-- > 0 ? controller.enqueue(megabyte) : controller.close()),
    });
    await withBudget({ cost_usd: 1 }, async () => {
      const init = { method: "POST", body, duplex: "half" } as RequestInit;
      const response = await governedFetch({ prices: PRICES })(server.url, init);
      expect(response.status).toBe(400);
    });
    expect(server.received).toEqual([]);
  });
});

describe("what is not asked of a model", () => {
  test("passes when it costs nothing, also as a request", async () => {
    await using at = await openScene(() => ANSWER);
    const models = await at.openai.models.list();
    expect(models.data.map(({ id }) => id)).toContain("scripted");
    const response = await at.fetch(new Request(`${at.model.url}/models`));
    expect(response.status).toBe(200);
    const counted = await at.fetch(
      new Request(`${at.model.url}/messages/count_tokens`, {
        method: "POST",
        body: JSON.stringify({ model: "claude-3-scripted", messages: HELLO }),
        headers: { ...JSON_TYPE, "anthropic-version": "2023-06-01" },
      }),
    );
    expect(counted.status).toBe(200);
    expect(await at.anthropic.messages.countTokens({ model: "claude-3-scripted", messages: HELLO })).toMatchObject({
      input_tokens: expect.any(Number),
    });
  });

  test.each(["files", "images/generations", "audio/speech", "batches", "messages/batches", "completions", "unknown"])(
    "is refused when it may cost something: POST /%s",
    async (path) => {
      await using server = await openServer(complete);
      await withBudget({ cost_usd: 1 }, async () => {
        const url = server.url.replace("chat/completions", path);
        const response = await governedFetch()(url, { method: "POST", body: BODY });
        expect(response.status).toBe(402);
        expect(response.headers.get("x-bursar-refused")).toBe("not_governed");
        expect((await governedFetch()(new Request(url, { method: "PUT", body: BODY }))).status).toBe(402);
      });
      expect(server.received).toEqual([]);
    },
  );

  test("whatever the path is written like, the meter sees it", async () => {
    await using server = await openServer(complete);
    const base = server.url.replace("/v1/chat/completions", "");
    for (const path of [
      "/v1/chat/completions/",
      "//v1//chat//completions",
      "/v1/Chat/Completions",
      "/v1/%63hat/completions",
    ]) {
      const response = await governedFetch({ prices: PRICES })(base + path, { method: "POST", body: BODY });
      expect(response.headers.get("x-bursar-refused"), path).toBe("no_budget");
    }
    expect(server.received).toEqual([]);
  });
});

describe("what is sent", () => {
  test("has the headers as they were, but for the length", async () => {
    await using server = await openServer(complete);
    const headers = { ...JSON_TYPE, authorization: "Bearer k", "x-own": "1", "content-length": String(BODY.length) };
    const body = { ...JSON.parse(BODY), max_tokens: 1_000_000 };
    await withBudget({ llm_output_tokens: 7 }, () =>
      governedFetch({ prices: PRICES })(server.url, { method: "POST", body: JSON.stringify(body), headers }),
    );
    const [received] = server.received;
    expect(received?.headers).toMatchObject({ authorization: "Bearer k", "x-own": "1" });
    expect(received?.headers["content-length"]).toBe(String(Buffer.byteLength(received?.body ?? "")));
    expect(JSON.parse(received?.body ?? "")).toEqual({ ...body, max_tokens: 7 });
  });

  test.each([
    ["an object", (): Record<string, string> => ({ ...JSON_TYPE })],
    ["headers", () => new Headers(JSON_TYPE)],
    ["pairs", (): [string, string][] => Object.entries(JSON_TYPE)],
  ])("has the headers that %s had when it was given away, whatever becomes of it", async (_, make) => {
    await using server = await openServer(complete);
    const headers = make();
    await withBudget({ cost_usd: 1 }, async () => {
      const governed = governedFetch({ prices: PRICES });
      const sent = ["Bearer one", "Bearer two"].map((key) => {
        if (headers instanceof Headers) headers.set("authorization", key);
        else if (Array.isArray(headers)) headers[1] = ["authorization", key];
        else headers.authorization = key;
        return governed(server.url, { method: "POST", body: BODY, headers });
      });
      await Promise.all(sent);
    });
    expect(server.received.map((each) => each.headers.authorization).sort()).toEqual(["Bearer one", "Bearer two"]);
  });

  test.each([
    ["headers that are none", { headers: { authorization: "Bearer a\nb" } }, ""],
    ["headers with names that are none", { headers: { "no name": "x" } }, ""],
    ["an address with a password in it", {}, "ann:secret@"],
  ])("is nothing with %s: the call fails as with the plain fetch, and is not charged", async (_, init, who) => {
    await using server = await openServer(complete);
    const url = server.url.replace("//", `//${who}`);
    const { used, held } = await spent({ cost_usd: 1 }, async () => {
      const asked = governedFetch({ prices: PRICES })(url, { method: "POST", body: BODY, ...init });
      await expect(asked).rejects.toThrow(TypeError);
      await expect(asked).rejects.not.toThrow(/secret/);
    });
    expect([used.steps ?? 0, used.cost_usd ?? 0, held]).toEqual([0, 0, {}]);
    expect(server.received).toEqual([]);
  });

  test("is what was priced, whichever of two fields a server would take", async () => {
    await using server = await openServer(complete);
    const body = `{"model":"gpt-4-scripted","model":"scripted","messages":${JSON.stringify(HELLO)}}`;
    await withBudget({ cost_usd: 1 }, () => governedFetch({ prices: PRICES })(server.url, { method: "POST", body }));
    expect(server.received[0]?.body.match(/"model"/g)).toHaveLength(1);
    expect(JSON.parse(server.received[0]?.body ?? "").model).toBe("scripted");
  });

  test("is counted in bytes as it is sent, also when a stream is asked for usage", async () => {
    await using server = await openServer(complete);
    const body = JSON.stringify({ ...JSON.parse(BODY), stream: true });
    const { used } = await spent({ cost_usd: 1 }, () =>
      governedFetch({ prices: PRICES })(server.url, { method: "POST", body }),
    );
    const sent = Buffer.byteLength(server.received[0]?.body ?? "");
    expect(sent).toBeGreaterThan(body.length);
    expect(used.network_egress_bytes).toBe(sent);
  });

  test("goes through the fetch that was given, once", async () => {
    await using server = await openServer(complete);
    let sent = 0;
    const own: typeof fetch = (input, init) => {
      sent++;
      return fetch(input, init);
    };
    const stacked = governedFetch({ prices: PRICES, fetch: governedFetch({ prices: PRICES, fetch: own }) });
    const { used } = await spent({ cost_usd: 1 }, () => stacked(server.url, { method: "POST", body: BODY }));
    expect(sent).toBe(1);
    expect(used).toMatchObject({ steps: 1, llm_tokens: 37 });
  });
});

describe("what comes back", () => {
  test("may be compressed", async () => {
    await using server = await openServer((response) => {
      const bytes = gzipSync(JSON.stringify(COMPLETION));
      response.writeHead(200, {
        ...JSON_TYPE,
        "content-encoding": "gzip",
        "content-length": bytes.length,
        "x-own": "1",
      });
      response.end(bytes);
    });
    const { used } = await spent({ cost_usd: 1 }, async () => {
      const response = await governedFetch({ prices: PRICES })(server.url, { method: "POST", body: BODY });
      expect(response.headers.get("content-encoding")).toBeNull();
      expect(response.headers.get("x-own")).toBe("1");
      expect(await response.json()).toEqual(COMPLETION);
    });
    expect(used.llm_tokens).toBe(37);
  });

  test("may be a compressed stream", async () => {
    const chunk = {
      ...COMPLETION,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta: { content: "Grüße" }, finish_reason: "stop" }],
    };
    await using server = await openServer((response) => {
      response.writeHead(200, { "content-type": "Text/Event-Stream", "content-encoding": "gzip" });
      response.end(gzipSync(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`));
    });
    const baseURL = server.url.replace("/chat/completions", "");
    const openai = new OpenAI({ baseURL, apiKey: "k", fetch: governedFetch({ prices: PRICES }) });
    const { used } = await spent({ cost_usd: 1 }, async () => {
      let text = "";
      const body = { model: "gpt-4-scripted", messages: HELLO, stream: true } as const;
      for await (const each of await openai.chat.completions.create(body)) text += each.choices[0]?.delta.content;
      expect(text).toBe("Grüße");
    });
    expect(used.llm_tokens).toBe(37);
  });

  test("may be a stream that does not say it is one", async () => {
    const ended = deferred<ServerResponse>();
    await using server = await openServer((response) => {
      response.writeHead(200);
      response.write('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n');
      ended.resolve(response);
    });
    const body = JSON.stringify({ ...JSON.parse(BODY), stream: true });
    const { used } = await spent({ cost_usd: 1 }, async () => {
      const response = await governedFetch({ prices: PRICES })(server.url, { method: "POST", body });
      const reader = response.body?.getReader();
      // It is there before the stream is over.
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain("Hi");
      const usage = JSON.stringify({ choices: [], usage: COMPLETION.usage });
      (await ended.promise).end(`data: ${usage}\n\ndata: [DONE]\n\n`);
      while (!(await reader?.read())?.done);
    });
    expect(used.llm_tokens).toBe(37);
  });

  test("may be an answer without a body", async () => {
    await using server = await openServer((response) => response.writeHead(204).end());
    const told = await toldWhile(() =>
      spent({ cost_usd: 1 }, async () => {
        const response = await governedFetch({ prices: PRICES })(server.url, { method: "POST", body: BODY });
        expect(response.status).toBe(204);
      }),
    );
    expect(told).toMatchObject([{ estimated: true, charged: { llm_output_tokens: 100 } }]);
  });
});

test("options that are none are refused by name", () => {
  expect(() => governedFetch({ budegt: {} } as never)).toThrow("budegt");
  expect(() => governedFetch({ budget: {} } as never)).toThrow("budget is an object");
});
