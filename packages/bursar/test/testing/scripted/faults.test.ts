import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import type { ScriptedAnswer } from "../../../src/testing/scripted/answer.js";
import { openScriptedModel } from "../../../src/testing/scripted-model.js";
import { ASKING, arrived, ask, eventsIn, until } from "./asking.js";

const TEXT = "Plain at first, for two whole pieces at the least, and then: äöü and so on, for quite a while longer.";
const STREAM = { stream: true };

describe.for(ASKING)("what can go wrong with $protocol:", (asking) => {
  const opened = (answer: ScriptedAnswer) => openScriptedModel({ script: () => answer });

  test("the connection is lost after some events", async () => {
    await using server = await opened({ kind: "half", text: TEXT, events: 4 });
    const { bytes, whole } = await arrived(await ask(server, asking, STREAM));
    expect([eventsIn(bytes).length, whole]).toEqual([4, false]);
    expect(bytes.toString("utf8")).toMatch(/\n\n$/);
    expect(server.aborted).toBe(0);
  });

  test("it is lost in the middle of an event", async () => {
    await using server = await opened({ kind: "half", text: TEXT, events: 4, rest: "half" });
    const { bytes, whole } = await arrived(await ask(server, asking, STREAM));
    expect([eventsIn(bytes).length, whole]).toEqual([4, false]);
    expect(bytes.toString("utf8")).not.toMatch(/\n$/);
  });

  test("it is lost in the middle of a character, streamed or not", async () => {
    await using server = await opened({ kind: "half", text: TEXT, events: 1, rest: "character" });
    for (const stream of [true, false]) {
      const { bytes, whole } = await arrived(await ask(server, asking, { stream }));
      expect(whole).toBe(false);
      expect(bytes.at(-1)).toBe(Buffer.from("ä")[0]);
      expect(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes)).toThrow("not valid");
    }
  });

  test("a stream ends as if it were over, and is not", async () => {
    await using server = await opened({ kind: "half", text: TEXT, ending: "end" });
    const { bytes, whole } = await arrived(await ask(server, asking, STREAM));
    expect(whole).toBe(true);
    expect(bytes.toString("utf8")).not.toMatch(/\[DONE\]|response\.completed|message_stop/);
    const plain = await ask(server, asking);
    await expect(plain.json()).rejects.toThrow("JSON");
  });

  test("it hangs before it says anything, and whoever leaves is counted", async () => {
    await using server = await opened({ kind: "hang" });
    const impatient = new AbortController();
    const asked = ask(server, asking, STREAM, { signal: impatient.signal });
    asked.catch(() => {});
    await until(() => server.count === 1);
    expect(server.aborted).toBe(0);
    impatient.abort();
    await expect(asked).rejects.toThrow("aborted");
    await until(() => server.aborted === 1);
    expect(server.abortedRequests).toEqual(server.requests);
  });

  test.for([0, 3])("it hangs after %d events, and whoever leaves is counted", async (events) => {
    await using server = await opened({ kind: "half", text: TEXT, events, ending: "hang" });
    const impatient = new AbortController();
    const response = await ask(server, asking, STREAM, { signal: impatient.signal });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    if (events > 0) {
      const reader = response.body?.getReader();
      const first = await reader?.read();
      expect(eventsIn(Buffer.from(first?.value ?? [])).length).toBeGreaterThan(0);
    }
    impatient.abort();
    await until(() => server.aborted === 1);
    expect(server.abortedRequests[0]).toMatchObject({ protocol: asking.protocol, stream: true });
  });

  test.for(["hang", "cut", "error"] as const)("an answer that is no stream ends in the middle: %s", async (ending) => {
    await using server = await opened({ kind: "half", text: TEXT, ending });
    const impatient = new AbortController();
    const response = await ask(server, asking, {}, { signal: impatient.signal });
    const reading = arrived(response);
    if (ending === "hang") impatient.abort();
    const { bytes, whole } = await reading;
    expect(whole).toBe(false);
    expect(bytes.length).toBeLessThan(Number(response.headers.get("content-length")));
    await until(() => server.aborted === (ending === "hang" ? 1 : 0));
  });

  test("its pieces are slow, by the clock it was given", async () => {
    const clock = new FakeClock();
    const script = [{ kind: "text", text: TEXT, piece_ms: 1000 } as const];
    await using server = await openScriptedModel({ script, clock, timer: clock });
    const response = await ask(server, asking, STREAM);
    let seen = "";
    let over = false;
    const reading = (async () => {
      for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) seen += Buffer.from(piece);
      over = true;
    })();
    const count = () => seen.split("\n\n").length - 1;
    await until(() => count() === 1);
    for (let known = 1; !over; ) {
      clock.advance(999);
      await new Promise((resolve) => setImmediate(resolve));
      expect(count()).toBe(known);
      clock.advance(1);
      await until(() => over || count() > known);
      known = count();
    }
    await reading;
    expect(count()).toBeGreaterThan(6);
  });

  test("somebody leaves between two pieces", async () => {
    const clock = new FakeClock();
    const script = [{ kind: "text", text: TEXT, piece_ms: 1000 } as const];
    await using server = await openScriptedModel({ script, clock, timer: clock });
    const response = await ask(server, asking, STREAM);
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await until(() => server.aborted === 1);
  });

  test("it says more than it was allowed to, and says so", async () => {
    await using server = await opened({ kind: "text", text: TEXT, ignores_limit: true });
    const limited = { [asking.limit]: 16 };
    const whole = JSON.stringify(await (await ask(server, asking, limited)).json());
    expect(whole).toContain(TEXT);
    expect(whole).toMatch(/"(?:completion|output)_tokens":26/);
    const { bytes } = await arrived(await ask(server, asking, { ...limited, ...STREAM }));
    expect(bytes.toString("utf8")).toContain("nger.");
  });

  test("it claims to have used more than it was allowed to, and is held to that", async () => {
    const usage = { prompt_tokens: 1, completion_tokens: 5000, reasoning_tokens: 4000 };
    await using server = await openScriptedModel({
      script: ({ number }) => ({ kind: "text", text: "Hm.", usage, ignores_limit: number === 2 }),
    });
    const limited = { [asking.limit]: 16 };
    const held = JSON.stringify(await (await ask(server, asking, limited)).json());
    expect(held).toMatch(/"(?:completion|output)_tokens":16[,}]/);
    expect(held).toMatch(/"length"|"max_tokens"|"max_output_tokens"/);
    const more = JSON.stringify(await (await ask(server, asking, limited)).json());
    expect(more).toMatch(/"(?:completion|output)_tokens":5000[,}]/);
  });

  test.for([{ stream: false }, { stream: true }])(
    "it says nothing of its usage, or nonsense: %j",
    async ({ stream }) => {
      const raw = { completion_tokens: -7, output_tokens: "many", input_tokens: 1.5 };
      await using server = await openScriptedModel({
        script: ({ number }) => ({ kind: "text", text: "Hm.", usage: number === 1 ? null : { raw } }),
      });
      const asked = {
        stream,
        ...(stream && asking.protocol === "openai-chat" && { stream_options: { include_usage: true } }),
      };
      const silent = (await arrived(await ask(server, asking, asked))).bytes.toString("utf8");
      expect(silent).not.toMatch(/"usage":\{/);
      const absurd = (await arrived(await ask(server, asking, asked))).bytes.toString("utf8");
      expect(absurd).toContain(`"usage":${JSON.stringify(raw)}`);
    },
  );

  test("something else answers in its place", async () => {
    const page = { kind: "garbage", body: "<html>Bad gateway</html>", status: 502, content_type: "text/html" } as const;
    await using server = await opened(page);
    const response = await ask(server, asking);
    expect([response.status, response.headers.get("content-type")]).toEqual([502, "text/html"]);
    expect(await response.text()).toBe(page.body);
  });

  test("a stream of nonsense", async () => {
    const body = "data: {not json\n\nevent: surprise\ndata: 7\n\n";
    await using server = await opened({ kind: "garbage", body, content_type: "text/event-stream" });
    expect(await (await ask(server, asking, STREAM)).text()).toBe(body);
  });

  test("a body that is nested too deeply to be written again is refused", async () => {
    await using server = await opened("Yes.");
    const deep = `${"[".repeat(60_000)}${"]".repeat(60_000)}`;
    const text = JSON.stringify({ model: "scripted", ...asking.body }).replace("{", `{"tools":${deep},`);
    const response = await fetch(`${server.url}${asking.path}`, {
      method: "POST",
      body: text,
      headers: { "anthropic-version": "2023-06-01" },
    });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("nested too deeply")]);
  });
});

test("half a character can only be had where there is a long one", async () => {
  await using server = await openScriptedModel({ script: () => ({ kind: "half", text: "plain", rest: "character" }) });
  for (const stream of [true, false]) {
    for (const asking of ASKING) {
      const response = await ask(server, asking, { stream });
      expect([response.status, await response.text()]).toEqual([500, expect.stringContaining("several bytes")]);
    }
  }
});

test("requests are kept up to a number, and counted beyond it", async () => {
  await using server = await openScriptedModel({ script: () => "Yes.", keep: 2 });
  for (const asking of ASKING) await (await ask(server, asking)).text();
  expect(server.count).toBe(3);
  expect(server.requests.map(({ number }) => number)).toEqual([2, 3]);
});

test("counting can be made to fail, to hang and to say what it likes", async () => {
  const answers = [7, { kind: "status", status: 529 }, { kind: "garbage" }, { kind: "hang" }] as const;
  await using server = await openScriptedModel({ script: [], counting: ({ number }) => answers[number - 1] as number });
  const count = async (init: RequestInit = {}) => {
    const headers = { "anthropic-version": "2023-06-01" };
    const body = JSON.stringify({ model: "scripted", messages: [{ role: "user", content: "Hello?" }] });
    const response = await fetch(`${server.url}/messages/count_tokens`, { method: "POST", body, headers, ...init });
    return [response.status, await response.text()];
  };
  expect(await count()).toEqual([200, '{"input_tokens":7}']);
  expect(await count()).toEqual([529, expect.stringContaining("overloaded_error")]);
  expect(await count()).toEqual([500, expect.stringContaining("counting gives garbage; allowed: status, hang")]);
  const impatient = new AbortController();
  const hanging = count({ signal: impatient.signal });
  hanging.catch(() => {});
  await until(() => server.countingRequests.length === 4);
  impatient.abort();
  await expect(hanging).rejects.toThrow("aborted");
  expect(server.count).toBe(0);
});

test.for([
  ["openai", "/v1/elsewhere", {}, { error: { type: "invalid_request_error" } }],
  ["anthropic", "/v1/elsewhere", { "anthropic-version": "1" }, { type: "error", error: { type: "not_found_error" } }],
  ["anthropic", "/v1/messages", {}, { type: "error", error: { message: "anthropic-version: header is required" } }],
] as const)(
  "an address or a request that is none is refused in the words of %s: %s",
  async ([, path, headers, said]) => {
    await using server = await openScriptedModel({ script: [] });
    const response = await fetch(`${server.origin}${path}`, { method: "POST", body: '{"model":"scripted"}', headers });
    expect(await response.json()).toMatchObject(said);
  },
);

test.for([
  ["/v1/chat/completions", { stream_options: { include_usage: true } }, "stream_options is only allowed"],
  ["/v1/chat/completions", { n: 0 }, "n is 0"],
  ["/v1/chat/completions", { stop: 7 }, "stop is 7"],
  ["/v1/responses", { input: [] }, "input is an array"],
  ["/v1/responses", { input: [{}] }, "input is an array"],
  ["/v1/embeddings", { input: "" }, 'input is ""'],
  ["/v1/embeddings", { input: ["a", 1] }, "input is an array"],
  ["/v1/embeddings", { input: "a", dimensions: 9999 }, "dimensions is 9999"],
  ["/v1/embeddings", { input: "a", encoding_format: "hex" }, 'encoding_format is "hex"'],
] as const)("%s with %j is refused, and counts as nothing", async ([path, more, said]) => {
  await using server = await openScriptedModel({ script: () => "Yes." });
  const messages = [{ role: "user", content: "Hello?" }];
  const body = JSON.stringify({ model: "scripted", messages, ...more });
  const response = await fetch(`${server.origin}${path}`, { method: "POST", body });
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(said.replaceAll('"', '\\"'))]);
  expect(server.count).toBe(0);
});

test("a model's name in an address may hold anything", async () => {
  await using server = await openScriptedModel({ script: [], models: ["acme/large 2"] });
  const statusOf = async (name: string) => (await fetch(`${server.url}/models/${name}`)).status;
  expect(await statusOf("acme%2Flarge%202")).toBe(200);
  expect(await statusOf("%zz")).toBe(404);
  expect(await statusOf("%zz")).toBe(404);
});
