import fc from "fast-check";
import { expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import type { ScriptedAnswer } from "../../../src/testing/scripted/answer.js";
import type { ScriptedRequest } from "../../../src/testing/scripted/request.js";
import { openScene, type Scene, until } from "../fetch/scene.js";

const TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(8);
const WARM = 24;

/** What the provider does with one request. It never gives more than it was asked for. */
type Turn =
  | { readonly kind: "answer"; readonly tokens: number; readonly told: boolean }
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "half"; readonly events: number; readonly ending: "cut" | "hang" | "end" | "error" }
  | { readonly kind: "hang" };

const turns: fc.Arbitrary<Turn> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("answer" as const),
      tokens: fc.integer({ min: 1, max: 900 }),
      told: fc.boolean(),
    }),
  },
  fc.record({ kind: fc.constant("status" as const), status: fc.constantFrom(400, 408, 429, 500, 503) }),
  fc.record({
    kind: fc.constant("half" as const),
    events: fc.integer({ min: 0, max: 9 }),
    ending: fc.constantFrom("cut" as const, "hang" as const, "end" as const, "error" as const),
  }),
  fc.constant({ kind: "hang" as const }),
);

function play(turn: Turn, { max_tokens }: ScriptedRequest): ScriptedAnswer {
  if (turn.kind === "status" || turn.kind === "hang") return turn;
  const wanted = turn.kind === "answer" ? turn.tokens : 90;
  const usage = { prompt_tokens: 20, completion_tokens: Math.min(wanted, max_tokens ?? wanted) };
  if (turn.kind === "half") return { ...turn, text: TEXT, usage };
  return { kind: "text", text: TEXT, usage: turn.told ? usage : null };
}

interface Wish {
  readonly stream: boolean;
  readonly full: boolean;
  /** How many pieces are read before it is left; null when it is read to its end. */
  readonly reads: number | null;
  /** How often it is sent again when it fails. */
  readonly retries: number;
  readonly patience: number;
}

const wishes: fc.Arbitrary<Wish> = fc.record({
  stream: fc.boolean(),
  full: fc.boolean(),
  reads: fc.option(fc.integer({ min: 0, max: 3 })),
  retries: fc.integer({ min: 0, max: 2 }),
  patience: fc.integer({ min: 0, max: 60 }),
});

async function make(at: Scene, { stream, full, reads, retries, patience }: Wish): Promise<void> {
  const body = JSON.stringify({
    model: "gpt-4-scripted",
    stream,
    max_tokens: 2000,
    messages: [{ role: "user", content: "?" }],
  });
  const headers = { "content-type": "application/json", ...(full && { "x-bursar-full": "true" }) };
  for (let tries = 0; tries <= retries; tries++) {
    const signal = AbortSignal.timeout(patience);
    const response = await at.fetch(`${at.model.url}/chat/completions`, { method: "POST", body, headers, signal });
    if (!response.ok) continue;
    const reader = response.body?.getReader();
    for (let read = 0; read !== reads; read++) if ((await reader?.read())?.done !== false) return;
    await reader?.cancel();
    return;
  }
}

test("however calls with learned reservations end, nothing stays held, and no limit is passed", async () => {
  let learned = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(turns, { minLength: 1, maxLength: 8 }),
      fc.array(wishes, { minLength: 4, maxLength: 16 }),
      fc.record({ llm_tokens: fc.integer({ min: 300, max: 9000 }) }),
      async (script, calls, limits) => {
        const first = { kind: "answer", tokens: 200, told: true } as const;
        await using at = await openScene((request) => {
          const turn = request.number <= WARM ? first : (script[request.number % script.length] as Turn);
          return play(turn, request);
        });
        const store = new MemoryStore();
        await using plenty = await openBudget({ llm_tokens: 1_000_000 }, { store, parent: null });
        const patient = { stream: false, full: false, reads: null, retries: 0, patience: 5000 };
        for (let made = 0; made < WARM; made++) await plenty.run(() => make(at, patient));

        await using budget = await openBudget(limits, { store, parent: null, wait_ms: 200 });
        await budget.run(() => Promise.allSettled(calls.map((each) => make(at, each))));
        await until(async () => !(await budget.isBusy()));

        const { held, used } = await budget.state();
        expect(held).toEqual({});
        expect(used.llm_tokens ?? 0).toBeLessThanOrEqual(limits.llm_tokens);
        for await (const line of store.chain(budget.id)) if (line.includes('"full":')) learned++;
      },
    ),
    { numRuns: 20 },
  );
  // It would prove nothing if they had all held the whole of it.
  expect(learned).toBeGreaterThan(0);
});
