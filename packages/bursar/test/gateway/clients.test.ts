import { type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { fileURLToPath } from "node:url";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { afterEach, describe, expect, test, vi } from "vitest";
import { readTls } from "../../src/gateway/gateway.js";
import { openScriptedModel } from "../../src/testing/scripted-model.js";
import { opened } from "./opened.js";

const HELLO = { kind: "text", text: "Hello.", usage: { prompt_tokens: 100, completion_tokens: 20 } } as const;
const USER = [{ role: "user" as const, content: "Hi" }];
const CHAT = { model: "gpt-4o", messages: USER, max_tokens: 100 };
const MESSAGE = { model: "claude-sonnet-4-5", messages: USER, max_tokens: 100 };
const CERT = fileURLToPath(new URL("tls/cert.pem", import.meta.url));
const KEY = fileURLToPath(new URL("tls/key.pem", import.meta.url));

afterEach(() => void vi.unstubAllEnvs());

/** Two providers, each with its own protocols and its own key. */
async function openTwo() {
  const models = ["gpt-4o", "claude-sonnet-4-5"];
  const openai = await openScriptedModel({ script: () => HELLO, models, apiKey: "key-of-openai" });
  const anthropic = await openScriptedModel({ script: () => HELLO, models, apiKey: "key-of-anthropic" });
  const upstreams = [
    { name: "openai", url: openai.url, key: "key-of-openai", speaks: ["openai"] },
    { name: "anthropic", url: anthropic.url, key: "key-of-anthropic", speaks: ["anthropic"] },
  ] as const;
  const at = await opened([], { cost_usd: 1 }, { upstreams });
  return {
    ...at,
    openai,
    anthropic,
    [Symbol.asyncDispose]: async () => {
      await at[Symbol.asyncDispose]();
      await openai[Symbol.asyncDispose]();
      await anthropic[Symbol.asyncDispose]();
    },
  };
}

describe("several upstreams", () => {
  test.each(["", "/v1", "/openai", "/openai/v1"])("OpenAI's client with the base %s", async (base) => {
    await using at = await openTwo();
    const client = new OpenAI({ baseURL: `${at.gateway.url}${base}`, apiKey: at.secret });
    await client.chat.completions.create(CHAT);
    await client.responses.create({ model: "gpt-4o", input: "Hi", max_output_tokens: 100 });
    for await (const _ of await client.chat.completions.create({ ...CHAT, stream: true }));
    expect([at.openai.count, at.anthropic.count]).toEqual([3, 0]);
    expect((await client.models.list()).data.length).toBe(2);
    expect(await at.used()).toMatchObject({ steps: 3, llm_tokens: 360 });
  });

  test.each(["", "/v1", "/anthropic", "/anthropic/v1"])("Anthropic's client with the base %s", async (base) => {
    await using at = await openTwo();
    const baseURL = `${at.gateway.url}${base}`;
    await new Anthropic({ baseURL, apiKey: at.secret }).messages.create(MESSAGE);
    // As coding agents do that take a token in place of a key.
    const bearer = new Anthropic({ baseURL, apiKey: null, authToken: at.secret });
    await bearer.messages.stream(MESSAGE).finalMessage();
    const { input_tokens } = await bearer.messages.countTokens({ model: MESSAGE.model, messages: USER });
    expect(input_tokens).toBeGreaterThan(0);
    expect((await bearer.models.list()).data.length).toBe(2);
    expect([at.openai.count, at.anthropic.count]).toEqual([0, 2]);
    expect(await at.used()).toMatchObject({ steps: 2, llm_tokens: 240 });
  });

  test.each(["/openai/v1/messages", "/anthropic/v1/chat/completions"])(
    "%s is refused: it does not speak so",
    async (path) => {
      await using at = await openTwo();
      expect((await at.post(path, path.endsWith("messages") ? MESSAGE : CHAT)).status).toBe(404);
      expect([at.openai.count, at.anthropic.count]).toEqual([0, 0]);
    },
  );

  test.each(["/v1", "/openai/v1"])("the AI SDK finds OpenAI by OPENAI_BASE_URL with %s", async (base) => {
    await using at = await openTwo();
    vi.stubEnv("OPENAI_BASE_URL", `${at.gateway.url}${base}`);
    vi.stubEnv("OPENAI_API_KEY", at.secret);
    const { text } = await generateText({ model: createOpenAI()("gpt-4o"), prompt: "Hi", maxOutputTokens: 100 });
    expect(text).toBe("Hello.");
    const stream = streamText({ model: createOpenAI().chat("gpt-4o"), prompt: "Hi", maxOutputTokens: 100 });
    expect(await stream.text).toBe("Hello.");
    expect(await at.used()).toMatchObject({ steps: 2, llm_tokens: 240 });
  });

  test.each(["", "/v1", "/anthropic", "/anthropic/v1"])(
    "the AI SDK finds Anthropic by ANTHROPIC_BASE_URL with %s",
    async (base) => {
      await using at = await openTwo();
      vi.stubEnv("ANTHROPIC_BASE_URL", `${at.gateway.url}${base}`);
      vi.stubEnv("ANTHROPIC_API_KEY", at.secret);
      const model = createAnthropic()("claude-sonnet-4-5");
      const { text } = await generateText({ model, prompt: "Hi", maxOutputTokens: 100 });
      const stream = streamText({ model, prompt: "Hi", maxOutputTokens: 100 });
      expect([text, await stream.text]).toEqual(["Hello.", "Hello."]);
      expect(await at.used()).toMatchObject({ steps: 2, llm_tokens: 240 });
    },
  );

  test("a provider that does not take the gateway's key is told of without it", async () => {
    await using strict = await openScriptedModel({ script: [], models: ["gpt-4o"], apiKey: "another" });
    const upstreams = [{ name: "strict", url: strict.url, key: "upstream-secret-of-the-gateway" }];
    const told: unknown[] = [];
    await using at = await opened([], { cost_usd: 1 }, { upstreams, onError: (error) => told.push(error) });
    const answer = await at.post("/v1/chat/completions", CHAT);
    const list = await fetch(`${at.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${at.secret}` } });
    for (const each of [answer, list]) {
      const text = await each.text();
      expect([each.status, JSON.parse(text)]).toMatchObject([502, { error: { code: "upstream_denied" } }]);
      expect(text).not.toContain("secret");
    }
    expect(told).toMatchObject([{ code: "upstream_denied" }, { code: "upstream_denied" }]);
    expect(await at.used()).toMatchObject({ steps: 1 });
    expect((await at.used()).cost_usd ?? 0).toBe(0);
  });
});

/** The real one, if it is there; without it the tests below say so and prove nothing. */
function hasCurl(): boolean {
  const there = spawnSync("curl", ["--version"]).status === 0;
  if (!there) console.warn("curl is not installed here, so it was not tried");
  return there;
}

async function curl(...args: readonly string[]): Promise<Pick<SpawnSyncReturns<string>, "stdout" | "status">> {
  const child = spawn("curl", ["--silent", "--show-error", "--max-time", "30", ...args]);
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const [status] = (await once(child, "close")) as [number];
  return { stdout, status };
}

describe("curl", () => {
  test("asks, streams with -N, and sends a long body after it was told to", async () => {
    if (!hasCurl()) return;
    await using at = await opened(() => HELLO, { cost_usd: 10 });
    const json = ["-H", "content-type: application/json"];
    const bearer = ["-H", `authorization: Bearer ${at.secret}`, ...json];
    const url = `${at.gateway.url}/v1/chat/completions`;
    const whole = await curl(url, ...bearer, "-d", JSON.stringify(CHAT), "-i");
    expect(whole.stdout).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*x-bursar-used-cost-usd: 0\.00045\r\n[\s\S]*Hello\./);
    const streamed = await curl(url, ...bearer, "-N", "-d", JSON.stringify({ ...CHAT, stream: true }));
    expect(streamed.stdout).toMatch(/^data: \{[\s\S]*data: \[DONE\]\n\n$/);
    // The usage was asked for in its place, and it does not see it.
    expect(streamed.stdout).not.toContain('"prompt_tokens"');
    const long = { ...CHAT, messages: [{ role: "user", content: "x".repeat(1_500_000) }] };
    const expecting = spawn("curl", ["-s", "-i", url, ...bearer, "-H", "Expect: 100-continue", "-d", "@-"]);
    expecting.stdin.end(JSON.stringify(long));
    let answer = "";
    expecting.stdout.on("data", (piece) => {
      answer += piece;
    });
    await once(expecting, "close");
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
    const messages = [`${at.gateway.url}/v1/messages`, "-H", `x-api-key: ${at.secret}`, ...json];
    const version = ["-H", "anthropic-version: 2023-06-01"];
    const events = await curl(...messages, ...version, "-N", "-d", JSON.stringify({ ...MESSAGE, stream: true }));
    expect(events.stdout).toMatch(/^event: message_start\n[\s\S]*event: message_stop\n/);
    expect(await at.used()).toMatchObject({ steps: 4, llm_tokens: 480 });
  });

  test("is told why it is refused, and that its key is none", async () => {
    if (!hasCurl()) return;
    await using at = await opened([], { llm_tokens: 10 });
    const url = `${at.gateway.url}/v1/chat/completions`;
    const refused = await curl(
      url,
      "-H",
      `authorization: Bearer ${at.secret}`,
      "-d",
      JSON.stringify(CHAT),
      "-w",
      "%{http_code}",
    );
    expect(refused.stdout).toMatch(/"limit":10.*402$/s);
    const stranger = await curl(url, "-d", JSON.stringify(CHAT), "-w", "%{http_code}");
    expect(stranger.stdout).toMatch(/invalid_api_key.*401$/s);
  });

  test("speaks TLS with it", async () => {
    if (!hasCurl()) return;
    await using at = await opened([HELLO], { cost_usd: 1 }, { tls: readTls(CERT, KEY), host: "localhost" });
    expect(at.gateway.url).toMatch(/^https:\/\/localhost:/);
    const args = ["--cacert", CERT, "-H", `authorization: Bearer ${at.secret}`, "-d", JSON.stringify(CHAT)];
    const { stdout } = await curl(`${at.gateway.url}/v1/chat/completions`, ...args);
    expect(JSON.parse(stdout)).toMatchObject({ choices: [{ message: { content: "Hello." } }] });
  });
});

describe("TLS", () => {
  test("is spoken with the certificate that was given, and nothing else is", async () => {
    await using at = await opened([HELLO], { cost_usd: 1 }, { tls: readTls(CERT, KEY) });
    const answer = await new Promise<string>((resolve, reject) => {
      const headers = { authorization: `Bearer ${at.secret}` };
      const ca = readFileSync(CERT, "utf8");
      const asked = request(
        `${at.gateway.url}/v1/chat/completions`,
        { method: "POST", headers, ca },
        async (incoming) => {
          let text = "";
          for await (const piece of incoming) text += piece;
          resolve(text);
        },
      );
      asked.on("error", reject);
      asked.end(JSON.stringify(CHAT));
    });
    expect(answer).toContain("Hello.");
    const plain = at.gateway.url.replace("https", "http");
    await expect(fetch(`${plain}/health`)).rejects.toThrow();
  });

  test("is not begun with what is no certificate", async () => {
    const tls = { cert: "none", key: "none" };
    await expect(opened([], {}, { tls })).rejects.toThrow(/tls.*certificate/);
  });
});
