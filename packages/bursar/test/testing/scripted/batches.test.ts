import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import type { ScriptedBatching } from "../../../src/testing/scripted/batching.js";
import { openScriptedModel, type Script } from "../../../src/testing/scripted-model.js";

const MODEL = "gpt-5";
const ECHO: Script = ({ text }) => (text === "bad" ? { kind: "status", status: 400 } : `You said: ${text}`);

async function opened(batches: ScriptedBatching = {}, script: Script = ECHO) {
  const clock = new FakeClock();
  const server = await openScriptedModel({ script, models: [MODEL], batches, clock, timer: clock });
  const openai = new OpenAI({ baseURL: server.url, apiKey: "sk-1", maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: server.origin, apiKey: "sk-1", maxRetries: 0 });
  return { server, clock, openai, anthropic, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

function lines(texts: readonly string[]): string {
  return texts
    .map((text, index) => {
      const body = { model: MODEL, messages: [{ role: "user", content: text }] };
      return JSON.stringify({ custom_id: `c-${index}`, method: "POST", url: "/v1/chat/completions", body });
    })
    .join("\n");
}

async function submitted(openai: OpenAI, content: string) {
  const file = await openai.files.create({ file: await toFile(Buffer.from(content), "in.jsonl"), purpose: "batch" });
  return openai.batches.create({
    input_file_id: file.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
    metadata: { mine: "1" },
  });
}

async function linesOf(openai: OpenAI, file: string | undefined | null): Promise<readonly Record<string, unknown>[]> {
  const text = await (await openai.files.content(String(file))).text();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

const PARAMS = (text: string) => ({
  model: MODEL,
  max_tokens: 50,
  messages: [{ role: "user" as const, content: text }],
});

describe("OpenAI's client, batches", () => {
  test("hands a file in, looks until it is done, and reads answers and errors in an order of their own", async () => {
    await using world = await opened({ polls: 2 });
    const { openai } = world;
    const batch = await submitted(openai, lines(["a", "bad", "b", "c"]));
    expect(batch).toMatchObject({ object: "batch", status: "validating", metadata: { mine: "1" } });
    expect(await openai.batches.retrieve(batch.id)).toMatchObject({ status: "in_progress", output_file_id: null });
    const done = await openai.batches.retrieve(batch.id);
    expect(done).toMatchObject({ status: "completed", request_counts: { total: 4, completed: 3, failed: 1 } });
    const answers = await linesOf(openai, done.output_file_id);
    expect(answers.map(({ custom_id }) => custom_id).toSorted()).toEqual(["c-0", "c-2", "c-3"]);
    expect(answers.map(({ custom_id }) => custom_id)).not.toEqual(["c-0", "c-2", "c-3"]);
    expect(answers.find(({ custom_id }) => custom_id === "c-2")).toMatchObject({
      response: {
        status_code: 200,
        body: { object: "chat.completion", choices: [{ message: { content: "You said: b" } }] },
      },
      error: null,
    });
    const [error, ...others] = await linesOf(openai, done.error_file_id);
    expect(others).toEqual([]);
    expect(error).toMatchObject({ custom_id: "c-1", response: { status_code: 400, body: { error: {} } } });
  });

  test("a batch may expire in part, say nothing of an item, be cancelled, or fail to begin", async () => {
    const fates = { expire: "expired", forget: "missing" } as const;
    await using world = await opened({
      fate: ({ text }) => (text in fates ? fates[text as keyof typeof fates] : "answer"),
    });
    const { openai } = world;
    const { id } = await submitted(openai, lines(["a", "expire", "forget"]));
    const over = await openai.batches.retrieve(id);
    expect(over).toMatchObject({ status: "expired", request_counts: { completed: 1, failed: 0, total: 3 } });
    expect(await linesOf(openai, over.error_file_id)).toMatchObject([
      { custom_id: "c-1", response: null, error: { code: "batch_expired" } },
    ]);
    const second = await submitted(openai, lines(["a"]));
    expect(await openai.batches.cancel(second.id)).toMatchObject({ status: "cancelling" });
    expect(await openai.batches.retrieve(second.id)).toMatchObject({ status: "cancelled", output_file_id: null });
    const third = await submitted(openai, "{]");
    expect(await openai.batches.retrieve(third.id)).toMatchObject({
      status: "failed",
      errors: { data: [{ code: "invalid_file" }] },
    });
  });

  test("takes as long as its clock says, lists the newest first, and fails as it is told", async () => {
    const fault: ScriptedBatching["fault"] = (question, number) => {
      if (question === "create" && number === 2) return { kind: "status", status: 503, done: true };
      return question === "look" && number === 2 ? { kind: "cut" } : null;
    };
    await using world = await opened({ takes_ms: 1000, fault });
    const { openai, clock, server } = world;
    const { id } = await submitted(openai, lines(["a"]));
    expect((await openai.batches.retrieve(id)).status).toBe("in_progress");
    clock.advance(1000);
    await expect(openai.batches.retrieve(id)).rejects.toThrow(/Connection error/);
    expect((await openai.batches.retrieve(id)).status).toBe("completed");
    await expect(submitted(openai, lines(["b"]))).rejects.toMatchObject({ status: 503 });
    expect(server.batches).toHaveLength(2);
    const listed: string[] = [];
    for await (const batch of openai.batches.list({ limit: 1 })) listed.push(batch.id);
    expect(listed).toEqual(["batch_scripted_2", "batch_scripted_1"]);
  });
});

describe("Anthropic's client, batches", () => {
  test("hands requests in, looks until they are done, and reads what became of them", async () => {
    await using world = await opened({ polls: 2, fate: ({ text }) => (text === "expire" ? "expired" : "answer") });
    const { batches } = world.anthropic.messages;
    const texts = ["a", "bad", "expire", "b"];
    const requests = texts.map((text, index) => ({ custom_id: `c-${index}`, params: PARAMS(text) }));
    const { id } = await batches.create({ requests });
    expect(await batches.retrieve(id)).toMatchObject({
      processing_status: "in_progress",
      results_url: null,
      request_counts: { processing: 4 },
    });
    expect(await batches.retrieve(id)).toMatchObject({
      processing_status: "ended",
      request_counts: { succeeded: 2, errored: 1, expired: 1, canceled: 0 },
    });
    const results: Record<string, unknown> = {};
    for await (const { custom_id, result } of await batches.results(id)) results[custom_id] = result;
    expect(results).toMatchObject({
      "c-0": { type: "succeeded", message: { content: [{ type: "text", text: "You said: a" }], usage: {} } },
      "c-1": { type: "errored", error: { type: "error", error: { type: "invalid_request_error" } } },
      "c-2": { type: "expired" },
      "c-3": { type: "succeeded" },
    });
    const listed: string[] = [];
    for await (const batch of batches.list({ limit: 1 })) listed.push(batch.id);
    expect(listed).toEqual([id]);
  });

  test("cancels, and refuses names that are none", async () => {
    await using world = await opened({ polls: 5 });
    const { batches } = world.anthropic.messages;
    const { id } = await batches.create({ requests: [{ custom_id: "c-0", params: PARAMS("a") }] });
    expect(await batches.cancel(id)).toMatchObject({ processing_status: "canceling" });
    expect(await batches.retrieve(id)).toMatchObject({ processing_status: "ended", request_counts: { canceled: 1 } });
    await expect(batches.create({ requests: [{ custom_id: "no spaces", params: PARAMS("a") }] })).rejects.toMatchObject(
      {
        status: 400,
      },
    );
    await expect(batches.retrieve("msgbatch_none")).rejects.toMatchObject({ status: 404 });
  });
});

test("the script sees the requests of batches as it sees others", async () => {
  await using world = await opened();
  const { id } = await submitted(world.openai, lines(["a", "b"]));
  expect(world.server.count).toBe(0);
  await world.openai.batches.retrieve(id);
  expect(world.server.requests).toMatchObject([
    { number: 1, protocol: "openai-chat", text: "a" },
    { number: 2, protocol: "openai-chat", text: "b" },
  ]);
});
