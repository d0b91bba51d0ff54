import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { stepCountIs, streamText, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type OpenBudget, openBudget } from "../../src/ambient/open-budget.js";
import { withBudget } from "../../src/ambient/with-budget.js";
import { LedgerError } from "../../src/core/errors.js";
import { govern } from "../../src/models/ai/govern.js";
import { governedFetch } from "../../src/models/fetch/governed-fetch.js";
import { currentPurse } from "../../src/runtime/purse.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { openScriptedModel, type ScriptedModel } from "../../src/testing/scripted-model.js";
import { GPT, modelOn, PRICES } from "../models/ai/scene.js";

const USAGE = { prompt_tokens: 30, completion_tokens: 7 } as const;

/** A provider that wants a tool twice before it answers, so that an answer takes three calls. */
function openModel(): Promise<ScriptedModel> {
  return openScriptedModel({
    script: ({ number }) => {
      const said = { kind: "text", text: number < 3 ? "" : "Hello, streamed.", usage: USAGE } as const;
      return number < 3 ? { ...said, tool_calls: [{ name: "look", arguments: {} }] } : said;
    },
    models: [GPT],
  });
}

const look = tool({ description: "looks", inputSchema: z.object({}), execute: () => "nothing" });

function begin(at: ScriptedModel) {
  const model = govern(modelOn("openai-chat", at), { prices: PRICES });
  return streamText({ model, prompt: "Hello?", tools: { look }, stopWhen: stepCountIs(5), maxRetries: 0 });
}

/** Waits until a budget has ended, and tells how it stands. */
async function endOf(budget: OpenBudget) {
  for (let turn = 0; turn < 10_000; turn++) {
    if ((await budget.purse.store.budget(budget.id))?.ended) return (await budget.state()).used;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("the budget has not ended");
}

async function isOpen(budget: OpenBudget): Promise<boolean> {
  return (await budget.purse.store.budget(budget.id))?.ended === false;
}

/** What a function gives back out of a budget, and that budget. */
async function given<Value>(work: (budget: OpenBudget) => Value | Promise<Value>, options: object = {}) {
  let budget: OpenBudget | null = null;
  const value = await withBudget(
    { steps: 20, cost_usd: 1 },
    (inner) => {
      budget = inner;
      return work(inner);
    },
    options,
  );
  return { value, budget: budget as unknown as OpenBudget };
}

describe("the result of streamText keeps its budget open", () => {
  test.for([
    [
      "toTextStreamResponse()",
      (at: ScriptedModel) => begin(at).toTextStreamResponse({ status: 201 }),
      "Hello, streamed.",
    ],
    [
      "toUIMessageStreamResponse()",
      (at: ScriptedModel) => begin(at).toUIMessageStreamResponse({ status: 201 }),
      "streamed",
    ],
    [
      "a Response of its stream",
      (at: ScriptedModel) => new Response(begin(at).textStream.pipeThrough(new TextEncoderStream()), { status: 201 }),
      "Hello, streamed.",
    ],
    [
      "an async function",
      async (at: ScriptedModel) => begin(at).toTextStreamResponse({ status: 201 }),
      "Hello, streamed.",
    ],
  ] as const)("as %s", async ([, work, said]) => {
    await using at = await openModel();
    const { value, budget } = await given(() => work(at));
    expect(value).toBeInstanceOf(Response);
    expect(Object.getPrototypeOf(value)).toBe(Response.prototype);
    expect([value.status, value.headers.get("x-none")]).toEqual([201, null]);
    expect(await value.text()).toContain(said);
    expect(await endOf(budget)).toMatchObject({ steps: 3, llm_tokens: 111 });
    expect(at.count).toBe(3);
  });

  test("as it is, whichever way it is read", async () => {
    for (const read of [
      async (result: ReturnType<typeof begin>) => await result.text,
      async (result: ReturnType<typeof begin>) => {
        let all = "";
        for await (const part of result.textStream) all += part;
        return all;
      },
      async (result: ReturnType<typeof begin>) => result.toTextStreamResponse().text(),
      async (result: ReturnType<typeof begin>) => {
        let all = "";
        for await (const part of result.fullStream) if (part.type === "text-delta") all += part.text;
        return all;
      },
      async (result: ReturnType<typeof begin>) => {
        await result.consumeStream();
        return (await result.steps).at(-1)?.text;
      },
    ]) {
      await using at = await openModel();
      const { value, budget } = await given(() => begin(at));
      expect(value.constructor.name).toBe("DefaultStreamTextResult");
      expect(await read(value)).toBe("Hello, streamed.");
      expect(await endOf(budget)).toMatchObject({ steps: 3 });
    }
  });

  test("as it is piped to a response of node:http", async () => {
    await using at = await openModel();
    const budgets: OpenBudget[] = [];
    const server = createServer((_, response) => {
      void given(() => begin(at)).then(({ value, budget }) => {
        budgets.push(budget);
        value.pipeTextStreamToResponse(response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("Hello, streamed.");
    for (const budget of budgets) expect(await endOf(budget)).toMatchObject({ steps: 3 });
    await new Promise((resolve) => server.close(resolve));
  });

  test("as a response of node:http that is given back while it is written to", async () => {
    await using at = await openModel();
    const budgets: OpenBudget[] = [];
    const server = createServer((_, response) => {
      void given(() => {
        begin(at).pipeTextStreamToResponse(response);
        return response;
      }).then(({ value, budget }) => {
        budgets.push(budget);
        expect(value).toBe(response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("Hello, streamed.");
    expect(budgets).toHaveLength(1);
    for (const budget of budgets) expect(await endOf(budget)).toMatchObject({ steps: 3 });
    await new Promise((resolve) => server.close(resolve));
  });

  test("and as long as a response is open, however slowly it is written to", async () => {
    const clock = new FakeClock();
    const target = new Writable({ write: (_chunk, _encoding, done) => done() });
    const { value, budget } = await given(() => target, { clock, timer: clock });
    expect(value).toBe(target);
    clock.advance(3_600_000);
    expect(await isOpen(budget)).toBe(true);
    target.destroy();
    await endOf(budget);
  });

  test("and it stops what it would have used beyond its limit", async () => {
    await using at = await openModel();
    const response = await withBudget({ steps: 2 }, () => begin(at).toTextStreamResponse());
    await response.text().catch(() => "");
    expect(at.count).toBe(2);
  });

  test("in a list or an object, too", async () => {
    await using at = await openModel();
    const { value, budget } = await given(() => ({ answer: begin(at).textStream, name: "x" }));
    let all = "";
    for await (const part of value.answer) all += part;
    expect([all, value.name]).toEqual(["Hello, streamed.", "x"]);
    expect(await endOf(budget)).toMatchObject({ steps: 3 });
  });

  test("within another budget, which counts as well", async () => {
    await using at = await openModel();
    const { value, budget } = await given(() => withBudget({ steps: 9 }, () => begin(at).toTextStreamResponse()));
    expect(await value.text()).toBe("Hello, streamed.");
    expect(await endOf(budget)).toMatchObject({ steps: 3 });
  });
});

/** A call that is only made when something is read. */
async function ask(at: ScriptedModel): Promise<Response> {
  const send = governedFetch({ prices: PRICES });
  const body = JSON.stringify({ model: GPT, max_tokens: 50, messages: [{ role: "user", content: "Hello?" }] });
  return send(`${at.url}/chat/completions`, { method: "POST", body, headers: { "content-type": "application/json" } });
}

describe("a stream that begins a call when it is read", () => {
  const encode = (status: number) => new TextEncoder().encode(String(status));

  test.for([
    [
      "a ReadableStream",
      (at: ScriptedModel) =>
        new ReadableStream<Uint8Array>(
          {
            async pull(controller) {
              controller.enqueue(encode((await ask(at)).status));
              controller.close();
            },
          },
          { highWaterMark: 0 },
        ),
    ],
    [
      "one of bytes",
      (at: ScriptedModel) =>
        new ReadableStream({
          type: "bytes",
          async pull(controller) {
            controller.enqueue(encode((await ask(at)).status));
            controller.close();
          },
        }),
    ],
    [
      "a Response",
      (at: ScriptedModel) =>
        new Response(
          new ReadableStream<Uint8Array>(
            {
              async pull(controller) {
                controller.enqueue(encode((await ask(at)).status));
                controller.close();
              },
            },
            { highWaterMark: 0 },
          ),
        ),
    ],
    [
      "a Readable of Node",
      (at: ScriptedModel) => {
        const stream = new Readable({
          read() {
            void ask(at).then(({ status }) => {
              stream.push(String(status));
              stream.push(null);
            });
          },
        });
        return stream;
      },
    ],
    [
      "a Readable of an iterator",
      (at: ScriptedModel) =>
        Readable.from(
          (async function* () {
            yield String((await ask(at)).status);
          })(),
        ),
    ],
    [
      "an async generator",
      (at: ScriptedModel) =>
        (async function* () {
          yield encode((await ask(at)).status);
        })(),
    ],
    [
      "an async iterable",
      (at: ScriptedModel) => ({
        async *[Symbol.asyncIterator]() {
          yield encode((await ask(at)).status);
        },
      }),
    ],
  ] as const)("has it paid by the budget: %s", async ([, work]) => {
    await using at = await openScriptedModel({
      script: () => ({ kind: "text", text: "Hi", usage: USAGE }),
      models: [GPT],
    });
    const { value, budget } = await given<unknown>(() => work(at));
    expect([await isOpen(budget), currentPurse()]).toEqual([true, null]);
    const source = value instanceof Response ? value.body : value;
    expect(await text(source as Readable)).toBe("200");
    expect(await endOf(budget)).toMatchObject({ steps: 1 });
  });
});

/** A stream that never ends by itself. */
function endless(cancelled: unknown[] = []): ReadableStream<string> {
  return new ReadableStream({
    pull: (controller) => controller.enqueue("x"),
    cancel: (reason) => void cancelled.push(reason),
  });
}

describe("the budget ends with the stream", () => {
  test("that is cancelled", async () => {
    const cancelled: unknown[] = [];
    const { value, budget } = await given(() => endless(cancelled));
    const reader = value.getReader();
    expect(await reader.read()).toEqual({ done: false, value: "x" });
    expect(await isOpen(budget)).toBe(true);
    await reader.cancel("enough");
    await endOf(budget);
    expect(cancelled).toEqual(["enough"]);
  });

  test("that fails", async () => {
    const { value, budget } = await given(
      () =>
        new ReadableStream({
          pull: () => {
            throw new Error("broken");
          },
        }),
    );
    await expect(value.getReader().read()).rejects.toThrow("broken");
    await endOf(budget);
  });

  test("that is left", async () => {
    const { value, budget } = await given(async function* () {
      for (;;) yield "x";
    });
    for await (const part of value) if (part === "x") break;
    await endOf(budget);
  });

  test("that was cloned, when both are read", async () => {
    const { value, budget } = await given(
      () =>
        new Response("Hello", {
          headers: [
            ["set-cookie", "a=1"],
            ["set-cookie", "b=2"],
          ],
        }),
    );
    expect(value.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    const copy = value.clone();
    expect(await isOpen(budget)).toBe(true);
    expect([await value.text(), await copy.text()]).toEqual(["Hello", "Hello"]);
    await endOf(budget);
  });

  test("that nobody reads, after ten minutes", async () => {
    const clock = new FakeClock();
    const { value, budget } = await given(() => endless(), { clock, timer: clock });
    const reader = value.getReader();
    clock.advance(599_000);
    await reader.read();
    clock.advance(599_000);
    expect(await isOpen(budget)).toBe(true);
    clock.advance(1000);
    await endOf(budget);
    expect(await reader.read()).toEqual({ done: false, value: "x" });
  });

  test("and at once where there is nothing to read", async () => {
    for (const value of [
      null,
      "text",
      { a: 1 },
      [1],
      new Response(null, { status: 204 }),
      new Map(),
      Buffer.from("x"),
    ]) {
      const { budget, value: same } = await given(() => value as object);
      expect([same, await isOpen(budget)]).toEqual([value, false]);
      expect(same).toBe(value);
    }
    const read = new Response("read");
    await read.text();
    expect((await given(() => read)).value).toBe(read);
  });
});

test("what is given back keeps its type, and the rest of what it is", async () => {
  class Own extends Response {
    readonly extra = 7;
    readonly #secret = 8;
    get secret(): number {
      return this.#secret;
    }
  }
  const { value: own, budget } = await given(() => new Own("Hello", { status: 202 }));
  expect(own).toBeInstanceOf(Own);
  expect([own.extra, own.secret, own.status, own.ok]).toEqual([7, 8, 202, true]);
  expect(await own.clone().text()).toBe("Hello");
  expect([await own.text(), own.bodyUsed]).toEqual(["Hello", true]);
  await endOf(budget);

  await using at = await openScriptedModel({
    script: () => ({ kind: "text", text: "Hi", usage: USAGE }),
    models: [GPT],
  });
  const answered = await given(() => ask(at));
  expect([answered.value.url, answered.value.status]).toEqual([`${at.url}/chat/completions`, 200]);
  expect(await answered.value.json()).toMatchObject({ choices: [{}] });
  expect(await endOf(answered.budget)).toMatchObject({ steps: 1 });
});

test("a function that fails ends its budget, and the error is its own", async () => {
  await using store = new MemoryStore();
  await expect(
    withBudget(
      { steps: 1 },
      () => {
        throw new LedgerError("mine");
      },
      { store, name: "failing" },
    ),
  ).rejects.toThrow("mine");
  expect((await store.budget("failing"))?.ended).toBe(true);
  await expect(openBudget({ steps: 1 }, { store, name: "failing" })).rejects.toThrow("has ended");
});
