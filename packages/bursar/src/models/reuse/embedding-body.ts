import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import { listOf, objectOf, parsedObject } from "../wire/json-object.js";

/** The inputs of an embedding call, and everything else it says. */
export interface EmbeddingInputs {
  /** A request has either texts or lists of tokens: no provider takes both at once. */
  readonly kind: "texts" | "tokens";
  readonly items: readonly Json[];
  readonly rest: JsonObject;
}

/** Reads what a body wants embedded; null where it is nothing that could stand among others' inputs. */
export function readInputs({ input, ...rest }: JsonObject): EmbeddingInputs | null {
  if (typeof input === "string") return input === "" ? null : { kind: "texts", items: [input], rest };
  const items = listOf(input);
  if (items.length === 0) return null;
  if (items.every((item) => typeof item === "string" && item !== "")) return { kind: "texts", items, rest };
  // One list of tokens may come without a list around it.
  if (isTokens(items as Json)) return { kind: "tokens", items: [items as Json], rest };
  return items.every(isTokens) ? { kind: "tokens", items, rest } : null;
}

/** How many bytes the inputs have, by which their tokens are shared out; a list of tokens says itself how many they are. */
export function weightOf({ kind, items }: EmbeddingInputs): number {
  if (kind === "tokens") return items.reduce<number>((sum, item) => sum + listOf(item).length, 0);
  return items.reduce<number>((sum, item) => sum + Buffer.byteLength(String(item)), 0);
}

/** One request for all of them, in order. */
export function joinedBody(members: readonly EmbeddingInputs[]): string {
  return JSON.stringify({ ...members[0]?.rest, input: members.flatMap(({ items }) => items) });
}

/** An answer to one request that was many: what each of them gets, numbered from 0 again. Null when it does not fit the question. */
export function splitAnswer(body: Buffer, sizes: readonly number[]): readonly JsonObject[] | null {
  const answer = parsedObject(body.toString("utf8"));
  const all = answer === null ? null : inOrder(listOf(answer.data));
  if (answer === null || all?.length !== sizes.reduce((sum, size) => sum + size, 0)) return null;
  let from = 0;
  return sizes.map((size) => {
    const data = all.slice(from, from + size).map((item, index) => ({ ...item, index }));
    from += size;
    return { ...answer, data };
  });
}

/** By the number each has, which providers are free to send in any order; null when one is missing or there twice. */
function inOrder(data: readonly Json[]): readonly JsonObject[] | null {
  const sorted: JsonObject[] = [];
  for (const each of data) {
    const item = objectOf(each);
    const { index, embedding } = item;
    const isThere = typeof embedding === "string" || Array.isArray(embedding);
    if (!isThere || !isCount(index) || index >= data.length || sorted[index] !== undefined) return null;
    sorted[index] = item;
  }
  return sorted;
}

function isTokens(value: Json): boolean {
  return Array.isArray(value) && value.length > 0 && (value as readonly Json[]).every(isCount);
}
