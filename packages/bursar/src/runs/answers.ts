import type { Store } from "../ports/store.js";
import { checkpointId } from "./checkpoint.js";
import { type AnswerEntry, partOf } from "./journal.js";

/** Everything that the program of a run was ever told, part by part; or in the last so many parts. */
export async function* answersOf(
  store: Store,
  run: string,
  parts: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<AnswerEntry> {
  const last = await lastPart(store, run);
  for (let part = Math.max(0, last + 1 - parts); part <= last; part++) {
    for await (const { key, entry } of store.journal(partOf(run, part))) {
      const [word, at] = key.split(" ");
      if (word === "answer") yield { ...(entry as unknown as Omit<AnswerEntry, "at">), at: Number(at) };
    }
  }
}

/** The part of its journal that a run writes into now. */
export async function lastPart(store: Store, run: string): Promise<number> {
  const checkpoint = await store.document("session", checkpointId(run));
  const { part = 0 } = (checkpoint?.body ?? {}) as { readonly part?: number };
  return part;
}
