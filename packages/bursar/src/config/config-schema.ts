import { MAX_AMOUNT } from "../core/amount.js";
import { type Dimension, writeAmount } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import { POLICIES } from "../core/policy.js";
import { PREFLIGHT_POLICIES } from "../foresight/preflight.js";
import type { JsonSchema, JsonSchemaKeywords } from "../json-schema/json-schema.js";
import { BATCH_NAME_RULE } from "../ports/batches.js";
import { UNIT_EXAMPLES, UNIT_PATTERNS, type UnitKind } from "./units.js";

/** A part of the schema of configurations. Editors show `errorMessage` too, and the loader begins it with what the value is. */
export interface ConfigSchema extends JsonSchemaKeywords {
  readonly properties?: Readonly<Record<string, ConfigSchema>>;
  readonly patternProperties?: Readonly<Record<string, ConfigSchema>>;
  readonly additionalProperties?: boolean | ConfigSchema;
  readonly propertyNames?: ConfigSchema;
  readonly items?: ConfigSchema;
  readonly not?: ConfigSchema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly exclusiveMinimum?: number;
  readonly $schema?: string;
  readonly $id?: string;
  readonly $defs?: Readonly<Record<string, ConfigSchema>>;
  /** What is said of a value that does not fit. After `allowed: ` stands what does. */
  readonly errorMessage?: string;
  /** The same for a text that does not match `pattern`. */
  readonly patternErrorMessage?: string;
  /** The units that a number may be written with. */
  readonly "x-unit"?: UnitKind;
}

/** What stands below `$defs`: amounts, which the loader reads by the exact rules of the ledger, digit by digit. */
type AmountSchema =
  | "limits"
  | "exhaustion_policies"
  | "wrap_up_reserve"
  | "thresholds"
  | "approval_expiry_ms"
  | "cost_usd";

const YEAR_MS = 366 * 86_400_000;
const TIERS: { readonly least: 1; readonly most: 32 } = { least: 1, most: 32 };
const TIER_NAME: ConfigSchema = {
  pattern: "^[\\w.-]{1,100}$",
  patternErrorMessage: 'allowed: 1 to 100 letters, digits, ".", "_" and "-"',
};
const TIER_LIST_NAME: ConfigSchema = {
  pattern: "^[\\w.-]{1,100}$",
  errorMessage: 'is no name of a list; allowed: 1 to 100 letters, digits, ".", "_" and "-"',
};
const NAME: ConfigSchema = {
  pattern: "^[^\\s,=\\p{C}]{1,128}$",
  errorMessage: "is no name; allowed: 1 to 128 characters without spaces, comma or =",
};

/**
 * The JSON Schema of `bursar.yaml`, for editors. The loader checks files against the same, and reads amounts by the rules of the ledger.
 *
 * @example
 * ```ts
 * writeFileSync("bursar.schema.json", JSON.stringify(configSchema(STANDARD), null, 2));
 * ```
 */
export function configSchema(dimensions: Dimensions): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Bursar's configuration",
    ...structureSchema(),
    $defs: amountSchemas(dimensions),
  };
}

/** The same with everything allowed where the loader reads amounts. */
export function structureSchema(): ConfigSchema {
  const $defs = Object.fromEntries(AMOUNTS.map((name) => [name, {}]));
  return {
    ...mapping({
      governance: GOVERNANCE,
      store: {
        ...text("the URL of a store, such as sqlite:bursar.db or postgres://user@host/database"),
        description: "Where budgets and chains live. A relative file stands beside this one.",
        pattern: "^[A-Za-z]+:",
        patternErrorMessage: "has no scheme; allowed: sqlite:<file>, postgres://user@host/database, memory:",
      },
      webhook: {
        ...mapping({ url: url("https://host/path", "requests are signed"), secret_env: variable("secret") }),
        description: "Who is told about requests for approval.",
        required: ["url", "secret_env"],
      },
      foresight: FORESIGHT,
      deployments: {
        type: "object",
        description: "Which model each deployment runs, where models have names of their own.",
        errorMessage: "allowed: a mapping with a model for each deployment",
        additionalProperties: text("the name of a model, such as gpt-4o-mini"),
      },
      allow: {
        type: "object",
        description: "What is sent to a host though it may choose another model or bring input from elsewhere.",
        errorMessage: "allowed: a mapping with a list of names for each host",
        additionalProperties: {
          type: "array",
          errorMessage: "is no list; allowed: names of members, headers and parameters, such as [provider]",
          items: text("a name, such as provider"),
        },
      },
    }),
    $defs,
  };
}

const AMOUNTS: readonly AmountSchema[] = [
  "limits",
  "exhaustion_policies",
  "wrap_up_reserve",
  "thresholds",
  "approval_expiry_ms",
  "cost_usd",
];

const LAYER: Readonly<Record<string, ConfigSchema>> = {
  budgets: amounts("limits", "What a run gets unless it is started with something else. null is no limit, 0 is none."),
  exhaustion_policies: amounts("exhaustion_policies", "What happens at the limit."),
  ceilings: amounts("limits", "What no override can pass."),
  thresholds: amounts("thresholds", "Percentages of a limit at which there is a warning."),
  wrap_up_reserve: amounts("wrap_up_reserve", "What is set aside for the final answer."),
  approval_expiry_ms: amounts("approval_expiry_ms", "When a request for approval is too old to be answered."),
};

const { ceilings: _, ...AGENT_LAYER } = LAYER;
const SHARED: ConfigSchema = mapping({
  description: text("a text"),
  ...pick(LAYER, ["budgets", "exhaustion_policies", "thresholds"]),
});

const GOVERNANCE: ConfigSchema = mapping({
  default_policy: { ...text("the name of a policy"), description: "The policy of runs that name none." },
  policies: byName(
    "policies",
    mapping({ description: text("a text"), extends: text("the name of a policy"), ...LAYER }),
  ),
  agents: byName(
    "agents",
    mapping({ description: text("a text"), policy: text("the name of a policy"), ...AGENT_LAYER }),
  ),
  sessions: byName("sessions", SHARED),
  tenant: { ...SHARED, title: "What all runs share." },
});

const TIER: ConfigSchema = {
  ...mapping({
    name: { ...text("a name for the tier"), ...TIER_NAME },
    model: {
      ...text("a model as its provider names it"),
      pattern: "^(?!bursar/)",
      patternErrorMessage: "is a list; allowed: a model as its provider names it",
    },
    quality: { type: "number", errorMessage: "allowed: a number" },
    capabilities: {
      type: "array",
      errorMessage: "allowed: a list of capabilities, such as [tools, images]",
      items: { ...text("the name of a capability"), ...TIER_NAME },
    },
    context_window: whole({ least: 1 }),
  }),
  required: ["name", "model"],
};

const TIER_LIST: ConfigSchema = {
  ...mapping({
    tiers: {
      type: "array",
      minItems: TIERS.least,
      maxItems: TIERS.most,
      errorMessage: `allowed: a list of ${TIERS.least} to ${TIERS.most} tiers, the best first`,
      items: TIER,
    },
    floor: text("the name of a tier"),
    when_none_fits: { ...word(["pause", "stop"]), errorMessage: "allowed: pause or stop" },
    hysteresis: mapping({
      calls: whole({ least: 1, most: 1_000_000 }),
      margin: { type: "number", minimum: 0, maximum: 100, errorMessage: "allowed: a number from 0 to 100" },
    }),
  }),
  required: ["tiers"],
};

const TIME: Bounds = { least: 0, most: 86_400_000, unit: "time" };

const BATCHES: ConfigSchema = {
  ...mapping({
    provider: word(["openai", "anthropic"]),
    model: text("a model's name, such as gpt-5"),
    url: url("https://host/v1", "the key stands in the environment"),
    key_env: variable("key"),
    name: {
      ...text("what this account is called, such as research"),
      pattern: "^[^\\p{Cc}]{1,100}$",
      patternErrorMessage: `is no name; allowed: ${BATCH_NAME_RULE}`,
    },
    price_factor: {
      type: "number",
      exclusiveMinimum: 0,
      maximum: 1,
      errorMessage: "allowed: more than 0, and 1 at most",
    },
    max_tokens: whole({ least: 1, most: 10_000_000 }),
    most_items: whole({ least: 1, most: 50_000 }),
    window_ms: whole(TIME),
    poll_ms: whole(TIME),
    longest_poll_ms: whole(TIME),
  }),
  description: "Where model calls that can wait go.",
  required: ["provider", "model"],
};

const REUSE: ConfigSchema = {
  ...mapping({
    in_flight: flag(),
    embeddings: flagOr({
      window_ms: whole({ least: 0, most: 1000, unit: "time" }),
      inputs: whole({ least: 1, most: 2048 }),
      tokens: whole({ least: 1, most: 300_000 }),
    }),
    cache: flagOr({
      bytes: whole({ least: 0, most: 2 ** 40, unit: "size" }),
      ttl_ms: whole({ least: 1, most: YEAR_MS, unit: "time" }),
      folder_bytes: whole({ least: 0, most: 2 ** 40, unit: "size" }),
      folder: text("the path of a folder"),
    }),
    shared: flag(),
    runs: flag(),
  }),
  description: "What may be used again or sent together.",
};

const FORESIGHT: ConfigSchema = {
  ...mapping({
    enabled: flag(),
    preflight: word(PREFLIGHT_POLICIES),
    reservations: word(["learned", "full"]),
    predict: {
      ...mapping({
        model: text("a model's name, such as gpt-5-nano"),
        cost_usd: amounts("cost_usd", "What all predictions about one program may cost in a day."),
      }),
      required: ["model"],
    },
    tiers: {
      ...mapping({
        enabled: flag(),
        lists: {
          type: "object",
          minProperties: 1,
          maxProperties: 100,
          propertyNames: TIER_LIST_NAME,
          errorMessage: "allowed: a mapping of 1 to 100 names and lists of tiers",
          additionalProperties: TIER_LIST,
        },
      }),
      required: ["lists"],
    },
    batches: BATCHES,
    reuse: REUSE,
  }),
  description: "What looks ahead and saves.",
};

function mapping(properties: Readonly<Record<string, ConfigSchema>>): ConfigSchema {
  return { type: "object", properties, additionalProperties: false };
}

function byName(what: string, additionalProperties: ConfigSchema): ConfigSchema {
  return {
    type: "object",
    propertyNames: NAME,
    additionalProperties,
    errorMessage: `allowed: a mapping of ${what} by name`,
  };
}

function amounts(name: AmountSchema, description: string): ConfigSchema {
  return { $ref: `#/$defs/${name}`, description };
}

function text(allowed: string): ConfigSchema {
  return { type: "string", minLength: 1, errorMessage: `allowed: ${allowed}` };
}

function word(words: readonly string[]): ConfigSchema {
  return { enum: words, errorMessage: `allowed: ${words.join(", ")}` };
}

function flag(): ConfigSchema {
  return { type: "boolean", errorMessage: "allowed: true or false" };
}

function flagOr(properties: Readonly<Record<string, ConfigSchema>>): ConfigSchema {
  return { ...mapping(properties), type: ["boolean", "object"], errorMessage: "allowed: true or false, or a mapping" };
}

interface Bounds {
  readonly least: number;
  readonly most?: number;
  readonly unit?: UnitKind;
}

/** A whole number, which may be written with a unit where there are some. */
function whole({ least, most, unit }: Bounds): ConfigSchema {
  const to = most === undefined ? "" : ` to ${most}`;
  const or = unit === undefined ? "" : `, or ${UNIT_EXAMPLES[unit]}`;
  return {
    type: unit === undefined ? "integer" : ["integer", "string"],
    minimum: least,
    maximum: most ?? Number.MAX_SAFE_INTEGER,
    ...(unit !== undefined && { pattern: UNIT_PATTERNS[unit], "x-unit": unit }),
    errorMessage: `allowed: a whole number from ${least}${to}${or}`,
  };
}

/** A login in a URL would be a secret in the file; `instead` says what there is in its place. */
function url(example: string, instead: string): ConfigSchema {
  return {
    ...text("an http or https URL"),
    pattern: "^[Hh][Tt][Tt][Pp][Ss]?:",
    patternErrorMessage: `is no http or https URL; write it as ${example}`,
    not: {
      type: "string",
      pattern: "^[A-Za-z]+:[\\\\/]*[^\\\\/?#]*@",
      errorMessage: `has a login in it; leave it out, for ${instead}`,
    },
  };
}

/** The name of an environment variable. It may be the secret itself, so it is never repeated. */
function variable(holds: "key" | "secret"): ConfigSchema {
  return {
    ...text("the name of an environment variable"),
    pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$",
    patternErrorMessage: `is no name of an environment variable; put the ${holds} there, and its name here`,
  };
}

function pick<Value>(values: Readonly<Record<string, Value>>, names: readonly string[]): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}

function amountSchemas(dimensions: Dimensions): Readonly<Record<AmountSchema, ConfigSchema>> {
  const sums = dimensions.all.filter(({ kind }) => kind !== "peak");
  const limit = (dimension: Dimension) => ({ ...amount(dimension, true), description: dimension.description });
  const expiry = whole({ least: 1, most: YEAR_MS, unit: "time" });
  return {
    limits: byDimension(dimensions, dimensions.all, limit),
    exhaustion_policies: byDimension(dimensions, dimensions.all, () => ({
      enum: POLICIES.flatMap((policy) => [policy, policy.replaceAll("_", "-")]),
      errorMessage: `allowed: ${POLICIES.join(", ")}`,
    })),
    wrap_up_reserve: byDimension(dimensions, sums, (dimension) => amount(dimension, false)),
    thresholds: {
      type: "array",
      maxItems: 16,
      items: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 100 } as ConfigSchema,
      errorMessage: "must be at most 16 ascending percentages between 0 and 100, such as [50, 80]",
    },
    approval_expiry_ms: expiry,
    cost_usd: amount(dimensions.get("cost_usd"), false),
  };
}

/** A mapping keyed by dimension: by its id, an alias, or either of them with hyphens. */
function byDimension(
  dimensions: Dimensions,
  known: readonly Dimension[],
  schemaOf: (dimension: Dimension) => ConfigSchema,
): ConfigSchema {
  const properties: [string, ConfigSchema][] = [];
  const hyphenated: [string, ConfigSchema][] = [];
  for (const dimension of known) {
    const schema = schemaOf(dimension);
    for (const name of dimensions.namesOf(dimension.id)) {
      properties.push([name, schema]);
      if (name.includes("_")) hyphenated.push([`^${name.replaceAll("_", "[_-]")}$`, schema]);
    }
  }
  return {
    ...mapping(Object.fromEntries(properties)),
    patternProperties: Object.fromEntries(hyphenated),
    errorMessage: "allowed: a mapping keyed by dimension, such as steps: 50",
  };
}

/** An amount in edge units, with a unit where the dimension has some. */
function amount(dimension: Dimension, nullable: boolean): ConfigSchema {
  const { decimals, unit, kind } = dimension;
  const units: UnitKind | null = unit === "bytes" ? "size" : kind === "clock" || unit === "ms" ? "time" : null;
  const types = [decimals === 0 ? "integer" : "number", ...(units === null ? [] : ["string"])];
  return {
    type: nullable ? [...types, "null"] : types,
    minimum: 0,
    maximum: writeAmount(dimension, MAX_AMOUNT),
    ...(units !== null && { pattern: UNIT_PATTERNS[units] }),
    errorMessage: `allowed: ${decimals === 0 ? `a whole number of ${unit}` : `a number of ${unit}`}${units === null ? "" : `, or ${UNIT_EXAMPLES[units]}`}${nullable ? ", or null for no limit" : ""}`,
  };
}
