import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import type { Json } from "../core/chain/canonical.js";
import { InputError } from "../core/errors.js";
import { checkJsonSchema } from "../json-schema/check-schema.js";
import type { JsonSchema } from "../json-schema/json-schema.js";
import { findSchemaMismatch } from "../json-schema/schema-validator.js";

/** A schema of Zod, Valibot, ArkType or any other library that implements Standard Schema; or a JSON Schema. */
export type ToolInput = StandardSchemaV1 | JsonSchema;

/** The parts of a tool that say what it takes. */
interface ToolWithInput {
  readonly name: string;
  readonly input: ToolInput;
  readonly inputSchema?: JsonSchema;
}

/** Arguments as the tool gets them, or what is wrong with them. */
export type ParsedToolInput =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

const MAX_ISSUES = 5;

function isStandardSchema(input: ToolInput): input is StandardSchemaV1 {
  // Libraries represent schemas as objects or as functions.
  const isHolder = (typeof input === "object" && input !== null) || typeof input === "function";
  const standard = isHolder && "~standard" in input ? input["~standard"] : undefined;
  return (
    typeof standard === "object" &&
    standard !== null &&
    "validate" in standard &&
    typeof standard.validate === "function"
  );
}

/** Checks what a tool says of its input when the tool is defined. A library has checked its own schema already. */
export function checkToolInput({ input, inputSchema }: ToolWithInput): void {
  if (!isStandardSchema(input)) checkJsonSchema(input, "tool.input");
  if (inputSchema !== undefined) checkJsonSchema(inputSchema, "tool.inputSchema");
}

/**
 * Parses the arguments of a call. A Standard Schema is validated by its library, so its defaults and transforms apply. A JSON Schema only
 * validates.
 */
export async function parseToolInput({ input }: ToolWithInput, args: Json): Promise<ParsedToolInput> {
  if (isStandardSchema(input)) {
    const result = await input["~standard"].validate(args);
    return result.issues === undefined
      ? { ok: true, value: result.value }
      : { ok: false, problem: describeIssues(result.issues) };
  }
  const problem = findSchemaMismatch(args, input, "input");
  return problem === null ? { ok: true, value: args } : { ok: false, problem };
}

/**
 * Returns the JSON Schema of a tool's input, as models and MCP clients expect it.
 *
 * @example
 * ```ts
 * const search = defineTool({ name: "search", description: "Searches.", input: z.object({ query: z.string() }), run: ({ query }) => query });
 * const listed = { name: search.name, description: search.description, inputSchema: getToolInputSchema(search) };
 * ```
 *
 * @throws {InputError} when the library of the schema cannot write it as JSON Schema, and the tool has no `inputSchema`.
 */
export function getToolInputSchema({ name, input, inputSchema }: ToolWithInput): JsonSchema {
  if (inputSchema !== undefined) return inputSchema;
  if (!isStandardSchema(input)) return input;
  const { vendor, jsonSchema }: StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props> = input["~standard"];
  if (jsonSchema === undefined) {
    const wrapper = vendor === "valibot" ? "wrap it in toStandardJsonSchema() of @valibot/to-json-schema, or " : "";
    throw new InputError(
      "tool.inputSchema",
      `of ${name} is missing: ${vendor} gives no JSON Schema; ${wrapper}set inputSchema`,
    );
  }
  try {
    return jsonSchema.input({ target: "draft-2020-12" });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new InputError(
      "tool.inputSchema",
      `of ${name} is missing: ${vendor} cannot write it as JSON Schema (${why}); set inputSchema`,
    );
  }
}

function describeIssues(issues: readonly StandardSchemaV1.Issue[]): string {
  const texts = issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => `${pathOf(path)}: ${message}`);
  if (issues.length > MAX_ISSUES) texts.push(`and ${issues.length - MAX_ISSUES} more`);
  return texts.join("; ");
}

/** The path of an issue as people write it: `input.to[0]`. */
function pathOf(path: NonNullable<StandardSchemaV1.Issue["path"]>): string {
  let text = "input";
  for (const segment of path) {
    const key = typeof segment === "object" ? segment.key : segment;
    text += typeof key === "number" ? `[${key}]` : `.${String(key)}`;
  }
  return text;
}
