import { BATCH_NAME_RULE, isBatchName } from "../ports/batches.js";
import { describeField, type Field } from "./field.js";
import { asText, keyed, needed, type Reading } from "./reading.js";
import { type Bounds, readNumber, readUrl, readVariable, readWord } from "./scalars.js";

/** Where model calls that can wait go, as `BatchesOptions` of `bursar/models` has it. What is not said has its default there. */
export interface BatchSection {
  readonly provider: "openai" | "anthropic";
  readonly model: string;
  readonly url?: string;
  /** The environment variable that holds the key; never the key itself. */
  readonly key_env?: string;
  /** Tells two accounts at one address apart, so that neither hands in what is the other's. */
  readonly name?: string;
  readonly price_factor?: number;
  readonly max_tokens?: number;
  readonly window_ms?: number;
  readonly most_items?: number;
  readonly poll_ms?: number;
  readonly longest_poll_ms?: number;
}

const TIMES = ["window_ms", "poll_ms", "longest_poll_ms"] as const;
const COUNTS = { max_tokens: 10_000_000, most_items: 50_000 } as const;
const TIME: Bounds = { least: 0, most: 86_400_000, units: "time" };
const KEYS = ["provider", "model", "url", "key_env", "name", "price_factor", ...Object.keys(COUNTS), ...TIMES];

/**
 * Reads `batches: { provider: openai, model: gpt-5, key_env: OPENAI_API_KEY, window_ms: 1m, poll_ms: 15s }`. Without the section,
 * calls that can wait are made at once. Null after a complaint.
 */
export function readBatches(reading: Reading, field: Field): BatchSection | null {
  const fields = keyed(reading, field, KEYS);
  const provider = readWord(reading, needed(reading, field, fields, "provider"), ["openai", "anthropic"]);
  const model = textAt(reading, needed(reading, field, fields, "model"), "a model's name, such as gpt-5");
  const url = readUrl(reading, fields.get("url"), {
    example: "https://host/v1",
    instead: "the key stands in the environment",
  });
  const key_env = readVariable(reading, fields.get("key_env"), "key");
  const name = readName(reading, fields.get("name"));
  const price_factor = readFactor(reading, fields.get("price_factor"));
  const numbers: Record<string, number> = {};
  for (const name of TIMES) setNumber(numbers, name, readNumber(reading, fields.get(name), TIME));
  for (const [name, most] of Object.entries(COUNTS)) {
    setNumber(numbers, name, readNumber(reading, fields.get(name), { least: 1, most }));
  }
  if (provider === null || model === null) return null;
  return {
    provider,
    model,
    ...numbers,
    ...(url !== null && { url }),
    ...(key_env !== null && { key_env }),
    ...(name !== null && { name }),
    ...(price_factor !== null && { price_factor }),
  };
}

function setNumber(numbers: Record<string, number>, name: string, value: number | null): void {
  if (value !== null) numbers[name] = value;
}

function textAt(reading: Reading, field: Field | undefined, what: string): string | null {
  return field === undefined ? null : asText(reading, field, what);
}

function readName(reading: Reading, field: Field | undefined): string | null {
  const name = textAt(reading, field, "what this account is called, such as research");
  if (field === undefined || name === null || isBatchName(name)) return name;
  reading.report(field, `is no name; allowed: ${BATCH_NAME_RULE}`);
  return null;
}

function readFactor(reading: Reading, field: Field | undefined): number | null {
  const given = field?.kind === "scalar" ? field.value : null;
  if (typeof given === "number" && given > 0 && given <= 1) return given;
  if (field !== undefined) reading.report(field, `is ${describeField(field)}; allowed: more than 0, and 1 at most`);
  return null;
}
