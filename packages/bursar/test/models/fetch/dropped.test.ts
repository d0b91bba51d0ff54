import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import type { Operation } from "../../../src/core/operation.js";
import type { Outcomes } from "../../../src/ports/store.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import type { ScriptedHalf } from "../../../src/testing/scripted/answer.js";
import { collected, collectUntil } from "../collecting.js";
import { HELLO, openScene, PRICES } from "./scene.js";

const USAGE = { prompt_tokens: 30, completion_tokens: 7 };
const TEXT = "All work and no play makes Jack a dull boy. ".repeat(20);
const HANGING: ScriptedHalf = { kind: "half", text: TEXT, usage: USAGE, events: 8, ending: "hang" };
const SLACK = 256;

/** What a caller may keep of a response. */
type Kept = object | null;

/** Whatever nobody holds is gone before anything is written. */
class CollectingStore extends MemoryStore {
  override async apply<const Ops extends readonly Operation[]>(operations: Ops): Promise<Outcomes<Ops>> {
    await collected();
    return super.apply(operations);
  }
}

async function openDropped(script: Parameters<typeof openScene>[0], keep: (response: Response) => Kept) {
  const budget = await openBudget({ cost_usd: 1 }, { store: new CollectingStore() });
  const at = await openScene(script, { wire: { budget, prices: PRICES } });
  const body = JSON.stringify({ model: "gpt-4-scripted", messages: HELLO, max_tokens: 5000, stream: true });
  // No frame of an async function may hold on to the response.
  const end = new AbortController();
  const init = { method: "POST", body, signal: end.signal };
  const kept = await at.fetch(`${at.model.url}/chat/completions`, init).then(keep);
  return {
    kept,
    state: () => budget.state(),
    [Symbol.asyncDispose]: async () => {
      end.abort();
      await budget[Symbol.asyncDispose]();
      await at[Symbol.asyncDispose]();
    },
  };
}

async function textOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += Buffer.from(value).toString();
  }
}

describe("a stream that nobody can read any more", () => {
  const DROPPED: Readonly<Record<string, (response: Response) => Kept>> = {
    "its response was dropped": () => null,
    "its response was dropped after one read": (response) => {
      void response.body?.getReader().read();
      return null;
    },
    "both copies of it were dropped": (response) => {
      response.clone();
      return null;
    },
    "what it was piped through was dropped": (response) => {
      response.body?.pipeThrough(new TextDecoderStream());
      return null;
    },
  };

  test.each(Object.keys(DROPPED))("is charged what was seen: %s", async (how) => {
    await using at = await openDropped([HANGING], DROPPED[how] as (response: Response) => Kept);
    const settled = async () => ((await at.state()).used.llm_output_tokens ?? 0) > 0;
    await collectUntil(settled);
    const { used, held } = await at.state();
    expect(Number(used.llm_output_tokens)).toBeGreaterThanOrEqual(SLACK);
    expect(Number(used.llm_output_tokens)).toBeLessThan(5000);
    expect(held.cost_usd ?? 0).toBe(0);
  });
});

describe("a stream that somebody can still read", () => {
  const WHOLE = { kind: "text", text: TEXT, usage: USAGE } as const;

  test.each([
    ["the response", (response: Response) => response],
    ["its body", (response: Response) => response.body],
    ["a reader of it", (response: Response) => response.body?.getReader() ?? null],
    ["one copy of two", (response: Response) => response.clone()],
  ] as const)("is whole: %s is held", async (_, keep) => {
    await using at = await openDropped([WHOLE], keep);
    for (let round = 0; round < 10; round++) await collected();
    const kept = at.kept as Response | ReadableStream<Uint8Array> | ReadableStreamDefaultReader<Uint8Array>;
    const stream = kept instanceof Response ? kept.body : kept;
    const reader = stream instanceof ReadableStream ? stream.getReader() : stream;
    expect(await textOf(reader as ReadableStreamDefaultReader<Uint8Array>)).toContain("[DONE]");
    expect((await at.state()).used).toMatchObject({ llm_input_tokens: 30, llm_output_tokens: 7 });
  });

  test("is whole: nobody holds anything but what is done with the next piece", async () => {
    let text = "";
    const next = (reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> =>
      reader.read().then(({ done, value }) => {
        text += done ? "" : Buffer.from(value).toString();
        return done ? undefined : next(reader);
      });
    await using at = await openDropped([WHOLE], (response) => {
      void next((response.body as ReadableStream<Uint8Array>).getReader());
      return null;
    });
    await collectUntil(() => text.includes("[DONE]"));
    expect((await at.state()).used).toMatchObject({ llm_input_tokens: 30, llm_output_tokens: 7 });
  });
});
