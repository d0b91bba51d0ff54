import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { govern } from "../../../src/models/ai/govern.js";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { keepItem, keptTokens } from "../../../src/models/wire/kept-items.js";
import type { Script } from "../../../src/testing/scripted-model.js";
import { openScene, usedIn } from "./scene.js";

const MODEL = "gpt-5";
const USAGE = { prompt_tokens: 400, completion_tokens: 90, reasoning_tokens: 64 };
/** Thinks, looks something up, and thinks again. */
const thinking: Script = ({ number }) => ({
  kind: "text",
  text: "",
  thinking: "Let me see. ".repeat(5),
  usage: USAGE,
  ...(number === 1 ? { tool_calls: [{ name: "search", arguments: { query: "bolts" } }] } : { text: "None left." }),
});
const tools = { search: tool({ inputSchema: z.object({ query: z.string() }), execute: () => "none" }) };

const WAYS = ["generate", "stream"].flatMap((way) =>
  (["model", "wire", "both"] as const).map((at) => [way, at] as const),
);

test.for(WAYS)(
  "a loop that refers to its own earlier thoughts is bounded by what they were (%s, governed at %s)",
  async ([way, where]) => {
    // The window of the model alone would cost more than this.
    await using at = await openScene(thinking, { cost_usd: 0.2 }, {}, [MODEL]);
    const wire = where === "model" ? {} : { fetch: governedFetch() };
    const bare = createOpenAI({ baseURL: at.server.url, apiKey: "k", ...wire }).responses(MODEL);
    const model = where === "wire" ? bare : govern(bare);
    const loop = {
      model,
      prompt: "Bolts?",
      tools,
      stopWhen: stepCountIs(3),
      maxOutputTokens: 2000,
      providerOptions: { openai: { reasoningSummary: "auto" } },
    };
    await at.budget.run(async () => {
      if (way === "generate") await generateText(loop);
      else await streamText(loop).consumeStream();
    });
    const items = at.server.requests[1]?.messages ?? [];
    expect(items.map(({ type }) => type)).toContain("item_reference");
    expect(await usedIn(at.budget)).toMatchObject({ steps: 2, llm_input_tokens: 800, llm_output_tokens: 180 });
  },
);

test("only so many are remembered, the newest", () => {
  keepItem("first", 5);
  keepItem("x".repeat(1000), 5);
  keepItem("second", Number.NaN);
  expect(["first", "second", "x".repeat(1000)].map(keptTokens)).toEqual([5, null, null]);
  for (let number = 0; number < 10_000; number++) keepItem(`later ${number}`, 7);
  expect(["first", "later 0", "later 9999"].map(keptTokens)).toEqual([null, 7, 7]);
});
