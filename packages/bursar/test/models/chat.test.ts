import { describe, expect, test } from "vitest";
import type { Json } from "../../src/core/chain/canonical.js";
import { type ChatModelOptions, chatModel } from "../../src/models/chat/chat.js";
import { ProviderError } from "../../src/models/chat/provider-error.js";
import { openScriptedModel, type Script } from "../../src/testing/scripted-model.js";

const FREE = { input_usd_per_mtok: 0, output_usd_per_mtok: 0 };
const PRICES = { scripted: { input_usd_per_mtok: 2.5, output_usd_per_mtok: 10 } };
const SECRET = "sk-very-secret-0123456789";

function options(url = "http://127.0.0.1:9/v1"): ChatModelOptions {
  return { url, model: "scripted", prices: PRICES, apiKey: SECRET, max_tokens: 100 };
}

/** Puts one request to a model with this script. */
async function put(script: Script, request: Json, more: Partial<ChatModelOptions> = {}) {
  await using server = await openScriptedModel({ script, models: ["scripted", "other"] });
  const model = chatModel({ ...options(server.url), ...more });
  const call = { signal: new AbortController().signal, key: "run é/1" };
  const answer = await model.call(request, call);
  return { answer, quote: await model.quote(request), requests: server.requests };
}

async function failureOf(script: Script, more: Partial<ChatModelOptions> = {}): Promise<ProviderError> {
  const error = await put(script, "Hi.", more).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof ProviderError) return error;
  throw new Error(`not a ProviderError: ${error}`, { cause: error });
}

describe("a chat model", () => {
  test("sends what it was asked, and gives back the text, with what it has used and cost", async () => {
    const usage = { prompt_tokens: 20, completion_tokens: 3 };
    const { answer, requests } = await put([{ kind: "text", text: "Hello.", usage }], {
      prompt: "Hi.",
      system: "Be kind.",
    });
    expect(answer).toEqual({
      value: {
        text: "Hello.",
        finish_reason: "stop",
        model: "scripted",
        message: { role: "assistant", content: "Hello." },
      },
      usage: {
        llm_input_tokens: 20,
        llm_output_tokens: 3,
        llm_tokens: 23,
        cost_usd: 0.00008,
        network_egress_bytes: Buffer.byteLength(JSON.stringify(requests[0]?.body)),
      },
    });
    const [{ body, headers } = { body: {}, headers: {} }] = requests;
    expect(body).toEqual({
      model: "scripted",
      max_tokens: 100,
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "Hi." },
      ],
    });
    expect(headers).toMatchObject({ authorization: `Bearer ${SECRET}`, "idempotency-key": "run%20%C3%A9%2F1" });
  });

  test("quotes the bytes of what it sends and all that may be answered, at the stated price", async () => {
    const { quote, requests } = await put(["Hello."], {
      messages: [{ role: "user", content: "Grüße 👋" }],
      max_tokens: 7,
    });
    const bytes = Buffer.byteLength(JSON.stringify(requests[0]?.body));
    // What providers write around a conversation comes on top of its bytes.
    const input = bytes + 64;
    expect(quote).toEqual({
      llm_input_tokens: input,
      llm_output_tokens: 7,
      llm_tokens: input + 7,
      cost_usd: (input * 2500 + 7 * 10_000) / 1e9,
      network_egress_bytes: bytes + 256,
    });
  });

  test("rounds what a call costs up, once", async () => {
    const price = { input_usd_per_mtok: 0.0001, output_usd_per_mtok: 0.0001 };
    const usage = { prompt_tokens: 5, completion_tokens: 6 };
    const { answer } = await put([{ kind: "text", text: "x", usage }], "Hi.", { prices: { scripted: price } });
    expect(answer.usage).toMatchObject({ cost_usd: 0.000000002 });
  });

  test("always says how much may be answered, under the name the request uses", async () => {
    const sent = async (request: Json) => (await put(["Yes."], request)).requests[0]?.body;
    expect(await sent("Hi.")).toMatchObject({ max_tokens: 100 });
    expect(await sent({ prompt: "Hi.", max_tokens: 9 })).toMatchObject({ max_tokens: 9 });
    const newer = await sent({ prompt: "Hi.", max_completion_tokens: 9 });
    expect(newer).toMatchObject({ max_completion_tokens: 9 });
    expect(newer).not.toHaveProperty("max_tokens");
  });

  test("says nothing of usage that the provider does not tell, or tells as nonsense", async () => {
    const wrong = { prompt_tokens: -1, completion_tokens: 3 };
    for (const usage of [null, wrong]) {
      const { answer } = await put([{ kind: "text", text: "x", usage }], "Hi.");
      expect(answer.usage).toBeUndefined();
    }
  });

  test("counts as output what only the total tells", async () => {
    const message = { role: "assistant", content: "x" };
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 40 };
    const { answer } = await put([{ kind: "garbage", body: JSON.stringify({ choices: [{ message }], usage }) }], "Hi.");
    expect(answer.usage).toMatchObject({ llm_input_tokens: 10, llm_output_tokens: 30, llm_tokens: 40 });
  });

  test("hands tool calls over as they come, and quotes what providers write around tools", async () => {
    const tools = [{ type: "function", function: { name: "search", parameters: { type: "object" } } }];
    const tool_calls = [{ name: "search", arguments: { query: "bolts" } }];
    const { answer, quote, requests } = await put([{ kind: "text", text: "", tool_calls }], { prompt: "Hi.", tools });
    expect(answer.value).toMatchObject({
      text: "",
      finish_reason: "tool_calls",
      message: { tool_calls: [{ function: { name: "search", arguments: '{"query":"bolts"}' } }] },
    });
    expect(quote.llm_input_tokens).toBeGreaterThan(Buffer.byteLength(JSON.stringify(requests[0]?.body)));
  });
});

describe("a provider that gives no answer", () => {
  test.each([400, 401, 403, 404, 413, 422, 429, 503, 529])("refuses with %d, which costs nothing", async (status) => {
    const failure = await failureOf([{ kind: "status", status, message: "no\n way", retry_after_s: 3 }]);
    expect(failure).toMatchObject({ code: "provider_refused", status, data: { status, retry_after_s: 3 } });
    expect(failure.message).toBe(`the provider answered ${status}: no way`);
    expect(failure.usage).toMatchObject({ llm_tokens: 0, cost_usd: 0 });
  });

  test.each([408, 409, 500, 502])("fails with %d, and nobody knows what it has used", async (status) => {
    const failure = await failureOf([{ kind: "status", status }]);
    expect(failure).toMatchObject({ code: "provider_failed", status, usage: null });
  });

  test.each([
    [{ kind: "garbage" }, "provider_answer", "with no completion"],
    [{ kind: "garbage", body: "" }, "provider_answer", "nothing"],
    [{ kind: "garbage", body: "null" }, "provider_answer", "null"],
    [{ kind: "garbage", body: '{"choices":[]}' }, "provider_answer", "no completion"],
    [{ kind: "half", text: "Half of an answer." }, "provider_failed", "the connection to http://127.0.0.1"],
  ] as const)("is told from one that does: %j", async (answer, code, said) => {
    const failure = await failureOf([answer]);
    expect(failure).toMatchObject({ code, usage: null });
    expect(failure.message).toContain(said);
  });

  test("that hangs is given up after the time it has", async () => {
    const failure = await failureOf([{ kind: "hang" }], { timeout_ms: 30 });
    expect(failure).toMatchObject({ code: "provider_timeout", usage: null });
  });

  test("that hangs is left at once when the run has to end", async () => {
    await using server = await openScriptedModel({ script: [{ kind: "hang" }] });
    const end = new AbortController();
    const call = chatModel(options(server.url)).call("Hi.", { signal: end.signal, key: "k" });
    while (server.count < 1) await new Promise((resolve) => setImmediate(resolve));
    const reason = new Error("the run is over");
    end.abort(reason);
    await expect(call).rejects.toBe(reason);
  });

  test("and is not there costs nothing", async () => {
    const { url } = await (async () => {
      await using gone = await openScriptedModel({ script: [] });
      return { url: gone.url };
    })();
    const failure = await failureOf([], { url });
    expect(failure).toMatchObject({ code: "provider_unreachable", usage: { cost_usd: 0 } });
    expect(failure.message).toContain("ECONNREFUSED");
  });

  test("at an address that fetch sends nothing to costs nothing", async () => {
    const failure = await failureOf([], { url: "http://127.0.0.1:1/v1" });
    expect(failure).toMatchObject({ code: "provider_unreachable", usage: { cost_usd: 0 } });
    expect(failure.message).toBe("http://127.0.0.1:1 cannot be reached (bad port)");
  });

  test("never makes us tell the key, however it repeats it", async () => {
    await using server = await openScriptedModel({ script: [], apiKey: "another" });
    const refused = await failureOf([], { url: server.url });
    expect(refused.message).toBe("the provider answered 401: incorrect API key provided: [key]");
    const echoes: Script = [{ kind: "garbage", body: `${"x".repeat(290)}${SECRET}` }];
    for (const failure of [refused, await failureOf(echoes), await failureOf(echoes, { apiKey: "x" })]) {
      expect(JSON.stringify([failure.message, failure.stack, failure.data])).not.toContain("secret");
      expect(failure.message.length).toBeLessThan(400);
    }
  });

  test.each([
    ["as it is", SECRET],
    ["in base64", Buffer.from(`Bearer ${SECRET}`).toString("base64")],
  ])("never gives the key to a program, however an answer repeats it: %s", async (_, form) => {
    const { answer } = await put(
      [{ kind: "text", text: `Grüße: ${form}.`, usage: { prompt_tokens: 20, completion_tokens: 3 } }],
      "Hi.",
    );
    const { text } = answer.value as { readonly text: string };
    expect(text).toMatch(/^Grüße: .*\*{10,}.*\.$/);
    expect(JSON.stringify(answer)).not.toContain(form.slice(-12));
    expect(answer.usage).toMatchObject({ cost_usd: 0.00008 });
  });

  test("and redirects does not get the key carried elsewhere", async () => {
    const seen: RequestInit[] = [];
    const send: typeof fetch = async (_, init) => {
      seen.push(init ?? {});
      throw new TypeError("fetch failed", { cause: new Error("unexpected redirect") });
    };
    const failure = await failureOf([], { fetch: send });
    expect(seen).toMatchObject([{ redirect: "error" }]);
    expect(failure.message).toContain("unexpected redirect");
  });
});

describe("what cannot be quoted is not asked", () => {
  test("a model without a price, and it is said how to state one", async () => {
    const model = chatModel(options());
    expect(() => model.quote({ prompt: "Hi.", model: "constructor" })).toThrow(
      'there is no price for the model "constructor", so it is not called; state it: prices: { "constructor": { input_usd_per_mtok',
    );
    await expect(put(["Yes."], { prompt: "Hi.", model: "other" })).rejects.toMatchObject({ code: "unknown_price" });
    const { answer } = await put(["Yes."], { prompt: "Hi.", model: "other" }, { prices: { ...PRICES, other: FREE } });
    expect(answer.usage).toMatchObject({ cost_usd: 0 });
  });

  test.each([
    [7, "request is 7"],
    [{}, "request says nothing"],
    [{ prompt: "a", messages: [] }, "say one of them"],
    [{ messages: [] }, "request.messages are an array"],
    [{ messages: ["a"] }, "request cannot be sent: messages[0] is"],
    [
      { messages: [{ role: "user", content: [{ type: "image_url" }] }] },
      "messages[0].content[0].image_url is undefined",
    ],
    [{ prompt: "a", max_tokens: 0 }, "max_tokens is 0"],
    [{ prompt: "a", model: 3 }, "model is 3"],
    [{ prompt: "a", system: 3 }, "request.system is 3"],
    [{ prompt: "a", n: "5" }, 'n is "5"'],
    [{ prompt: "a", stream: true }, "request.stream is true"],
  ])("a request that makes no sense: %j", (request, message) => {
    expect(() => chatModel(options()).quote(request as Json)).toThrow(message);
  });

  test.each([
    [{ url: "provider.example" }, "url is none"],
    [{ url: "ftp://provider.example" }, "url is none"],
    [{ url: "https://me:hunter2@provider.example/v1" }, "url holds a login"],
    [{ apiKey: "with\nline" }, "apiKey is none"],
    [{ model: "" }, 'model is ""'],
    [{ prices: {} }, 'prices has none for "scripted"; state it'],
    [{ prices: { scripted: { input_usd_per_mtok: 1 } } }, "prices.scripted.output_usd_per_mtok is undefined"],
    [{ prices: { scripted: { input: 1 } } }, "prices.scripted.input is not known here"],
    [{ prices: { scripted: { ...FREE, input_usd_per_mtok: -1 } } }, "input_usd_per_mtok is -1"],
    [{ max_tokens: 1.5 }, "max_tokens is 1.5"],
    [{ timeout_ms: -1 }, "timeout_ms is -1"],
    [{ apikey: "x" }, "did you mean apiKey?"],
  ])("options that make no sense, without telling secrets: %j", (wrong, message) => {
    const make = () => chatModel({ ...options(), ...wrong } as ChatModelOptions);
    expect(make).toThrow(message);
    expect(make).not.toThrow("hunter2");
  });

  test("an address may end as it likes", async () => {
    await using server = await openScriptedModel({ script: () => "Yes." });
    for (const end of ["", "/", "/chat/completions"]) {
      const model = chatModel(options(`${server.url}${end}`));
      await model.call("Hi.", { signal: new AbortController().signal, key: "k" });
    }
    expect(server.count).toBe(3);
  });
});
