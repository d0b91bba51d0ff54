import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import type { ScriptedHalf } from "../../../src/testing/scripted/answer.js";
import {
  ASK,
  errorOf,
  HELLO,
  openScene,
  READ,
  refusalOf,
  type Scene,
  STREAMED,
  spent,
  toldWhile,
  until,
} from "./scene.js";

const USAGE = { prompt_tokens: 30, completion_tokens: 7 };
const LONG = "All work and no play makes Jack a dull boy. ".repeat(20);
const SLACK = 256;

/** Reads one event of a stream with content and then does something else. */
const BEGIN = {
  chat: async (at: Scene, signal: AbortSignal, model = "gpt-4-scripted") => {
    const body = { model, messages: HELLO, max_tokens: 5000, stream: true } as const;
    return (await at.openai.chat.completions.create(body, { signal })) as AsyncIterable<unknown>;
  },
  responses: async (at: Scene, signal: AbortSignal, model = "gpt-4-scripted") => {
    const body = { model, input: "Hello?", max_output_tokens: 5000, stream: true } as const;
    return (await at.openai.responses.create(body, { signal })) as AsyncIterable<unknown>;
  },
  messages: async (at: Scene, signal: AbortSignal, model = "claude-3-scripted") => {
    const body = { model, messages: HELLO, max_tokens: 5000, stream: true } as const;
    return (await at.anthropic.messages.create(body, { signal })) as AsyncIterable<unknown>;
  },
} as const;

const HANGING = { kind: "half", text: LONG, usage: USAGE, events: 8, ending: "hang" } as const;

/** All of an answer in one piece, as it comes over a fast line. */
const inOnePiece: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  return new Response(await response.arrayBuffer(), response);
};

const RAW = {
  chat: ["/chat/completions", { model: "gpt-4-scripted", messages: HELLO, max_tokens: 5000 }],
  responses: ["/responses", { model: "gpt-4-scripted", input: "Hello?", max_output_tokens: 5000 }],
  messages: ["/messages", { model: "claude-3-scripted", messages: HELLO, max_tokens: 5000 }],
} as const;

describe.each(STREAMED)("a stream that is not read to its end: %s", (protocol) => {
  test("it is aborted when all of it has come: what the provider has reported is charged", async () => {
    await using at = await openScene([{ kind: "text", text: LONG, usage: USAGE }], { wire: { fetch: inOnePiece } });
    const abort = new AbortController();
    const [path, body] = RAW[protocol];
    const headers = { "anthropic-version": "2023-06-01" };
    const told = await toldWhile(() =>
      spent({ cost_usd: 1 }, async () => {
        const init = { method: "POST", headers, body: JSON.stringify({ ...body, stream: true }), signal: abort.signal };
        const reader = (await at.fetch(`${at.model.url}${path}`, init)).body?.getReader();
        await reader?.read();
        abort.abort();
        await errorOf(Promise.resolve(reader?.closed));
      }),
    );
    expect(told).toMatchObject([
      { outcome: "failed", estimated: false, charged: { llm_input_tokens: 30, llm_output_tokens: 7 } },
    ]);
  });

  test("it is aborted by its signal", async () => {
    await using at = await openScene([HANGING]);
    const abort = new AbortController();
    const told = await toldWhile(() =>
      spent({ cost_usd: 1 }, async () => {
        const stream = await BEGIN[protocol](at, abort.signal);
        let events = 0;
        await errorOf(
          (async () => {
            for await (const _ of stream) if (++events === 3) abort.abort();
          })(),
        );
      }),
    );
    await until(() => at.model.aborted === 1);
    const [call] = told;
    expect(call).toMatchObject({ outcome: "failed", estimated: true, charged: { steps: 1 } });
    expect(call?.charged.llm_output_tokens).toBeGreaterThan(SLACK);
    expect(call?.charged.llm_output_tokens).toBeLessThan(SLACK + LONG.length);
  });

  test("its reader leaves", async () => {
    await using at = await openScene([HANGING]);
    const told = await toldWhile(() =>
      withBudget({ cost_usd: 1 }, async (budget) => {
        const stream = await BEGIN[protocol](at, new AbortController().signal);
        for await (const _ of stream) break;
        await until(async () => !(await budget.isBusy()));
        expect((await budget.state()).held).toEqual({});
      }),
    );
    await until(() => at.model.aborted === 1);
    expect(told).toMatchObject([{ estimated: true }]);
    expect(told[0]?.charged.llm_output_tokens).toBeGreaterThanOrEqual(SLACK);
    expect(told[0]?.charged.llm_output_tokens).toBeLessThan(SLACK + LONG.length);
  });

  test.each<readonly [string, Partial<ScriptedHalf>]>([
    ["the connection is cut", { ending: "cut" }],
    ["it is cut in the middle of an event", { ending: "cut", rest: "half" }],
    ["it ends too early", { ending: "end" }],
    ["it tells of an error", { ending: "error" }],
  ])("%s", async (_, how) => {
    await using at = await openScene([{ ...HANGING, ...how }], { maxRetries: 0 });
    const told = await toldWhile(() =>
      spent({ cost_usd: 1 }, () =>
        errorOf(
          (async () => {
            for await (const _ of await BEGIN[protocol](at, new AbortController().signal));
          })(),
        ),
      ),
    );
    expect(told).toMatchObject([{ estimated: true, charged: { steps: 1 } }]);
    const { llm_output_tokens = 0, llm_input_tokens = 0 } = told[0]?.charged ?? {};
    expect(llm_output_tokens).toBeGreaterThan(SLACK);
    expect(llm_output_tokens).toBeLessThan(SLACK + LONG.length);
    // Anthropic has told the input by then; the others tell it in the end.
    if (protocol === "messages") expect(llm_input_tokens).toBe(30);
    else expect(llm_input_tokens).toBeGreaterThan(64);
  });

  test("what may have been thought in secret is charged whole", async () => {
    await using at = await openScene([{ ...HANGING, ending: "cut" }], { maxRetries: 0 });
    const told = await toldWhile(() =>
      spent({ cost_usd: 1 }, () =>
        errorOf(
          (async () => {
            for await (const _ of await BEGIN[protocol](at, new AbortController().signal, "scripted"));
          })(),
        ),
      ),
    );
    expect(told).toMatchObject([{ estimated: true, charged: { llm_output_tokens: 5000 } }]);
  });

  test("nothing of it had come", async () => {
    await using at = await openScene([{ ...HANGING, events: 0, ending: "cut" }], { maxRetries: 0 });
    const told = await toldWhile(() => spent({ cost_usd: 1 }, () => errorOf(READ[protocol](at))));
    expect(told).toMatchObject([{ estimated: true, charged: { llm_output_tokens: 100 } }]);
  });

  test("it says nothing of its usage", async () => {
    await using at = await openScene([{ kind: "text", text: "Hello.", usage: null }]);
    const told = await toldWhile(() =>
      spent({ cost_usd: 1 }, async () => {
        for await (const _ of await BEGIN[protocol](at, new AbortController().signal));
      }),
    );
    expect(told).toMatchObject([{ outcome: "done", estimated: true, charged: { llm_output_tokens: 5000 } }]);
  });
});

describe("a call is aborted", () => {
  test("before it is made: nothing is sent and nothing is charged", async () => {
    await using at = await openScene(["Hi"]);
    const { used, held } = await spent({ cost_usd: 1 }, async () => {
      const body = { model: "gpt-4-scripted", messages: HELLO };
      await errorOf(at.openai.chat.completions.create(body, { signal: AbortSignal.abort() }));
      const init = { method: "POST", body: JSON.stringify(body), signal: AbortSignal.abort(new Error("No more")) };
      const error = await errorOf(at.fetch(`${at.model.url}/chat/completions`, init));
      expect(error.message).toBe("No more");
    });
    expect(at.model.count).toBe(0);
    expect(used.steps ?? 0).toBe(0);
    expect(held).toEqual({});
  });

  test("while the provider thinks: it is charged as it was reserved", async () => {
    await using at = await openScene([{ kind: "hang" }]);
    const abort = new AbortController();
    const body = { model: "gpt-4-scripted", messages: HELLO, max_tokens: 100 };
    const { used, held } = await spent({ cost_usd: 1 }, async () => {
      const asked = errorOf(at.openai.chat.completions.create(body, { signal: abort.signal }));
      await until(() => at.model.count === 1);
      abort.abort();
      expect(await asked).toBeInstanceOf(OpenAI.APIUserAbortError);
    });
    await until(() => at.model.aborted === 1);
    expect(used).toMatchObject({ steps: 1, llm_output_tokens: 100 });
    expect(held).toEqual({});
  });

  test("when the headers are there and the rest is not", async () => {
    const headers: number[] = [];
    const wire: typeof fetch = async (...request) => {
      const response = await fetch(...request);
      headers.push(response.status);
      return response;
    };
    const half: ScriptedHalf = { kind: "half", text: LONG, usage: USAGE, ending: "hang" };
    await using at = await openScene([half], { wire: { fetch: wire } });
    const abort = new AbortController();
    const body = { model: "gpt-4-scripted", messages: HELLO, max_tokens: 1000 };
    const { used, held } = await spent({ cost_usd: 1 }, async () => {
      const asked = errorOf(at.openai.chat.completions.create(body, { signal: abort.signal }));
      await until(() => headers.length > 0);
      abort.abort();
      expect(await asked).toBeInstanceOf(OpenAI.APIUserAbortError);
    });
    await until(() => at.model.aborted === 1);
    expect(headers).toEqual([200]);
    expect(used).toMatchObject({ steps: 1, llm_output_tokens: 1000 });
    expect(held).toEqual({});
  });

  test("while it waits for others: it is not sent", async () => {
    await using at = await openScene([{ kind: "hang" }, "Hi"]);
    const [first, second] = [new AbortController(), new AbortController()];
    const body = { model: "gpt-4-scripted", messages: HELLO, max_tokens: 100 };
    const { used } = await spent({ steps: 1 }, async () => {
      const asked = errorOf(at.openai.chat.completions.create(body, { signal: first.signal }));
      await until(() => at.model.count === 1);
      const waiting = errorOf(at.openai.chat.completions.create(body, { signal: second.signal }));
      await new Promise((resolve) => setTimeout(resolve, 20));
      second.abort();
      expect(await waiting).toBeInstanceOf(OpenAI.APIUserAbortError);
      first.abort();
      await asked;
    });
    expect(at.model.count).toBe(1);
    expect(used.steps).toBe(1);
  });
});

describe("the time runs out", () => {
  test("while the provider thinks: the SDK is told so, and nothing is sent again", async () => {
    await using at = await openScene(() => ({ kind: "hang" }));
    const clock = new FakeClock();
    await using budget = await openBudget({ wall_clock_ms: 5000 }, { clock, timer: clock });
    await budget.run(async () => {
      const asked = refusalOf(ASK.chat(at));
      await until(() => at.model.count === 1);
      clock.advance(5000);
      expect(await asked).toMatchObject({ code: "budget_exceeded", dimension: "wall_clock_ms", scope: budget.id });
    });
    await until(() => at.model.aborted === 1);
    expect(at.model.count).toBe(1);
    expect((await budget.state()).used).toMatchObject({ steps: 1, llm_output_tokens: 100 });
  });

  test("a plain fetch gets an answer, because an SDK would take an error for one of the network", async () => {
    await using at = await openScene(() => ({ kind: "hang" }));
    const clock = new FakeClock();
    await using budget = await openBudget({ wall_clock_ms: 5000 }, { clock, timer: clock });
    const body = JSON.stringify({ model: "gpt-4-scripted", messages: HELLO });
    const asked = budget.run(() => at.fetch(`${at.model.url}/chat/completions`, { method: "POST", body }));
    await until(() => at.model.count === 1);
    clock.advance(5000);
    const response = await asked;
    expect(response.status).toBe(402);
    expect(response.headers.get("x-should-retry")).toBe("false");
  });

  test.each(STREAMED)("in the middle of a stream: it ends with an error at that moment (%s)", async (protocol) => {
    await using at = await openScene(() => HANGING);
    const clock = new FakeClock();
    await using budget = await openBudget({ wall_clock_ms: 5000 }, { clock, timer: clock });
    await budget.run(async () => {
      const stream = await BEGIN[protocol](at, new AbortController().signal);
      let events = 0;
      const error = await errorOf(
        (async () => {
          for await (const _ of stream) if (++events === 3) clock.advance(5000);
        })(),
      );
      expect(error.message).toContain(
        `time has run out while the call was being made: wall_clock_ms of budget ${budget.id}`,
      );
      expect(BudgetExceededError.from(error)?.report).toMatchObject({ code: "budget_exceeded" });
      expect(await refusalOf(READ[protocol](at))).toMatchObject({ dimension: "wall_clock_ms" });
    });
    await until(() => at.model.aborted === 1);
    expect(at.model.count).toBe(1);
    expect((await budget.state()).used.llm_output_tokens).toBeGreaterThan(SLACK);
  });

  test("of a deadline, which is an instant and no amount", async () => {
    await using at = await openScene(() => ({ kind: "hang" }));
    const clock = new FakeClock();
    const deadline = new Date(clock.now().instant + 5000);
    await using budget = await openBudget({}, { clock, timer: clock, deadline });
    await budget.run(async () => {
      const asked = refusalOf(ASK.messages(at));
      await until(() => at.model.count === 1);
      clock.advance(5000);
      expect(await asked).toMatchObject({ code: "budget_exceeded", dimension: "deadline", scope: budget.id });
      expect(await refusalOf(ASK.messages(at))).toMatchObject({ dimension: "deadline" });
    });
    expect(at.model.count).toBe(1);
  });
});

describe("a provider that does not keep to the limit", () => {
  const usage = { prompt_tokens: 30, completion_tokens: 400 };
  const answer = { kind: "text", text: LONG, ignores_limit: true, piece_ms: 1, usage } as const;

  test.each(STREAMED)("is stopped in the middle of a stream, which ends cleanly: %s", async (protocol) => {
    await using at = await openScene([answer]);
    const limits = { llm_output_tokens: 17 };
    const state = await spent(limits, async () => {
      if (protocol === "chat") {
        const body = { model: "gpt-4-scripted", messages: HELLO };
        const whole = await at.openai.chat.completions.stream(body).finalChatCompletion();
        expect(whole.choices[0]?.finish_reason).toBe("length");
      } else if (protocol === "responses") {
        const whole = await at.openai.responses.stream({ model: "gpt-4-scripted", input: "Hi" }).finalResponse();
        expect(whole.status).toBe("incomplete");
        expect(whole.incomplete_details).toEqual({ reason: "max_output_tokens" });
      } else {
        const body = { model: "claude-3-scripted", messages: HELLO, max_tokens: 1000 };
        const whole = await at.anthropic.messages.stream(body).finalMessage();
        expect(whole.stop_reason).toBe("max_tokens");
      }
    });
    expect(at.model.requests[0]?.max_tokens).toBe(17);
    // As many tokens as there were events: so many it has given at least.
    expect(state.used.llm_output_tokens).toBe(18);
    expect(state.exhausted).toEqual(["llm_output_tokens"]);
    expect(state.held).toEqual({});
    await until(() => at.model.aborted === 1);
  });

  test("is paid for what it says, when it says it", async () => {
    await using at = await openScene([{ kind: "text", text: "Hi", ignores_limit: true, usage }]);
    const state = await spent({ llm_output_tokens: 50 }, () => READ.chat(at));
    expect(state.used.llm_output_tokens).toBe(400);
    expect(state.exhausted).toEqual(["llm_output_tokens"]);
  });
});
