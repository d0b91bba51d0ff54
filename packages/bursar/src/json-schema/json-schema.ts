/**
 * A JSON Schema as an object: what `z.toJSONSchema()` returns, what an MCP server lists, or one written by hand. Drafts 4 to 2020-12 are
 * supported; `$schema` selects the draft, 2020-12 is the default. Unknown keywords are ignored, and `format` is an annotation, as the
 * specification says: use `pattern` for what has to be checked.
 */
export type JsonSchema = JsonSchemaKeywords | Readonly<Record<string, unknown>>;

/** The keywords that are used most, for completion in editors. */
export interface JsonSchemaKeywords {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly anyOf?: readonly unknown[];
  readonly oneOf?: readonly unknown[];
  readonly allOf?: readonly unknown[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, unknown>>;
}

/** The drafts that the validator tells apart. */
export type JsonSchemaDraft = "4" | "7" | "2019-09" | "2020-12";

/** A copy of a schema whose keywords are well-formed and whose references resolve. */
export interface CheckedSchema {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly draft: JsonSchemaDraft;
  /**
   * Whether validation can take more time than schema and value are large: regular expressions backtrack, references multiply, and a large
   * schema meets every item of a large value.
   */
  readonly needsTimeLimit: boolean;
}
