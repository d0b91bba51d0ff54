import fc from "fast-check";
import { expect, test } from "vitest";
import { withBudget } from "../../../src/ambient/with-budget.js";
import type { ScriptedAnswer } from "../../../src/testing/scripted/answer.js";
import { HELLO, openScene, type Scene, until } from "./scene.js";

const TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(8);
const USAGE = { prompt_tokens: 20, completion_tokens: 90 };

/** What the provider does with one request; it may do anything but give more than it was asked for. */
const turns: fc.Arbitrary<ScriptedAnswer> = fc.oneof(
  fc.constant<ScriptedAnswer>({ kind: "text", text: TEXT, usage: USAGE }),
  fc.constant<ScriptedAnswer>({ kind: "text", text: TEXT, usage: null }),
  fc.constantFrom(400, 408, 429, 500, 503).map((status): ScriptedAnswer => ({ kind: "status", status })),
  fc.constantFrom<ScriptedAnswer>(
    { kind: "garbage" },
    { kind: "garbage", content_type: "text/event-stream" },
    { kind: "hang" },
  ),
  fc
    .record({
      events: fc.integer({ min: 0, max: 9 }),
      ending: fc.constantFrom("cut" as const, "hang" as const, "end" as const, "error" as const),
      rest: fc.constantFrom(undefined, "half" as const),
    })
    .map(({ events, ending, rest }): ScriptedAnswer => {
      const half = { kind: "half", text: TEXT, usage: USAGE, events, ending } as const;
      return rest === undefined ? half : { ...half, rest };
    }),
);

/** How one call of an agent is made, and how it is left. */
interface Wish {
  readonly protocol: "chat" | "responses" | "messages";
  readonly stream: boolean;
  readonly model: "gpt-4-scripted" | "scripted";
  /** How many pieces are read before it is left; null when it is read to its end. */
  readonly reads: number | null;
  /** After so many milliseconds it is aborted, whatever has come by then. */
  readonly patience: number;
}

const wishes: fc.Arbitrary<Wish> = fc.record({
  protocol: fc.constantFrom("chat" as const, "responses" as const, "messages" as const),
  stream: fc.boolean(),
  model: fc.constantFrom("gpt-4-scripted" as const, "scripted" as const),
  reads: fc.option(fc.integer({ min: 0, max: 3 })),
  patience: fc.integer({ min: 0, max: 40 }),
});

const PATHS = { chat: "chat/completions", responses: "responses", messages: "messages" } as const;

function bodyOf({ protocol, model, stream }: Wish): string {
  const said =
    protocol === "responses" ? { input: "Hello?", max_output_tokens: 100 } : { messages: HELLO, max_tokens: 100 };
  return JSON.stringify({ model, stream, ...said });
}

async function make(at: Scene, wish: Wish): Promise<void> {
  const signal = AbortSignal.timeout(wish.patience);
  const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01" };
  const init = { method: "POST", body: bodyOf(wish), headers, signal };
  const response = await at.fetch(`${at.model.url}/${PATHS[wish.protocol]}`, init);
  const reader = response.body?.getReader();
  for (let reads = 0; reads !== wish.reads; reads++) if ((await reader?.read())?.done !== false) return;
  await reader?.cancel();
}

test("however calls are broken off, nothing stays held, and no more is charged than there was", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(turns, { minLength: 1, maxLength: 6 }),
      fc.array(wishes, { minLength: 1, maxLength: 12 }),
      fc.record({ llm_tokens: fc.integer({ min: 1, max: 4000 }) }),
      async (script, calls, limits) => {
        await using at = await openScene(({ number }) => script[number % script.length] as ScriptedAnswer);
        const used = await withBudget(limits, async (budget) => {
          await Promise.allSettled(calls.map((each) => make(at, each)));
          await until(async () => !(await budget.isBusy()));
          const state = await budget.state();
          expect(state.held).toEqual({});
          return state.used;
        });
        expect(used.llm_tokens ?? 0).toBeLessThanOrEqual(limits.llm_tokens);
        expect(used.steps ?? 0).toBeGreaterThanOrEqual(at.model.count);
        expect(used.steps ?? 0).toBeLessThanOrEqual(calls.length);
      },
    ),
    { numRuns: 60 },
  );
});
