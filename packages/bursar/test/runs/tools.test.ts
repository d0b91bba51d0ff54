import { expect, test } from "vitest";
import type { Json } from "../../src/core/chain/canonical.js";
import type { JsonSchema } from "../../src/json-schema/json-schema.js";
import { defineAgent } from "../../src/runs/agent.js";
import { openBursar } from "../../src/runs/bursar.js";
import type { RunError } from "../../src/runs/error.js";
import { defineTool, type Tool } from "../../src/runs/tool.js";
import { Theatre } from "./stage.js";

/** Calls a tool with what it is given, and gives back what became of it. */
const caller = defineAgent("caller", async (ctx, { name, args }: { name: string; args?: Json }) =>
  ctx.tool(name, args).catch(({ code, message, data }: RunError) => ({ code, message, data })),
);

async function call(tools: readonly Tool[], name: string, args?: Json) {
  const theatre = new Theatre([caller], tools);
  return theatre.until(theatre.process().run("caller", { name, ...(args !== undefined && { args }) }, { id: "r" }), 0);
}

function taking(input: JsonSchema): Tool {
  return defineTool({ name: "take", description: "Takes it.", input, run: (args: Json) => ({ took: args }) });
}

/** What a schema refuses, and how it says so. */
const REFUSED: readonly (readonly [JsonSchema, Json, string])[] = [
  [{ type: "object" }, "text", 'input is "text"; allowed: object'],
  [{ type: "object" }, [], "input is an array; allowed: object"],
  [{ type: "object", properties: { to: { type: "string" } }, required: ["to"] }, {}, "input.to is missing"],
  [{ type: "object", properties: { to: { type: "string" } } }, { to: 5 }, "input.to is 5; allowed: string"],
  [
    { type: "object", properties: { a: {} }, additionalProperties: false },
    { b: 1 },
    "input.b is not known; allowed: a",
  ],
  [{ additionalProperties: { type: "number" } }, { any: "x" }, 'input.any is "x"; allowed: number'],
  [{ type: "array", items: { type: "integer" } }, [1, 2.5], "input[1] is 2.5; allowed: integer"],
  [{ type: "array", maxItems: 1 }, [1, 2], "input is 2 items long; allowed: at most 1"],
  [{ type: "array", minItems: 1 }, [], "input is 0 items long; allowed: at least 1"],
  [{ enum: ["red", "green"] }, "blue", 'input is "blue"; allowed: "red", "green"'],
  [{ const: 7 }, 8, "input must be 7"],
  [{ type: "number", minimum: 0 }, -1, "input is -1; allowed: at least 0"],
  [{ type: "number", maximum: 9 }, 10, "input is 10; allowed: at most 9"],
  [{ type: "string", minLength: 2 }, "a", "input is 1 characters long; allowed: at least 2"],
  [{ type: "string", maxLength: 2 }, "abc", "input is 3 characters long; allowed: at most 2"],
  [{ type: ["string", "null"] }, true, "input is true; allowed: string or null"],
  [{ anyOf: [{ type: "string" }, { type: "null" }] }, 1, "input is none of what is allowed"],
  [{ properties: { deep: { properties: { er: { type: "null" } } } } }, { deep: { er: 1 } }, "input.deep.er is 1"],
];

for (const [schema, args, problem] of REFUSED) {
  test(`input that does not fit is refused before anything happens: ${problem}`, async () => {
    const result = await call([taking(schema)], "take", args);
    expect(result).toMatchObject({ status: "completed", result: { code: "invalid_input" }, usage: { steps: 0 } });
    expect("result" in result && (result.result as { message: string }).message).toContain(`take: ${problem}`);
  });
}

test("input that fits is taken as it is", async () => {
  const schema: JsonSchema = { type: "object", properties: { to: { type: "string" } }, required: ["to"] };
  expect(await call([taking(schema)], "take", { to: "ann", more: [1, null] })).toMatchObject({
    status: "completed",
    result: { took: { to: "ann", more: [1, null] } },
    usage: { steps: 1 },
  });
});

test("a tool that is not there is named, with the one that was probably meant", async () => {
  const near = await call([taking({})], "tkae", {});
  expect(near).toMatchObject({
    result: { code: "unknown_tool", message: 'there is no tool "tkae"; did you mean take?' },
    usage: { steps: 0 },
  });
  const far = await call([taking({})], "something_else", {});
  expect(far).toMatchObject({ result: { message: 'there is no tool "something_else"; there is echo, take' } });
});

test("names that every object has are no tools", async () => {
  for (const name of ["constructor", "__proto__", "toString"]) {
    expect(await call([], name, {})).toMatchObject({ result: { code: "unknown_tool" } });
  }
});

/** What a schema says wrongly, and the field that the error names. */
const MALFORMED: readonly (readonly [object, string])[] = [
  [{ type: "strnig" }, "tool.input.type"],
  [{ type: [] }, "tool.input.type"],
  [{ type: ["string", "text"] }, "tool.input.type"],
  [{ anyOf: [] }, "tool.input.anyOf"],
  [{ anyOf: {} }, "tool.input.anyOf"],
  [{ allOf: [5] }, "tool.input.allOf[0]"],
  [{ enum: [] }, "tool.input.enum"],
  [{ required: "to" }, "tool.input.required"],
  [{ properties: [] }, "tool.input.properties"],
  [{ properties: { to: 5 } }, "tool.input.to"],
  [{ properties: { to: { type: "text" } } }, "tool.input.to.type"],
  [{ additionalProperties: "no" }, "tool.input.additionalProperties"],
  [{ items: { minimum: "5" } }, "tool.input.items.minimum"],
  [{ maxLength: -1 }, "tool.input.maxLength"],
  [{ multipleOf: 0 }, "tool.input.multipleOf"],
  [{ uniqueItems: "yes" }, "tool.input.uniqueItems"],
  [{ pattern: "(" }, "tool.input.pattern"],
  [{ patternProperties: { "(": {} } }, "tool.input.patternProperties"],
  [{ $ref: 5 }, "tool.input.$ref"],
  [{ $ref: "#/$defs/missing", $defs: {} }, "tool.input.$ref"],
  [{ $ref: "#missing" }, "tool.input.$ref"],
  [{ items: { $ref: "https://schemas.example/item.json" } }, "tool.input.items.$ref"],
];

for (const [schema, field] of MALFORMED) {
  test(`a schema that would refuse every call or none is refused when the tool is defined: ${JSON.stringify(schema)}`, () => {
    expect(() => taking(schema as JsonSchema)).toThrow(`${field} is`);
  });
}

test("a tool without what it needs is refused when it is defined", () => {
  const tool = { name: "take", description: "Takes it.", input: {}, run: () => 1 };
  expect(() => defineTool({ ...tool, name: "with space" })).toThrow("tool.name");
  expect(() => defineTool({ ...tool, run: "no function" } as never)).toThrow("tool.run");
  expect(() => defineTool({ ...tool, retries: 3 } as never)).toThrow("retries");
});

test("two tools of one name are refused", () => {
  expect(() => new Theatre([], [taking({}), taking({})]).process()).toThrow("take");
});

test("what a tool throws reaches the program, and costs a step", async () => {
  const broken = defineTool({
    name: "broken",
    description: "Fails.",
    input: {},
    run: () => {
      throw new Error("out of paper");
    },
  });
  expect(await call([broken], "broken", {})).toMatchObject({
    status: "completed",
    result: { code: "failed", message: "out of paper" },
    usage: { steps: 1 },
  });
});

test("a quote is held before the call, and what the meter says is charged after it", async () => {
  const metered = defineTool({
    name: "metered",
    description: "Costs what it says.",
    input: {},
    quote: (args) => ({ cost_usd: (args as { most: number }).most }),
    meter: (result) => ({ cost_usd: (result as { cost: number }).cost }),
    run: () => ({ cost: 0.003 }),
  });
  expect(await call([metered], "metered", { most: 0.1 })).toMatchObject({ usage: { cost_usd: 0.003 } });
  expect(await call([metered], "metered", { most: 0.6 })).toMatchObject({
    status: "failed",
    failure: { dimension: "cost_usd" },
    usage: { cost_usd: 0 },
  });
});

/** Quotes that cannot be meant. */
const NONSENSE: readonly (readonly [string, object])[] = [
  ["a name that is no dimension", { cots_usd: 1 }],
  ["not a number", { cost_usd: Number.NaN }],
  ["less than nothing", { cost_usd: -1 }],
  ["undefined", { cost_usd: undefined }],
];

for (const [name, quote] of NONSENSE) {
  test(`a quote that makes no sense fails its call and not the run: ${name}`, async () => {
    const odd = defineTool({ name: "odd", description: "Odd.", input: {}, quote: () => quote as never, run: () => 1 });
    const result = await call([odd], "odd", {});
    expect(result).toMatchObject({ status: "completed", result: { code: "invalid_input" }, usage: { steps: 0 } });
  });
}

test("a meter that makes no sense charges what was quoted", async () => {
  const options = { description: "Odd.", input: {}, quote: { cost_usd: 0.02 }, run: () => "done" };
  const throwing = defineTool({
    ...options,
    name: "throwing",
    meter: () => {
      throw new Error("the meter is broken");
    },
  });
  const negative = defineTool({ ...options, name: "negative", meter: () => ({ cost_usd: -5 }) });
  for (const tool of [throwing, negative]) {
    const result = await call([tool], tool.name, {});
    expect(result).toMatchObject({ status: "completed", usage: { cost_usd: 0.02, steps: 1 } });
  }
});

/** Answers that cannot be written down as they are. */
const ODD_ANSWERS: Readonly<Record<string, () => unknown>> = {
  "half a character": () => "\ud83d",
  "half a character as a key": () => ({ "\ud83d": 1 }),
  "a cycle": () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    return cycle;
  },
  "a big integer": () => 10n,
  nothing: () => undefined,
  "a function": () => () => 1,
  "a nest of a thousand arrays": () => JSON.parse("[".repeat(1000) + "]".repeat(1000)) as unknown,
  "not a number": () => Number.NaN,
};

for (const [name, run] of Object.entries(ODD_ANSWERS)) {
  test(`an answer that cannot be written down ends neither the run nor its worker: ${name}`, async () => {
    const odd = defineTool({ name: "odd", description: "Odd.", input: {}, run });
    expect((await call([odd], "odd", {})).status).toBe("completed");
  });
}

test("a program that returns half a character ends, one way or the other", async () => {
  const half = defineAgent("half", async () => "\ud83d");
  const theatre = new Theatre([half]);
  const result = await theatre.until(theatre.process().run("half", null, { id: "r" }), 0);
  expect(["completed", "failed"]).toContain(result.status);
});

test("an error with half a character in it reaches the program", async () => {
  const broken = defineTool({
    name: "broken",
    description: "Fails.",
    input: {},
    run: () => {
      throw new Error("cut in the middle: \ud83d");
    },
  });
  expect(await call([broken], "broken", {})).toMatchObject({ status: "completed", result: { code: "failed" } });
});

test("a model that reports no usage and reserves none is charged for what it was sent and what it answered", async () => {
  const model = { quote: () => ({}), call: async () => ({ value: "a long answer from the model" }) };
  const asker = defineAgent("asker", async (ctx) => ctx.model({ prompt: "hello" }));
  const theatre = new Theatre([asker]);
  const result = await theatre.until(theatre.process({ model }).run("asker", null, { id: "r" }), 0);
  expect(Number(result.usage.llm_input_tokens ?? 0)).toBeGreaterThan(0);
  // One token for each byte at most.
  expect(Number(result.usage.llm_output_tokens ?? 0)).toBeGreaterThanOrEqual("a long answer from the model".length);
});

/** What became of a tool that `fetch` has failed, in whose error the reason is hidden. */
test.each([
  [
    Object.assign(new Error("connect ECONNREFUSED 10.0.0.7:80"), { code: "ECONNREFUSED" }),
    "fetch failed (ECONNREFUSED)",
  ],
  [Object.assign(new Error("no"), { code: "a key\n" }), "fetch failed"],
  [new Error("without a code"), "fetch failed"],
  [undefined, "fetch failed"],
])("why a connection of a tool failed is told by its code, and not by its address: %s", async (cause, message) => {
  const away = defineTool({
    name: "away",
    description: "Cannot be reached.",
    input: {},
    run: () => Promise.reject(new TypeError("fetch failed", { cause })),
  });
  expect(await call([away], "away", {})).toMatchObject({ result: { code: "failed", message } });
});

test("a call of a model where there is none is told how to name one", async () => {
  const asking = defineAgent("asking", async (ctx) =>
    ctx.model({ prompt: "hello" }).catch(({ code, message }: RunError) => ({ code, message })),
  );
  const theatre = new Theatre([asking]);
  const bare = openBursar({ store: theatre.store, timer: theatre.clock, programs: [asking] });
  const ended = await theatre.until(bare.run("asking", null, { id: "r" }), 0);
  expect(ended).toMatchObject({ result: { code: "no_model", message: expect.stringContaining("--model-url") } });
});
