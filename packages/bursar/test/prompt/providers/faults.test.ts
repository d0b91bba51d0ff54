import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { Budget } from "../../../src/prompt/budget.js";
import { ProviderError } from "../../../src/prompt/provider.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import { until } from "../../testing/scripted/asking.js";
import { deferred, failureOf } from "../scripted.js";
import { CHAT, MESSAGES, RESPONSES, says, scene, streamed, used, WIRES } from "./wires.js";

const greeting = { name: "greeting", text: "Say hello." };
const limited = () => new Budget({ tokenLimit: { input: 1_000, output: 300 } });
const SECRET = "sk-test-secret";
const PIECES = [
  { choices: [{ delta: { tool_calls: [{ index: -1 }, 7, { index: 3, function: { arguments: "}" } }] } }] },
  { choices: 7, type: "content_block_delta", index: 5, delta: { type: "text_delta", text: "x" } },
  { type: "response.completed", response: 7 },
];

describe.each(WIRES)("$name", (wire) => {
  test.each([400, 401, 404, 413, 422, 429, 503, 529])(
    "status %i costs nothing and is not tried again",
    async (status) => {
      await using at = await scene(wire, () => ({
        kind: "status",
        status,
        message: `no, ${SECRET}`,
        retry_after_s: 0,
      }));
      const budget = limited();

      const error = await failureOf(at.adapter.evaluate(greeting, { budget }));

      expect(error).toMatchObject({ phase: "request", cause: { usage: { input: 0, output: 0 } } });
      expect(messagesOf(error)).toContain(`answered ${status}: no, [key]`);
      expect(messagesOf(error)).not.toContain(SECRET);
      expect(used(budget)).toEqual({ input: 0, output: 0 });
      expect(at.server.count).toBe(1);
    },
  );

  test.each([408, 409, 500, 502])("status %i may have cost something, and is not tried again", async (status) => {
    await using at = await scene(wire, () => ({ kind: "status", status }));
    const budget = limited();

    const error = await failureOf(at.adapter.evaluate(greeting, { budget }));

    expect(error).toMatchObject({ phase: "request", budget: { estimated: true } });
    expect(used(budget).output).toBe(300);
    expect(at.server.count).toBe(1);
  });

  test.each([
    ["half of JSON", undefined],
    ["nothing", ""],
    ["a page", "<html>hello</html>"],
    ["a list", "[]"],
    ["an empty object", "{}"],
    ["parts of the wrong kind", '{"choices":[{"message":7}],"content":7,"output":7,"status":"completed"}'],
    ["an error with a status of success", '{"error":{"message":"overloaded"}}'],
  ])("garbage is charged its reservation: %s", async (_name, body) => {
    await using at = await scene(wire, [{ kind: "garbage", ...(body !== undefined && { body }) }]);
    const budget = limited();

    const error = await failureOf(at.adapter.evaluate(greeting, { budget }));

    expect(error).toMatchObject({ phase: "request", cause: expect.any(ProviderError) });
    expect(error.budget).toMatchObject({ estimated: true, usage: { output: 300 } });
    expect(at.server.count).toBe(1);
  });

  test.each(["cut", "end"] as const)(
    "an answer that breaks off is charged and not asked for again: %s",
    async (ending) => {
      await using at = await scene(wire, () => ({ kind: "half", text: "One two three four five six.", ending }));
      const budget = limited();

      const error = await failureOf(at.adapter.evaluate(greeting, { budget }));

      expect(error).toMatchObject({ phase: "request", cause: expect.any(ProviderError), budget: { estimated: true } });
      // Nobody knows whether this model has thought, so that all of the output counts.
      expect(used(budget).output).toBe(300);
      expect(used(budget).input).toBeGreaterThan(0);
      expect(at.server.count).toBe(1);
    },
  );

  test("a caller who gives up hangs up, also in the middle of an answer", async () => {
    await using at = await scene(wire, [{ kind: "half", text: "One two three four.", ending: "hang" }]);
    const budget = limited();
    const controller = new AbortController();

    const evaluation = failureOf(at.adapter.evaluate(greeting, { budget, signal: controller.signal }));
    await until(() => at.server.count === 1);
    controller.abort();
    const error = await evaluation;
    await until(() => at.server.aborted === 1);

    expect(error).toMatchObject({ phase: "request", message: expect.stringContaining("aborted by its caller") });
    expect(used(budget).output).toBe(300);
  });

  test("a provider who does not answer in time is hung up on", async () => {
    const timer = new FakeClock();
    await using at = await scene(wire, [{ kind: "hang" }], { timeout_ms: 30_000, timer });
    const budget = limited();

    const evaluation = failureOf(at.adapter.evaluate(greeting, { budget }));
    await until(() => at.server.count === 1);
    timer.advance(30_000);
    const error = await evaluation;
    await until(() => at.server.aborted === 1);

    expect(messagesOf(error)).toContain("gave no answer within 30000 ms");
    expect(used(budget).output).toBe(300);
  });

  test("nobody there costs nothing", async () => {
    const budget = limited();
    const adapter = wire.adapter({ model: "scripted", url: `http://127.0.0.1:${await freePort()}/v1?key=hidden` });

    const error = await failureOf(adapter.evaluate(greeting, { budget }));

    expect(messagesOf(error)).toContain("ECONNREFUSED");
    expect(messagesOf(error)).not.toContain("hidden");
    expect(used(budget)).toEqual({ input: 0, output: 0 });
  });

  test("a key is not carried to where a redirect points", async () => {
    await using at = await scene(wire, [says("Hello.", 1, 1)]);
    const server = createServer((_request, response) => {
      response.writeHead(307, { location: `${at.server.origin}${wire.path}` }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;

    const error = await failureOf(wire.adapter({ model: "scripted", url, apiKey: SECRET }).evaluate(greeting));
    await new Promise((resolve) => server.close(resolve));

    expect(error.phase).toBe("request");
    expect(at.server.count).toBe(0);
  });

  test("what a provider repeats of a header does not reach an error", async () => {
    const headers = { "api-key": "a-long-and-secret-value" };
    await using at = await scene(
      wire,
      () => ({ kind: "status", status: 401, message: "bad a-long-and-secret-value" }),
      {
        headers,
      },
    );

    const error = await failureOf(at.adapter.evaluate(greeting));

    expect(messagesOf(error)).toContain("bad [header]");
    expect(at.server.requests[0]?.headers["api-key"]).toBe("a-long-and-secret-value");
  });
});

describe.each([CHAT, RESPONSES, MESSAGES].map(streamed))("$name", (wire) => {
  test("an answer that breaks off is charged what was seen, if nothing can be hidden", async () => {
    const model = wire.name.startsWith("Messages") ? "claude-3-haiku" : "gpt-4o";
    const text = "One two three four five six seven eight nine ten.";
    await using at = await scene(wire, [{ kind: "half", text, ending: "cut" }], { fetch: renamed(model), model });
    const budget = new Budget({ tokenLimit: { input: 1_000, output: 2_000 } });

    const error = await failureOf(at.adapter.evaluate(greeting, { budget }));

    expect(error.budget).toMatchObject({ estimated: true });
    expect(used(budget).output).toBeGreaterThan(256);
    expect(used(budget).output).toBeLessThanOrEqual(256 + text.length);
  });

  test("a caller who gives up pays for what was seen", async () => {
    const model = wire.name.startsWith("Messages") ? "claude-3-haiku" : "gpt-4o";
    const text = "One two three four five six seven eight nine ten.";
    const begun = deferred<void>();
    await using at = await scene(wire, [{ kind: "half", text, ending: "hang" }], {
      fetch: noticed(renamed(model), () => begun.resolve()),
      model,
    });
    const budget = new Budget({ tokenLimit: { input: 1_000, output: 2_000 } });
    const controller = new AbortController();

    const evaluation = failureOf(at.adapter.evaluate(greeting, { budget, signal: controller.signal }));
    await begun.promise;
    controller.abort();
    await evaluation;
    await until(() => used(budget).output < 2_000);

    expect(used(budget).output).toBeGreaterThanOrEqual(256);
    expect(used(budget).output).toBeLessThanOrEqual(256 + text.length);
  });

  test.each([
    ["no events at all", "hello"],
    ["events of nothing", "data: hello\n\ndata: 7\n\n: still there\n\n"],
    ["an end without a beginning", 'data: [DONE]\n\nevent: message_stop\ndata: {"type":"message_stop","index":-1}\n\n'],
    ["pieces of what never began", PIECES.map((piece) => `data: ${JSON.stringify(piece)}\n\n`).join("")],
  ])("a stream of garbage is no answer: %s", async (_name, body) => {
    const garbage = { kind: "garbage", body, content_type: "text/event-stream" } as const;
    await using at = await scene(wire, [garbage]);
    const budget = limited();

    const error = await failureOf(at.adapter.evaluate(greeting, { budget }));

    expect(error).toMatchObject({ phase: "request", budget: { estimated: true } });
    expect(used(budget).output).toBe(300);
  });

  test("a failure in the middle is told", async () => {
    await using at = await scene(wire, [{ kind: "half", text: "One two three four.", ending: "error" }]);

    const error = await failureOf(at.adapter.evaluate(greeting, { budget: limited() }));

    expect(messagesOf(error)).toContain("the script says that it fails here");
    expect(error.budget).toMatchObject({ estimated: true, usage: { output: 300 } });
  });

  test("who says more than he was allowed is not listened to, and charged what was seen", async () => {
    const text = "word ".repeat(400);
    await using at = await scene(wire, [{ kind: "text", text, ignores_limit: true }]);
    const budget = new Budget({ tokenLimit: { input: 1_000, output: 20 } });

    const error = await failureOf(at.adapter.evaluate(greeting, { budget }));

    expect(messagesOf(error)).toContain("longer than the request allowed");
    expect(used(budget).output).toBe(21);
  });

  test("a server that does not know how to stream is understood", async () => {
    await using at = await scene(wire, [says("Hello.", 40, 5)], { fetch: unstreamed });

    const response = await at.adapter.evaluate(greeting, { budget: limited() });

    expect(response).toMatchObject({ text: "Hello.", usage: { input: 40, output: 5 } });
  });
});

/** The messages of an error and of its causes. */
function messagesOf(error: unknown): string {
  return error instanceof Error ? `${error.message}\n${messagesOf(error.cause)}` : "";
}

/** Tells when an answer has begun to arrive. */
function noticed(send: typeof fetch, notice: () => void): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    const passing = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        controller.enqueue(piece);
        setImmediate(notice);
      },
    });
    return new Response(response.body?.pipeThrough(passing) ?? null, response);
  };
}

/** Asks for the model that the server has, whatever the adapter asks for. */
function renamed(model: string): typeof fetch {
  return (input, init) => fetch(input, { ...init, body: String(init?.body).replace(`"${model}"`, '"scripted"') });
}

const unstreamed: typeof fetch = (input, init) => {
  const { stream: _stream, stream_options: _options, ...body } = JSON.parse(String(init?.body));
  return fetch(input, { ...init, body: JSON.stringify(body) });
};

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
