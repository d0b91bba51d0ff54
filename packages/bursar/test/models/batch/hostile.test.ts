import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import { savedUsd } from "../../../src/models/reuse/saved.js";
import { HOUR_MS, ofType, Scene, type SceneOptions } from "./scene.js";

type Provider = "openai" | "anthropic";

/** What is changed of an answer, by the place that was asked; null leaves it as it is. */
type Tamper = (path: string, text: string) => string | null;

/** Sends requests, remembers where to, and changes what comes back. */
function tampering(tamper: Tamper, asked: string[] = []): typeof fetch {
  return async (input, init) => {
    asked.push(String(input));
    const response = await fetch(input, init);
    const text = await response.text();
    const { pathname } = new URL(String(input));
    const made = tamper(`${init?.method ?? "GET"} ${pathname}`, text) ?? text;
    return new Response(made, { status: response.status });
  };
}

const PROMPTS = ["one", "two", "three", "four", "five"];

/** The lines of a file of results, each as an object, with the place of its prompt among all of them. */
function withLines(change: (line: JsonObject, index: number) => readonly unknown[]): Tamper {
  return (path, text) => {
    if (!/\/(?:content|results)$/.test(path)) return null;
    const lines = text.split("\n").filter((line) => line !== "");
    const placeOf = (line: string) => PROMPTS.findIndex((prompt) => line.includes(`You said: ${prompt}`));
    const made = lines.flatMap((line) => change(JSON.parse(line), placeOf(line)));
    return made.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
  };
}

/** Calls with a budget each, at a desk whose provider is not what it seems. */
async function called(prompts: readonly string[], tamper: Tamper, options: SceneOptions = {}, step_ms = 500) {
  const scene = await Scene.open(options);
  const asked: string[] = [];
  const desk = scene.desk({ fetch: tampering(tamper, asked) });
  const calls = prompts.map(async (prompt) => desk.call(await scene.purse(prompt, 1), { prompt, max_tokens: 50 }));
  const outcomes = await scene.until(Promise.allSettled(calls), step_ms);
  const paid = async (budget: string) => {
    const { used, reserved } = await scene.used(budget);
    expect(reserved).toEqual({});
    const quote = Number(ofType(await scene.links(budget), "Batched")[0]?.quote_usd) * 1e9;
    const { cost_usd = 0 } = used as { cost_usd?: number };
    return cost_usd === 0 ? "nothing" : cost_usd === quote ? "its quote" : "what it used";
  };
  return { scene, outcomes, asked, paid, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

function nested(depth: number): unknown {
  let value: unknown = "deep";
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

describe.each(["openai", "anthropic"] as const)("a provider that is not to be trusted, at %s", (provider: Provider) => {
  /** Puts something else in place of what was said. */
  const answered = (line: JsonObject, message: unknown) => {
    if (provider === "anthropic") return { ...line, result: { type: "succeeded", message } };
    return { ...line, response: { status_code: 200, body: message } };
  };
  const bodyOf = (line: JsonObject): JsonObject =>
    (provider === "anthropic"
      ? (line.result as JsonObject).message
      : (line.response as JsonObject).body) as unknown as JsonObject;

  test("answers with garbage: it was made, and is paid for, and nobody takes it for an answer", async () => {
    const garbage = ["text", [], null, 7];
    const tamper = withLines((line, index) => (index < 4 ? [answered(line, garbage[index])] : [line]));
    await using at = await called(PROMPTS, tamper, { provider });
    expect(at.outcomes).toMatchObject([
      ...garbage.map(() => ({ status: "rejected", reason: { code: "batch_lost" } })),
      { status: "fulfilled", value: { text: "You said: five" } },
    ]);
    expect(await Promise.all(PROMPTS.map(at.paid))).toEqual([...garbage.map(() => "its quote"), "what it used"]);
  });

  test("says nothing but the name of a call: that is no word about it", async () => {
    const tamper = withLines((line, index) => (index === 0 ? [{ custom_id: line.custom_id ?? null }] : [line]));
    await using at = await called(["one", "two"], tamper, { provider });
    expect(at.outcomes).toMatchObject([{ reason: { code: "batch_lost" } }, { status: "fulfilled" }]);
    expect(await at.paid("one")).toBe("its quote");
  });

  test("calls calls by names that only look like ours: they are nobody's", async () => {
    const others = ["", "0x0", "00", " 0", "1e0", "-0", "0.0", "+0"];
    const tamper = withLines((line) => {
      const marker = String(line.custom_id).replace(/-\d+$/, "");
      const refused =
        provider === "openai"
          ? { response: { status_code: 400, body: {} } }
          : { result: { type: "errored", error: { error: {} } } };
      return [...others.map((other) => ({ custom_id: `${marker}-${other}`, ...refused })), line];
    });
    await using at = await called(["one", "two"], tamper, { provider });
    expect(at.outcomes).toMatchObject([{ status: "fulfilled" }, { status: "fulfilled" }]);
  });

  test("answers with what cannot be kept: that call is paid for, and all others get their answers", async () => {
    const bad = ["\ud800", nested(1000)];
    const contentOf = (value: unknown) => [{ type: "text", text: value }];
    const tamper = withLines((line, index) => {
      const value = bad[index];
      if (value === undefined) return [line];
      const message =
        provider === "anthropic"
          ? { ...bodyOf(line), content: contentOf(value) }
          : { ...bodyOf(line), choices: [{ finish_reason: "stop", message: { role: "assistant", content: value } }] };
      // A number that is none stands for something that no program writes.
      return [JSON.stringify(answered(line, message)).replace('"deep"', "1e999")];
    });
    const prompts = ["one", "two", "three"];
    await using at = await called(prompts, tamper, { provider });
    expect(at.outcomes).toMatchObject([
      { status: "rejected", reason: { code: "provider_answer" } },
      { status: "rejected", reason: { code: "provider_answer" } },
      { status: "fulfilled", value: { text: "You said: three" } },
    ]);
    expect(await Promise.all(prompts.map(at.paid))).toEqual(prompts.map(() => "what it used"));
  });

  test("sends a line without end: it costs that call alone", async () => {
    const endless = "x".repeat(20 * 1024 * 1024);
    const tamper = withLines((line, index) => (index === 1 ? [answered(line, { ...bodyOf(line), endless })] : [line]));
    const prompts = ["one", "two", "three"];
    await using at = await called(prompts, tamper, { provider });
    expect(at.outcomes).toMatchObject([
      { status: "fulfilled" },
      { reason: { code: "batch_lost" } },
      { status: "fulfilled" },
    ]);
    expect(await at.paid("two")).toBe("its quote");
  });

  test("repeats the key, and more than anybody reads: neither is kept", async () => {
    const said = `the key sk-1 is wrong ${"very ".repeat(10_000)}`;
    const tamper = withLines((line) => [
      provider === "openai"
        ? { custom_id: line.custom_id, response: { status_code: 400, body: { error: { message: said } } } }
        : { custom_id: line.custom_id, result: { type: "errored", error: { error: { message: said } } } },
    ]);
    await using scene = await Scene.open({ provider });
    const purse = await scene.purse("b", 1);
    const desk = scene.desk({ fetch: tampering(tamper) });
    await desk.hand(purse, { prompt: "one" }, { id: "one" });
    await scene.rounds(desk, 10);
    await expect(desk.answer("one")).rejects.toMatchObject({ code: "provider_refused" });
    const kept = JSON.stringify(await scene.store.document("batch", "item:own:one"));
    expect(kept).toContain("is wrong");
    expect(kept).not.toContain("sk-1");
    expect(kept.length).toBeLessThan(2000);
  });

  test("repeats the key in an answer: no program gets it, and it is not kept", async () => {
    const apiKey = "sk-very-secret-0123456789";
    const tamper = withLines((line) => [JSON.stringify(line).replace("You said: one", `You said: one ${apiKey}`)]);
    const tampered = tampering(tamper);
    await using scene = await Scene.open({ provider });
    const purse = await scene.purse("b", 1);
    // The provider knows the usual key.
    const send: typeof fetch = (input, init) => {
      const headers = JSON.parse(JSON.stringify(init?.headers).replaceAll(apiKey, "sk-1")) as Record<string, string>;
      return tampered(input, { ...init, headers });
    };
    const desk = scene.desk({ apiKey, fetch: send });
    await desk.hand(purse, { prompt: "one" }, { id: "one" });
    await scene.rounds(desk, 10);
    const kept = JSON.stringify(await scene.store.document("batch", "item:own:one"));
    const answer = JSON.stringify(await desk.answer("one"));
    for (const shown of [kept, answer]) {
      expect(shown).toContain("You said: one ***");
      expect(shown).not.toContain("secret");
    }
  });

  test("names places elsewhere: nobody goes there", async () => {
    const evil = "http://169.254.169.254/latest";
    const tamper: Tamper = (path, text) => {
      if (!/^GET .*\/batches\/[^/]+$/.test(path)) return null;
      return JSON.stringify({ ...JSON.parse(text), results_url: evil, output_file_url: evil });
    };
    await using at = await called(["one"], tamper, { provider });
    expect(at.outcomes).toMatchObject([{ status: "fulfilled" }]);
    const { origin } = at.scene.server;
    expect(at.asked.length).toBeGreaterThan(2);
    expect(at.asked.filter((url) => !url.startsWith(`${origin}/v1/`))).toEqual([]);
  });

  test.each(["..", ".", "", "x".repeat(600)])("calls a batch %j: that is no name, and leads nowhere", async (id) => {
    let named = 0;
    const tamper: Tamper = (path, text) => {
      if (!/^POST .*\/batches$/.test(path) || named++ > 0) return null;
      return JSON.stringify({ ...JSON.parse(text), id });
    };
    await using at = await called(["one"], tamper, { provider }, 30_000);
    // It is found under its own name then, and not sent again.
    expect(at.outcomes).toMatchObject([{ status: "fulfilled", value: { text: "You said: one" } }]);
    expect(at.scene.server.batches).toHaveLength(1);
    expect(at.asked.filter((url) => !/\/v1\/(?:files|batches|messages\/batches)(?:[/?]|$)/.test(url))).toEqual([]);
  });

  test.each([{ data: "all of them" }, { data: null }, {}])(
    "answers %j when it is asked for its batches: that is no list, and nothing is sent again",
    async (list) => {
      let lists = 0;
      const tamper: Tamper = (path, text) => {
        if (!/^GET .*\/batches$/.test(path)) return null;
        return lists++ < 3 ? JSON.stringify(list) : text;
      };
      const fault = (question: string, number: number) =>
        question === "create" && number === 1 ? ({ kind: "cut", done: true } as const) : null;
      await using at = await called(["one"], tamper, { provider, batching: { fault } }, 30_000);
      expect(lists).toBeGreaterThan(3);
      expect(at.outcomes).toMatchObject([{ status: "fulfilled", value: { text: "You said: one" } }]);
      expect(at.scene.server.batches).toHaveLength(1);
    },
  );

  test("lists the oldest batches first: it is looked through to its end, and nothing is sent again", async () => {
    let pages = 0;
    const old = {
      id: "old",
      created_at: provider === "openai" ? 1 : "1970-01-01T00:00:01Z",
      processing_status: "ended",
    };
    const tamper: Tamper = (path, text) => {
      if (!/^GET .*\/batches$/.test(path)) return null;
      return pages++ === 0 ? JSON.stringify({ data: [old, { ...old, id: "older" }], has_more: true }) : text;
    };
    const fault = (question: string, number: number) =>
      question === "create" && number === 1 ? ({ kind: "cut", done: true } as const) : null;
    await using at = await called(["one"], tamper, { provider, batching: { fault } }, 30_000);
    expect(at.outcomes).toMatchObject([{ status: "fulfilled" }]);
    expect(at.scene.server.batches).toHaveLength(1);
  });

  test("has results that can never be read: whoever waits is told in the end, and it is paid for", async () => {
    const fault = (question: string) =>
      question === "results" ? ({ kind: "status", status: 404, message: "gone" } as const) : null;
    await using at = await called(["one"], () => null, { provider, batching: { fault } }, HOUR_MS);
    expect(at.outcomes).toMatchObject([{ status: "rejected", reason: { code: "batch_lost" } }]);
    expect(await at.paid("one")).toBe("its quote");
  });
});

describe("OpenAI's batches at another's address", () => {
  const failing = (status_code: number) =>
    withLines(({ custom_id }) => [{ custom_id, response: { status_code, body: { error: { message: "broken" } } } }]);

  test.each([500, 502, 408])("a call that broke with %i may have cost something, and is paid for", async (status) => {
    await using at = await called(["one"], failing(status));
    expect(at.outcomes).toMatchObject([{ status: "rejected", reason: { code: "provider_failed" } }]);
    expect(await at.paid("one")).toBe("its quote");
  });

  test.each([400, 429, 503])("a call that was refused with %i costs nothing", async (status) => {
    await using at = await called(["one"], failing(status));
    expect(at.outcomes).toMatchObject([{ status: "rejected", reason: { code: "provider_refused" } }]);
    expect(await at.paid("one")).toBe("nothing");
  });

  test("counts below nothing do not make a batch that has expired free", async () => {
    const tamper: Tamper = (path, text) => {
      if (/\/content$/.test(path)) return "";
      if (!/^GET .*\/batches\/[^/]+$/.test(path)) return null;
      const counts = { total: 1, completed: -1, failed: 0 };
      return JSON.stringify({ ...JSON.parse(text), status: "expired", request_counts: counts });
    };
    await using at = await called(["one"], tamper);
    expect(await at.paid("one")).toBe("its quote");
  });

  test("what a cache has made cheaper otherwise is not said to have saved less than nothing", async () => {
    const usage = { prompt_tokens: 1000, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 1000 } };
    const prices = { small: { input_usd_per_mtok: 1, output_usd_per_mtok: 2, cache_read_usd_per_mtok: 0.1 } };
    await using scene = await Scene.open();
    const tamper = withLines((line) => {
      const { response } = line as unknown as { response: { body: JsonObject } };
      return [{ ...line, response: { ...response, body: { ...response.body, usage } } }];
    });
    const desk = scene.desk({ fetch: tampering(tamper), prices });
    await scene.until(desk.call(await scene.purse("b", 1), { prompt: "one" }));
    expect(ofType(await scene.links("b"), "Saved")).toMatchObject([]);
    expect(await savedUsd(scene.store, "b")).toBe(0);
  });
});
