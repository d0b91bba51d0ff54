import fc from "fast-check";
import { expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import type { ScriptedAnswer } from "../../../src/testing/scripted/answer.js";
import type { ScriptedRequest } from "../../../src/testing/scripted/request.js";
import { openScene, until } from "../fetch/scene.js";

/** One caller: what he asks, and whether he hangs up before it is sent, after it, or not at all. */
interface Caller {
  readonly inputs: readonly string[];
  readonly leaves: "before" | "after" | "never";
}

type Ending = "answer" | "400" | "429" | "500" | "garbage" | "silent";

const caller: fc.Arbitrary<Caller> = fc.record({
  // Few words, so that some callers ask the very same.
  inputs: fc.array(fc.constantFrom("a", "b", "Größe", "日本語", "two words", "x".repeat(200)), {
    minLength: 1,
    maxLength: 4,
  }),
  leaves: fc.constantFrom("never", "never", "never", "before", "after"),
});
const endings: fc.Arbitrary<readonly Ending[]> = fc.array(
  fc.constantFrom<Ending>("answer", "answer", "answer", "400", "429", "500", "garbage", "silent"),
  { minLength: 1, maxLength: 6 },
);

function answered(ending: Ending, tokens: number): ScriptedAnswer {
  switch (ending) {
    case "answer":
      return { kind: "text", text: "", usage: { prompt_tokens: tokens, completion_tokens: 0 } };
    case "silent":
      return { kind: "text", text: "", usage: null };
    case "garbage":
      return { kind: "garbage" };
    default:
      return { kind: "status", status: Number(ending) };
  }
}

/** No more tokens than bytes, as tokens are. */
function tokensOf({ body }: ScriptedRequest, factor: number): number {
  const bytes = Buffer.byteLength([body.input].flat().join(""));
  return Math.max(1, Math.floor(bytes * factor));
}

test("whatever callers and providers do: the sum is what the provider said, nothing stays held, everybody hears", async () => {
  const factor = fc.double({ min: 0.1, max: 1, noNaN: true });
  await fc.assert(
    fc.asyncProperty(
      fc.array(caller, { minLength: 1, maxLength: 12 }),
      endings,
      factor,
      fc.boolean(),
      async (callers, script, share, in_flight) => {
        const timer = new FakeClock();
        let said = 0;
        let isSure = true;
        const play = (request: ScriptedRequest) => {
          const ending = script[(request.number - 1) % script.length] ?? "answer";
          const tokens = tokensOf(request, share);
          if (ending === "answer") said += tokens;
          // Of these nobody knows what they used, so that the most they can have is charged.
          if (ending === "500" || ending === "silent" || ending === "garbage") isSure = false;
          return answered(ending, tokens);
        };
        const wire = { reuse: { embeddings: true, in_flight, timer } };
        await using at = await openScene(play, { wire, maxRetries: 0 });
        await using budget = await openBudget({ llm_input_tokens: 1_000_000, network_egress_bytes: 10_000_000 });
        const left = callers.map(() => new AbortController());
        let open = callers.length;
        const calls = callers.map(({ inputs }, index) =>
          budget.run(() =>
            at.openai.embeddings
              .create({ model: "gpt-4-scripted", input: [...inputs] }, { signal: left[index]?.signal ?? null })
              .then(
                ({ data }) => data.length,
                () => -1,
              )
              .finally(() => open--),
          ),
        );
        await until(async () => (await budget.state()).held.steps === callers.length);
        for (const [index, { leaves }] of callers.entries()) if (leaves === "before") left[index]?.abort();
        timer.advance(5);
        for (const [index, { leaves }] of callers.entries()) if (leaves === "after") left[index]?.abort();
        await until(() => {
          timer.advance(5);
          return open === 0;
        });
        const sizes = await Promise.all(calls);
        for (const [index, size] of sizes.entries()) expect([-1, callers[index]?.inputs.length]).toContain(size);
        await until(async () => Object.keys((await budget.state()).held).length === 0);
        // Who hangs up after it was sent is charged the most it can have been, unless somebody else hears the rest for him.
        const isHeard = callers.every(({ leaves }) => leaves !== "after");
        const { llm_input_tokens: used = 0 } = (await budget.state()).used;
        if (isSure && isHeard) expect(used).toBe(said);
        else expect(used).toBeGreaterThanOrEqual(said);
      },
    ),
    { numRuns: 40 },
  );
}, 60_000);
