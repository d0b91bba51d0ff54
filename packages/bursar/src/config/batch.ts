import { describeField, type Field } from "./field.js";
import { asText, keyed, type Reading } from "./reading.js";
import { readUnits, UNIT_EXAMPLES } from "./units.js";

/** Where model calls that can wait go, as `BatchesOptions` of `bursar/models` has it. What is not said has its default there. */
export interface BatchSection {
  readonly provider: "openai" | "anthropic";
  readonly model: string;
  readonly url?: string;
  /** The environment variable that holds the key; never the key itself. */
  readonly key_env?: string;
  readonly price_factor?: number;
  readonly max_tokens?: number;
  readonly window_ms?: number;
  readonly most_items?: number;
  readonly poll_ms?: number;
  readonly longest_poll_ms?: number;
}

const TIMES = ["window_ms", "poll_ms", "longest_poll_ms"] as const;
const COUNTS = { max_tokens: 10_000_000, most_items: 50_000 } as const;
const LONGEST_MS = 86_400_000;
const KEYS = ["provider", "model", "url", "key_env", "price_factor", ...Object.keys(COUNTS), ...TIMES];
const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/**
 * Reads `batches: { provider: openai, model: gpt-5, key_env: OPENAI_API_KEY, window_ms: 1m, poll_ms: 15s }`. Without the section,
 * calls that can wait are made at once. Null after a complaint.
 */
export function readBatches(reading: Reading, field: Field): BatchSection | null {
  const fields = keyed(reading, field, KEYS);
  for (const key of ["provider", "model"]) {
    if (field.kind === "map" && !fields.has(key)) reading.report(field, `has no ${key}; add it`);
  }
  const provider = readProvider(reading, fields.get("provider"));
  const model = textAt(reading, fields.get("model"), "a model's name, such as gpt-5");
  const url = readUrl(reading, fields.get("url"));
  const key_env = readKeyEnv(reading, fields.get("key_env"));
  const price_factor = readFactor(reading, fields.get("price_factor"));
  const numbers: Record<string, number> = {};
  for (const name of TIMES) setNumber(numbers, name, readTime(reading, fields.get(name)));
  for (const [name, most] of Object.entries(COUNTS)) {
    setNumber(numbers, name, readCount(reading, fields.get(name), most));
  }
  if (provider === null || model === null) return null;
  return {
    ...{ provider, model, ...numbers },
    ...(url !== null && { url }),
    ...(key_env !== null && { key_env }),
    ...(price_factor !== null && { price_factor }),
  };
}

function setNumber(numbers: Record<string, number>, name: string, value: number | null): void {
  if (value !== null) numbers[name] = value;
}

function textAt(reading: Reading, field: Field | undefined, what: string): string | null {
  return field === undefined ? null : asText(reading, field, what);
}

function readProvider(reading: Reading, field: Field | undefined): BatchSection["provider"] | null {
  const given = field?.kind === "scalar" ? field.value : null;
  if (given === "openai" || given === "anthropic") return given;
  if (field !== undefined) reading.report(field, `is ${describeField(field)}; allowed: openai, anthropic`);
  return null;
}

function readUrl(reading: Reading, field: Field | undefined): string | null {
  const text = textAt(reading, field, "an http or https URL");
  if (field === undefined || text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && ["http:", "https:"].includes(url.protocol) && url.username === "" && url.password === "") {
    return text;
  }
  reading.report(field, "is no http or https URL without a login; write it as https://host/v1");
  return null;
}

function readKeyEnv(reading: Reading, field: Field | undefined): string | null {
  const name = textAt(reading, field, "the name of an environment variable");
  if (field === undefined || name === null || ENVIRONMENT_NAME.test(name)) return name;
  // It may be the key itself, so it is not repeated.
  reading.report(field, "is no name of an environment variable; put the key there, and its name here");
  return null;
}

function readFactor(reading: Reading, field: Field | undefined): number | null {
  const given = field?.kind === "scalar" ? field.value : null;
  if (typeof given === "number" && given > 0 && given <= 1) return given;
  if (field !== undefined) reading.report(field, `is ${describeField(field)}; allowed: more than 0, and 1 at most`);
  return null;
}

function readTime(reading: Reading, field: Field | undefined): number | null {
  const given = field?.kind === "scalar" ? field.value : null;
  const value = typeof given === "string" ? readUnits(given, "time") : given;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= LONGEST_MS) return value;
  const allowed = `a whole number of milliseconds up to a day, or ${UNIT_EXAMPLES.time}`;
  if (field !== undefined) reading.report(field, `is ${describeField(field)}; allowed: ${allowed}`);
  return null;
}

function readCount(reading: Reading, field: Field | undefined, most: number): number | null {
  const value = field?.kind === "scalar" ? field.value : null;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1 && value <= most) return value;
  if (field !== undefined) {
    reading.report(field, `is ${describeField(field)}; allowed: a whole number from 1 to ${most}`);
  }
  return null;
}
