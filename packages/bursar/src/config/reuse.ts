import type { Field } from "./field.js";
import { asText, keyed, type Reading } from "./reading.js";
import { type Bounds, readFlag, readNumber } from "./scalars.js";

/** What may be used again or sent together, as `ReuseOptions` of `bursar/models` has it. What is not said is not switched on. */
export interface ReuseSection {
  readonly in_flight?: boolean;
  readonly embeddings?: boolean | { readonly window_ms?: number; readonly inputs?: number; readonly tokens?: number };
  readonly cache?: boolean | CacheSection;
  readonly shared?: boolean;
  /** Whether it is for the model calls of runs, too: false, because a program may ask the same twice to hear two answers. */
  readonly runs?: boolean;
}

interface CacheSection {
  readonly bytes?: number;
  readonly ttl_ms?: number;
  /** As it is written: whoever opens it says from where a relative one is meant. */
  readonly folder?: string;
  readonly folder_bytes?: number;
}

/** What the numbers may be, as the options themselves have it. */
const EMBEDDINGS: Readonly<Record<"window_ms" | "inputs" | "tokens", Bounds>> = {
  window_ms: { least: 0, most: 1000, units: "time" },
  inputs: { least: 1, most: 2048 },
  tokens: { least: 1, most: 300_000 },
};
const CACHE: Readonly<Record<"bytes" | "ttl_ms" | "folder_bytes", Bounds>> = {
  bytes: { least: 0, most: 2 ** 40, units: "size" },
  ttl_ms: { least: 1, most: 366 * 86_400_000, units: "time" },
  folder_bytes: { least: 0, most: 2 ** 40, units: "size" },
};

/**
 * Reads `reuse: { in_flight: true, embeddings: { window_ms: 5 }, cache: { bytes: 64MB, ttl_ms: 1h, folder: answers } }`. Without the
 * section, every call is a request of its own.
 */
export function readReuse(reading: Reading, field: Field): ReuseSection {
  const fields = keyed(reading, field, ["in_flight", "embeddings", "cache", "shared", "runs"]);
  const section: { -readonly [Key in keyof ReuseSection]: ReuseSection[Key] } = {};
  for (const [name, each] of fields) {
    if (name === "in_flight" || name === "shared" || name === "runs") section[name] = readFlag(reading, each) ?? false;
    else if (each.kind !== "map") section[name as "embeddings"] = readFlag(reading, each, "a mapping") ?? false;
    else if (name === "embeddings")
      section.embeddings = readNumbers(reading, keyed(reading, each, Object.keys(EMBEDDINGS)), EMBEDDINGS);
    else section.cache = readCache(reading, each);
  }
  return section;
}

function readCache(reading: Reading, field: Field): CacheSection {
  const fields = keyed(reading, field, [...Object.keys(CACHE), "folder"]);
  const folder = fields.get("folder");
  const path = folder === undefined ? null : asText(reading, folder, "the path of a folder");
  return { ...readNumbers(reading, fields, CACHE), ...(path !== null && { folder: path }) };
}

function readNumbers<Name extends string>(
  reading: Reading,
  fields: ReadonlyMap<string, Field>,
  bounds: Readonly<Record<Name, Bounds>>,
): { readonly [Key in Name]?: number } {
  const numbers: { [Key in Name]?: number } = {};
  for (const name of Object.keys(bounds) as Name[]) {
    const number = readNumber(reading, fields.get(name), bounds[name]);
    if (number !== null) numbers[name] = number;
  }
  return numbers;
}
