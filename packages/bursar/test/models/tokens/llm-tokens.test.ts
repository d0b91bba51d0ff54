import { withBudget } from "bursar";
import { expect, test } from "vitest";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { openScriptedModel } from "../../../src/testing/scripted-model.js";

/** 13,500 bytes that are some 3,000 tokens. */
const TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(300);

test.each([[{ llm_tokens: 4000 }], [{ llm_input_tokens: 4000 }], [{ cost_usd: 0.02 }]])(
  "the tokenizer shows that a request fits into %j, whose bytes do not",
  async (limits) => {
    await using model = await openScriptedModel({ script: () => "Hi.", models: ["gpt-4o"] });
    const body = JSON.stringify({ model: "gpt-4o", max_tokens: 50, messages: [{ role: "user", content: TEXT }] });
    const send = (options: { readonly tokenizer: boolean }) =>
      withBudget(limits, () => governedFetch(options)(`${model.url}/chat/completions`, { method: "POST", body }), {
        policies: { llm_tokens: "hard_stop" },
      });
    expect((await send({ tokenizer: false })).status).toBe(402);
    expect((await send({ tokenizer: true })).status).toBe(200);
    expect(model.count).toBe(1);
  },
);
