import fc from "fast-check";
import { expect, test } from "vitest";
import { withBudget } from "../../../src/ambient/with-budget.js";
import type { ScriptedRequest } from "../../../src/testing/scripted/request.js";
import { ASK, AT_ONCE, openScene, READ, type Scene } from "./scene.js";

/** What the provider does with one request. */
type Turn =
  | { readonly kind: "answer"; readonly input: number; readonly output: number; readonly late: number }
  | { readonly kind: "refuse"; readonly status: number };

/** One call of an agent. */
interface Wish {
  readonly protocol: "chat" | "responses" | "messages";
  readonly streamed: boolean;
}

const turns = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("answer" as const),
      input: fc.integer({ min: 1, max: 60 }),
      output: fc.integer({ min: 0, max: 150 }),
      late: fc.integer({ min: 0, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("refuse" as const), status: fc.constantFrom(429, 503, 529) }) },
);

const wishes = fc.record({
  protocol: fc.constantFrom("chat" as const, "responses" as const, "messages" as const),
  streamed: fc.boolean(),
});

const limits = fc.record(
  {
    llm_tokens: fc.integer({ min: 1, max: 3000 }),
    llm_output_tokens: fc.integer({ min: 1, max: 600 }),
    cost_usd: fc.integer({ min: 1, max: 10_000 }).map((micro) => micro / 1_000_000),
    steps: fc.integer({ min: 0, max: 8 }),
  },
  { requiredKeys: [] },
);

/** What the provider has given, by its own books. */
class Log {
  input = 0;
  output = 0;
  requests = 0;

  private readonly script: readonly Turn[];

  constructor(script: readonly Turn[]) {
    this.script = script;
  }

  answer({ max_tokens }: ScriptedRequest) {
    const turn = this.script[this.requests++ % this.script.length] as Turn;
    if (turn.kind === "refuse") return { kind: "status", status: turn.status, headers: AT_ONCE } as const;
    // It keeps to the limit, as a provider should.
    const output = Math.min(turn.output, max_tokens ?? Number.POSITIVE_INFINITY);
    this.input += turn.input;
    this.output += output;
    const usage = { prompt_tokens: turn.input, completion_tokens: output };
    return { kind: "text", text: "Well, well.", usage, latency_ms: turn.late } as const;
  }

  get cost_usd(): number {
    return (this.input * 1 + this.output * 10) / 1_000_000;
  }
}

async function wish(at: Scene, { protocol, streamed }: Wish): Promise<void> {
  await (streamed ? READ[protocol](at) : ASK[protocol](at));
}

test("whatever the provider does, what is charged is what it gave, and it never gave more than there was", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(turns, { minLength: 1, maxLength: 8 }),
      fc.array(wishes, { minLength: 1, maxLength: 10 }),
      limits,
      fc.boolean(),
      async (script, calls, limit, atOnce) => {
        const log = new Log(script);
        await using at = await openScene((request) => log.answer(request), { maxRetries: 1 });
        const { used, held } = await withBudget(limit, async (budget) => {
          if (atOnce) await Promise.allSettled(calls.map((each) => wish(at, each)));
          else for (const each of calls) await wish(at, each).catch(() => {});
          return budget.state();
        });
        expect(held).toEqual({});
        expect(used.steps ?? 0).toBe(log.requests);
        expect(used.llm_input_tokens ?? 0).toBe(log.input);
        expect(used.llm_output_tokens ?? 0).toBe(log.output);
        expect(used.llm_tokens ?? 0).toBe(log.input + log.output);
        expect(used.cost_usd ?? 0).toBe(log.cost_usd);
        for (const [id, most] of Object.entries(limit)) expect(used[id] ?? 0, id).toBeLessThanOrEqual(Number(most));
      },
    ),
    { numRuns: 60 },
  );
});
