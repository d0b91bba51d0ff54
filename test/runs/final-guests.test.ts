import { guestProgram, MemoryStore, type Model, openBursar } from "bursar";
import { expect, test } from "vitest";
import { openTestSandbox } from "./sandbox.js";

const sandbox = await openTestSandbox();
const MEMORY = 64 * 1024 * 1024;

const SOURCES = {
  python: `
thoughts = 0
refused = []
try:
    while True:
        await host.llm({"prompt": f"thought {thoughts}"})
        thoughts += 1
except host.Refused as error:
    refused.append(error.code)
said = await host.llm({"prompt": "sum up", "final": True})
try:
    await host.llm({"prompt": "and more", "final": True})
except host.Refused as error:
    refused.append(error.code)
await host.call("result", {"thoughts": thoughts, "said": said["text"], "refused": refused})
`,
  javascript: `
let thoughts = 0;
const refused = [];
try {
  for (;;) {
    await host.llm({ prompt: "thought " + thoughts });
    thoughts++;
  }
} catch (error) {
  refused.push(error.data.code);
}
const said = await host.llm({ prompt: "sum up", final: true });
try {
  await host.llm({ prompt: "and more", final: true });
} catch (error) {
  refused.push(error.data.code);
}
await host.call("result", { thoughts, said: said.text, refused });
`,
} as const;

function world() {
  const prompts: unknown[] = [];
  const model: Model = {
    quote: () => ({ llm_input_tokens: 60, llm_output_tokens: 40 }),
    call: async (request) => {
      prompts.push(request);
      return { value: { text: "all of it" }, usage: { input_tokens: 60, output_tokens: 40 } };
    },
  };
  return { store: new MemoryStore(), model, prompts };
}

test.each(["python", "javascript"] as const)(
  "the final answer of %s uses what was set aside, and no more",
  async (language) => {
    const { store, model, prompts } = world();
    const source = { language, code: SOURCES[language], packages: [], memory_bytes: MEMORY };
    const program = guestProgram(language, source, async () => sandbox);
    await using bursar = openBursar({ store, model, programs: [program] });
    const options = { id: "r", limits: { llm_tokens: 350 }, wrap_up: { llm_tokens: 100 } };
    const stopped = { ...options, policies: { llm_tokens: "hard_stop" } } as const;
    const result = await bursar.run(language, null, stopped);
    // 250 are for ordinary calls of 100 each, and 100 for the last one.
    expect(result).toMatchObject({
      status: "failed",
      failure: { code: "exhausted", dimension: "llm_tokens" },

      result: { thoughts: 2, said: "all of it", refused: ["exhausted", "exhausted"] },
      usage: { llm_tokens: 300 },
    });
    // What is the final answer is for the gate to know, not for the model.
    expect(prompts).toEqual([{ prompt: "thought 0" }, { prompt: "thought 1" }, { prompt: "sum up" }]);
  },
);
