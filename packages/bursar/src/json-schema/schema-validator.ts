import { createContext, Script } from "node:vm";
import { dereference, type OutputUnit, type Schema, validate } from "@cfworker/json-schema";
import { checkJsonSchema } from "./check-schema.js";
import { explainMismatch } from "./explain-mismatch.js";
import type { CheckedSchema, JsonSchema } from "./json-schema.js";
import { type SchemaError, toSchemaErrors } from "./schema-errors.js";

/** Validation blocks the event loop, so it may not take longer. A value of 1 MB takes a tenth of this. */
const TIME_LIMIT_MS = 250;

/** The validators of schemas that were used before. */
const validators = new WeakMap<object, SchemaValidator>();

/**
 * Validates a value against a JSON Schema. Describes the first mismatch, beginning with where it is: `input.to is 5; allowed: string`. Null for
 * a valid value.
 *
 * @throws {InputError} when the schema itself is wrong, on its first use.
 */
export function findSchemaMismatch(value: unknown, schema: JsonSchema, name: string): string | null {
  return validatorOf(schema, name).findMismatch(value, name);
}

/**
 * Lists everything that is wrong with a value. There is no time limit, so this is for schemas of the product itself.
 *
 * @throws {RangeError} for more than about 100,000 errors.
 */
export function listSchemaErrors(value: unknown, schema: JsonSchema): readonly SchemaError[] {
  return validatorOf(schema, "a value").listErrors(value);
}

function validatorOf(schema: JsonSchema, name: string): SchemaValidator {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const validator = new SchemaValidator(checkJsonSchema(schema, `the schema of ${name}`));
  validators.set(schema, validator);
  return validator;
}

/** Validates values against one schema. No code is generated, so it works with `--disallow-code-generation-from-strings`. */
class SchemaValidator {
  private readonly checked: CheckedSchema;
  /** Where references lead. Filled by the first validation. */
  private schemasByUri: Record<string, Schema | boolean> | null = null;

  constructor(checked: CheckedSchema) {
    this.checked = checked;
  }

  findMismatch(value: unknown, name: string): string | null {
    try {
      return this.checked.needsTimeLimit ? withTimeLimit(() => this.explain(value, name)) : this.explain(value, name);
    } catch (error) {
      if (error instanceof RangeError)
        return `${name} is nested too deeply for its schema, or its schema refers to itself`;
      if (isTimeout(error)) {
        return `${name} cannot be checked within ${TIME_LIMIT_MS} ms; shorten it, or simplify the patterns and references of its schema`;
      }
      // What the library throws is about the schema: a reference between embedded resources that does not resolve.
      return `${name} cannot be checked: ${error instanceof Error ? error.message.split("\n", 1)[0] : "unknown error"}`;
    }
  }

  listErrors(value: unknown): readonly SchemaError[] {
    return toSchemaErrors(this.validate(value, false), this.schemaAt);
  }

  private explain(value: unknown, name: string): string | null {
    const errors = this.validate(value, true);
    return errors.length === 0 ? null : explainMismatch(errors, { value, name, schemaAt: this.schemaAt });
  }

  private validate(value: unknown, stopsEarly: boolean): readonly OutputUnit[] {
    const { schema, draft } = this.checked;
    this.schemasByUri ??= dereference(schema as Schema);
    return validate(value, schema as Schema, draft, this.schemasByUri, stopsEarly).errors;
  }

  /** The schema or keyword at a location that the validator reports, which follows references: `#/properties/to/$ref/type`. */
  private readonly schemaAt = (location: string): unknown => {
    let found: unknown = this.checked.schema;
    for (const part of location.split("/").slice(1)) {
      if (typeof found !== "object" || found === null) return undefined;
      const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
      const reference = name === "$ref" ? (found as Schema).__absolute_ref__ : undefined;
      found = reference === undefined ? (found as Record<string, unknown>)[name] : this.schemasByUri?.[reference];
    }
    return found;
  };
}

interface LimitedWork {
  work: () => unknown;
}

let limited: { readonly context: LimitedWork; readonly script: Script } | null = null;

/**
 * Runs a function and terminates it when it takes too long, in the middle of a regular expression too. Costs 0.15 ms, so it is only used for
 * schemas that can take long.
 */
function withTimeLimit<Result>(work: () => Result): Result {
  limited ??= { context: createContext({ work }) as unknown as LimitedWork, script: new Script("work()") };
  const { context, script } = limited;
  context.work = work;
  try {
    return script.runInContext(context as object, { timeout: TIME_LIMIT_MS }) as Result;
  } finally {
    context.work = () => undefined;
  }
}

/** The error comes from the other context, so it is no instance of this one's `Error`. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === "object" && error !== null && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"
  );
}
