import { expect, test } from "vitest";
import { MemoryStore } from "../../src/stores/memory.js";
import { opened } from "./opened.js";

const HELLO = { kind: "text", text: "Hello.", usage: { prompt_tokens: 100, completion_tokens: 20 } } as const;
const ASK = { model: "gpt-4o", messages: [{ role: "user", content: "Hi" }], max_tokens: 50 };
const PATH = "/v1/chat/completions";
/** A document is read when a key or a kind of call is met for the first time. */
const NOTED = ["apply", "path", "budget"] as const;

/** A gateway, and the trips to its store. */
async function noted(limits: Parameters<typeof opened>[1]) {
  const store = new MemoryStore();
  const at = await opened(() => HELLO, limits, { store });
  const trips: string[] = [];
  for (const name of NOTED) {
    const own = store[name].bind(store) as (...given: unknown[]) => unknown;
    Object.assign(store, {
      [name]: (...given: unknown[]) => {
        trips.push(name);
        return own(...given);
      },
    });
  }
  return { at, trips };
}

test("a completion takes two trips to the store, and its headers say how the budget stands after it", async () => {
  const { at, trips } = await noted({ cost_usd: 10, steps: 100 });
  await using _at = at;
  const answer = await at.post(PATH, ASK);
  expect(answer.status).toBe(200);
  expect(trips).toEqual(["apply", "apply"]);
  expect(answer.headers.get("x-bursar-used-steps")).toBe("1");
  expect(answer.headers.get("x-bursar-remaining-steps")).toBe("99");
});

test("a stream takes two as well", async () => {
  const { at, trips } = await noted({ cost_usd: 10 });
  await using _at = at;
  await (await at.post(PATH, { ...ASK, stream: true })).text();
  expect(trips).toEqual(["apply", "apply"]);
});

test("a prompt that does not fit by its bytes is counted, and charged once", async () => {
  const { at, trips } = await noted({ llm_tokens: 3000 });
  await using _at = at;
  // 4,500 bytes, and some 900 tokens.
  const long = { ...ASK, messages: [{ role: "user", content: "word ".repeat(900) }] };
  const answer = await at.post(PATH, long);
  expect(answer.status).toBe(200);
  expect(trips).toEqual(["apply", "path", "apply", "apply"]);
  expect(await at.used()).toMatchObject({ steps: 1, llm_tokens: 120 });
});
