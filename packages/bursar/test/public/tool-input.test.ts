import { spawnSync } from "node:child_process";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import {
  defineAgent,
  defineTool,
  getToolInputSchema,
  type JsonSchema,
  openBursar,
  openStore,
  type RunResult,
  type Tool,
  type ToolArguments,
} from "bursar";
import * as v from "valibot";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

/** Runs an agent that calls a tool, and returns what the tool returned or the error that the agent saw. */
async function callTool(tool: Tool, args: unknown): Promise<RunResult> {
  const agent = defineAgent("caller", async (ctx, input: { args: never }) =>
    ctx
      .tool(tool.name, input.args)
      .catch(({ code, message }: { code: string; message: string }) => ({ code, message })),
  );
  await using store = await openStore("memory:");
  await using bursar = openBursar({ store, programs: [agent], tools: [tool] });
  return await bursar.run("caller", { args: args as never });
}

/** A tool that returns its input. */
function echoTool(input: JsonSchema): Tool {
  return defineTool({ name: "echo", description: "Returns its input.", input, run: (args: never) => args });
}

/** Calls a tool with input that does not fit, and returns the message. Nothing is charged. */
async function refusalOf(tool: Tool, args: unknown): Promise<string> {
  const run = await callTool(tool, args);
  expect(run).toMatchObject({ status: "completed", result: { code: "invalid_input" }, usage: { steps: 0 } });
  return (run as unknown as { result: { message: string } }).result.message;
}

const ORDER = z.object({
  mail: z.email(),
  count: z.int().positive(),
  tags: z.array(z.string().regex(/^[a-z]+$/)).default([]),
  payment: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("card"), last4: z.string().length(4) }),
    z.object({ kind: z.literal("bill"), days: z.number().max(30) }),
  ]),
});
const VALID_ORDER = { mail: "ann@shop.example", count: 2, payment: { kind: "card", last4: "1234" } };

test("a tool takes a Zod schema: the types follow, and Zod applies its defaults and transforms", async () => {
  const tool = defineTool({
    name: "order",
    description: "Places an order.",
    input: ORDER.extend({ when: z.string().transform((text) => text.length) }),
    quote: ({ count }) => ({ cost_usd: 0.01 * count }),
    run: (order) => {
      expectTypeOf(order.when).toEqualTypeOf<number>();
      expectTypeOf(order.tags).toEqualTypeOf<string[]>();
      expectTypeOf(order.payment.kind).toEqualTypeOf<"card" | "bill">();
      return { ...order, sum: order.count + order.when };
    },
  });

  const run = await callTool(tool, { ...VALID_ORDER, when: "soon" });

  expect(run).toMatchObject({
    status: "completed",
    result: { when: 4, tags: [], sum: 6 },
    usage: { steps: 1, cost_usd: 0.02 },
  });
});

test("a tool takes a Valibot schema", async () => {
  const input = v.object({ to: v.pipe(v.string(), v.trim(), v.minLength(1)), count: v.optional(v.number(), 3) });
  const tool = defineTool({
    name: "send",
    description: "Sends it.",
    input,
    run: ({ to, count }) => {
      expectTypeOf(to).toEqualTypeOf<string>();
      expectTypeOf(count).toEqualTypeOf<number>();
      return { to, count };
    },
  });

  expect(await callTool(tool, { to: " ann " })).toMatchObject({ result: { to: "ann", count: 3 } });
  expect(await refusalOf(tool, { to: 5 })).toBe("send: input.to: Invalid type: Expected string but received 5");
});

test("a tool takes an ArkType schema, which is a function", async () => {
  const tool = defineTool({
    name: "send",
    description: "Sends it.",
    input: type({ to: "string > 0", "count?": "number.integer" }),
    run: ({ to, count = 1 }) => {
      expectTypeOf(to).toEqualTypeOf<string>();
      expectTypeOf(count).toEqualTypeOf<number>();
      return { to, count };
    },
  });

  expect(await callTool(tool, { to: "ann" })).toMatchObject({ result: { to: "ann", count: 1 } });
  expect(await refusalOf(tool, { to: 5 })).toMatch(/^send: input\.to: .*must be a string/);
  expect(getToolInputSchema(tool)).toMatchObject({ type: "object", required: ["to"] });
});

test("what Zod refuses names the field, and several are listed", async () => {
  const tool = defineTool({ name: "order", description: "Places an order.", input: ORDER, run: () => 1 });

  const message = await refusalOf(tool, { ...VALID_ORDER, mail: "ann", payment: { kind: "bill", days: 31 } });

  expect(message).toMatch(/^order: input\.mail: .*; input\.payment\.days: /);
});

test("a schema that validates asynchronously is awaited, and its path is written as in JSON", async () => {
  const input = z.object({ ids: z.array(z.string().refine(async (id) => id !== "taken", "is taken")) });
  const tool = defineTool({ name: "claim", description: "Claims ids.", input, run: ({ ids }) => ids });

  expect(await callTool(tool, { ids: ["free"] })).toMatchObject({ result: ["free"] });
  expect(await refusalOf(tool, { ids: ["free", "taken"] })).toBe("claim: input.ids[1]: is taken");
});

test("a tool of a Standard Schema does not take a function of other arguments", () => {
  expectTypeOf<ToolArguments<typeof ORDER>>().toEqualTypeOf<z.output<typeof ORDER>>();
  const wrong = {
    name: "order",
    description: "Places an order.",
    input: ORDER,
    run: (order: { count: string }) => order.count,
  };
  // @ts-expect-error count is a number
  expect(defineTool(wrong).name).toBe("order");
});

test("the JSON Schema for models is written by the library, or given beside it", () => {
  const base = { name: "send", description: "Sends it.", run: () => 1 };
  const mail = { type: "object", properties: { to: { type: "string" } }, required: ["to"] };
  expect(getToolInputSchema(defineTool({ ...base, input: z.object({ to: z.string().default("x") }) }))).toMatchObject({
    type: "object",
    properties: { to: { type: "string", default: "x" } },
  });
  const valibot = v.object({ to: v.string() });
  expect(() => getToolInputSchema(defineTool({ ...base, input: valibot }))).toThrow(
    "tool.inputSchema of send is missing: valibot gives no JSON Schema; wrap it in toStandardJsonSchema() of @valibot/to-json-schema",
  );
  expect(getToolInputSchema(defineTool({ ...base, input: toStandardJsonSchema(valibot) }))).toMatchObject(mail);
  expect(getToolInputSchema(defineTool({ ...base, input: valibot, inputSchema: mail }))).toBe(mail);
  expect(() => getToolInputSchema(defineTool({ ...base, input: z.object({ at: z.date() }) }))).toThrow(
    /send.*set inputSchema/,
  );
  expect(getToolInputSchema(defineTool({ ...base, input: mail }))).toBe(mail);
  expect(() => defineTool({ ...base, input: valibot, inputSchema: { type: "objct" } })).toThrow(
    "tool.inputSchema.type",
  );
});

/** The keywords that Zod writes, and those that MCP servers list, with input that fits, input that does not, and the message. */
const JSON_SCHEMAS: readonly (readonly [string, JsonSchema, unknown, unknown, string])[] = [
  [
    "z.toJSONSchema",
    jsonOf(ORDER),
    { ...VALID_ORDER, tags: [] },
    { ...VALID_ORDER, tags: [], count: 0 },
    "input.count is 0; allowed: more than 0",
  ],
  [
    "a regular expression",
    jsonOf(ORDER),
    { ...VALID_ORDER, tags: ["a"] },
    { ...VALID_ORDER, tags: ["A"] },
    'input.tags[0] is "A"; allowed: what matches /^[a-z]+$/',
  ],
  [
    "a discriminated union",
    jsonOf(ORDER),
    { ...VALID_ORDER, tags: [] },
    { ...VALID_ORDER, tags: [], payment: { kind: "bill", days: 31 } },
    "input.payment is none of what is allowed: input.payment.days is 31; allowed: at most 30",
  ],
  [
    "a union whose tag tells which alternative was meant",
    { oneOf: ["number", "string"].map((type) => ({ properties: { kind: { const: type }, value: { type } } })) },
    { kind: "string", value: "a" },
    { kind: "string", value: 5 },
    "input is none of what is allowed: input.value is 5; allowed: string",
  ],
  [
    "a recursive schema",
    jsonOf(
      z.object({
        name: z.string(),
        get children() {
          return z.array(z.object({ name: z.string() }));
        },
      }),
    ),
    { name: "a", children: [{ name: "b" }] },
    { name: "a", children: [{}] },
    "input.children[0].name is missing",
  ],
  [
    "$ref and $defs",
    {
      $ref: "#/$defs/node",
      $defs: { node: { properties: { left: { $ref: "#/$defs/node" }, size: { type: "integer" } } } },
    },
    { left: { left: { size: 1 } } },
    { left: { left: { size: "1" } } },
    'input.left.left.size is "1"; allowed: integer',
  ],
  [
    "$dynamicRef",
    { $dynamicAnchor: "node", properties: { next: { $dynamicRef: "#node" } }, required: ["id"] },
    { id: 1 },
    { id: 1, next: {} },
    "input.next.id is missing",
  ],
  ["allOf", { allOf: [{ required: ["a"] }, { required: ["b"] }] }, { a: 1, b: 1 }, { a: 1 }, "input.b is missing"],
  [
    "not",
    { properties: { to: { not: { const: "root" } } } },
    { to: "ann" },
    { to: "root" },
    'input.to is "root", which its schema excludes',
  ],
  [
    "if and then",
    JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]}}'),
    {},
    { a: 1 },
    "input.b is missing",
  ],
  ["exclusiveMaximum", { items: { exclusiveMaximum: 5 } }, [4], [5], "input[0] is 5; allowed: less than 5"],
  ["multipleOf", { items: { multipleOf: 0.1 } }, [0.3], [0.35], "input[0] is 0.35; allowed: multiples of 0.1"],
  ["uniqueItems", { uniqueItems: true }, [1, 2], [1, 1], "input has an item twice"],
  ["prefixItems", { prefixItems: [{ type: "string" }], items: false }, ["a"], ["a", 1], "input[1] is not allowed here"],
  ["contains", { contains: { const: 7 } }, [7], [8], "contains"],
  [
    "patternProperties",
    { patternProperties: { "^x-": { type: "string" } } },
    { "x-a": "b" },
    { "x-a": 1 },
    "input.x-a is 1; allowed: string",
  ],
  [
    "propertyNames",
    { propertyNames: { maxLength: 3 } },
    { abc: 1 },
    { abcd: 1 },
    "input has a key that is not allowed: input.abcd",
  ],
  ["minProperties", { minProperties: 1 }, { a: 1 }, {}, "input is 0 properties large; allowed: at least 1"],
  [
    "a misspelled name",
    { properties: { recipient: {} }, additionalProperties: false },
    {},
    { recipent: 1 },
    "input.recipent is not known; allowed: recipient; did you mean recipient?",
  ],
  [
    "oneOf that fits twice",
    { oneOf: [{ minLength: 1 }, { maxLength: 3 }] },
    "",
    "ab",
    "input fits 2 of the alternatives; allowed: exactly one",
  ],
  [
    "draft 7",
    { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }], additionalItems: false },
    ["a"],
    ["a", 1],
    "input[1] is not allowed",
  ],
  [
    "draft 4",
    { $schema: "http://json-schema.org/draft-04/schema#", minimum: 5, exclusiveMinimum: true },
    6,
    5,
    "input",
  ],
  [
    "unknown keywords, which are ignored",
    { "x-order": 1, nullable: true, type: "string", format: "no such format" },
    "a",
    1,
    "input is 1; allowed: string",
  ],
  ["format, which is an annotation", { type: "string", format: "email" }, "ann", 5, "input is 5; allowed: string"],
  [
    "a property named like a keyword",
    { properties: { format: { type: "string" }, $ref: { type: "string" } } },
    { format: "a", $ref: "b" },
    { $ref: 1 },
    "input.$ref is 1; allowed: string",
  ],
  ["true and false", { properties: { any: true, none: false } }, { any: 1 }, { none: 1 }, "input.none is not allowed"],
];

for (const [name, schema, fitting, unfit, message] of JSON_SCHEMAS) {
  test(`a JSON Schema is accepted whole, and its errors name the field: ${name}`, async () => {
    const tool = echoTool(schema);
    expect(await callTool(tool, fitting)).toMatchObject({ status: "completed", result: fitting, usage: { steps: 1 } });
    expect(await refusalOf(tool, unfit)).toContain(`echo: ${message.startsWith("input") ? message : ""}`);
    expect(await refusalOf(tool, unfit)).toContain(message);
  });
}

test("a schema is not changed, and may be frozen", async () => {
  const schema = Object.freeze({ $ref: "#/$defs/a", $defs: Object.freeze({ a: Object.freeze({ type: "string" }) }) });
  expect(await callTool(echoTool(schema), "text")).toMatchObject({ result: "text" });
  expect(schema).toEqual({ $ref: "#/$defs/a", $defs: { a: { type: "string" } } });
});

test("keys that every object has are keys like any other", async () => {
  const schema: JsonSchema = {
    properties: { constructor: { type: "string" } },
    required: ["toString"],
    additionalProperties: false,
  };
  expect(await refusalOf(echoTool(schema), {})).toBe("echo: input.toString is missing");
  expect(await refusalOf(echoTool({ additionalProperties: false }), { hasOwnProperty: 1 })).toContain(
    "input.hasOwnProperty is not known",
  );
  expect(
    await refusalOf(
      echoTool(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}')),
      JSON.parse('{"__proto__":1}'),
    ),
  ).toBe("echo: input.__proto__ is 1; allowed: string");
});

/** Schemas that are small and take long, each with the input that it takes long for. */
const HOSTILE: readonly (readonly [string, JsonSchema, unknown])[] = [
  ["a pattern that backtracks", { pattern: "^(a+)+$" }, `${"a".repeat(40)}!`],
  ["a pattern of names that backtracks", { patternProperties: { "^(a+)+$": {} } }, { [`${"a".repeat(40)}!`]: 1 }],
  ["references that multiply", doublingSchema(60), "a"],
  [
    "comparisons of all items with all",
    { uniqueItems: true },
    Array.from({ length: 30_000 }, (_, index) => ({ index })),
  ],
  ["a reference to itself", { $ref: "#" }, 1],
  [
    "two references to each other",
    { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
    1,
  ],
];

for (const [name, schema, args] of HOSTILE) {
  test(`a schema cannot stop the process: ${name}`, async () => {
    const began = performance.now();
    expect(await refusalOf(echoTool(schema), args)).toMatch(/cannot be checked within 250 ms|refers to itself/);
    expect(performance.now() - began).toBeLessThan(10_000);
  });
}

test("a schema that is too deep or too large is refused when the tool is defined", () => {
  let deep: JsonSchema = { type: "string" };
  for (let depth = 0; depth < 20_000; depth++) deep = { items: deep };
  expect(() => echoTool(deep)).toThrow("at most 100 levels");
  const cyclic: { items?: unknown } = {};
  cyclic.items = cyclic;
  expect(() => echoTool(cyclic)).toThrow("at most 100 levels");
  const wide = { enum: Array.from({ length: 60_000 }, (_, index) => index) };
  expect(() => echoTool(wide)).toThrow("at most 50000 values");
  for (const schema of [null, 5, "text", [], true])
    expect(() => echoTool(schema as never)).toThrow("allowed: a JSON Schema");
});

test("after a schema has been stopped, others work", async () => {
  await refusalOf(echoTool({ pattern: "^(a+)+$" }), `${"a".repeat(40)}!`);
  expect(await callTool(echoTool({ pattern: "^(a+)+$" }), "aaa")).toMatchObject({ status: "completed", result: "aaa" });
});

test("schemas work where code generation is not allowed", () => {
  const program = `
    import { defineAgent, defineTool, openBursar, openStore } from "bursar";
    const input = { properties: { to: { type: "string", pattern: "^[a-z]+$" } } };
    const tool = defineTool({ name: "send", description: "Sends it.", input, run: ({ to }) => to });
    const agent = defineAgent("agent", (ctx) => ctx.tool("send", { to: "ann" }));
    await using store = await openStore("memory:");
    await using bursar = openBursar({ store, programs: [agent], tools: [tool] });
    console.log((await bursar.run("agent", null)).result);
  `.replaceAll("await using", "const");
  const flags = ["--disallow-code-generation-from-strings", "--input-type=module", "--eval", program];
  const { stdout, stderr } = spawnSync(process.execPath, flags, { cwd: import.meta.dirname, encoding: "utf8" });
  expect({ stdout, stderr }).toEqual({ stdout: "ann\n", stderr: "" });
});

function jsonOf(schema: z.ZodType): JsonSchema {
  return JSON.parse(JSON.stringify(z.toJSONSchema(schema)));
}

/** Each definition refers to the next one twice. */
function doublingSchema(definitions: number): JsonSchema {
  const $defs: Record<string, unknown> = { [`d${definitions}`]: { type: "string" } };
  for (let index = 0; index < definitions; index++) {
    const next = { $ref: `#/$defs/d${index + 1}` };
    $defs[`d${index}`] = { allOf: [next, next] };
  }
  return { $ref: "#/$defs/d0", $defs };
}
